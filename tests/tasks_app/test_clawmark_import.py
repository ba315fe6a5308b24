"""Importing ClawMark by command: what is said and stored, and that its licence is kept to."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from studio.lib.jsonl import read_closed
from tasks_app.core.licences import NON_COMMERCIAL
from tasks_app.enums import Split, TaskState
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task, read_spec, save_version
from tests.factories.people import person
from tests.factories.specs import small_spec
from tests.tasks_app.core.importers.mark_folders import changed, task

pytestmark = pytest.mark.django_db


def ran(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    found = json.loads(out.getvalue().splitlines()[-1])
    assert isinstance(found, dict)
    return found


def imported(path: Path) -> dict[str, Any]:
    return ran("import_tasks", "--from", "clawmark", str(path))


def test_an_import_says_for_each_task_what_was_taken_and_a_second_one_adds_nothing(
    tmp_path: Path,
) -> None:
    task(tmp_path)
    task(tmp_path, changed("for entry in SEED:", "for entry in load():"), "lamps/task2")
    task(tmp_path, "x = (", "lamps/task3")
    found = imported(tmp_path)
    assert {key: found[key] for key in ("tiers", "refused", "defects")} == {
        "tiers": {"A": ["lamps/task1"], "B": ["lamps/task2"]},
        "refused": {"lamps/task3": "task.py, line 1: '(' was never closed"},
        "defects": {},
    }
    assert {
        name: [counts[key] for key in ("changes", "changes_not_taken", "checkers", "stages")]
        for name, counts in found["counts"].items()
    } == {"lamps/task1": [12, 0, 3, 2], "lamps/task2": [10, 1, 3, 2]}
    assert list(Task.objects.order_by("pk").values_list("state", "split", "evaluation_only")) == (
        [(TaskState.IMPORTED, Split.EVALUATION, True)] * 2
    )
    assert imported(tmp_path)["tiers"] == found["tiers"]
    assert Task.objects.count() == 2


def test_non_commercial_tasks_are_exported_only_where_they_are_named(tmp_path: Path) -> None:
    own = create_task(spec=small_spec(seed=7), by=None)
    task(tmp_path)
    imported(tmp_path)
    theirs = Task.objects.exclude(pk=own.pk).get()
    named = {
        "": [own.code],
        "origin:imported": [],
        f" -tag:{NON_COMMERCIAL}": [own.code],
        f"tag:{NON_COMMERCIAL}": [theirs.code],
        f"code:{theirs.code}": [theirs.code],
    }
    left_out = {"": 1, "origin:imported": 1}
    for number, (text, codes) in enumerate(named.items()):
        path = tmp_path / f"{number}.jsonl"
        found = ran("export_tasks", text, "--to", "json", str(path))
        assert found.get("left_out", {}) == (
            {NON_COMMERCIAL: left_out[text]} if text in left_out else {}
        )
        with path.open("rb") as lines:
            assert [row["code"] for row in read_closed(lines)] == codes
    client = Client()
    client.force_login(person("vera"))
    streamed = client.get("/api/v1/tasks/export").getvalue().splitlines()
    assert len(streamed) == 2
    assert json.loads(streamed[-1])["closing"]["left_out"] == 1


def test_an_edit_cannot_take_the_licence_mark_away(tmp_path: Path) -> None:
    task(tmp_path)
    imported(tmp_path)
    row = Task.objects.get()
    assert row.current is not None
    assert row.tags == ["returns", "silent-change", NON_COMMERCIAL]
    spec = read_spec({**row.current.spec, "tags": []})
    save_version(task=row, spec=spec, base=1, reason="tidy", by=None)
    row.refresh_from_db()
    assert row.tags == [NON_COMMERCIAL]
