"""Reads of review queues: whose turn, how far, how often reviewers agree, who may see which answer.

Answers are blind: ``visible_answers`` is the one place that decides what a person is shown.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from studio.lib.stats import Interval, wilson
from studio.web.choices import Role
from studio.web.codes import get_by_code
from studio.web.errors import NotFound
from studio.web.models import User
from tasks_app.core.validation.card import GATES_VERSION
from tasks_app.enums import DECIDING, Decision, ItemState, TaskState, Verdict
from tasks_app.models import ReviewAnswer, ReviewItem, ReviewQueue, Task
from tasks_app.queries import NEVER_LISTED, matching


def queues() -> QuerySet[ReviewQueue]:
    """Return all queues, those that are open first, then the newest."""
    rows = ReviewQueue.objects.select_related("author")
    return rows.order_by(F("closed_at").desc(nulls_first=True), "-created_at", "-pk")


def get_queue(code: str) -> ReviewQueue:
    """Return a queue; NotFound names the code."""
    return get_by_code(ReviewQueue.objects.select_related("author"), code)


def items_of(queue: ReviewQueue) -> QuerySet[ReviewItem]:
    """Return the items of a queue in the order they are judged in, each with task and holder."""
    rows = queue.items.select_related("task", "version", "holder", "settled_by", "queue")
    payload = ("version__spec", "version__patch", *(f"task__{name}" for name in NEVER_LISTED))
    return rows.defer(*payload).order_by("pk")


def get_item(queue: ReviewQueue, task_code: str) -> ReviewItem:
    """Return the item of a task in a queue; NotFound names both."""
    task = get_by_code(Task.objects.only("pk", "code"), task_code)
    item = items_of(queue).filter(task=task).first()
    if item is None:
        raise NotFound(f"{task.code} is not in the review queue {queue.code}.")
    return item


def live_answers() -> QuerySet[ReviewAnswer]:
    """Return the answers that count: not taken back, and to the version to be judged now."""
    return ReviewAnswer.objects.filter(undone_at=None, version=F("item__version"))


def unheld() -> Q:
    """The condition of items that nobody holds; the database's clock decides."""
    return Q(holder=None) | Q(lease_until__lt=Now())


def free_items(queue: ReviewQueue, user: User) -> QuerySet[ReviewItem]:
    """Return what may be handed to a person: to be judged, not answered by them, held by nobody."""
    mine = live_answers().filter(item=OuterRef("pk"), reviewer=user)
    return queue.items.filter(unheld(), ~Exists(mine), state=ItemState.OPEN).order_by("pk")


def held_items(queue: ReviewQueue, user: User) -> QuerySet[ReviewItem]:
    """Return what a person holds in a queue and has not lost, the first taken first."""
    return items_of(queue).filter(holder=user, lease_until__gte=Now(), state=ItemState.OPEN)


def queueable(queue: ReviewQueue) -> QuerySet[Task]:
    """Return the tasks that the queue's filter brings in now: proven by the present gates, for
    training, and in no queue.
    """
    return matching(queue.query).filter(
        state=TaskState.PROVEN,
        evaluation_only=False,
        proof__verdict=Verdict.PROVEN,
        proof__spec_hash=F("spec_hash"),
        proof__gates_version=GATES_VERSION,
    )


def last_answer(queue: ReviewQueue, user: User) -> ReviewAnswer | None:
    """Return a person's last answer in a queue that was not taken back."""
    mine = ReviewAnswer.objects.filter(item__queue=queue, reviewer=user, undone_at=None)
    return mine.select_related("item__task", "version").defer("version__spec").last()


def visible_answers(item: ReviewItem, user: User) -> QuerySet[ReviewAnswer]:
    """Return the answers to the version to be judged that a person may see.

    One's own always. Those of others once nothing can be swayed any more: one's own verdict is in,
    or the item is settled or disputed. Of a flagged item a lead sees all, who has to decide.
    """
    rows = live_answers().filter(item=item).select_related("reviewer").order_by("pk")
    if item.state in (ItemState.SETTLED, ItemState.DISPUTED):
        return rows
    if item.state == ItemState.FLAGGED and Role(user.role).includes(Role.LEAD):
        return rows
    if rows.filter(reviewer=user, answer__in=DECIDING).exists():
        return rows
    return rows.filter(reviewer=user)


@dataclass(frozen=True)
class Progress:
    """How far a queue is; items that were withdrawn are not counted."""

    open: int = 0
    waiting: int = 0
    flagged: int = 0
    disputed: int = 0
    approved: int = 0
    rejected: int = 0

    @property
    def settled(self) -> int:
        """Items that need nothing more."""
        return self.approved + self.rejected

    @property
    def total(self) -> int:
        """All items."""
        return self.settled + self.open + self.waiting + self.flagged + self.disputed


def progress(rows: Iterable[ReviewQueue]) -> Mapping[int, Progress]:
    """Return how far each queue is, by its id; one query for all."""
    pks = [row.pk for row in rows]
    counted = (
        ReviewItem.objects.filter(queue__in=pks)
        .exclude(state=ItemState.WITHDRAWN)
        .order_by()
        .values_list("queue", "state", "outcome")
        .annotate(n=Count("pk"))
    )
    found: dict[int, dict[str, int]] = {pk: {} for pk in pks}
    for pk, state, outcome, n in counted:
        found[pk][_OUTCOMES.get(outcome, state)] = n
    return {pk: Progress(**counts) for pk, counts in found.items()}


_OUTCOMES = {Decision.APPROVE.value: "approved", Decision.REJECT.value: "rejected"}


@dataclass(frozen=True)
class Agreement:
    """How often the reviewers of an item said the same, before any lead decided."""

    n: int
    """Items that as many people judged as the queue asks for; 0 where one is enough."""
    agreed: int

    @property
    def share(self) -> float | None:
        """Of 0 to 1; None where nothing was judged twice."""
        return self.agreed / self.n if self.n else None

    @property
    def interval(self) -> Interval | None:
        """The 95 % interval of the share."""
        return wilson(self.agreed, self.n)


def agreement(queue: ReviewQueue) -> Agreement:
    """Return how often the reviewers of a queue agreed; unfinished items say nothing yet."""
    if queue.reviewers == 1:
        return Agreement(0, 0)
    judged = (
        ReviewAnswer.objects.filter(item__queue=queue, undone_at=None, answer__in=DECIDING)
        .order_by()
        .values("item", "version")
        .annotate(n=Count("pk"), kinds=Count("answer", distinct=True))
        .filter(n__gte=queue.reviewers)
    )
    return Agreement(judged.count(), judged.filter(kinds=1).count())
