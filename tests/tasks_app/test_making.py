"""Drafts of a run are the same in however many processes they are made."""

import multiprocessing
from collections.abc import Iterable
from typing import Any

import pytest

from tasks_app.core.generation.generate import Outcome
from tasks_app.core.processes import ProcessDied
from tasks_app.making import outcomes, processes_for

pytestmark = pytest.mark.django_db

POCKET = ["pocket_refund_or_decline", "pocket_reschedule"]


def told(made: Iterable[Outcome]) -> list[tuple[Any, ...]]:
    """What became of each draft, but for the time that it took."""
    return [
        (
            one.made.plan,
            one.fate,
            one.reason,
            one.made.spec and one.made.spec.hash,
            one.made.card and one.made.card.model_copy(update={"milliseconds": 0.0}),
        )
        for one in made
    ]


def test_several_processes_make_what_one_makes_in_the_same_order() -> None:
    alone = list(outcomes(POCKET, 12, 7, [1], library=False))
    shared = list(outcomes(POCKET, 12, 7, [1], library=False, processes=2))
    assert told(shared) == told(alone)
    assert all(one.made.card and one.made.card.milliseconds for one in shared)


def test_processes_end_when_somebody_stops_reading() -> None:
    before = set(multiprocessing.active_children())
    drafts = outcomes(POCKET, 40, 7, library=False, processes=2)
    next(drafts)
    assert len(set(multiprocessing.active_children()) - before) == 2
    drafts.close()
    assert set(multiprocessing.active_children()) <= before


def test_a_process_that_is_killed_ends_the_run_with_an_error() -> None:
    before = set(multiprocessing.active_children())
    drafts = outcomes(POCKET, 200, 7, library=False, processes=2)
    next(drafts)
    for process in set(multiprocessing.active_children()) - before:
        process.kill()
    with pytest.raises(ProcessDied):
        list(drafts)


def test_few_tasks_are_made_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    assert [processes_for(count) for count in (1, 59, 60, 602)] == [1, 1, 8, 8]
