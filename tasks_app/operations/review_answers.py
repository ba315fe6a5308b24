"""Judging the items of a review queue: answers, what they come to, adjudication, undo.

An answer is bound to the version that was looked at. Once as many people have approved or rejected
as the queue asks for, the task is approved or rejected where all said the same, and disputed where
they did not: a lead decides then. The lock on the task comes before that on its item.
"""

from collections.abc import Mapping
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from studio.web import audit
from studio.web.errors import Conflict, Invalid, Problem
from studio.web.models import User
from tasks_app.enums import DECIDING, Act, Answer, Decision, ItemState, TaskState
from tasks_app.models import Review, ReviewAnswer, ReviewItem, ReviewQueue, Task
from tasks_app.operations.actors import Actor
from tasks_app.operations.review_items import NOT_HELD, publish, settle
from tasks_app.operations.review_leases import LEASE, lost, person_of
from tasks_app.operations.transitions import ensure_can, lock
from tasks_app.operations.verdicts import add_review, conclude, ensure_approvable
from tasks_app.reviewing import items_of, last_answer, live_answers

_AS_SETTLED: Final[Mapping[str, TaskState]] = {
    Decision.APPROVE: TaskState.APPROVED,
    Decision.REJECT: TaskState.REJECTED,
}


@transaction.atomic
def answer_item(
    *,
    item: ReviewItem,
    base: int,
    by: Actor,
    answer: Answer,
    reason: str = "",
    seconds: int | None = None,
) -> ReviewItem:
    """Answer an item that one holds; it is let go, and settled or disputed with the last answer.

    StaleBase where the task was saved since version ``base``; Conflict where somebody else holds
    the item, or the task cannot be approved; Invalid where a rejection or a flag has no reason.
    """
    person = person_of(by)
    if answer in (Answer.REJECT, Answer.FLAG) and not reason.strip():
        raise Invalid("Say why.", [Problem("reason", "is missing")])
    task = lock(item.task, base=base)
    row = _locked(item)
    if row.state != ItemState.OPEN or row.holder_id != person.pk:
        raise lost(row)
    if answer == Answer.APPROVE:
        ensure_approvable(task, by=by, reason=reason)
    if live_answers().filter(item=row, reviewer=person).exists():
        raise Conflict(f"You have answered {task.code} already; take that back first.")
    ReviewAnswer.objects.create(
        item=row,
        version=row.version,
        reviewer=person,
        answer=answer,
        reason=reason.strip()[:2000],
        seconds=seconds,
    )
    state = ItemState.FLAGGED if answer == Answer.FLAG else ItemState.OPEN
    ReviewItem.objects.filter(pk=row.pk).update(state=state, **NOT_HELD)
    audit.record(
        by,
        "answer_review",
        task.code,
        {"queue": row.queue.code, "version": base, "answer": answer.value},
    )
    if answer in DECIDING:
        _come_to_an_end(row, task, by)
    return _fresh(row)


@transaction.atomic
def adjudicate(
    *, item: ReviewItem, base: int, by: Actor, decision: Decision, reason: str
) -> ReviewItem:
    """Decide a disputed or flagged item: a lead's right, with a reason."""
    person = person_of(by)
    if not reason.strip():
        raise Invalid("Say why.", [Problem("reason", "is missing")])
    task = lock(item.task, base=base)
    row = _locked(item)
    if row.state not in (ItemState.DISPUTED, ItemState.FLAGGED):
        raise Conflict(
            f"{task.code} is neither disputed nor flagged ({row.get_state_display().lower()})."
        )
    if decision == Decision.APPROVE:
        ensure_approvable(task, by=by, reason=reason)
    else:
        ensure_can(task, Act.REJECT)
    settle(row, decision, by=by)
    add_review(task, decision, by=person, reason=reason)
    conclude(task, decision, by=by, detail={"queue": row.queue.code, "settled": row.state})
    return _fresh(row)


@transaction.atomic
def undo_answer(*, queue: ReviewQueue, by: Actor) -> ReviewItem:
    """Take one's last answer in a queue back while nothing came of it; the item is one's own again.

    Conflict where the task was edited or judged on since, or somebody else has judged it: what
    they said may have been seen by now.
    """
    person = person_of(by)
    found = last_answer(queue, person)
    if found is None:
        raise Conflict(f"There is nothing of yours to take back in {queue.code}.")
    task = lock(found.item.task)
    row = _locked(found.item)
    _ensure_undoable(found, row, task, person)
    Review.objects.filter(answer=found).delete()
    ReviewAnswer.objects.filter(pk=found.pk).update(undone_at=Now())
    if row.state == ItemState.SETTLED:
        task.state = TaskState.IN_REVIEW
        task.approved = None
        task.save(update_fields=["state", "approved"])
    mine: dict[str, object] = {}
    if row.holder_id is None:
        mine = {"holder": person, "lease_until": Now() + LEASE, "heartbeat_at": Now()}
    flags = live_answers().filter(item=row, answer=Answer.FLAG)
    ReviewItem.objects.filter(pk=row.pk).update(
        state=ItemState.FLAGGED if flags.exists() else ItemState.OPEN,
        outcome="",
        settled_at=None,
        settled_by=None,
        **mine,
    )
    audit.record(
        by,
        "undo_review",
        task.code,
        {"queue": queue.code, "version": row.version.number, "answer": found.answer},
    )
    return _fresh(row)


def _come_to_an_end(row: ReviewItem, task: Task, by: Actor) -> None:
    """Settle or dispute an item once enough people have judged it."""
    said = _verdicts(row)
    if said.count() < row.queue.reviewers:
        return
    decisions = set(said.values_list("answer", flat=True))
    if len(decisions) == 1:
        decision = Decision(decisions.pop())
        settle(row, decision, by=None)
        conclude(task, decision, by=by, detail={"queue": row.queue.code})
        return
    ensure_can(task, Act.DISPUTE)
    publish(row)
    ReviewItem.objects.filter(pk=row.pk).update(state=ItemState.DISPUTED)
    task.state = TaskState.DISPUTED
    task.save(update_fields=["state"])
    audit.record(by, "dispute_task", task.code, {"queue": row.queue.code})


def _ensure_undoable(found: ReviewAnswer, row: ReviewItem, task: Task, person: User) -> None:
    why = ""
    if found.version_id != task.current_id or row.state == ItemState.WAITING:
        why = "the task was edited since"
    elif not row.queue.is_open:
        why = f"{row.queue.code} is closed"
    elif row.state in (ItemState.DISPUTED, ItemState.WITHDRAWN) or row.settled_by_id is not None:
        why = f"it is {row.get_state_display().lower()} by now"
    elif row.state == ItemState.SETTLED and task.state != _AS_SETTLED[row.outcome]:
        why = f"{task.code} is {TaskState(task.state).label.lower()} by now"
    elif found.answer in DECIDING and _verdicts(row).exclude(reviewer=person).exists():
        why = "somebody else has judged it too"
    if why:
        raise Conflict(f"Your answer to {task.code} stands: {why}.")


def _verdicts(row: ReviewItem) -> QuerySet[ReviewAnswer]:
    return live_answers().filter(item=row, answer__in=DECIDING)


def _locked(item: ReviewItem) -> ReviewItem:
    rows = ReviewItem.objects.select_for_update(of=("self",))
    return rows.select_related("queue", "version", "holder", "task").get(pk=item.pk)


def _fresh(row: ReviewItem) -> ReviewItem:
    return items_of(row.queue).get(pk=row.pk)
