"""Review queues: opened, filled, closed. Judging their items is in ``review_answers``."""

from django.db import transaction
from django.db.models.functions import Now

from studio.web import audit
from studio.web.audit import storable
from studio.web.errors import Conflict, Invalid, Problem
from studio.web.filters import parse
from tasks_app.enums import UNSETTLED, ItemState, TaskState
from tasks_app.models import ReviewItem, ReviewQueue, Task
from tasks_app.models.review_queue import MOST_REVIEWERS
from tasks_app.operations.actors import Actor, user_of
from tasks_app.operations.review_items import NOT_HELD
from tasks_app.queries import TASKS
from tasks_app.reviewing import queueable

AT_ONCE = 5000
"""Tasks that come in at a time; the next ones follow when these are judged."""
_NAME_LENGTH = 100
_RUBRIC_LENGTH = 5000


@transaction.atomic
def create_queue(
    *, name: str, query: str, by: Actor, rubric: str = "", reviewers: int = 1
) -> ReviewQueue:
    """Open a queue and bring in what its filter matches; FilterError where that cannot be read."""
    name, rubric = name.strip(), rubric.strip()
    problems = []
    if not 1 <= len(name) <= _NAME_LENGTH or storable(name) != name:
        problems.append(Problem("name", f"must have 1 to {_NAME_LENGTH} characters"))
    if len(rubric) > _RUBRIC_LENGTH or storable(rubric) != rubric:
        problems.append(Problem("rubric", f"must have at most {_RUBRIC_LENGTH} characters"))
    if not 1 <= reviewers <= MOST_REVIEWERS:
        problems.append(Problem("reviewers", f"must be 1 to {MOST_REVIEWERS}"))
    if problems:
        raise Invalid("This queue cannot be opened.", problems)
    TASKS.compile(query)
    queue = ReviewQueue.objects.create(
        name=name,
        query=parse(query).render(),
        rubric=rubric,
        reviewers=reviewers,
        author=user_of(by),
    )
    audit.record(
        by, "create_review_queue", queue.code, {"query": queue.query, "reviewers": reviewers}
    )
    fill_queue(queue=queue, by=by)
    return queue


@transaction.atomic
def fill_queue(*, queue: ReviewQueue, by: Actor) -> int:
    """Bring in the proven tasks that match by now; how many came. They are ``in_review`` then."""
    # Held against closing: what comes in afterwards would never be handed out.
    row = ReviewQueue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    if not row.is_open:
        raise Conflict(f"{row.code} is closed.")
    tasks = list(
        queueable(row)
        .select_for_update(of=("self",), skip_locked=True)
        .select_related("current")
        .only("pk", "current__id")
        .order_by("pk")[:AT_ONCE]
    )
    if not tasks:
        return 0
    ReviewItem.objects.bulk_create(
        (ReviewItem(queue=row, task=task, version=task.current) for task in tasks),
        batch_size=1000,
        # One that was withdrawn, or settled while the queue looked away, begins anew.
        update_conflicts=True,
        unique_fields=["queue", "task"],
        update_fields=["version", "state", "outcome", "settled_at", "settled_by"],
    )
    Task.objects.filter(pk__in=[task.pk for task in tasks]).update(state=TaskState.IN_REVIEW)
    audit.record(by, "fill_review_queue", row.code, {"count": len(tasks)})
    return len(tasks)


@transaction.atomic
def close_queue(*, queue: ReviewQueue, by: Actor) -> ReviewQueue:
    """End a queue: what nobody settled is proven and unjudged again, verdicts that were given stay.

    Conflict while something in it waits for a lead.
    """
    row = ReviewQueue.objects.select_for_update(no_key=True).get(pk=queue.pk)
    if not row.is_open:
        raise Conflict(f"{row.code} is closed already.")
    left = row.items.filter(state__in=UNSETTLED)
    tasks = Task.objects.filter(pk__in=left.values("task")).order_by("pk")
    pks = list(tasks.select_for_update(of=("self",)).values_list("pk", flat=True))
    for_a_lead = left.filter(state__in=(ItemState.FLAGGED, ItemState.DISPUTED)).count()
    if for_a_lead:
        raise Conflict(f"{for_a_lead} flagged or disputed in {row.code}: settle them first.")
    left.update(state=ItemState.WITHDRAWN, **NOT_HELD)
    Task.objects.filter(pk__in=pks, state=TaskState.IN_REVIEW).update(state=TaskState.PROVEN)
    ReviewQueue.objects.filter(pk=row.pk).update(closed_at=Now())
    row.refresh_from_db()
    audit.record(by, "close_review_queue", row.code, {"left": len(pks)})
    return row
