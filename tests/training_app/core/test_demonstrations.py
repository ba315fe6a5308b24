"""Demonstrations: a task's solution, or a recorded episode, as rows that pass their lint."""

import re
from dataclasses import replace

import orjson
import pytest

from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import policy_for
from rollouts_app.core.trajectory import RecordedTurn
from tasks_app.core.spec import TaskSpec
from training_app.core import pocket
from training_app.core.demonstrations import DemonstrationError, from_reference, from_trajectory
from training_app.core.lint import Finding, lint_demonstrations


@pytest.fixture(scope="module")
def specs() -> list[TaskSpec]:
    return pocket.tasks("train", 8, 1)


def spoken(spec: TaskSpec) -> list[str]:
    row = from_reference(spec, quote=True)
    return [m["content"] for m in row["messages"] if m["role"] == "assistant"]


def test_every_pocket_demonstration_passes_the_lint(specs: list[TaskSpec]) -> None:
    rows = [from_reference(spec, quote=quote) for spec in specs for quote in (True, False)]
    assert lint_demonstrations(rows) == []


def test_a_deciding_turn_quotes_whom_it_found_and_what_it_needs(specs: list[TaskSpec]) -> None:
    refund = next(s for s in specs if s.family == "pocket_refund_or_decline")
    first, found, decided, _ = spoken(refund)
    order = refund.services["orders"]["orders"]
    own = next(o for o in order if o["customer_name"] in refund.request.text)
    assert first == f"{own['customer_name']}."
    assert found == f"{own['customer_name']} {own['id']}."
    assert decided == f"{own['age']} {own['delivered']}."


def test_a_quote_names_the_day_and_never_a_moment_that_comes_again_by_chance() -> None:
    meetings = pocket.tasks("train", 40, 0, family="pocket_reschedule")
    quotes = [spoken(spec)[1] for spec in meetings]
    assert all(re.fullmatch(r"[A-Za-z ]+ EV-\d+ \d{4}-\d\d-\d\d\.", quote) for quote in quotes)


def test_the_quote_changes_no_call(specs: list[TaskSpec]) -> None:
    for spec in specs:
        calls = [
            [m.get("tool_calls") for m in from_reference(spec, quote=quote)["messages"]]
            for quote in (True, False)
        ]
        assert calls[0] == calls[1]


def test_a_recorded_episode_gives_the_row_of_the_reference(specs: list[TaskSpec]) -> None:
    for spec in specs[:4]:
        outcome = run_episode(spec, policy_for("reference", spec))
        assert from_trajectory(spec, outcome.trajectory) == from_reference(spec)


def test_a_recording_of_another_version_is_refused(specs: list[TaskSpec]) -> None:
    trajectory = run_episode(specs[0], policy_for("reference", specs[0])).trajectory
    with pytest.raises(DemonstrationError, match="another version"):
        from_trajectory(specs[1], trajectory)


def test_a_recording_that_observes_something_else_is_refused(specs: list[TaskSpec]) -> None:
    trajectory = run_episode(specs[0], policy_for("reference", specs[0])).trajectory
    turn = trajectory.turns[0]
    assert isinstance(turn, RecordedTurn)
    call = replace(turn.calls[0], observation=b'{"orders":[]}')
    broken = replace(trajectory, turns=(replace(turn, calls=(call,)), *trajectory.turns[1:]))
    with pytest.raises(DemonstrationError, match="observes something else"):
        from_trajectory(specs[0], broken)


@pytest.mark.parametrize(
    ("change", "place", "message"),
    [
        (lambda m: m.pop(3), "messages[3]", "calls without an answer before it: call_1"),
        (lambda m: m.pop(), "messages[7]", "does not end with a reply"),
        (lambda m: m.insert(1, m[0]), "messages[1]", "a system message that is not the first"),
        (lambda m: m[3].update(tool_call_id="x"), "messages[3]", "answers 'x', which nobody asked"),
        (
            lambda m: m[4]["tool_calls"][0]["function"].update(name="orders_fly"),
            "messages[4].tool_calls[0]",
            "no tool 'orders_fly' is offered",
        ),
        (
            lambda m: m[4]["tool_calls"][0]["function"].update(arguments='{"order_id":7}'),
            "messages[4].tool_calls[0]",
            "'order_id' is 7",
        ),
        (
            lambda m: m[4]["tool_calls"][0]["function"].update(arguments="{"),
            "messages[4].tool_calls[0]",
            "the arguments are not JSON",
        ),
    ],
)
def test_the_lint_names_the_place(
    specs: list[TaskSpec], change: object, place: str, message: str
) -> None:
    refund = next(s for s in specs if s.family == "pocket_refund_or_decline")
    row = orjson.loads(orjson.dumps(from_reference(refund)))
    assert callable(change)
    change(row["messages"])
    found = lint_demonstrations([row])
    assert any(
        isinstance(f, Finding) and f.place == place and f.message.startswith(message) for f in found
    ), found
