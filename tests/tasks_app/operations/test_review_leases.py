"""Leases in a review queue: nobody gets what another holds, nothing held by the dead is lost."""

import datetime as dt
import threading

import pytest
from django.db import connection

from studio.web.choices import Role
from studio.web.errors import Conflict, Forbidden, StaleBase
from studio.web.models import AuditEntry, User
from tasks_app.enums import Answer, ItemState, TaskState
from tasks_app.models import ReviewAnswer, ReviewItem, Task
from tasks_app.operations.review_answers import answer_item
from tasks_app.operations.review_leases import beat, next_item, release, take_over
from tasks_app.operations.tasks import save_version
from tasks_app.reviewing import get_item, held_items
from tests.factories.people import person
from tests.factories.reviews import queue_of
from tests.factories.specs import small_spec

OVER = dt.timedelta(seconds=-1)
LOST = r"^You no longer hold T-\w+: ben holds it now\.$"


@pytest.mark.django_db(transaction=True)
def test_two_who_press_next_200_times_each_get_400_different_items() -> None:
    queue = queue_of(400)
    people = [person(name, Role.REVIEWER) for name in ("ada", "ben")]
    start = threading.Barrier(len(people))
    got: dict[str, list[int]] = {user.username: [] for user in people}

    def press(user: User) -> None:
        start.wait()
        try:
            for _ in range(200):
                item = next_item(queue=queue, by=user)
                if item is not None:
                    got[user.username].append(item.pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=press, args=(user,)) for user in people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(items) for items in got.values()] == [200, 200]
    assert {*got["ada"], *got["ben"]} == set(ReviewItem.objects.values_list("pk", flat=True))
    assert [next_item(queue=queue, by=user) for user in people] == [None, None]


@pytest.mark.django_db
def test_an_item_whose_lease_ran_out_is_handed_to_the_next() -> None:
    queue = queue_of(1)
    ada, ben = person("ada", Role.REVIEWER), person("ben", Role.REVIEWER)
    item = next_item(queue=queue, by=ada, lease=OVER)
    assert item is not None
    assert list(held_items(queue, ada)) == []
    again = next_item(queue=queue, by=ben)
    assert again == item
    assert again is not None
    assert again.holder == ben
    with pytest.raises(Conflict, match=LOST):
        beat(item=item, by=ada)
    with pytest.raises(Conflict, match=LOST):
        answer_item(item=item, base=1, by=ada, answer=Answer.APPROVE)


@pytest.mark.django_db
def test_a_heartbeat_keeps_an_item_and_comes_in_time_until_somebody_else_has_it() -> None:
    queue = queue_of(1)
    ada, ben = person("ada", Role.REVIEWER), person("ben", Role.REVIEWER)
    item = next_item(queue=queue, by=ada, lease=OVER)
    assert item is not None
    kept = beat(item=item, by=ada)
    assert list(held_items(queue, ada)) == [kept]
    assert item.lease_until is not None
    assert kept.lease_until is not None
    assert kept.lease_until > item.lease_until
    assert next_item(queue=queue, by=ben) is None


@pytest.mark.django_db
def test_an_item_given_back_is_free_and_only_its_holder_gives_it_back() -> None:
    queue = queue_of(1)
    ada, ben = person("ada", Role.REVIEWER), person("ben", Role.REVIEWER)
    item = next_item(queue=queue, by=ada)
    assert item is not None
    assert release(item=item, by=ben).holder == ada
    assert release(item=item, by=ada).holder is None
    assert next_item(queue=queue, by=ben) == item


@pytest.mark.django_db
def test_a_lead_takes_an_item_over_and_the_log_says_from_whom() -> None:
    queue = queue_of(1)
    ada, lead = person("ada", Role.REVIEWER), person("lead", Role.LEAD)
    item = next_item(queue=queue, by=ada)
    assert item is not None
    assert take_over(item=item, by=lead).holder == lead
    entry = AuditEntry.objects.get(act="take_over_review")
    assert (entry.actor_name, entry.subject, entry.detail) == (
        "lead",
        item.task.code,
        {"queue": queue.code, "from": "ada"},
    )
    with pytest.raises(Conflict, match="lead holds it now"):
        beat(item=item, by=ada)
    answer_item(item=item, base=1, by=lead, answer=Answer.SKIP)
    assert get_item(queue, item.task.code).holder is None


@pytest.mark.django_db
def test_the_system_judges_nothing() -> None:
    queue = queue_of(1)
    with pytest.raises(Forbidden, match="Only people judge"):
        next_item(queue=queue, by=None)


@pytest.mark.django_db(transaction=True)
def test_an_edit_and_an_answer_at_once_leave_no_verdict_on_what_was_not_seen() -> None:
    queue = queue_of(6)
    ada = person("ada", Role.REVIEWER)
    start = threading.Barrier(2)
    refused: list[int] = []

    def edit(task: Task, seed: int) -> None:
        start.wait()
        try:
            spec = small_spec(seed=seed)
            save_version(task=task, base=1, spec=spec, by=None, reason="other")
        finally:
            connection.close()

    held = [next_item(queue=queue, by=ada) for _ in range(6)]
    for number, item in enumerate(held):
        assert item is not None
        editor = threading.Thread(target=edit, args=(item.task, number))
        editor.start()
        start.wait()
        try:
            answer_item(item=item, base=1, by=ada, answer=Answer.APPROVE)
        except StaleBase as stale:
            refused.append(stale.current)
        editor.join()
    assert refused == [2] * len(refused)
    assert ReviewAnswer.objects.count() == 6 - len(refused)
    # Whoever came first: the new version is a draft that nobody approved, and its item waits.
    assert {
        (row.task.state, row.task.approved, row.state)
        for row in ReviewItem.objects.select_related("task")
    } == {(TaskState.DRAFT, None, ItemState.WAITING)}
