"""Importing Claw-Eval folders by command: what is stored, what is said, and how long it takes."""

import json
import os
import shutil
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from tasks_app.core.importers.claw.tiers import VIEW_ONLY
from tasks_app.core.spec import TaskSpec
from tasks_app.enums import Split, TaskState
from tasks_app.models import ImportItem, Task
from tasks_app.operations.tasks import create_task
from tests.factories.people import person
from tests.factories.specs import imported_spec, small_spec
from tests.tasks_app.core.importers.claw_folders import folder

ROOT = Path(os.environ.get("CLAW_EVAL", Path(__file__).parents[3] / "shared" / "claw-eval"))
MOST_SECONDS = 20.0
"""Of the processor: how busy a machine is says nothing about the import."""

pytestmark = pytest.mark.django_db


def imported(path: Path) -> dict[str, Any]:
    out = StringIO()
    call_command("import_tasks", "--from", "claw-eval", str(path), "--json", stdout=out)
    found = json.loads(out.getvalue().splitlines()[-1])
    assert isinstance(found, dict)
    return found


def live(data: dict[str, Any]) -> None:
    data.update(services=[{"name": "web_real"}], tools=[], tool_endpoints=[], safety_checks=[])


def test_an_import_stores_tier_reason_and_defects_and_a_second_one_nothing(tmp_path: Path) -> None:
    folder(tmp_path, lambda d: d["scoring_components"].pop())
    folder(tmp_path / "more", live).rename(tmp_path / "T901_live")
    (tmp_path / "more").rmdir()
    (tmp_path / "T902_empty").mkdir()
    found = imported(tmp_path)
    assert {key: found[key] for key in ("tiers", "refused", "defects")} == {
        "tiers": {"A": ["T900_lamp_triage"], "D": ["T901_live"]},
        "refused": {"T902_empty": "task.yaml: there is no such file"},
        "defects": {"D10": ["T900_lamp_triage"]},
    }
    assert [(item.name, item.outcome, item.tier) for item in ImportItem.objects.all()] == [
        ("T900_lamp_triage", "created", "A"),
        ("T901_live", "created", "D"),
        ("T902_empty", "refused", ""),
    ]
    rows = Task.objects.order_by("pk").values_list("state", "split", "tags")
    assert list(rows) == [
        (TaskState.IMPORTED, Split.EVALUATION, ["general"]),
        (TaskState.IMPORTED, Split.EVALUATION, ["general", VIEW_ONLY]),
    ]
    assert imported(tmp_path)["tiers"] == found["tiers"]
    assert Task.objects.count() == 2


@pytest.mark.skipif(
    not ROOT.is_dir(), reason="no Claw-Eval checkout beside the project; set CLAW_EVAL to one"
)
def test_a_whole_checkout_is_imported_quickly_enough() -> None:
    began = time.process_time()
    found = imported(ROOT)
    assert time.process_time() - began <= MOST_SECONDS
    assert {tier: len(names) for tier, names in found["tiers"].items()} == {
        "A": 64,
        "B": 10,
        "C": 6,
        "D": 82,
    }
    assert found["refused"] == {}
    assert Task.objects.filter(evaluation_only=True, tags__contains=[VIEW_ONLY]).count() == 68


TABS = ("request", "records", "tools", "constraints", "checks", "reference", "model", "history")


@pytest.mark.skipif(
    not ROOT.is_dir(), reason="no Claw-Eval checkout beside the project; set CLAW_EVAL to one"
)
@pytest.mark.parametrize("name", ["C01zh_*", "M042_*", "T045zh_*", "T070zh_*", "T104_*"])
def test_every_tab_of_an_import_opens(tmp_path: Path, name: str) -> None:
    place = next(ROOT.glob(name))
    shutil.copytree(place, tmp_path / place.name)
    imported(tmp_path)
    client = Client()
    client.force_login(person("vera"))
    code = Task.objects.get().code
    answers = [client.get(f"/tasks/{code}/?tab={tab}").status_code for tab in TABS]
    assert answers == [200] * len(TABS)


def exported(filter_text: str, path: Path) -> dict[str, Any]:
    out = StringIO()
    call_command("export_tasks", filter_text, "--to", "claw-eval", str(path), "--json", stdout=out)
    found = json.loads(out.getvalue().splitlines()[-1])
    assert isinstance(found, dict)
    return found


def test_an_export_is_read_back_as_the_tasks_that_are_here_already(tmp_path: Path) -> None:
    for seed in (7, 8):
        create_task(spec=small_spec(seed=seed), by=None)
    found = exported("track:claw_eval", tmp_path / "out")
    assert (sorted(found), found["rows"]) == (["rows", "seconds", "sha256"], 2)
    assert exported("track:claw_eval", tmp_path / "again")["sha256"] == found["sha256"]
    back = imported(tmp_path / "out")
    assert (len(back["tiers"]["A"]), back["refused"]) == (2, {})
    assert set(ImportItem.objects.values_list("outcome", flat=True)) == {"known"}
    hashes = set(Task.objects.values_list("spec_hash", flat=True))
    Task.objects.all().delete()
    imported(tmp_path / "out")
    assert set(Task.objects.values_list("spec_hash", flat=True)) == hashes
    assert not Task.objects.filter(evaluation_only=True).exists()


@pytest.mark.parametrize(
    ("spec", "reason"),
    [(small_spec(track="pocket"), "of the track pocket"), (imported_spec(), "an import")],
    ids=["pocket", "import"],
)
def test_what_has_no_such_form_is_refused_before_anything_is_written(
    tmp_path: Path, spec: TaskSpec, reason: str
) -> None:
    create_task(spec=spec, by=None)
    with pytest.raises(CommandError, match=reason):
        exported("", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_export_replaces_nothing(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be written: File exists"):
        exported("", tmp_path)
