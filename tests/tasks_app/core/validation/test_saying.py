"""The sentences that repairs write into a policy."""

from typing import Any

import pytest

from tasks_app.core.spec import Step
from tasks_app.core.validation.saying import field_is, why_used


@pytest.mark.parametrize(
    ("step", "path", "value", "sentence"),
    [
        (
            {"arguments": {"reference": "CB-9981"}},
            ("arguments", "reference"),
            "CB-9981",
            "The reference is CB-9981.",
        ),
        (
            {"arguments": {"lines": [{"quantity": 24}]}},
            ("arguments", "lines", 0, "quantity"),
            24,
            "The quantity is 24.",
        ),
        (
            {"arguments": {"expected_on": {"fn": "add_days", "args": ["2031-01-02", 16]}}},
            ("arguments", "expected_on", "args", 1),
            16,
            "“Expected on” lies 16 days after the day that it counts from.",
        ),
        (
            {"arguments": {"start": {"fn": "add_minutes", "args": ["2031-01-02T09:00", -90]}}},
            ("arguments", "start", "args", 1),
            90,
            "The start lies 90 minutes before the time that it counts from.",
        ),
        (
            {
                "arguments": {
                    "amount": {"fn": "sum", "args": [[1.5, {"fn": "mul", "args": [2, 3]}]]}
                }
            },
            ("arguments", "amount", "args", 0, 0),
            1.5,
            "The amount is reckoned with 1.50.",
        ),
        (
            {"arguments": {"hold": {"fn": "pick_at_least", "args": [1, 3110.0, "a", "b"]}}},
            ("arguments", "hold", "args", 1),
            3110.0,
            "The hold hangs on whether 3110 is reached.",
        ),
        (
            {"arguments": {"id": {"from": "a", "where": {"total": {"ge": 250}}, "field": "id"}}},
            ("arguments", "id", "where", "total", "ge"),
            250,
            "What counts has 250 or more as total.",
        ),
        (
            {
                "each": {
                    "from": "a",
                    "where": {"due_on": {"le": {"fn": "add_days", "args": ["", 3]}}},
                }
            },
            ("each", "where", "due_on", "le", "args", 1),
            3,
            "“Due on” lies 3 days after the day that it counts from.",
        ),
        (
            {"arguments": {"body": {"text": "Room 4711 is ready.", "with": {}}}},
            ("arguments", "body", "text"),
            4711.0,
            "The body states 4711.",
        ),
    ],
)
def test_a_value_is_said_with_what_it_does(
    step: dict[str, Any], path: tuple[str | int, ...], value: Any, sentence: str
) -> None:
    assert why_used(Step(id="done", tool="any_tool", **step), path, value) == sentence


def test_what_a_reply_states_is_said_of_the_reply() -> None:
    assert why_used(Step(reply="It comes to 93.35."), ("reply",), 93.35) == (
        "The reply states 93.35."
    )


def test_a_field_is_said_to_have_its_value() -> None:
    assert field_is("hold_reason", "odd_one") == "The hold reason is odd_one."
