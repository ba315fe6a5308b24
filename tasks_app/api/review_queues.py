"""Review queues: open, take the next item, answer, settle, undo."""

from django.http import HttpRequest
from ninja import Query, Router, Status

from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.pagination import keyset
from tasks_app.models import ReviewItem, ReviewQueue
from tasks_app.operations.review_answers import adjudicate, answer_item, undo_answer
from tasks_app.operations.review_leases import beat, next_item, release, take_over
from tasks_app.operations.review_queues import close_queue, create_queue, fill_queue
from tasks_app.reviewing import (
    agreement,
    get_item,
    get_queue,
    held_items,
    items_of,
    progress,
    queues,
    visible_answers,
)
from tasks_app.schemas.reviews import (
    AnswerIn,
    FilledOut,
    ItemDetail,
    ItemOut,
    NextOut,
    QueueDetail,
    QueueIn,
    QueueOut,
    SettleIn,
)

router = Router(tags=["review queues"])


@router.get("", response=PageOut[QueueOut], summary="The review queues")
@require(Act.READ)
def list_queues(request: HttpRequest, paging: Query[Paging]) -> PageOut[QueueOut]:
    """Newest first, each with its progress."""
    page = keyset(queues(), order="-created_at", cursor=paging.cursor, size=paging.size)
    far = progress(page.rows)
    return page_out(page, lambda row: QueueOut.from_row(row, far[row.pk]))


@router.post("", response={201: QueueDetail}, summary="Open a review queue")
@require(Act.MANAGE_QUEUES)
def create(request: HttpRequest, body: QueueIn) -> Status[QueueDetail]:
    """The proven tasks that match come in; a broken filter is a 422 that names the place."""
    queue = create_queue(
        name=body.name,
        query=body.q,
        rubric=body.rubric,
        reviewers=body.reviewers,
        by=principal(request),
    )
    return Status(201, _detail(queue))


@router.get("/{code}", response=QueueDetail, summary="One review queue")
@require(Act.READ)
def read(request: HttpRequest, code: str) -> QueueDetail:
    """With progress and agreement."""
    return _detail(get_queue(code))


@router.post("/{code}/fill", response=FilledOut, summary="Bring in what matches by now")
@require(Act.MANAGE_QUEUES)
def fill(request: HttpRequest, code: str) -> FilledOut:
    """Happens by itself whenever somebody asks for the next item and there is none."""
    return FilledOut(count=fill_queue(queue=get_queue(code), by=principal(request)))


@router.post("/{code}/close", response=QueueDetail, summary="Close a review queue")
@require(Act.MANAGE_QUEUES)
def close(request: HttpRequest, code: str) -> QueueDetail:
    """409 while something in it is flagged or disputed; what nobody settled is let go."""
    return _detail(close_queue(queue=get_queue(code), by=principal(request)))


@router.get("/{code}/items", response=PageOut[ItemOut], summary="The items of a queue")
@require(Act.READ)
def list_items(request: HttpRequest, code: str, paging: Query[Paging]) -> PageOut[ItemOut]:
    """In the order they are judged in, each with whoever holds it; answers are not told here."""
    queue = get_queue(code)
    page = keyset(
        items_of(queue),
        order="created_at",
        cursor=paging.cursor,
        size=paging.size,
        filter_hash=queue.code,
    )
    return page_out(page, ItemOut.from_row)


@router.get("/{code}/held", response=list[ItemOut], summary="What one holds in a queue")
@require(Act.REVIEW)
def list_held(request: HttpRequest, code: str) -> list[ItemOut]:
    """The first taken first; what was lost is not here."""
    held = held_items(get_queue(code), principal(request).user)
    return [ItemOut.from_row(row) for row in held]


@router.post("/{code}/next", response=NextOut, summary="Take the next item")
@require(Act.REVIEW)
def take_next(request: HttpRequest, code: str) -> NextOut:
    """One that nobody holds, oneself included, and that one has not answered: held for two minutes
    from now, longer with a heartbeat.
    """
    item = next_item(queue=get_queue(code), by=principal(request))
    return NextOut(item=None if item is None else ItemOut.from_row(item))


@router.post("/{code}/undo", response=ItemOut, summary="Take one's last answer back")
@require(Act.REVIEW)
def undo(request: HttpRequest, code: str) -> ItemOut:
    """409 where something came of it: an edit, somebody else's verdict, a lead's decision."""
    return ItemOut.from_row(undo_answer(queue=get_queue(code), by=principal(request)))


@router.get("/{code}/items/{task}", response=ItemDetail, summary="One item of a queue")
@require(Act.READ)
def read_item(request: HttpRequest, code: str, task: str) -> ItemDetail:
    """With the answers that the one who asks may see."""
    return _item(request, get_item(get_queue(code), task))


@router.post("/{code}/items/{task}/heartbeat", response=ItemOut, summary="Go on holding an item")
@require(Act.REVIEW)
def heartbeat(request: HttpRequest, code: str, task: str) -> ItemOut:
    """409 with ``holder`` where the lease ran out and somebody else has it."""
    return ItemOut.from_row(beat(item=get_item(get_queue(code), task), by=principal(request)))


@router.post("/{code}/items/{task}/release", response=ItemOut, summary="Give an item back")
@require(Act.REVIEW)
def give_back(request: HttpRequest, code: str, task: str) -> ItemOut:
    """Unanswered; nothing happens where one does not hold it."""
    return ItemOut.from_row(release(item=get_item(get_queue(code), task), by=principal(request)))


@router.post("/{code}/items/{task}/take-over", response=ItemOut, summary="Take an item over")
@require(Act.TAKE_OVER_LEASES)
def take(request: HttpRequest, code: str, task: str) -> ItemOut:
    """Whoever holds it now; the audit log says from whom."""
    return ItemOut.from_row(take_over(item=get_item(get_queue(code), task), by=principal(request)))


@router.post("/{code}/items/{task}/answer", response=ItemDetail, summary="Answer an item")
@require(Act.REVIEW)
def answer(request: HttpRequest, code: str, task: str, body: AnswerIn) -> ItemDetail:
    """409 with ``current`` where the task was saved since ``base``, with ``holder`` where one no
    longer holds it, with the findings where it cannot be approved.
    """
    item = answer_item(
        item=get_item(get_queue(code), task),
        base=body.base,
        by=principal(request),
        answer=body.answer,
        reason=body.reason,
        seconds=body.seconds,
    )
    return _item(request, item)


@router.post("/{code}/items/{task}/settle", response=ItemDetail, summary="Decide a dispute")
@require(Act.SETTLE_DISPUTES)
def settle(request: HttpRequest, code: str, task: str, body: SettleIn) -> ItemDetail:
    """Or a flagged item; a reason is needed."""
    item = adjudicate(
        item=get_item(get_queue(code), task),
        base=body.base,
        by=principal(request),
        decision=body.decision,
        reason=body.reason,
    )
    return _item(request, item)


def _detail(queue: ReviewQueue) -> QueueDetail:
    return QueueDetail.of(queue, progress([queue])[queue.pk], agreement(queue))


def _item(request: HttpRequest, item: ReviewItem) -> ItemDetail:
    return ItemDetail.of(item, list(visible_answers(item, principal(request).user)))
