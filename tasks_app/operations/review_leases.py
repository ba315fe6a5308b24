"""Holding an item of a review queue: the next one, heartbeat, giving it back, taking it over.

As with jobs (``studio.web.claims``) the database's clock decides and every write is conditional:
two who ask at the same moment never get the same item, and an item whose holder went away is free
again when the lease ends. Leases are not audited, taking one over is.
"""

import datetime as dt
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from studio.web import audit
from studio.web.errors import Conflict, Forbidden
from studio.web.models import User
from tasks_app.enums import ItemState
from tasks_app.models import ReviewItem, ReviewQueue
from tasks_app.operations.actors import Actor, user_of
from tasks_app.operations.review_items import NOT_HELD
from tasks_app.operations.review_queues import fill_queue
from tasks_app.reviewing import free_items, items_of, queueable

LEASE = dt.timedelta(minutes=2)


@transaction.atomic
def next_item(*, queue: ReviewQueue, by: Actor, lease: dt.timedelta = LEASE) -> ReviewItem | None:
    """Hand the person the next item that they have not answered and that nobody holds, themselves
    included; None where there is none. What the filter matches by now comes in first if it must.
    """
    person = person_of(by)
    item = _take(queue, person, lease)
    if item is None and queue.is_open and queueable(queue).exists():
        fill_queue(queue=queue, by=by)
        item = _take(queue, person, lease)
    return item


def beat(*, item: ReviewItem, by: Actor, lease: dt.timedelta = LEASE) -> ReviewItem:
    """Extend the lease; Conflict names the holder where it went to somebody else."""
    mine = ReviewItem.objects.filter(pk=item.pk, holder=person_of(by), state=ItemState.OPEN)
    if not mine.update(lease_until=Now() + lease, heartbeat_at=Now()):
        raise lost(_fresh(item))
    return _fresh(item)


def release(*, item: ReviewItem, by: Actor) -> ReviewItem:
    """Give an item back unanswered; nothing happens where it is held no more."""
    ReviewItem.objects.filter(pk=item.pk, holder=person_of(by)).update(**NOT_HELD)
    return _fresh(item)


@transaction.atomic
def take_over(*, item: ReviewItem, by: Actor, lease: dt.timedelta = LEASE) -> ReviewItem:
    """Hold an item whoever holds it now: a lead's right, and in the audit log."""
    person = person_of(by)
    row = ReviewItem.objects.select_for_update(of=("self",)).get(pk=item.pk)
    if row.state != ItemState.OPEN:
        raise Conflict(f"{item.task.code} is not to be judged now ({row.get_state_display()}).")
    before = row.holder
    ReviewItem.objects.filter(pk=row.pk).update(**_held_by(person, lease))
    audit.record(
        by,
        "take_over_review",
        item.task.code,
        {"queue": item.queue.code, "from": "" if before is None else before.username},
    )
    return _fresh(item)


def person_of(by: Actor) -> User:
    """Return the person; Forbidden for the system, which judges nothing."""
    user = user_of(by)
    if user is None:
        raise Forbidden("Only people judge.")
    return user


def lost(item: ReviewItem) -> Conflict:
    """Return what a person is told who no longer holds an item."""
    if item.state != ItemState.OPEN:
        why = f"it is {item.get_state_display().lower()} now"
    elif item.holder is None:
        why = "nobody holds it now"
    else:
        why = f"{item.holder.username} holds it now"
    return Conflict(
        f"You no longer hold {item.task.code}: {why}.",
        holder=None if item.holder is None else item.holder.username,
    )


def _take(queue: ReviewQueue, person: User, lease: dt.timedelta) -> ReviewItem | None:
    free = free_items(queue, person).select_for_update(of=("self",), skip_locked=True)
    item = free.first()
    if item is None:
        return None
    ReviewItem.objects.filter(pk=item.pk).update(**_held_by(person, lease))
    return _fresh(item)


def _held_by(person: User, lease: dt.timedelta) -> dict[str, Any]:
    return {"holder": person, "lease_until": Now() + lease, "heartbeat_at": Now()}


def _fresh(item: ReviewItem) -> ReviewItem:
    return items_of(item.queue).get(pk=item.pk)
