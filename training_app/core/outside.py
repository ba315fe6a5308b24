"""Demonstrations from outside: JSON Lines of `{"messages": […], "tools": […]}`, made uniform.

Invariants: a line that is no row of that shape stops the file with its number and the place in it;
whether a row is worth learning from is for the lint (E1) to say. Arguments and tools become JSON
text, as in our own rows; what a row holds beside messages and tools is left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from studio.lib.jsonvalue import MAX_DEPTH, depth
from training_app.core.demonstrations import Row

LARGEST_LINE: Final = 8 * 2**20
MOST_MESSAGES: Final = 2000


class OutsideError(ValueError):
    """A line that cannot be read."""

    def __init__(self, line: int, where: str, message: str) -> None:
        super().__init__(f"line {line}{where}: {message}")
        self.line = line
        """From 1."""
        self.where = where
        """` at messages[3].content`; empty for the line as a whole."""
        self.message = message


class OutsideRow(NamedTuple):
    """A row and the line it stood in."""

    line: int
    row: Row


class _Wrong(ValueError):
    def __init__(self, place: str, message: str) -> None:
        super().__init__(message)
        self.place = place
        self.message = message


def read_outside(data: bytes) -> Iterator[OutsideRow]:
    """The rows of a file in order, empty lines left out. Raises OutsideError at the first fault."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        if len(line) > LARGEST_LINE:
            raise OutsideError(number, "", f"longer than {LARGEST_LINE // 2**20} MiB")
        try:
            written = orjson.loads(line)
        except orjson.JSONDecodeError as problem:
            at = f" at character {problem.colno}"
            raise OutsideError(number, at, f"not JSON: {problem.msg}") from problem
        if depth(written) > MAX_DEPTH:
            raise OutsideError(number, "", f"nested deeper than {MAX_DEPTH} levels")
        try:
            row = _row(written)
        except _Wrong as problem:
            where = f" at {problem.place}" if problem.place else ""
            raise OutsideError(number, where, problem.message) from problem
        yield OutsideRow(number, row)


def _row(written: Any) -> Row:
    if not isinstance(written, Mapping):
        raise _Wrong("", "a row is an object with messages and tools")
    messages = written.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _Wrong("messages", "a list of messages is missing")
    if len(messages) > MOST_MESSAGES:
        raise _Wrong("messages", f"more than {MOST_MESSAGES} messages")
    return {
        "messages": [_message(item, f"messages[{i}]") for i, item in enumerate(messages)],
        "tools": _tools(written.get("tools") or []),
    }


def _tools(written: Any) -> str:
    tools = written
    if isinstance(written, str):
        try:
            tools = orjson.loads(written)
        except orjson.JSONDecodeError as problem:
            raise _Wrong("tools", f"not JSON: {problem.msg}") from problem
    if not isinstance(tools, list):
        raise _Wrong("tools", "tools are a list of declarations")
    return orjson.dumps(tools).decode()


def _message(written: Any, place: str) -> dict[str, Any]:
    if not isinstance(written, Mapping):
        raise _Wrong(place, "a message is an object")
    role, content = written.get("role"), written.get("content")
    if not isinstance(role, str):
        raise _Wrong(f"{place}.role", "a role is a text")
    if content is not None and not isinstance(content, str):
        raise _Wrong(f"{place}.content", "only text can be mixed in")
    body: dict[str, Any] = {"role": role, "content": content or ""}
    calls = written.get("tool_calls")
    if calls:
        if not isinstance(calls, list):
            raise _Wrong(f"{place}.tool_calls", "calls are a list")
        body["tool_calls"] = [
            _call(call, f"{place}.tool_calls[{i}]") for i, call in enumerate(calls)
        ]
    if role == "tool":
        body["tool_call_id"] = _text(written.get("tool_call_id"), f"{place}.tool_call_id")
    return body


def _call(written: Any, place: str) -> dict[str, Any]:
    function = written.get("function") if isinstance(written, Mapping) else None
    if not isinstance(function, Mapping):
        raise _Wrong(place, "a call is {id, function: {name, arguments}}")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = orjson.dumps(arguments if arguments is not None else {}).decode()
    return {
        "id": _text(written.get("id"), f"{place}.id"),
        "type": "function",
        "function": {
            "name": _text(function.get("name"), f"{place}.function.name"),
            "arguments": arguments,
        },
    }


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise _Wrong(place, "a text is missing")
    return value
