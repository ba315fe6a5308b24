"""Changing a written spec by hand: one field, one record, one rule at a time.

A draft is plain JSON data that need not be a valid spec yet: half-typed work is kept. Every
function changes the document it is given, which is the caller's own copy.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

import orjson

from tasks_app.core.editing import pointer, tokens

Kind = Literal["text", "number", "yes_no", "nested"]
Document = dict[str, Any]
"""A spec as it is being written."""
ABSENT: Final = object()
"""A field that a record does not have."""


class FieldError(ValueError):
    """What somebody typed cannot be the value of a field."""


def get(document: Any, path: str) -> Any:
    """The value at a JSON pointer; ABSENT where there is none."""
    for token in tokens(path):
        if isinstance(document, Mapping) and token in document:
            document = document[token]
        elif isinstance(document, list) and token.isdigit() and int(token) < len(document):
            document = document[int(token)]
        else:
            return ABSENT
    return document


def listed(holder: Any, key: str) -> list[Any]:
    """Return the list that stands under a key; an empty one where none does."""
    found = holder.get(key) if isinstance(holder, Mapping) else None
    return found if isinstance(found, list) else []


def put(document: dict[str, Any], path: str, value: Any) -> None:
    """Set the value at a JSON pointer; objects on the way are made, ABSENT takes it away.

    Raises FieldError where the way leads through something else.
    """
    *way, last = tokens(path)
    holder: Any = document
    for token in way:
        inner = get(holder, pointer([token]))
        if inner is ABSENT:
            if value is ABSENT:
                return
            if not isinstance(holder, dict):
                raise FieldError(f"there is nothing at {path}")
            inner = holder[token] = {}
        holder = inner
    if isinstance(holder, dict):
        if value is ABSENT:
            holder.pop(last, None)
        else:
            holder[last] = value
    elif isinstance(holder, list) and last.isdigit() and int(last) < len(holder):
        if value is ABSENT:
            del holder[int(last)]
        else:
            holder[int(last)] = value
    else:
        raise FieldError(f"there is nothing at {path}")


def typed(text: str, kind: Kind, was: Any) -> Any:
    """What a cell's text means, given the kind of its column and what it held before.

    An empty cell stays what an empty cell was: absent, null, or the empty text. Raises FieldError.
    """
    if not text.strip():
        if was is ABSENT or was is None:
            return was
        return "" if kind == "text" else None
    if kind == "number":
        return number(text)
    if kind == "yes_no":
        if text.strip().lower() not in ("true", "false"):
            raise FieldError(f"“{text}” is neither true nor false")
        return text.strip().lower() == "true"
    if kind == "nested":
        return parse(text)
    return text.replace("\r\n", "\n")


def number(text: str) -> int | float:
    """A number. Raises FieldError."""
    plain = text.strip().replace(",", "") if text.count(",") and "." in text else text.strip()
    try:
        value = float(plain)
    except ValueError:
        raise FieldError(f"“{text}” is not a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise FieldError(f"“{text}” is not a number")
    return int(value) if value.is_integer() and abs(value) < 2**53 else value


def parse(text: str) -> Any:
    """JSON. Raises FieldError with line and column."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise FieldError(
            f"not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
        ) from error


def records(document: dict[str, Any], service: str, name: str) -> list[Any]:
    """The records of a collection, made where there is none. Raises FieldError."""
    held = document.setdefault("services", {})
    if isinstance(held, dict):
        collections = held.setdefault(service, {})
        if isinstance(collections, dict):
            rows = collections.setdefault(name, [])
            if isinstance(rows, list):
                return rows
    raise FieldError(f"{service}/{name} is no list of records")


def find_record(rows: Sequence[Any], id_field: str, record_id: str) -> int:
    """The position of a record. Raises FieldError where it is gone."""
    for index, row in enumerate(rows):
        if isinstance(row, Mapping) and str(row.get(id_field, "")) == record_id:
            return index
    raise FieldError(f"there is no record {record_id} any more")


def blank_record(rows: Sequence[Any], id_field: str, prefix: str) -> dict[str, Any]:
    """A new record with the fields of the last one, emptied, and the next free id."""
    last = next((row for row in reversed(rows) if isinstance(row, Mapping)), {})
    return {**dict.fromkeys(last), id_field: next_id(rows, id_field, prefix)}


def next_id(rows: Sequence[Any], id_field: str, prefix: str) -> str:
    """The id after the highest number in use, in the same form."""
    best = (prefix, 0, 4)
    for row in rows:
        text = str(row.get(id_field, "")) if isinstance(row, Mapping) else ""
        head = text.rstrip("0123456789")
        tail = text[len(head) :]
        if tail and int(tail) >= best[1]:
            best = (head, int(tail), len(tail))
    head, highest, width = best
    if head and head == prefix and not head.endswith("-"):
        head = f"{head}-"
    return f"{head}{highest + 1:0{width}d}"


def fresh_id(taken: Sequence[Any], prefix: str) -> str:
    """The first of prefix1, prefix2 … that no entry uses as its id."""
    used = {entry.get("id") for entry in taken if isinstance(entry, Mapping)}
    position = len(taken) + 1
    while f"{prefix}{position}" in used:
        position += 1
    return f"{prefix}{position}"
