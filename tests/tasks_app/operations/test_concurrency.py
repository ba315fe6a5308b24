"""Two writers at once: one wins, the other is told."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from studio.web.errors import Conflict, StaleBase, StudioError
from tasks_app.enums import ImportSource, TaskState
from tasks_app.making import outcomes
from tasks_app.models import Attempt, Review, Task, TaskVersion
from tasks_app.operations.generation import open_run, store_outcomes
from tasks_app.operations.imports import Item, open_import, store_import
from tasks_app.operations.tasks import create_task, save_version
from tasks_app.operations.verdicts import approve, reject
from tests.factories.specs import green_card, small_spec

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], object]) -> list[StudioError | None]:
    """Run acts in threads that start together; what each raised, None where it succeeded."""
    start = threading.Barrier(len(acts))
    ends: list[StudioError | None] = [None] * len(acts)

    def run(number: int, act: Callable[[], object]) -> None:
        start.wait()
        try:
            act()
        except StudioError as error:
            ends[number] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number, act)) for number, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ends


def test_of_several_saves_on_one_base_exactly_one_is_kept() -> None:
    task = create_task(spec=small_spec(), by=None)
    specs = [small_spec(seed=seed) for seed in range(100, 106)]
    ends = at_once(
        *(
            lambda spec=spec: save_version(
                task=Task.objects.get(pk=task.pk), base=1, spec=spec, by=None, reason="mine"
            )
            for spec in specs
        )
    )
    assert ends.count(None) == 1
    assert all(isinstance(end, StaleBase) for end in ends if end is not None)
    assert list(TaskVersion.objects.filter(task=task).values_list("number", flat=True)) == [2, 1]
    winner = specs[ends.index(None)]
    task.refresh_from_db()
    assert (task.spec_hash, task.current_number) == (winner.hash, 2)


def test_a_task_is_approved_or_rejected_never_both() -> None:
    spec = small_spec()
    task = create_task(spec=spec, by=None, card=green_card(spec))
    ends = at_once(
        lambda: approve(task=task, base=1, by=None),
        lambda: reject(task=task, base=1, by=None, reason="no"),
    )
    assert ends.count(None) == 1
    assert all(isinstance(end, Conflict) for end in ends if end is not None)
    task.refresh_from_db()
    review = Review.objects.get()
    assert {"approve": TaskState.APPROVED, "reject": TaskState.REJECTED}[
        review.decision
    ] == task.state


def test_two_imports_at_once_bring_each_item_in_once() -> None:
    items = [Item(str(seed), small_spec(seed=seed)) for seed in range(100, 106)]
    runs = [open_import(by=None, source=ImportSource.JSON, name=name) for name in ("a", "b")]
    ends = at_once(
        *(lambda run=run: store_import(run=run, items=items, seconds=0.0) for run in runs)
    )
    assert ends == [None, None]
    assert Task.objects.count() == len(items)
    for run in runs:
        run.refresh_from_db()
    assert sorted((run.created, run.known, run.refused) for run in runs) == [(0, 6, 0), (6, 0, 0)]


def test_two_runs_of_one_seed_at_once_keep_each_draft_once() -> None:
    runs = [
        open_run(by=None, families=["pocket_refund_or_decline"], count=2, seed=7, difficulty=[1])
        for _ in range(2)
    ]
    drafts = list(outcomes(["pocket_refund_or_decline"], 2, 7, [1], library=False))
    unique = sum(draft.fate == "unique" for draft in drafts)
    ends = at_once(
        *(lambda run=run: store_outcomes(run=run, outcomes=drafts, seconds=0.0) for run in runs)
    )
    assert ends == [None, None]
    assert (Task.objects.count(), unique) == (2, 2)
    for run in runs:
        run.refresh_from_db()
    assert sorted(run.unique for run in runs) == [0, 2]
    assert Attempt.objects.filter(reason__startswith="another run stored").count() == 2
