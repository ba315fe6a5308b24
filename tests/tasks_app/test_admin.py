"""The admin site: administrators look and export, nothing is written there."""

import pytest
from django.test import Client
from django.urls import reverse

from studio.lib.jsonl import read_closed
from studio.web.choices import Role
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tests.factories.people import person
from tests.factories.specs import green_card, small_spec

pytestmark = pytest.mark.django_db
MODELS = (
    "task",
    "taskversion",
    "proof",
    "review",
    "comment",
    "workflowrequirement",
    "generationrun",
    "attempt",
    "importrun",
    "importitem",
)


@pytest.fixture
def admin() -> Client:
    """A client of an administrator."""
    client = Client()
    client.force_login(person("root", Role.ADMIN))
    return client


@pytest.fixture
def task() -> Task:
    """A proven task."""
    spec = small_spec()
    return create_task(spec=spec, by=None, card=green_card(spec))


@pytest.mark.parametrize("model", MODELS)
def test_every_table_is_listed_and_nothing_is_added(model: str, admin: Client, task: Task) -> None:
    assert admin.get(reverse(f"admin:tasks_app_{model}_changelist")).status_code == 200
    assert admin.get(reverse(f"admin:tasks_app_{model}_add")).status_code == 403


def test_a_task_is_shown_and_not_changed(admin: Client, task: Task) -> None:
    path = reverse("admin:tasks_app_task_change", args=[task.pk])
    assert admin.get(path).status_code == 200
    assert admin.post(path, {"title": "other"}).status_code == 403


@pytest.mark.parametrize("across", ["0", "1"])
def test_selected_rows_or_the_whole_filter_are_exported(
    across: str, admin: Client, task: Task
) -> None:
    other = create_task(spec=small_spec(seed=8), by=None)
    answer = admin.post(
        reverse("admin:tasks_app_task_changelist"),
        {"action": "export_tasks", "_selected_action": [str(task.pk)], "select_across": across},
    )
    body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a streaming answer
    codes = [row["code"] for row in read_closed(body.splitlines(keepends=True))]
    assert codes == ([task.code] if across == "0" else [task.code, other.code])


def test_others_do_not_get_in(task: Task) -> None:
    client = Client()
    client.force_login(person("lea", Role.LEAD))
    assert client.get(reverse("admin:tasks_app_task_changelist")).status_code in (302, 403)
