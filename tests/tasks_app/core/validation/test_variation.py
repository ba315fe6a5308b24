"""D2 and X2: another seed is solved by the same program, which then writes the same."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from tasks_app.core.editing import apply
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import Plan, draft
from tasks_app.core.program import Act
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.proof import prove
from tasks_app.core.validation.trace import bindings
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.variation import (
    Varied,
    moved,
    solves_again,
    stable,
    without_bystanders,
)
from tasks_app.core.world.world import Seed
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, Written, broken, entry, example


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_solved_under_another_seed(name: str) -> None:
    trial = Trial(example(name))
    varied = Varied(trial)

    assert (varied.play.grade.passed, list(solves_again(trial, varied))) == (True, [])
    assert list(stable(trial, varied)) == []


def test_another_seed_moves_the_failure_and_takes_bystanders_away() -> None:
    trial = Trial(example(PAYMENT))

    assert [f.tool for f in trial.spec.faults] == ["finance_hold_invoice"]
    assert [f.tool for f in moved(trial)] != ["finance_hold_invoice"]
    start, left = trial.seed.ground.start, without_bystanders(trial)
    gone = {place: sorted(start[place].keys() - left[place].keys()) for place in start}
    assert {place: len(ids) for place, ids in gone.items() if ids} == {
        "finance/invoices": 5,
        "helpdesk/tickets": 5,
        "mail/messages": 7,
    }


def test_a_step_that_counts_on_a_bystander_warns() -> None:
    def by_place(data: Written) -> None:
        data["seed"] = 0  # the first bystander goes
        data["reference"][0]["arguments"]["query"] = "a"
        second = data["reference"][1]["arguments"]
        second["message_id"] = {"from": "found", "path": f"messages.{place}.id"}

    search = Act("mail_search_messages", {"query": "a"})
    call = Trial(example(PAYMENT)).tries(0, search)
    assert call is not None
    place = [mail["id"] for mail in call.outcome["messages"]].index("M-901")
    trial = Trial(broken(PAYMENT, by_place))
    assert trial.reference.grade.passed
    found = list(solves_again(trial, Varied(trial)))

    assert [(f.severity, f.gate) for f in found] == [("warn", "D2")]


def test_a_place_in_a_list_whose_other_entries_are_needed_warns() -> None:
    # The first meeting ends where the right one is to begin: no other seed may take it away.
    family = FAMILIES["pocket_reschedule"]
    data = draft(family, Plan(family.name, "to_morning", 1, 2, 0)).written()
    done = entry([step for step in data["reference"] if "id" in step], "done")
    done["arguments"]["event_id"] = {"from": "found", "path": "events.1.id"}
    trial = Trial(load_spec(data))
    varied = Varied(trial)

    assert (trial.reference.grade.passed, varied.play.grade.passed) == (True, True)
    assert [(f.gate, f.severity, f.path, f.message) for f in solves_again(trial, varied)] == [
        (
            "D2",
            "warn",
            "/reference/2",
            "step done takes number 2 of the 4 events of found by its place",
        )
    ]


def _reschedule(change: Callable[[Written, Written], None]) -> TaskSpec:
    """A small task with its meeting and a change of it."""
    family = FAMILIES["pocket_reschedule"]
    data = draft(family, Plan(family.name, "to_morning", 1, 2, 0)).written()
    reference = [step for step in data["reference"] if "id" in step]
    title = entry(reference, "done")["arguments"]["event_id"]["where"]["title"]
    events = data["services"]["calendar"]["events"]
    change(data, next(event for event in events if event["title"] == title))
    return load_spec(data)


def _double(data: Written, meeting: Written) -> None:
    data["services"]["calendar"]["events"].append({**meeting, "id": "EV-999"})


def _take_first(data: Written, **more: str) -> None:
    for step in data["reference"][1:3]:
        for binding in bindings(step["arguments"]):
            if "where" in binding:
                cast(Written, binding).update(take="first", **more)


def _said(spec: TaskSpec) -> list[tuple[str, str, str, str]]:
    trial = Trial(spec)
    assert trial.reference.grade.passed
    found = solves_again(trial, Varied(trial))
    return [(f.gate, f.severity, f.path, f.message) for f in found]


def test_taking_the_first_of_two_that_fit_alike_blocks() -> None:
    def twice(data: Written, meeting: Written) -> None:
        _double(data, meeting)
        _take_first(data)

    words = "takes the first of 2 events of found that fit alike"
    assert _said(_reschedule(twice)) == [
        ("D2", "block", "/reference/1", f"step slots {words}"),
        ("D2", "block", "/reference/2", f"step done {words}"),
    ]


def test_taking_the_first_in_an_order_is_a_choice_unless_two_stand_alike_in_it() -> None:
    def in_order(by: str) -> TaskSpec:
        def twice(data: Written, meeting: Written) -> None:
            _double(data, meeting)
            _take_first(data, sort=by)

        return _reschedule(twice)

    assert _said(in_order("id")) == []
    assert [path for _, _, path, _ in _said(in_order("start"))] == ["/reference/1", "/reference/2"]


def test_taking_the_first_where_only_one_fits_is_a_choice() -> None:
    assert _said(_reschedule(lambda data, _meeting: _take_first(data))) == []


def test_a_field_that_differs_from_seed_to_seed_is_found_and_freed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tool = tools()["finance_create_refund"]
    right, moment = tool.function, {"now": 0}

    def rigged(service: Any, **arguments: Any) -> Any:
        made = right(service, **arguments)
        service.refunds.put({**service.refunds[made["id"]], "slip": f"S{moment['now']}"})
        return made

    def rigged_trial(spec: TaskSpec) -> Trial:
        seed = Seed.of(spec)
        offered = {**seed.offered, tool.facts.name: replace(tool, function=rigged)}
        monkeypatch.setattr(seed, "offered", offered)
        return Trial(spec)

    trial = rigged_trial(example(SUPPORT))
    assert list(stable(trial, Varied(trial))) == []

    moment["now"] = 7  # as if the hour had struck
    found = list(stable(trial, Varied(trial)))

    assert [f.message for f in found] == [
        "slip of finance/refunds differs between two seeds, and stands in the hash of the records"
    ]
    assert found[0].suggestion is not None
    mended = rigged_trial(load_spec(apply(trial.spec.written(), found[0].suggestion.patch)))
    moment["now"] += 1
    assert list(stable(mended, Varied(mended))) == []


def test_a_card_shows_both_gates() -> None:
    states = {gate.id: gate.state for gate in prove(example(SUPPORT)).gates}

    assert (states["X2"], states["D2"]) == ("held", "held")
