"""Who gets in where: owner, colleague, reader and nobody, on every page and act."""

import pytest
from django.test import Client

from studio.web.choices import Role
from tasks_app.models import Task
from tests.tasks_app.views.conftest import client_of

PAGES = ("/tasks/", "/tasks/{code}/", "/generate/", "/coverage/")
EDITOR_PAGES = ("/tasks/new/", "/tasks/{code}/edit/")
EDITOR_ACTS = ("prove", "repair", "undo", "retire", "duplicate", "edit")
REVIEWER_ACTS = ("approve", "reject", "comments")


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES + EDITOR_PAGES)
def test_nobody_gets_in_without_an_account(task: Task, path: str) -> None:
    answer = Client().get(path.format(code=task.code))
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, "/sign-in/")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR, Role.LEAD])
def test_pages_open_by_role(task: Task, role: Role) -> None:
    client = client_of(role)
    seen = [client.get(path.format(code=task.code)).status_code for path in PAGES]
    edits = [client.get(path.format(code=task.code)).status_code for path in EDITOR_PAGES]
    assert seen == [200, 200, 200, 200]
    assert edits == ([200, 200] if role.includes(Role.EDITOR) else [403, 403])


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.EDITOR])
def test_acts_open_by_role(task: Task, role: Role) -> None:
    client = client_of(role)
    refused = [
        act
        for act in (*EDITOR_ACTS, *REVIEWER_ACTS)
        if client.post(f"/tasks/{task.code}/{act}/").status_code == 403
    ]
    expected = {
        Role.VIEWER: [*EDITOR_ACTS, *REVIEWER_ACTS],
        Role.REVIEWER: [*EDITOR_ACTS],
        Role.EDITOR: [],
    }
    assert refused == expected[role]


def test_acts_are_posted_never_followed(task: Task, editor: Client) -> None:
    acts = (*EDITOR_ACTS[:-1], *REVIEWER_ACTS)
    assert {editor.get(f"/tasks/{task.code}/{act}/").status_code for act in acts} == {405}
