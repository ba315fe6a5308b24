"""A real checkout, where one lies beside the project: every folder and every record of it."""

import functools
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from tasks_app.core.importers.claw_eval import folders, read_folder
from tasks_app.core.importers.outcome import Imported
from tasks_app.core.world.world import seed_problem

ROOT = Path(os.environ.get("CLAW_EVAL", Path(__file__).parents[5] / "shared" / "claw-eval"))
MOST_SECONDS = 20.0

pytestmark = pytest.mark.skipif(
    not ROOT.is_dir(), reason="no Claw-Eval checkout beside the project; set CLAW_EVAL to one"
)


@functools.cache
def taken() -> tuple[Imported, ...]:
    found = [read_folder(place) for place in folders(ROOT)]
    assert [entry for entry in found if not isinstance(entry, Imported)] == []
    return tuple(entry for entry in found if isinstance(entry, Imported))


def test_every_folder_is_accounted_for_with_its_tier() -> None:
    assert [entry.name for entry in taken()] == [place.name for place in folders(ROOT)]
    assert len(taken()) == 162
    assert Counter((entry.tier, entry.runs) for entry in taken()) == {
        ("A", True): 64,
        ("B", True): 9,
        ("B", False): 1,
        ("C", True): 1,
        ("C", False): 5,
        ("D", True): 20,
        ("D", False): 62,
    }
    assert all(entry.reason for entry in taken())
    assert all(entry.spec.evaluation_only for entry in taken())
    named = {service for entry in taken() for service in entry.spec.services}
    assert named == {
        *("mail", "contacts", "finance", "helpdesk", "inventory", "crm", "kb", "calendar", "todo"),
        *("notes", "config", "rss", "scheduler", "files"),
    }


def test_every_record_of_every_json_file_is_there_whole() -> None:
    files = records = 0
    for entry in taken():
        held = entry.spec.written()["services"]
        left: Counter[str] = Counter()
        for file, home in entry.spec.provenance["files"].items():
            if not file.endswith(".json") or home.startswith(("files/", "left")):
                continue
            service, collection = home.split("/")
            rows = orjson.loads((ROOT / entry.name / file).read_bytes())
            start = left[home]
            left[home] += len(rows)
            found = held[service][collection][start : left[home]]
            assert [{k: r[k] for k in t} for r, t in zip(found, rows, strict=True)] == rows
            files, records = files + 1, records + len(rows)
        for home, count in left.items():
            service, collection = home.split("/")
            assert len(held[service][collection]) == count
    # The others are three grader's answers that stay where they are, and three files of settings.
    assert files == len(list(ROOT.rglob("*.json"))) - 6
    assert records == sum(rows_of(path) for path in ROOT.rglob("fixtures/*/*.json"))


def rows_of(path: Path) -> int:
    data: Any = orjson.loads(path.read_bytes())
    return len(data)


def test_every_file_is_accounted_for() -> None:
    left = Counter(
        file
        for entry in taken()
        for file, home in entry.spec.provenance["files"].items()
        if home == "left where it is"
    )
    assert left == {"fixtures/oracle.json": 3}


def test_the_defects_are_those_that_are_there() -> None:
    found = Counter(defect for entry in taken() for defect in entry.defects)
    assert found == {
        "D01": 6,
        "D02": 6,
        "D03": 5,
        "D04": 5,
        "D05": 4,
        "D06": 1,
        "D07": 40,
        "D08": 16,
        "D10": 2,
    }


def test_a_world_can_be_made_of_every_task() -> None:
    assert [entry.name for entry in taken() if seed_problem(entry.spec)] == []


def test_reading_all_is_quick_enough() -> None:
    began = time.process_time()
    for place in folders(ROOT):
        read_folder(place)
    assert time.process_time() - began < MOST_SECONDS
