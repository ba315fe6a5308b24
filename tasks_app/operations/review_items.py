"""What happens to a task's item in a review queue while the task itself moves.

Each function is called in the transaction that moved the task, with the task's row locked: the
lock on the task comes before the one on its item, everywhere.
"""

from django.db.models import QuerySet
from django.db.models.functions import Now

from studio.web.choices import Role
from studio.web.errors import Conflict
from tasks_app.enums import DECIDING, UNSETTLED, Decision, ItemState, TaskState
from tasks_app.models import Review, ReviewAnswer, ReviewItem, Task
from tasks_app.operations.actors import Actor, user_of


def follow(row: Task) -> None:
    """Bring a task's item to where its task stands after an edit or a proof.

    What was edited, or is no longer proven, waits; proven anew it is back in its queue, at the
    version of then. Saves the task's state where that makes it ``in_review``.
    """
    if row.state in (TaskState.DRAFT, TaskState.INVALID):
        _item_to_wait(row).update(
            state=ItemState.WAITING,
            outcome="",
            settled_at=None,
            settled_by=None,
            **NOT_HELD,
        )
        return
    if row.state != TaskState.PROVEN:
        return
    back = ReviewItem.objects.filter(task=row, state=ItemState.WAITING)
    if back.update(state=ItemState.OPEN, version=row.current):
        row.state = TaskState.IN_REVIEW
        row.save(update_fields=["state"])


def settle_elsewhere(row: Task, decision: Decision, *, by: Actor) -> None:
    """Settle the item of a task that is judged on its own page: a lead's right, since the others'
    verdicts are cut short. Conflict names the queue for everybody else.
    """
    item = unsettled(row).select_related("queue").first()
    if item is None:
        return
    user = user_of(by)
    if user is None or not Role(user.role).includes(Role.LEAD):
        raise Conflict(
            f"{row.code} is in the review queue {item.queue.code}: judge it there. A lead may "
            "decide here.",
            queue=item.queue.code,
        )
    settle(item, decision, by=by)


def settle(item: ReviewItem, decision: Decision, *, by: Actor) -> None:
    """End an item; ``by`` is the lead who decided, None where the reviewers agreed."""
    publish(item)
    ReviewItem.objects.filter(pk=item.pk).update(
        state=ItemState.SETTLED,
        outcome=decision,
        settled_at=Now(),
        settled_by=user_of(by),
        **NOT_HELD,
    )


def publish(item: ReviewItem) -> None:
    """Show the verdicts on an item on its task's page: nobody has to judge it blind any more."""
    unseen = ReviewAnswer.objects.filter(
        item=item, version=item.version, undone_at=None, answer__in=DECIDING, review=None
    )
    for answer in unseen.order_by("pk"):
        answer.review = Review.objects.create(
            version_id=answer.version_id,
            reviewer_id=answer.reviewer_id,
            decision=answer.answer,
            reason=answer.reason,
            seconds=answer.seconds,
        )
        answer.save(update_fields=["review"])


def leave_queue(row: Task) -> None:
    """Take a task that went out of use out of its queue."""
    unsettled(row).update(state=ItemState.WITHDRAWN, **NOT_HELD)


def unsettled(row: Task) -> QuerySet[ReviewItem]:
    """Return the task's item that is still to be judged: at most one."""
    return ReviewItem.objects.filter(task=row, state__in=UNSETTLED)


#: The columns of a lease, given up.
NOT_HELD: dict[str, None] = {"holder": None, "lease_until": None, "heartbeat_at": None}


def _item_to_wait(row: Task) -> QuerySet[ReviewItem]:
    """Return the item still to be judged, or else the last one settled in a queue that is open."""
    here = unsettled(row)
    if here.exists():
        return here
    settled = ReviewItem.objects.filter(
        task=row, state=ItemState.SETTLED, queue__closed_at__isnull=True
    )
    last = settled.order_by("-settled_at", "-pk").values("pk")[:1]
    return ReviewItem.objects.filter(pk__in=last)
