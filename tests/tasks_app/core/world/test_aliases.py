"""Imported tool names: their arguments become ours, and refusals speak their names."""

from typing import Any

import orjson
import pytest

from tasks_app.core.calls import ToolError
from tasks_app.core.spec import ToolAlias
from tasks_app.core.world.aliases import translate

ALIAS = ToolAlias(
    tool="mail_send_message",
    arguments={
        "to": {"arg": "to", "as": "list"},
        "subject": {"arg": "subject"},
        "status": {"arg": "status", "values": {"all": None, "open": "waiting"}, "default": "all"},
        "since": {"arg": "days_back", "as": "days_ago", "default": 7},
        "lines": [{"sku": {"arg": "product"}, "quantity": {"arg": "count"}}],
        "text": {"arg": "extra", "as": "json"},
        "limit": 200,
    },
    parameters={
        "type": "object",
        "properties": {
            "to": {"type": "string"},
            "subject": {"type": "string"},
            "status": {"type": "string"},
            "days_back": {"type": "integer"},
            "product": {"type": "string"},
            "count": {"type": "integer"},
            "extra": {"type": "array"},
        },
        "required": ["to"],
    },
)
NOW = "2031-03-20T09:00:00+00:00"


def translated(**arguments: Any) -> Any:
    return orjson.loads(translate(orjson.dumps(arguments), ALIAS, NOW))


def test_every_form_is_filled_and_what_was_left_out_is_left_out() -> None:
    assert translated(to="a@x.example, b@x.example", status="open", extra=[1], count=2) == {
        "to": ["a@x.example", "b@x.example"],
        "status": "waiting",
        "since": "2031-03-13",
        "lines": [{"quantity": 2}],
        "text": "[1]",
        "limit": 200,
    }


def test_a_value_mapped_to_nothing_leaves_the_argument_out() -> None:
    assert "status" not in translated(to="a@x.example", status="all")
    assert "status" not in translated(to="a@x.example")


@pytest.mark.parametrize(
    ("raw", "code", "message"),
    [
        (b"{", "wrong_type", "arguments are not valid JSON"),
        (b"[]", "wrong_type", "arguments are not an object"),
        (b"{}", "missing_argument", "to: field required"),
        (b'{"to":"a","recipient":"b"}', "unknown_argument", "recipient: no such argument"),
        (b'{"to":7}', "wrong_type", "to: should be string"),
        (b'{"to":"a","count":true}', "wrong_type", "count: should be integer"),
    ],
)
def test_arguments_that_do_not_fit_their_schema_are_refused_in_their_names(
    raw: bytes, code: str, message: str
) -> None:
    with pytest.raises(ToolError) as refusal:
        translate(raw, ALIAS, NOW)
    assert (refusal.value.code, refusal.value.message) == (code, message)


def one(form: dict[str, Any], **given: Any) -> Any:
    alias = ToolAlias(
        tool="x",
        arguments={"ours": form},
        parameters={"type": "object", "properties": {"a": {}, "b": {}}},
    )
    found = orjson.loads(translate(orjson.dumps(given), alias, "2031-03-20T09:00:00+01:00"))
    return found.get("ours")


@pytest.mark.parametrize(
    ("form", "given", "expected"),
    [
        ({"as": "day"}, {"a": "2031-04-02T10:00:00Z"}, "2031-04-02"),
        ({"as": "day"}, {"a": "2031-04-02"}, "2031-04-02"),
        ({"as": "day"}, {"a": 7}, 7),
        ({"as": "day_start"}, {"a": "2031-04-02"}, "2031-04-02T00:00:00+01:00"),
        ({"as": "day_end"}, {"a": "2031-04-02"}, "2031-04-03T00:00:00+01:00"),
        (
            {"as": "day_end", "days": {"arg": "b"}},
            {"a": "2031-04-02", "b": 3},
            "2031-04-05T00:00:00+01:00",
        ),
        (
            {"as": "day_end", "days": {"arg": "b"}},
            {"a": "2031-04-02", "b": -3},
            "2031-04-03T00:00:00+01:00",
        ),
        ({"as": "day_end", "days": {"arg": "b"}}, {"a": "9999-12-30", "b": 30000}, "9999-12-30"),
        ({"as": "day_start"}, {"a": "tomorrow"}, "tomorrow"),
        ({"as": "instant"}, {"a": "2031-04-02 10:00"}, "2031-04-02T10:00+01:00"),
        ({"as": "instant"}, {"a": "2031-04-02T10:00:00Z"}, "2031-04-02T10:00:00Z"),
        ({"as": "instant"}, {"a": "soon"}, "soon"),
        ({"as": "name"}, {"a": "in/scans/a.pdf"}, "a.pdf"),
        ({"as": "name"}, {"a": "in\\a.pdf"}, "a.pdf"),
        ({"as": "name"}, {"a": "/"}, "/"),
        ({"else": {"arg": "b"}}, {"b": "second"}, "second"),
        ({"else": {"arg": "b"}}, {"a": "first", "b": "second"}, "first"),
        ({"else": {"arg": "b"}}, {}, None),
    ],
)
def test_a_form_changes_the_shape_of_what_was_given(
    form: dict[str, Any], given: dict[str, Any], expected: Any
) -> None:
    assert one({"arg": "a", **form}, **given) == expected
