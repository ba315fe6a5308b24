"""The task routes: who may, what they answer, how they refuse."""

import io
import json
import zipfile
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from studio.lib.jsonl import read_closed
from studio.web.access import issue_token
from studio.web.choices import Role, Scope
from studio.web.models import Job, User
from tasks_app.enums import TaskState
from tasks_app.models import Comment, ImportRun, Task, TaskVersion
from tasks_app.operations.tasks import create_task
from tasks_app.operations.verdicts import approve
from tests.factories.people import person
from tests.factories.specs import green_card, small_spec, small_written

pytestmark = pytest.mark.django_db
ROOT = "/api/v1/tasks"


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def owner() -> User:
    """The editor who made the task."""
    return person("owner", Role.EDITOR)


@pytest.fixture
def task(owner: User) -> Task:
    """A proven task of the owner."""
    spec = small_spec()
    return create_task(spec=spec, by=owner, card=green_card(spec))


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    if method == "GET":
        return client.get(path)
    return client.post(path, json.dumps(body or {}), content_type="application/json")


def routes(task: Task) -> dict[str, tuple[str, str, Any, Role, int]]:
    """Every route: method, path, body, the least role, and the status for it."""
    one = f"{ROOT}/{task.code}"
    changed = small_written(seed=99)
    return {
        "list": ("GET", ROOT, None, Role.VIEWER, 200),
        "export": ("GET", f"{ROOT}/export", None, Role.VIEWER, 200),
        "read": ("GET", one, None, Role.VIEWER, 200),
        "versions": ("GET", f"{one}/versions", None, Role.VIEWER, 200),
        "version": ("GET", f"{one}/versions/1", None, Role.VIEWER, 200),
        "proof": ("GET", f"{one}/proof", None, Role.VIEWER, 200),
        "reviews": ("GET", f"{one}/reviews", None, Role.VIEWER, 200),
        "comments": ("GET", f"{one}/comments", None, Role.VIEWER, 200),
        "create": ("POST", ROOT, {"spec": changed}, Role.EDITOR, 201),
        "save": (
            "POST",
            f"{one}/versions",
            {"base": 1, "spec": changed, "reason": "why"},
            Role.EDITOR,
            201,
        ),
        "prove": ("POST", f"{one}/prove", None, Role.EDITOR, 200),
        "prove all": ("POST", f"{ROOT}/prove", {"q": "state:draft"}, Role.EDITOR, 202),
        "repair": ("POST", f"{one}/repair", {"base": 1, "finding": 0}, Role.EDITOR, 409),
        "duplicate": ("POST", f"{one}/duplicate", None, Role.EDITOR, 201),
        "approve": ("POST", f"{one}/approve", {"base": 1}, Role.REVIEWER, 200),
        "reject": ("POST", f"{one}/reject", {"base": 1, "reason": "no"}, Role.REVIEWER, 200),
        "retire": ("POST", f"{one}/retire", {}, Role.REVIEWER, 409),
        "comment": ("POST", f"{one}/comments", {"text": "hm"}, Role.REVIEWER, 201),
    }


ROUTES = (
    "list", "export", "read", "versions", "version", "proof", "reviews", "comments", "create",
    "save", "prove", "prove all", "repair", "duplicate", "approve", "reject", "retire", "comment",
)  # fmt: skip


@pytest.mark.parametrize("name", ROUTES)
def test_the_owner_may(name: str, task: Task, owner: User) -> None:
    method, path, body, _, status = routes(task)[name]
    assert send(client_of(owner), method, path, body).status_code == status


@pytest.mark.parametrize("name", ROUTES)
def test_a_colleague_with_the_least_role_may(name: str, task: Task) -> None:
    method, path, body, least, status = routes(task)[name]
    colleague = client_of(person("colleague", least))
    assert send(colleague, method, path, body).status_code == status


