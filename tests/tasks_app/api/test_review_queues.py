"""The review routes: who may, what they answer, how they refuse, and what stays blind."""

import json
from typing import Any

import pytest
from django.test import Client

from studio.web.choices import Role
from tasks_app.models import ReviewAnswer, ReviewQueue
from tests.factories.people import person
from tests.factories.reviews import proven_tasks, queue_of

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/review-queues"


def as_somebody(name: str, role: Role) -> Client:
    client = Client()
    client.force_login(person(name, role))
    return client


def post(client: Client, path: str, body: Any = None) -> Any:
    return client.post(path, json.dumps(body or {}), content_type="application/json")


@pytest.fixture
def queue() -> ReviewQueue:
    """Two tasks that two people judge."""
    return queue_of(2, reviewers=2)


#: Route below a queue, body → the least role, and the status with it before anything is held.
ACTS: dict[str, tuple[str, Any, Role, int]] = {
    "open": ("", {"name": "Q"}, Role.LEAD, 201),
    "fill": ("/{code}/fill", None, Role.LEAD, 200),
    "close": ("/{code}/close", None, Role.LEAD, 200),
    "next": ("/{code}/next", None, Role.REVIEWER, 200),
    "undo": ("/{code}/undo", None, Role.REVIEWER, 409),
    "heartbeat": ("/{code}/items/{task}/heartbeat", None, Role.REVIEWER, 409),
    "release": ("/{code}/items/{task}/release", None, Role.REVIEWER, 200),
    "take over": ("/{code}/items/{task}/take-over", None, Role.LEAD, 200),
    "answer": ("/{code}/items/{task}/answer", {"base": 1, "answer": "skip"}, Role.REVIEWER, 409),
    "settle": (
        "/{code}/items/{task}/settle",
        {"base": 1, "decision": "reject", "reason": "no"},
        Role.LEAD,
        409,
    ),
}
READS = ("", "/{code}", "/{code}/items", "/{code}/items/{task}")


def path_of(queue: ReviewQueue, route: str) -> str:
    item = queue.items.select_related("task").first()
    assert item is not None
    return ROOT + route.format(code=queue.code, task=item.task.code)


@pytest.mark.parametrize("name", ACTS)
def test_the_least_role_may_one_below_and_nobody_may_not(name: str, queue: ReviewQueue) -> None:
    route, body, least, status = ACTS[name]
    path = path_of(queue, route)
    below = post(as_somebody("below", list(Role)[least.rank - 1]), path, body)
    assert (below.status_code, below.json()["needed_role"]) == (403, least.value)
    assert post(Client(), path, body).status_code == 401
    assert post(as_somebody("least", least), path, body).status_code == status


@pytest.mark.parametrize("route", READS)
def test_a_viewer_reads_queues_and_items(route: str, queue: ReviewQueue) -> None:
    viewer = as_somebody("viewer", Role.VIEWER)
    assert viewer.get(path_of(queue, route)).status_code == 200
    assert Client().get(path_of(queue, route)).status_code == 401
    assert viewer.get(f"{ROOT}/{queue.code}/held").status_code == 403


def test_a_queue_is_opened_judged_by_two_and_says_how_far_they_agree() -> None:
    tasks = proven_tasks(1)
    lead = as_somebody("lead", Role.LEAD)
    made = post(
        lead, ROOT, {"name": "Desk", "q": "difficulty:2", "rubric": "Kind?", "reviewers": 2}
    )
    assert made.status_code == 201
    one = f"{ROOT}/{made.json()['code']}"
    ada, ben = as_somebody("ada", Role.REVIEWER), as_somebody("ben", Role.REVIEWER)
    item = post(ada, f"{one}/next").json()["item"]
    assert (item["task"], item["version"], item["holder"]) == (tasks[0].code, 1, "ada")
    assert [row["task"] for row in ada.get(f"{one}/held").json()] == [tasks[0].code]
    assert post(ben, f"{one}/next").json() == {"item": None}
    place = f"{one}/items/{item['task']}"
    assert post(ada, f"{place}/heartbeat").json()["holder"] == "ada"
    late = post(ben, f"{place}/answer", {"base": 1, "answer": "approve"})
    assert (late.status_code, late.json()["holder"]) == (409, "ada")
    said = post(ada, f"{place}/answer", {"base": 1, "answer": "approve", "reason": "kind"})
    assert [row["reviewer"] for row in said.json()["answers"]] == ["ada"]
    assert post(ben, f"{one}/next").json()["item"]["task"] == tasks[0].code
    assert ben.get(place).json()["answers"] == []
    said = post(ben, f"{place}/answer", {"base": 1, "answer": "reject", "reason": "curt"}).json()
    assert [(row["reviewer"], row["reason"]) for row in said["answers"]] == [
        ("ada", "kind"),
        ("ben", "curt"),
    ]
    assert (said["state"], said["outcome"]) == ("disputed", None)
    settled = post(lead, f"{place}/settle", {"base": 1, "decision": "approve", "reason": "kind"})
    assert (settled.json()["state"], settled.json()["settled_by"]) == ("settled", "lead")
    found = lead.get(one).json()
    assert found["progress"] == {
        "open": 0,
        "waiting": 0,
        "flagged": 0,
        "disputed": 0,
        "approved": 1,
        "rejected": 0,
        "total": 1,
    }
    assert (found["agreement"]["n"], found["agreement"]["share"]) == (1, 0.0)


def test_answers_to_an_older_version_or_without_a_reason_are_refused(queue: ReviewQueue) -> None:
    ada = as_somebody("ada", Role.REVIEWER)
    item = post(ada, f"{ROOT}/{queue.code}/next").json()["item"]
    place = f"{ROOT}/{queue.code}/items/{item['task']}/answer"
    older = post(ada, place, {"base": 2, "answer": "approve"})
    assert (older.status_code, older.json()["current"]) == (409, 1)
    silent = post(ada, place, {"base": 1, "answer": "reject"})
    assert (silent.status_code, silent.json()["problems"]) == (
        422,
        [{"place": "reason", "message": "is missing"}],
    )
    assert ReviewAnswer.objects.count() == 0


def test_a_broken_filter_is_refused_with_its_place() -> None:
    lead = as_somebody("lead", Role.LEAD)
    answer = post(lead, ROOT, {"name": "Q", "q": "colour:red"})
    assert (answer.status_code, answer.json()["problems"][0]["code"]) == (422, "unknown_key")


def test_pages_of_items_go_on_with_their_cursor(queue: ReviewQueue) -> None:
    viewer = as_somebody("viewer", Role.VIEWER)
    first = viewer.get(f"{ROOT}/{queue.code}/items", {"size": 1}).json()
    rest = viewer.get(
        f"{ROOT}/{queue.code}/items", {"size": 1, "cursor": first["next_cursor"]}
    ).json()
    codes = [row["task"] for row in (*first["items"], *rest["items"])]
    assert codes == [item.task.code for item in queue.items.select_related("task").order_by("pk")]
    assert rest["next_cursor"] is None
    other = f"{ROOT}/{queue_of(0).code}/items"
    assert viewer.get(other, {"cursor": first["next_cursor"]}).status_code == 400
