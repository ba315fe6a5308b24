"""The reference program: bindings resolve by step, failures end a step and never raise."""

from typing import Any

import pytest

from tasks_app.core.functions import FunctionError
from tasks_app.core.program import (
    Act,
    BindingError,
    bind,
    perform,
    read_acts,
    reference_run,
    run_program,
)
from tasks_app.core.spec import Step
from tasks_app.core.world.world import World
from tests.factories.examples import EXAMPLES, PAYMENT, example

ROWS = [
    {"id": "B", "day": "2031-03-02", "amount": 10, "lines": [{"n": 1}, {"n": 2}]},
    {"id": "A", "day": "2031-03-01", "amount": 20, "lines": [{"n": 3}]},
    {"id": "C", "day": "2031-03-03", "amount": 20, "lines": []},
]
SCOPE = {"found": {"rows": ROWS}, "all": ROWS, "clock": {"today": "2031-03-01"}}


@pytest.mark.parametrize(
    ("binding", "expected"),
    [
        ({"from": "found", "path": "rows.1.id"}, "A"),
        ({"from": "found", "path": "rows[0].id"}, "B"),
        ({"from": "found", "path": "rows.*.id"}, ["B", "A", "C"]),
        (
            {
                "from": "all",
                "path": "*.lines.*",
                "where": {"n": {"ge": 2}},
                "take": "all",
                "field": "n",
            },
            [2, 3],
        ),
        ({"from": "found", "path": "rows", "where": {"id": "a"}, "field": "amount"}, 20),
        ({"from": "found", "path": "rows", "sort": "day", "take": "first", "field": "id"}, "A"),
        ({"from": "found", "path": "rows", "sort": "-amount", "take": "first", "field": "id"}, "A"),
        ({"from": "found", "path": "rows", "take": "last", "field": "id"}, "C"),
        (
            {
                "from": "found",
                "path": "rows",
                "where": {"day": {"le": {"from": "clock", "path": "today"}}},
                "field": "id",
            },
            "A",
        ),
        (
            {
                "fn": "sum",
                "args": [{"from": "found", "path": "rows", "take": "all", "field": "amount"}],
            },
            50,
        ),
        (
            {"text": "{a} and {b}", "with": {"a": {"from": "all", "path": "0.id"}, "b": 2}},
            "B and 2",
        ),
        ([{"x": {"from": "clock", "path": "today"}}], [{"x": "2031-03-01"}]),
        ({"from": "Hamburg", "to": "Kiel"}, {"from": "Hamburg", "to": "Kiel"}),
    ],
)
def test_a_binding_resolves_to_its_value(binding: Any, expected: Any) -> None:
    assert bind(binding, SCOPE) == expected


@pytest.mark.parametrize(
    ("binding", "message"),
    [
        ({"from": "lost"}, "no step lost before this one"),
        ({"from": "found", "path": "cells"}, "has nothing at 'cells'"),
        (
            {"from": "found", "path": "rows", "where": {"amount": 20}, "field": "id"},
            "2 items of step found",
        ),
        (
            {"from": "found", "path": "rows", "where": {"amount": 1}, "take": "first"},
            "is left to take the first of",
        ),
        ({"from": "found", "path": "rows.0", "take": "all"}, "gives no list"),
        (
            {"from": "found", "path": "rows", "take": "all", "field": "colour"},
            "has no field colour",
        ),
        ({"from": "found", "path": "rows", "take": "some"}, "is none of only, first, last, all"),
    ],
)
def test_a_binding_that_fits_nothing_says_why(binding: Any, message: str) -> None:
    with pytest.raises(BindingError) as problem:
        bind(binding, SCOPE)
    assert message in str(problem.value)


def test_a_function_that_cannot_answer_says_why() -> None:
    with pytest.raises(FunctionError, match="no entry for 'gold'"):
        bind({"fn": "lookup", "args": ["gold", {}]}, SCOPE)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_references_of_the_examples_run_without_a_problem(name: str) -> None:
    world, run = reference_run(example(name))
    assert run.problems == []
    assert world.finished
    assert world.evidence().strays() == ()


def test_a_transient_error_is_repeated_by_the_runner_and_stands_in_the_plain_acts() -> None:
    spec = example(PAYMENT)
    world, run = reference_run(spec)
    holds = [c for c in world.calls if c.tool == "finance_hold_invoice"]
    assert [c.error for c in holds] == [None, "rate_limited", None, None]
    assert [a.arguments["invoice_id"] for a in run.acts if a.tool == "finance_hold_invoice"] == [
        "IN-5498",
        "IN-5521",
        "IN-5521",
        "IN-5530",
    ]


def test_without_repetition_the_step_fails_and_what_hangs_on_it_does_too() -> None:
    world = World(example(PAYMENT))
    run = run_program(world, example(PAYMENT).reference, repetitions=0)
    assert [(p.step, p.message.partition(":")[0]) for p in run.problems] == [
        ("hold", "rate_limited")
    ]
    assert world.evidence().rows("finance/invoices")["IN-5521"]["status"] == "approved"


def test_plain_acts_replayed_on_a_fresh_world_reach_the_same_state() -> None:
    spec = example(PAYMENT)
    world, run = reference_run(spec)
    again = World(spec)
    perform(again, read_acts([act.written() for act in run.acts]))
    assert again.store.state_key() == world.store.state_key()
    assert [c.observation for c in again.calls] == [c.observation for c in world.calls]


def test_a_step_after_the_last_reply_is_a_problem() -> None:
    world = World(example(PAYMENT))
    run = run_program(world, [Step(reply="Done."), Step(reply="Again.")])
    assert [(p.position, p.message) for p in run.problems] == [(1, "after the last reply")]


def test_a_calls_file_is_read_or_refused_with_its_place() -> None:
    assert read_acts([{"tool": "a_b", "arguments": {"x": 1}}, {"reply": "ok"}]) == [
        Act("a_b", {"x": 1}),
        Act(None, {}, "ok"),
    ]
    for data, message in (
        ({}, "is one JSON list"),
        ([{"tool": "a", "arguments": []}], r"\[0\].arguments is not an object"),
        ([{"reply": "x"}, {"say": 1}], r"\[1\] is neither"),
    ):
        with pytest.raises(ValueError, match=message):
            read_acts(data)