@pytest.mark.parametrize("name", ROUTES)
def test_an_outsider_below_the_role_may_not_and_nothing_changes(name: str, task: Task) -> None:
    method, path, body, least, _ = routes(task)[name]
    if least == Role.VIEWER:
        return
    below = list(Role)[least.rank - 1]
    answer = send(client_of(person("outsider", below)), method, path, body)
    assert (answer.status_code, answer["Content-Type"]) == (403, "application/problem+json")
    assert answer.json()["needed_role"] == least.value
    task.refresh_from_db()
    counts = (TaskVersion.objects.count(), Comment.objects.count(), Job.objects.count())
    assert (task.state, task.current_number, counts) == (TaskState.PROVEN, 1, (1, 0, 0))


@pytest.mark.parametrize("name", ROUTES)
def test_an_anonymous_visitor_is_told_to_sign_in(name: str, task: Task) -> None:
    method, path, body, _, _ = routes(task)[name]
    answer = send(Client(), method, path, body)
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")


def test_a_token_works_within_its_scopes_only(task: Task, owner: User) -> None:
    token = issue_token(owner, "reader", frozenset({Scope.READ})).secret
    headers = {"Authorization": f"Bearer {token}"}
    client = Client(headers=headers)
    assert client.get(f"{ROOT}/{task.code}").status_code == 200
    answer = send(client, "POST", f"{ROOT}/{task.code}/duplicate")
    assert (answer.status_code, answer.json()["needed_scope"]) == (403, "write")


def test_a_list_page_goes_on_with_its_cursor(owner: User) -> None:
    for number in range(3):
        create_task(spec=small_spec(seed=number, title=f"task {number}"), by=owner)
    client = client_of(owner)
    asked = {"order": "title", "size": "2"}
    first = client.get(ROOT, asked).json()
    assert [item["title"] for item in first["items"]] == ["task 0", "task 1"]
    rest = client.get(ROOT, {**asked, "cursor": first["next_cursor"]}).json()
    assert [item["title"] for item in rest["items"]] == ["task 2"]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"q": "stat:draft"}, 422),
        ({"q": "state:drat"}, 422),
        ({"cursor": "made-up"}, 400),
        ({"order": "colour"}, 400),
        ({"size": "0"}, 422),
    ],
)
def test_a_list_that_cannot_be_read_says_why(
    owner: User, query: dict[str, str], status: int
) -> None:
    answer = client_of(owner).get(ROOT, query)
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.json()["detail"]


def test_a_stale_save_is_a_409_that_names_the_current_version(task: Task, owner: User) -> None:
    client = client_of(owner)
    path = f"{ROOT}/{task.code}/versions"
    first = {"base": 1, "spec": small_written(seed=1), "reason": "first"}
    assert send(client, "POST", path, first).json()["version"] == 2
    second = {"base": 1, "spec": small_written(seed=2), "reason": "second"}
    answer = send(client, "POST", path, second)
    assert answer.status_code == 409
    assert answer.json()["type"] == "urn:coworkenv:problem:stale-base"
    assert (answer.json()["current"], answer.json()["base"]) == (2, 1)
    assert TaskVersion.objects.filter(task=task).count() == 2


def test_a_malformed_spec_names_every_place(owner: User) -> None:
    spec = {**small_written(), "seed": "seven", "colour": "red"}
    answer = send(client_of(owner), "POST", ROOT, {"spec": spec})
    assert answer.status_code == 422
    assert sorted(problem["place"] for problem in answer.json()["problems"]) == [
        "/colour",
        "/seed",
    ]
    assert not Task.objects.exists()


@pytest.mark.parametrize("text", ["\ud800", "a\x00b"])
@pytest.mark.parametrize("route", ["create", "save", "comment", "reject", "validate"])
def test_a_text_that_cannot_be_kept_is_refused(
    route: str, text: str, task: Task, owner: User
) -> None:
    one = f"{ROOT}/{task.code}"
    path, body = {
        "create": (ROOT, {"spec": small_written(title=text)}),
        "save": (f"{one}/versions", {"base": 1, "spec": small_written(seed=3), "reason": text}),
        "comment": (f"{one}/comments", {"text": text}),
        "reject": (f"{one}/reject", {"base": 1, "reason": text}),
        "validate": ("/api/v1/specs/validate", {"spec": small_written(title=text)}),
    }[route]
    assert send(client_of(owner), "POST", path, body).status_code == 422


