"""Holding tasks back from training: whole clusters, so that nothing shared is left (gate V4)."""

from typing import NamedTuple

from django.db import transaction

from studio.web import audit
from studio.web.errors import Conflict, Invalid, Problem
from tasks_app.core.validation.splits import leaks, moved
from tasks_app.enums import Split, TaskState
from tasks_app.models import Task
from tasks_app.operations.actors import Actor
from tasks_app.queries import matching

KINDS = (Split.NEW_INSTANCES, Split.TRAIN)
"""What a task may be moved to; whole families are held back by the table in code."""


class Moved(NamedTuple):
    """What a move came to."""

    asked: int
    """Tasks of the filter."""
    along: tuple[str, ...]
    """Codes of those that hang together with one of them by a name, id or value."""
    leaks: int
    """Shared names, ids and values left between what is held back and what is trained on."""


@transaction.atomic
def move(*, filter_text: str, to: Split, by: Actor, dry: bool = False) -> Moved:
    """Move the tasks of a filter, and their whole clusters, to one side. Audited.

    Invalid for another side, or a filter of none; Conflict where nothing would be left to train on.
    """
    if to not in KINDS:
        raise Invalid(
            "Tasks cannot be moved there.",
            [Problem("to", f"“{to}” is decided by the table of families or by the import")],
        )
    rows = Task.objects.filter(
        evaluation_only=False, split__in=(Split.TRAIN, Split.NEW_INSTANCES)
    ).exclude(state=TaskState.RETIRED)
    tasks = {
        pk: (code, frozenset(identity), split)
        for pk, code, identity, split in rows.order_by("pk").values_list(
            "pk", "code", "identity", "split"
        )
    }
    asked = tasks.keys() & set(matching(filter_text).values_list("pk", flat=True))
    if not asked:
        raise Invalid("Nothing is moved.", [Problem("filter", "no task of a split matches")])
    whole, along = moved({pk: identity for pk, (_, identity, _) in tasks.items()}, asked)
    sides = {pk: to if pk in whole else split for pk, (_, _, split) in tasks.items()}
    if Split.TRAIN not in sides.values():
        raise Conflict("All tasks hang together: nothing would be left to train on.")
    if not dry:
        Task.objects.filter(pk__in=whole).update(split=to)
        audit.record(by, "move_split", "", {"filter": filter_text, "to": to.value,
                                            "tasks": len(whole), "along": len(along)})  # fmt: skip
    trained = {pk: tasks[pk][1] for pk, side in sides.items() if side == Split.TRAIN}
    held = {pk: tasks[pk][1] for pk, side in sides.items() if side != Split.TRAIN}
    codes = tuple(sorted(tasks[pk][0] for pk in along))
    return Moved(len(asked), codes, len(leaks(trained, held)))
