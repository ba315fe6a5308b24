"""The closed list of functions: each has a value, and a clear refusal for what it can't take."""

from typing import Any

import pytest

from tasks_app.core.functions import FUNCTIONS, FunctionError, apply_function

ROWS = [
    {"id": "A-1", "amount": 10.5, "name": "one"},
    {"id": "A-2", "amount": 20, "name": "two"},
]
EVENTS = [
    {
        "start": "2031-06-03T09:00:00+02:00",
        "end": "2031-06-03T09:45:00+02:00",
        "attendees": ["a@x.example"],
    },
    {"start": "2031-06-03T08:00:00Z", "end": "2031-06-03T08:15:00Z", "attendees": ["B@x.example"]},
]

VALUES: list[tuple[str, list[Any], Any]] = [
    ("sum", [[0.1, 0.2, 66.6]], 66.9),
    ("sum", [[]], 0),
    ("sub", [10, 0.05], 9.95),
    ("mul", [3, 1.15], 3.45),
    ("percent_off", [74.0, 10], 66.6),
    ("percent_off", [0.05, 50], 0.03),
    ("money", [1234.5], "1234.50"),
    ("date", ["2031-03-14T19:32:00+01:00"], "2031-03-14"),
    ("add_days", ["2031-03-14T19:32:00+01:00", -14], "2031-02-28"),
    ("add_minutes", ["2031-06-03T10:15:00+02:00", 30], "2031-06-03T10:45:00+02:00"),
    ("days_between", ["2031-02-27", "2031-03-02"], 3),
    ("next_weekday", ["2031-06-12", "fri"], "2031-06-13"),
    ("next_weekday", ["2031-06-13", "fri"], "2031-06-13"),
    ("named_day", ["14 March", "2031-03-14"], "2031-03-14"),
    ("named_day", ["Friday", "2031-06-13"], "2031-06-13"),
    ("named_day", ["monday", "2031-06-13T09:00:00+02:00"], "2031-06-16"),
    ("named_day", ["3 january", "2031-12-30T09:00:00+01:00"], "2032-01-03"),
    ("named_day", ["29 February", "2031-01-06"], "2032-02-29"),
    ("named_day", ["29 February", "2096-03-01"], "2104-02-29"),
    ("regex", ["pay invoice 4417 now", r"invoice (\d+)"], "4417"),
    ("regex", ["see CB-0731", r"CB-\d+"], "CB-0731"),
    ("lookup", ["gold", {"gold": 10, "none": 5}], 10),
    ("pick_at_least", [25000, 25000, "high", "normal"], "high"),
    ("pick_at_least", [24999.99, 25000, "high", "normal"], "normal"),
    ("join", [["a", 2, 2.5], "; "], "a; 2; 2.5"),
    ("column", [ROWS, "name"], ["one", "two"]),
    ("count", [ROWS], 2),
    ("lines", [ROWS, "{id}: {amount} {{EUR}}", "\n"], "A-1: 10.5 {EUR}\nA-2: 20 {EUR}"),
    (
        "rows",
        [ROWS, ["id", "amount", "=accrued"]],
        [["A-1", 10.5, "accrued"], ["A-2", 20, "accrued"]],
    ),
    ("row_of", [[["commitment"], ["a-2"], ["A-1"]], "A-2"], 2),
    ("differing", [ROWS, [["id", "x"], ["A-1", 10.5], ["A-2", 21]], "amount", 1], [ROWS[1]]),
    (
        "free_slot",
        [
            EVENTS,
            ["a@x.example", "b@x.example"],
            "2031-06-03T09:00:00+02:00",
            "2031-06-03T12:00:00+02:00",
            30,
        ],
        "2031-06-03T10:15:00+02:00",
    ),
    ("largest", [ROWS, "amount"], ROWS[1]),
    ("round_up", [31, 12], 36),
    ("round_up", [36, 12], 36),
    ("round_up", [0.3, 0.1], 0.3),
    ("round_up", [-5, 12], 0),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), VALUES)
def test_a_function_gives_its_value(name: str, arguments: list[Any], expected: Any) -> None:
    assert apply_function(name, arguments) == expected


def test_every_function_of_the_list_is_tested() -> None:
    assert {name for name, _, _ in VALUES} == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("shout", ["a"], "unknown function shout"),
        ("sum", [], "sum takes 1 arguments, got 0"),
        ("sum", [["a"]], "sum: 'a' is not a number"),
        ("money", [True], "money: True is not a number"),
        ("round_up", [31, 0], "0 is no step to round to"),
        ("date", ["soon"], "date: 'soon' is no date or timestamp"),
        ("next_weekday", ["2031-06-12", "friday"], "next_weekday: 'friday' is none of"),
        ("named_day", ["31 June", "2031-06-12"], "named_day: '31 June' names no day such as"),
        ("named_day", ["soon", "2031-06-12"], "'soon' names no day such as Friday"),
        ("regex", ["abc", r"\d+"], r"is not found"),
        ("lookup", ["silver", {"gold": 1}], "no entry for 'silver'"),
        ("column", [ROWS, "colour"], "no field 'colour'"),
        ("lines", [ROWS, "{id", ","], "unclosed place"),
        ("row_of", [[["x"]], "A-9"], "no row begins with 'A-9'"),
        ("largest", [[], "amount"], "no row to choose from"),
        (
            "free_slot",
            [[], [], "0001-01-02T00:00:00Z", "9999-12-30T00:00:00Z", 30],
            "in a month at most",
        ),
        (
            "free_slot",
            [[], [], "2031-06-03T09:00:00Z", "2031-06-03T10:00:00Z", -10_000_000],
            "looks for a minute or more",
        ),
        (
            "join",
            [["x" * 600_000] * 2, ""],
            "a made text has at most 1,000,000 characters",
        ),
        (
            "lines",
            [[{"a": "x" * 600_000}], "{a}{a}", ""],
            "a made text has at most 1,000,000 characters",
        ),
    ],
)
def test_a_function_refuses_with_a_reason(name: str, arguments: list[Any], message: str) -> None:
    with pytest.raises(FunctionError) as refusal:
        apply_function(name, arguments)
    assert message in str(refusal.value)
