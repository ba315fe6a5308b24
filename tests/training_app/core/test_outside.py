"""Rows from outside: made uniform, or refused with line and place."""

from typing import Any

import orjson
import pytest

from training_app.core.lint import lint_demonstrations
from training_app.core.outside import OutsideError, OutsideRow, read_outside

TOOL = {"type": "function", "function": {"name": "find", "parameters": {"properties": {"a": {}}}}}
ROW: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Find it.", "name": "dropped"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": {"a": 1}}}],
        },
        {"role": "tool", "tool_call_id": "1", "content": "found"},
        {"role": "assistant", "content": "Done."},
    ],
    "tools": [TOOL],
    "source": "dropped too",
}


def file(*rows: Any) -> bytes:
    """A file of JSON lines."""
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def test_a_row_becomes_what_our_own_rows_are() -> None:
    rows = list(read_outside(b"\n" + file(ROW)))
    assert rows == [
        OutsideRow(
            2,
            {
                "messages": [
                    {"role": "user", "content": "Find it."},
                    {
                        "role": "assistant",
                        "content": "",
                        "tool_calls": [
                            {
                                "id": "1",
                                "type": "function",
                                "function": {"name": "find", "arguments": '{"a":1}'},
                            }
                        ],
                    },
                    {"role": "tool", "content": "found", "tool_call_id": "1"},
                    {"role": "assistant", "content": "Done."},
                ],
                "tools": orjson.dumps([TOOL]).decode(),
            },
        )
    ]
    assert lint_demonstrations([row.row for row in rows]) == []


def test_tools_may_be_a_text_or_missing() -> None:
    text = {**ROW, "tools": orjson.dumps([TOOL]).decode()}
    none = {"messages": ROW["messages"]}
    assert [row.row["tools"] for row in read_outside(file(text, none))] == [text["tools"], "[]"]


def message(**fields: Any) -> dict[str, Any]:
    """A row of one message."""
    return {"messages": [{"role": "user", "content": "x", **fields}]}


@pytest.mark.parametrize(
    ("row", "where", "said"),
    [
        (b'{"messages": [', " at character 15", "not JSON"),
        (b"[1]", "", "a row is an object with messages and tools"),
        (file({"text": "x"}), " at messages", "a list of messages is missing"),
        (file({"messages": ["x"]}), " at messages[0]", "a message is an object"),
        (file(message(role=None)), " at messages[0].role", "a role is a text"),
        (file(message(content=[1])), " at messages[0].content", "only text can be mixed in"),
        (file(message(tool_calls={"a": 1})), " at messages[0].tool_calls", "calls are a list"),
        (file(message(tool_calls=[3])), " at messages[0].tool_calls[0]", "a call is {id,"),
        (
            file(message(tool_calls=[{"function": {"name": "n"}}])),
            " at messages[0].tool_calls[0].id",
            "a text is missing",
        ),
        (file(message(role="tool")), " at messages[0].tool_call_id", "a text is missing"),
        (file({**ROW, "tools": {"a": 1}}), " at tools", "tools are a list of declarations"),
        (file({**ROW, "tools": "[1"}), " at tools", "not JSON"),
        (b'{"a":' * 70 + b"1" + b"}" * 70, "", "nested deeper than 64 levels"),
        (b'{"messages":"' + b"x" * (8 * 2**20) + b'"}', "", "longer than 8 MiB"),
        (b"\xff\xfe", " at character 1", "not JSON"),
        (file({"messages": [{}] * 2001}), " at messages", "more than 2000 messages"),
    ],
)
def test_a_broken_line_is_named_with_its_place(row: bytes, where: str, said: str) -> None:
    with pytest.raises(OutsideError) as caught:
        list(read_outside(file(ROW, ROW) + row))
    assert (caught.value.line, caught.value.where) == (3, where)
    assert caught.value.message.startswith(said)