def test_the_letters_of_an_escape_are_plain_text(owner: User) -> None:
    spec = small_written(title="the letters \\u0000 and nothing else")
    assert send(client_of(owner), "POST", ROOT, {"spec": spec}).status_code == 201


def test_a_version_number_beyond_all_versions_is_refused(task: Task, owner: User) -> None:
    body = {"base": 10**30, "spec": small_written(seed=3), "reason": "more"}
    answer = send(client_of(owner), "POST", f"{ROOT}/{task.code}/versions", body)
    assert answer.status_code == 422
    assert [problem["place"] for problem in answer.json()["problems"]] == ["body.base"]


def test_an_unknown_format_names_the_one_that_is_read(owner: User) -> None:
    answer = send(client_of(owner), "POST", ROOT, {"spec": {"format": "coworker-task/9"}})
    assert answer.status_code == 422
    assert "coworker-task/9" in answer.json()["detail"]
    assert "coworker-task/1" in answer.json()["detail"]


def test_an_approval_without_a_proof_is_a_conflict(owner: User) -> None:
    task = create_task(spec=small_spec(), by=owner)
    answer = send(client_of(owner), "POST", f"{ROOT}/{task.code}/approve", {"base": 1})
    assert (answer.status_code, answer.json()["state"]) == (409, "draft")


def test_an_approved_task_can_be_retired(task: Task, owner: User) -> None:
    approve(task=task, base=1, by=owner)
    answer = send(client_of(owner), "POST", f"{ROOT}/{task.code}/retire", {"reason": "old"})
    assert (answer.status_code, answer.json()["state"]) == (200, "retired")


def test_a_proof_is_made_at_once_and_kept(owner: User) -> None:
    task = create_task(spec=small_spec(), by=owner)
    client = client_of(owner)
    assert client.get(f"{ROOT}/{task.code}/proof").status_code == 404
    made = send(client, "POST", f"{ROOT}/{task.code}/prove").json()
    assert made["hash"] == task.spec_hash
    assert client.get(f"{ROOT}/{task.code}/proof").json() == made
    task.refresh_from_db()
    assert task.state == (TaskState.PROVEN if made["verdict"] == "proven" else TaskState.INVALID)


def test_an_export_is_complete_and_comes_back_in(task: Task, owner: User) -> None:
    client = client_of(owner)
    answer = client.get(f"{ROOT}/export", {"q": "state:proven"})
    body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a streaming answer
    rows = list(read_closed(body.splitlines(keepends=True)))
    assert [(row["code"], row["hash"]) for row in rows] == [(task.code, task.spec_hash)]
    assert rows[0]["spec"] == small_spec().written()


def test_an_upload_becomes_an_import_that_a_worker_fills(owner: User) -> None:
    upload = SimpleUploadedFile("tasks.json", json.dumps(small_written()).encode())
    client = client_of(owner)
    answer = client.post(f"{ROOT}/import", {"file": upload})
    assert answer.status_code == 202
    run = ImportRun.objects.get()
    assert (answer.json()["code"], answer.json()["state"]) == (run.code, "queued")
    assert client.get(f"{ROOT}/imports/{run.code}").json()["items"] == []


def test_an_upload_with_a_path_outside_is_refused_whole(owner: User) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        out.writestr("../evil.json", json.dumps(small_written()))
    upload = SimpleUploadedFile("tasks.zip", buffer.getvalue())
    answer = client_of(owner).post(f"{ROOT}/import", {"file": upload})
    assert answer.status_code == 422
    assert "points outside the archive" in answer.json()["detail"]
    assert not ImportRun.objects.exists()
    assert not Job.objects.exists()


@pytest.mark.parametrize("role", [None, Role.VIEWER, Role.REVIEWER])
def test_an_upload_by_somebody_who_may_not_is_refused(role: Role | None) -> None:
    client = client_of(person("bo", role)) if role is not None else Client()
    upload = SimpleUploadedFile("tasks.json", b"{}")
    answer = client.post(f"{ROOT}/import", {"file": upload})
    assert answer.status_code == (401 if role is None else 403)
    assert not ImportRun.objects.exists()
