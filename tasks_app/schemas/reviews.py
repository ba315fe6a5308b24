"""Review queues, their items, and what people answer."""

import datetime as dt
from collections.abc import Sequence

from ninja import Schema
from pydantic import Field

from studio.web.api.bodies import Body
from tasks_app.enums import Answer, Decision, ItemState
from tasks_app.models import ReviewAnswer, ReviewItem, ReviewQueue
from tasks_app.models.review_queue import MOST_REVIEWERS
from tasks_app.reviewing import Agreement, Progress
from tasks_app.schemas.fields import Reason, Text, VersionNumber


class QueueIn(Body):
    """A queue to be opened."""

    name: Text = Field(min_length=1, max_length=100)
    q: str = Field("", max_length=2000, description="A filter over tasks; proven ones come in.")
    rubric: Text = Field("", max_length=5000)
    reviewers: int = Field(1, ge=1, le=MOST_REVIEWERS, description="How many judge each task.")


class QueueProgress(Schema):
    """How many items stand where; those withdrawn are not counted."""

    open: int
    waiting: int = Field(description="Edited, and not proven again yet.")
    flagged: int
    disputed: int
    approved: int
    rejected: int
    total: int


class QueueAgreement(Schema):
    """How often those who judged an item said the same, before any lead decided."""

    n: int = Field(description="Items judged by as many as the queue asks for; 0 for one reviewer.")
    agreed: int
    share: float | None
    low: float | None = Field(description="Lower end of the share's 95 % interval.")
    high: float | None = Field(description="Its upper end.")


class QueueOut(Schema):
    """A review queue."""

    code: str
    name: str
    q: str
    rubric: str
    reviewers: int
    author: str | None
    created_at: dt.datetime
    closed_at: dt.datetime | None
    progress: QueueProgress

    @staticmethod
    def from_row(row: ReviewQueue, progress: Progress) -> "QueueOut":
        """The public form of a row."""
        return QueueOut(
            code=row.code,
            name=row.name,
            q=row.query,
            rubric=row.rubric,
            reviewers=row.reviewers,
            author=_name(row, "author"),
            created_at=row.created_at,
            closed_at=row.closed_at,
            progress=QueueProgress(
                open=progress.open,
                waiting=progress.waiting,
                flagged=progress.flagged,
                disputed=progress.disputed,
                approved=progress.approved,
                rejected=progress.rejected,
                total=progress.total,
            ),
        )


class QueueDetail(QueueOut):
    """A review queue and how far its reviewers agree."""

    agreement: QueueAgreement

    @staticmethod
    def of(row: ReviewQueue, progress: Progress, agreement: Agreement) -> "QueueDetail":
        """The public form of a row."""
        low, high = agreement.interval or (None, None)
        return QueueDetail(
            **QueueOut.from_row(row, progress).dict(),
            agreement=QueueAgreement(
                n=agreement.n, agreed=agreement.agreed, share=agreement.share, low=low, high=high
            ),
        )


class FilledOut(Schema):
    """What a filter brought in."""

    count: int


class ItemOut(Schema):
    """One task in a queue."""

    queue: str
    task: str
    title: str
    version: int = Field(description="The version to be judged: the base of an answer.")
    state: ItemState
    outcome: Decision | None
    holder: str | None
    lease_until: dt.datetime | None
    settled_at: dt.datetime | None
    settled_by: str | None = Field(description="The lead who decided; null where they agreed.")

    @staticmethod
    def from_row(row: ReviewItem) -> "ItemOut":
        """The public form of a row."""
        return ItemOut(
            queue=row.queue.code,
            task=row.task.code,
            title=row.task.title,
            version=row.version.number,
            state=ItemState(row.state),
            outcome=Decision(row.outcome) if row.outcome else None,
            holder=_name(row, "holder"),
            lease_until=row.lease_until,
            settled_at=row.settled_at,
            settled_by=_name(row, "settled_by"),
        )


class AnswerOut(Schema):
    """What somebody answered."""

    reviewer: str
    answer: Answer
    reason: str
    created_at: dt.datetime

    @staticmethod
    def from_row(row: ReviewAnswer) -> "AnswerOut":
        """The public form of a row."""
        return AnswerOut(
            reviewer=row.reviewer.username,
            answer=Answer(row.answer),
            reason=row.reason,
            created_at=row.created_at,
        )


class ItemDetail(ItemOut):
    """One task in a queue with what the one who asks may know of the answers."""

    answers: list[AnswerOut] = Field(
        description="One's own; those of others once one's own verdict is in, or all are."
    )

    @staticmethod
    def of(row: ReviewItem, answers: Sequence[ReviewAnswer]) -> "ItemDetail":
        """The public form of a row."""
        return ItemDetail(
            **ItemOut.from_row(row).dict(), answers=[AnswerOut.from_row(one) for one in answers]
        )


class NextOut(Schema):
    """The item that one holds now; null where the queue has none for this person."""

    item: ItemOut | None


class AnswerIn(Body):
    """An answer to an item that one holds."""

    base: VersionNumber = Field(description="The version that was looked at.")
    answer: Answer
    reason: Reason = Field("", description="Needed to reject and to flag.")
    seconds: int | None = Field(None, ge=0, le=86_400)


class SettleIn(Body):
    """A lead's decision on a disputed or flagged item."""

    base: VersionNumber = Field(description="The version that was looked at.")
    decision: Decision
    reason: Reason


def _name(row: ReviewQueue | ReviewItem, role: str) -> str | None:
    user = getattr(row, role)
    return None if user is None else str(user.username)
