"""Review queues: what comes in, what answers come to, who sees them, what takes them back."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from studio.web.choices import Role
from studio.web.errors import Conflict, FilterError, Invalid, StaleBase
from studio.web.models import AuditEntry, User
from tasks_app.enums import Answer, Decision, ItemState, TaskState
from tasks_app.models import Review, ReviewAnswer, ReviewItem, ReviewQueue, Task
from tasks_app.operations.proofs import record_proof
from tasks_app.operations.review_answers import adjudicate, answer_item, undo_answer
from tasks_app.operations.review_leases import next_item
from tasks_app.operations.review_queues import close_queue, create_queue, fill_queue
from tasks_app.operations.tasks import create_task, save_version
from tasks_app.operations.verdicts import approve, retire
from tasks_app.reviewing import Agreement, Progress, agreement, get_item, progress, visible_answers
from tests.factories.people import person
from tests.factories.reviews import proven_tasks, queue_of
from tests.factories.specs import green_card, imported_spec, red_card, small_spec

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> User:
    """A reviewer."""
    return person("ada", Role.REVIEWER)


@pytest.fixture
def ben() -> User:
    """Another reviewer."""
    return person("ben", Role.REVIEWER)


@pytest.fixture
def lead() -> User:
    """Who settles disputes."""
    return person("lead", Role.LEAD)


def say(queue: ReviewQueue, who: User, answer: Answer, reason: str = "") -> ReviewItem:
    """Take the next item and answer it."""
    item = next_item(queue=queue, by=who)
    assert item is not None
    base = item.version.number
    return answer_item(item=item, base=base, by=who, answer=answer, reason=reason)


def state_of(item: ReviewItem) -> tuple[str, str, str]:
    """Return the states of task and item, and the outcome."""
    row = ReviewItem.objects.select_related("task").get(pk=item.pk)
    return row.task.state, row.state, row.outcome


def edited(task: Task, seed: int) -> Task:
    """Save a version that has no proof yet."""
    row = Task.objects.get(pk=task.pk)
    spec = small_spec(seed=seed)
    return save_version(task=row, base=row.current_number, spec=spec, by=None, reason="other")


def proven_again(task: Task) -> None:
    row = Task.objects.select_related("current").get(pk=task.pk)
    assert row.current is not None
    record_proof(version=row.current, card=green_card(row.current.load()), by=None)


def test_a_queue_brings_in_the_proven_tasks_of_its_filter_and_no_others() -> None:
    wanted = proven_tasks(2)
    create_task(spec=small_spec(), by=None)
    red = small_spec(seed=8)
    create_task(spec=red, by=None, card=red_card(red))
    imported = imported_spec(seed=9)
    create_task(spec=imported, by=None)
    spec = small_spec(seed=10, difficulty={"level": 5, "features": {}})
    other = create_task(spec=spec, by=None, card=green_card(spec))
    queue = create_queue(name=" Easy ones ", query="difficulty:2", by=None, reviewers=2)
    assert (queue.name, queue.query, queue.reviewers) == ("Easy ones", "difficulty:2", 2)
    assert [item.task for item in queue.items.all()] == wanted
    assert {Task.objects.get(pk=task.pk).state for task in wanted} == {TaskState.IN_REVIEW}
    assert Task.objects.get(pk=other.pk).state == TaskState.PROVEN


def test_a_task_is_in_one_queue_at_a_time() -> None:
    first = queue_of(1)
    second = create_queue(name="Again", query="", by=None)
    assert (first.items.count(), second.items.count()) == (1, 0)
    item = first.items.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        ReviewItem.objects.create(queue=second, task=item.task, version=item.version)


def test_tasks_that_match_later_come_in_when_the_queue_is_clear(ada: User) -> None:
    queue = queue_of(0)
    assert next_item(queue=queue, by=ada) is None
    (task,) = proven_tasks(1)
    item = next_item(queue=queue, by=ada)
    assert item is not None
    assert item.task == task
    assert fill_queue(queue=queue, by=None) == 0


@pytest.mark.parametrize(
    ("wrong", "place"),
    [({"name": " "}, "name"), ({"reviewers": 4}, "reviewers"), ({"rubric": "x" * 5001}, "rubric")],
)
def test_a_queue_that_makes_no_sense_is_refused_with_the_place(
    wrong: dict[str, Any], place: str
) -> None:
    with pytest.raises(Invalid) as refused:
        create_queue(**{"name": "Q", "query": "", "by": None, **wrong})
    assert [problem.place for problem in refused.value.problems] == [place]
    with pytest.raises(FilterError):
        create_queue(name="Q", query="colour:red", by=None)
    assert ReviewQueue.objects.count() == 0


def test_one_reviewer_approves_and_the_next_item_is_another(ada: User) -> None:
    queue = queue_of(2)
    item = say(queue, ada, Answer.APPROVE, "clear")
    assert state_of(item) == (TaskState.APPROVED, ItemState.SETTLED, Decision.APPROVE)
    review = Review.objects.get()
    assert (review.version, review.reviewer, review.decision, review.reason) == (
        item.version,
        ada,
        Decision.APPROVE,
        "clear",
    )
    assert Task.objects.get(pk=item.task_id).approved == item.version
    following = next_item(queue=queue, by=ada)
    assert following is not None
    assert following != item
    acts = AuditEntry.objects.filter(subject=item.task.code).order_by("pk")
    assert [(entry.act, entry.actor_name) for entry in acts] == [
        ("answer_review", "ada"),
        ("approve_task", "ada"),
    ]


@pytest.mark.parametrize("answer", [Answer.REJECT, Answer.FLAG])
def test_a_rejection_and_a_flag_need_a_reason(ada: User, answer: Answer) -> None:
    queue = queue_of(1)
    with pytest.raises(Invalid) as refused:
        say(queue, ada, answer, " ")
    assert [problem.place for problem in refused.value.problems] == ["reason"]
    assert ReviewAnswer.objects.count() == 0


def test_two_who_agree_settle_a_task_and_neither_sees_the_other_before(
    ada: User, ben: User
) -> None:
    queue = queue_of(1, reviewers=2)
    item = say(queue, ada, Answer.REJECT, "no deadline")
    assert state_of(item) == (TaskState.IN_REVIEW, ItemState.OPEN, "")
    assert Review.objects.count() == 0
    assert next_item(queue=queue, by=ada) is None
    held = next_item(queue=queue, by=ben)
    assert held is not None
    assert list(visible_answers(held, ben)) == []
    assert [row.reviewer for row in visible_answers(held, ada)] == [ada]
    done = answer_item(item=held, base=1, by=ben, answer=Answer.REJECT, reason="vague")
    assert state_of(done) == (TaskState.REJECTED, ItemState.SETTLED, Decision.REJECT)
    assert [row.reviewer for row in visible_answers(done, ben)] == [ada, ben]
    assert list(Review.objects.order_by("pk").values_list("reason", flat=True)) == [
        "no deadline",
        "vague",
    ]
    assert agreement(queue) == Agreement(1, 1)


def test_two_who_disagree_make_a_dispute_that_a_lead_settles(
    ada: User, ben: User, lead: User
) -> None:
    queue = queue_of(1, reviewers=2)
    say(queue, ada, Answer.APPROVE)
    item = say(queue, ben, Answer.REJECT, "no deadline")
    assert state_of(item) == (TaskState.DISPUTED, ItemState.DISPUTED, "")
    assert agreement(queue) == Agreement(1, 0)
    assert next_item(queue=queue, by=lead) is None
    task = Task.objects.get(pk=item.task_id)
    with pytest.raises(Conflict, match=f"is in the review queue {queue.code}: judge it there"):
        approve(task=task, base=1, by=ada)
    done = adjudicate(item=item, base=1, by=lead, decision=Decision.APPROVE, reason="it is there")
    assert state_of(done) == (TaskState.APPROVED, ItemState.SETTLED, Decision.APPROVE)
    assert done.settled_by == lead
    reviews = Review.objects.order_by("pk").values_list("reviewer__username", "decision")
    assert list(reviews) == [("ada", "approve"), ("ben", "reject"), ("lead", "approve")]
    with pytest.raises(Conflict, match="neither disputed nor flagged"):
        adjudicate(item=item, base=1, by=lead, decision=Decision.REJECT, reason="no")


def test_a_skipped_item_goes_to_others_and_never_to_the_same_person(ada: User, ben: User) -> None:
    queue = queue_of(1)
    item = say(queue, ada, Answer.SKIP)
    assert state_of(item) == (TaskState.IN_REVIEW, ItemState.OPEN, "")
    assert next_item(queue=queue, by=ada) is None
    assert next_item(queue=queue, by=ben) == item


def test_a_flagged_item_waits_for_a_lead_who_reads_why(ada: User, ben: User, lead: User) -> None:
    queue = queue_of(1)
    item = say(queue, ada, Answer.FLAG, "is this allowed?")
    assert state_of(item) == (TaskState.IN_REVIEW, ItemState.FLAGGED, "")
    assert next_item(queue=queue, by=ben) is None
    assert list(visible_answers(item, ben)) == []
    assert [row.reason for row in visible_answers(item, lead)] == ["is this allowed?"]
    done = adjudicate(item=item, base=1, by=lead, decision=Decision.REJECT, reason="it is not")
    assert state_of(done) == (TaskState.REJECTED, ItemState.SETTLED, Decision.REJECT)


def test_a_verdict_on_an_older_version_is_refused(ada: User) -> None:
    queue = queue_of(1)
    item = next_item(queue=queue, by=ada)
    assert item is not None
    edited(item.task, 5)
    with pytest.raises(StaleBase) as stale:
        answer_item(item=item, base=1, by=ada, answer=Answer.APPROVE)
    assert stale.value.current == 2
    with pytest.raises(Conflict, match="it is waiting for a proof now"):
        answer_item(item=item, base=2, by=ada, answer=Answer.APPROVE)
    assert ReviewAnswer.objects.count() == 0


def test_what_is_edited_comes_back_at_its_new_version_once_it_is_proven(ada: User) -> None:
    queue = queue_of(1)
    item = say(queue, ada, Answer.APPROVE)
    edited(item.task, 5)
    assert state_of(item) == (TaskState.DRAFT, ItemState.WAITING, "")
    assert next_item(queue=queue, by=ada) is None
    with pytest.raises(Conflict, match="the task was edited since"):
        undo_answer(queue=queue, by=ada)
    proven_again(item.task)
    assert state_of(item) == (TaskState.IN_REVIEW, ItemState.OPEN, "")
    again = next_item(queue=queue, by=ada)
    assert again is not None
    assert (again, again.version.number) == (item, 2)
    assert list(visible_answers(again, ada)) == []
    assert Review.objects.get().version.number == 1


def test_an_approval_is_taken_back_while_nothing_came_of_it(ada: User, ben: User) -> None:
    queue = queue_of(1)
    item = say(queue, ada, Answer.APPROVE)
    back = undo_answer(queue=queue, by=ada)
    assert (back, back.holder) == (item, ada)
    assert state_of(item) == (TaskState.IN_REVIEW, ItemState.OPEN, "")
    task = Task.objects.get(pk=item.task_id)
    assert (task.approved, Review.objects.count()) == (None, 0)
    assert next_item(queue=queue, by=ben) is None
    done = answer_item(item=back, base=1, by=ada, answer=Answer.REJECT, reason="after all")
    assert state_of(done) == (TaskState.REJECTED, ItemState.SETTLED, Decision.REJECT)
    assert AuditEntry.objects.get(act="undo_review").detail == {
        "queue": queue.code,
        "version": 1,
        "answer": "approve",
    }


def test_nothing_is_taken_back_that_others_built_on(ada: User, ben: User, lead: User) -> None:
    queue = queue_of(1, reviewers=3)
    with pytest.raises(Conflict, match="nothing of yours to take back"):
        undo_answer(queue=queue, by=ada)
    say(queue, ada, Answer.APPROVE)
    item = say(queue, ben, Answer.APPROVE)
    with pytest.raises(Conflict, match="somebody else has judged it too"):
        undo_answer(queue=queue, by=ada)
    say(queue, lead, Answer.FLAG, "hm")
    assert undo_answer(queue=queue, by=lead).state == ItemState.OPEN
    assert state_of(item) == (TaskState.IN_REVIEW, ItemState.OPEN, "")
    single = queue_of(1)
    retired = say(single, ada, Answer.APPROVE)
    retire(task=retired.task, by=None)
    with pytest.raises(Conflict, match=r"T-\w+ is retired by now"):
        undo_answer(queue=single, by=ada)


def test_another_persons_flag_stays_when_somebody_takes_an_answer_back(
    ada: User, ben: User
) -> None:
    queue = queue_of(1, reviewers=2)
    say(queue, ada, Answer.APPROVE)
    item = say(queue, ben, Answer.FLAG, "odd")
    undo_answer(queue=queue, by=ada)
    assert state_of(item) == (TaskState.IN_REVIEW, ItemState.FLAGGED, "")


def test_a_lead_decides_on_the_tasks_page_and_the_item_is_settled(ada: User, lead: User) -> None:
    queue = queue_of(1)
    item = next_item(queue=queue, by=ada)
    assert item is not None
    approve(task=item.task, base=1, by=lead)
    assert state_of(item) == (TaskState.APPROVED, ItemState.SETTLED, Decision.APPROVE)
    assert get_item(queue, item.task.code).settled_by == lead
    with pytest.raises(Conflict, match="it is settled now"):
        answer_item(item=item, base=1, by=ada, answer=Answer.SKIP)


def test_a_closed_queue_lets_its_tasks_go_unless_a_lead_is_waited_for(ada: User) -> None:
    queue = queue_of(3)
    judged = say(queue, ada, Answer.APPROVE)
    flagged = say(queue, ada, Answer.FLAG, "odd")
    with pytest.raises(Conflict, match="1 flagged or disputed"):
        close_queue(queue=queue, by=None)
    undo_answer(queue=queue, by=ada)
    closed = close_queue(queue=queue, by=None)
    assert not closed.is_open
    assert state_of(judged) == (TaskState.APPROVED, ItemState.SETTLED, Decision.APPROVE)
    assert state_of(flagged) == (TaskState.PROVEN, ItemState.WITHDRAWN, "")
    assert next_item(queue=closed, by=ada) is None
    for again in (close_queue, fill_queue):
        with pytest.raises(Conflict, match="is closed"):
            again(queue=closed, by=None)
    assert create_queue(name="Rest", query="", by=None).items.count() == 2


def test_progress_counts_every_item_once(ada: User) -> None:
    queue, empty = queue_of(5), create_queue(name="None", query="state:draft", by=None)
    say(queue, ada, Answer.APPROVE)
    say(queue, ada, Answer.REJECT, "no")
    say(queue, ada, Answer.FLAG, "odd")
    waiting = next_item(queue=queue, by=ada)
    assert waiting is not None
    edited(waiting.task, 5)
    counts = progress([queue, empty])
    assert counts == {
        queue.pk: Progress(open=1, waiting=1, flagged=1, approved=1, rejected=1),
        empty.pk: Progress(),
    }
    assert (counts[queue.pk].total, counts[queue.pk].settled) == (5, 2)
    assert agreement(queue) == Agreement(0, 0)
    assert agreement(queue).share is None
