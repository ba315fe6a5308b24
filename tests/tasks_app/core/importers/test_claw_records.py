"""Records: what an import holds is what the JSON files hold, service by service."""

from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tasks_app.core.importers.claw.homes import HOMES, Home
from tasks_app.core.importers.claw_eval import read_folder
from tasks_app.core.importers.outcome import Imported, Refused
from tests.tasks_app.core.importers.claw_folders import declared, folder, imported, office, tool

HOMES_OF_ALL = [(name, home) for name, homes in HOMES.items() for home in homes]
ANY_TOOL = tool("helpdesk_list_tickets")


def rows_for(home: Home) -> list[dict[str, Any]]:
    """Three records of a service with all that JSON knows, Chinese among it."""
    known: dict[str, Any] = {theirs: f"{theirs} 值" for theirs in home.known_as.values()}
    odd: dict[str, Any] = {
        "备注": "北京云创",
        "deep": {"a": [1, {"b": None}]},
        "share": 0.1,
        "big": 2**53,
        "no": False,
    }
    empty: dict[str, Any] = {"notes": "", "tags": [], "more": {}}
    rows = [{**known, **odd}, {**known, "lines": "one\ntwo\t“three”"}, {**known, **empty}]
    return [{**row, home.id_field: f"R-{number}"} for number, row in enumerate(rows)]


@pytest.mark.parametrize(("service", "home"), HOMES_OF_ALL, ids=lambda v: getattr(v, "fixture", v))
def test_every_record_of_a_file_is_there_whole_and_in_order(
    tmp_path: Path, service: str, home: Home
) -> None:
    rows = rows_for(home)
    found = imported(office(tmp_path, service, home.fixture, rows, ANY_TOOL))
    held = found.spec.services[home.service][home.collection]
    assert [{key: plain(r[key]) for key in t} for r, t in zip(held, rows, strict=True)] == rows
    assert [r["id"] for r in held] == ["R-0", "R-1", "R-2"]
    assert found.spec.provenance["files"][f"fixtures/{home.fixture}"] == (
        f"{home.service}/{home.collection}"
    )


def plain(value: Any) -> Any:
    """A frozen value as JSON reads it."""
    return orjson.loads(orjson.dumps(value, default=dict))


def test_a_number_as_id_becomes_text_and_another_id_stays_beside(tmp_path: Path) -> None:
    rows = [{"id": 7, "title": "one"}, {"ticket_id": "TK-8", "id": 99, "title": "two"}]
    held = imported(folder(tmp_path, fixtures=rows)).spec.services["helpdesk"]["tickets"]
    assert [(r["id"], r.get("upstream_id")) for r in held] == [("7", None), ("TK-8", 99)]


def test_records_may_stand_in_the_folder_of_another_task(tmp_path: Path) -> None:
    folder(tmp_path)
    other = tmp_path / "T901_other"
    other.mkdir()
    data = declared() | {"task_id": "T901_other"}
    file = "tasks/T900_lamp_triage/fixtures/helpdesk/tickets.json"
    data["services"] = [{"name": "helpdesk", "env": {"X_FIXTURES": file}}]
    data["sandbox_files"] = [file]
    (other / "task.yaml").write_text(yaml.safe_dump(data))
    found = imported(other)
    assert [r["id"] for r in found.spec.services["helpdesk"]["tickets"]] == ["TK-1", "TK-2"]
    assert list(found.defects) == ["D07"]
    data["services"][0]["env"]["X_FIXTURES"] = "tasks/../secret/tickets.json"
    (other / "task.yaml").write_text(yaml.safe_dump(data))
    assert isinstance(read_folder(other), Refused)


def test_own_files_are_held_as_text_and_a_grader_s_file_is_left(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data.update(services=[], tools=[], tool_endpoints=[], safety_checks=[])
        data.update(sandbox_files=["fixtures/说明.md", "fixtures/plan.bin"])
        data.update(scoring_components=[], judge_rubric="Is it right?")

    place = folder(tmp_path, change)
    (place / "fixtures" / "说明.md").write_text("# 说明\n三行", encoding="utf-8")
    (place / "fixtures" / "oracle.json").write_text('{"answer": "x"}')
    found = imported(place)
    assert isinstance(found, Imported)
    assert found.spec.written()["services"] == {
        "files": {
            "files": [
                {"id": "fixtures/说明.md", "media_type": "text/markdown", "text": "# 说明\n三行"}
            ]
        }
    }
    assert found.spec.tools == ("files_list_files", "files_read_file", "files_write_file")
    assert found.spec.provenance["files"] == {
        "fixtures/helpdesk/tickets.json": "left where it is",
        "fixtures/oracle.json": "left where it is",
        "fixtures/说明.md": "files/files/fixtures/说明.md",
    }
    assert found.reason == (
        "files only; for viewing: fixtures/plan.bin (not in the folder); services files"
    )
