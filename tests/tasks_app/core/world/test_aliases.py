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
