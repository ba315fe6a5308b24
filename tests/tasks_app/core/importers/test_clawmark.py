"""ClawMark tasks: what is literal comes in whole, what is computed is counted and named."""

from pathlib import Path

import pytest

from tasks_app.core.importers.clawmark import LICENCE, folders, name_of, read_folder
from tasks_app.core.importers.outcome import Imported
from tasks_app.core.validation.proof import prove
from tasks_app.core.world.world import World
from tests.tasks_app.core.importers.mark_folders import (
    NAME,
    TASK,
    changed,
    imported,
    line_of,
    task,
)


def test_a_literal_task_comes_in_whole(tmp_path: Path) -> None:
    found = imported(tmp_path)
    spec = found.spec
    assert (found.name, found.tier, found.runs, found.source_id) == (
        NAME,
        "A",
        True,
        "clawmark:lamps/task1",
    )
    assert (spec.track, spec.family, spec.subtype, spec.title, spec.difficulty.level) == (
        "clawmark",
        "clawmark_lamps",
        "task1",
        "Lamp Returns",
        4,
    )
    assert (spec.evaluation_only, spec.aliases) == (True, ("lamps/task1", "lamps_task1"))
    assert (spec.clock.start, spec.clock.zone) == ("2026-03-02T09:00:00+01:00", "Etc/GMT-1")
    assert spec.request.text == (
        "You are Ida's assistant. Look at the inbox first.\n\n[Monday] Sort the returns."
    )
    assert spec.workplace.output_contract == "Write outputs/report.md.\n"
    assert spec.provenance["licence"] == LICENCE
    assert spec.provenance["counts"] == {
        "stages": 2,
        "notifications": 2,
        "times": 2,
        "changes": 12,
        "changes_not_taken": 0,
        "checkers": 3,
        "checkers_not_taken": 0,
        "metadata_not_taken": 0,
        "files": 3,
        "files_not_taken": 0,
    }


def test_seeds_become_records(tmp_path: Path) -> None:
    services = imported(tmp_path).spec.services
    assert [dict(row) for row in services["tables"]["rows"]] == [
        {
            "id": "RW-01",
            "table_id": "TB-01",
            "Return ID": "RT-1",
            "Lamp": "Desk lamp",
            "Price": 40.5,
            "State": "open",
        },
        {
            "id": "RW-02",
            "table_id": "TB-01",
            "Return ID": "RT-2",
            "Lamp": "Floor lamp",
            "Price": 120,
            "State": "open",
        },
    ]
    assert [dict(row) for row in services["sheets"]["rows"]] == [
        {"id": "SH-01!1", "sheet_id": "SH-01", "row": 1, "A": "Lamp", "B": "Stock"},
        {"id": "SH-01!2", "sheet_id": "SH-01", "row": 2, "A": "Desk lamp", "B": "4"},
        {"id": "SH-01!3", "sheet_id": "SH-01", "row": 3, "A": "Floor lamp", "B": "0"},
    ]
    assert [dict(row) for row in services["mail"]["messages"]] == [
        {
            "id": "M-01",
            "mailbox": "ida@lamps.example",
            "from": "depot@lamps.example",
            "to": ["ida@lamps.example"],
            "subject": "Two returns",
            "date": "2026-03-02T09:00:00+01:00",
            "body": "Two lamps came back. See lamp_returns.",
            "labels": ["inbox"],
            "is_read": False,
        }
    ]
    assert [row["id"] for row in services["files"]["files"]] == ["AGENTS.md", "input/old.csv"]


def test_later_changes_happen_in_the_world_as_the_coworker_left_it(tmp_path: Path) -> None:
    world = World(imported(tmp_path).spec)
    assert world.call("tables_update_row", {"row_id": "RW-02", "values": {"Lamp": "Tall"}})
    assert world.reply("Done.") == "[Tuesday] Go on."
    rows = world.call("tables_query_rows", {"table_id": "TB-01"}).outcome["rows"]
    assert [(r["Lamp"], r["Price"], r["State"]) for r in rows] == [
        ("Desk lamp", 40.5, "closed"),
        ("Tall", 99, "open"),
    ]
    cells = world.call("sheets_read_range", {"sheet_id": "SH-01"}).outcome["values"]
    assert cells == [
        ["Lamp", "Stock"],
        ["Desk lamp", "4"],
        ["Floor lamp", "2"],
        ["Wall lamp", "7"],
    ]
    note = world.call("files_read_file", {"file_id": "input/note.md"}).outcome
    assert note["text"] == "The depot closes at noon.\n"


def test_checkers_stand_as_named_rubric_texts_with_their_weights(tmp_path: Path) -> None:
    spec = imported(tmp_path).spec
    assert [(c.id, c.kind, c.weight, c.stage, c.explain) for c in spec.checks] == [
        ("s0_sorted", "rubric", 0.5, "stage0", "S0_sorted: weight 2 upstream"),
        ("s1_price", "rubric", 0.375, "stage1", "S1_price: weight 1.5 upstream"),
        ("final", "rubric", 0.125, None, "Final: weight 0.5 upstream"),
    ]
    assert spec.provenance["rubric"] == [
        {
            "stage": "stage0",
            "id": "S0_sorted",
            "weight": 2,
            "docstring": "Both returns stand in the report.",
        },
        {
            "stage": "stage1",
            "id": "S1_price",
            "weight": 1.5,
            "docstring": "The new price was noticed.",
        },
        {"stage": "final", "id": "Final", "weight": 0.5, "docstring": ""},
    ]


def test_the_card_says_that_the_grader_is_unproven(tmp_path: Path) -> None:
    card = prove(imported(tmp_path).spec)
    assert (card.proven, card.unproven_reason) == (False, "unproven upstream grader")


def test_the_same_folder_gives_the_same_hash(tmp_path: Path) -> None:
    assert imported(tmp_path / "a").spec.hash == imported(tmp_path / "b").spec.hash


@pytest.mark.parametrize(
    ("old", "new", "said", "key"),
    [
        (
            '[["Wall lamp", "7"]]',
            '[["Wall lamp", str(7)]]',
            "google_sheets.append_rows: str is computed",
            "changes_not_taken",
        ),
        (
            'if number == "RT-1":',
            "if number > 3:",
            "notion.update_db_row: a condition that is computed: no comparison of a column",
            "changes_not_taken",
        ),
        (
            'body="Two lamps came back. "',
            'body="Two lamps came back. " * 9999999 + "x"',
            "email.send_email: a BinOp is computed",
            "changes_not_taken",
        ),
        (
            '"time": "2026-03-03T09:00:00+01:00"',
            '"time": now()',
            "time: now is computed",
            "changes_not_taken",
        ),
        (
            "    await ctx.fs.upload_file(",
            "    await ctx.fs._sandbox.exec(",
            "fs._sandbox.exec: no counterpart here",
            "changes_not_taken",
        ),
        (
            "    for entry in SEED:",
            "    for entry in load():",
            "notion.add_database_row: load is computed",
            "changes_not_taken",
        ),
    ],
    ids=["cell", "condition", "doubling", "time", "shell", "loop"],
)
def test_what_is_computed_is_named_with_its_line_and_keeps_a_task_from_running(
    tmp_path: Path, old: str, new: str, said: str, key: str
) -> None:
    text = changed(old, new)
    found = imported(tmp_path, text)
    provenance = found.spec.provenance
    not_taken = [entry for stage in provenance["stages"] for entry in stage["not_taken"]]
    assert any(said in entry and entry.startswith("task.py, line ") for entry in not_taken), (
        not_taken
    )
    assert provenance["counts"][key] == len(not_taken)
    assert (found.tier, found.runs, "view-only" in found.spec.tags) == ("B", False, True)
    assert "for viewing" in found.reason


def test_a_list_that_is_changed_on_the_way_is_not_taken_for_what_it_was(tmp_path: Path) -> None:
    text = changed(
        '        await ctx.google_sheets.append_rows(sheet_id, "Sheet1", [["Wall lamp", "7"]])\n',
        '        more = [["Wall lamp", "7"]]\n        more.append(["Lamp", "9"])\n'
        '        await ctx.google_sheets.append_rows(sheet_id, "Sheet1", more)\n',
    )
    found = imported(tmp_path, text)
    line = line_of(text, "        await ctx.google_sheets.append_rows")
    assert found.spec.provenance["stages"][1]["not_taken"] == (
        [f"task.py, line {line}: google_sheets.append_rows: more is computed"]
    )


def test_a_rubric_that_is_changed_afterwards_is_not_taken(tmp_path: Path) -> None:
    text = f"{TASK}\nRUBRIC['stage1'].append({{}})\n"
    found = imported(tmp_path, text)
    assert (found.spec.checks, found.tier) == ((), "B")
    assert found.spec.provenance["not_taken"] == ["RUBRIC is not set to an object"]


def test_checkers_of_a_stage_that_is_not_there_are_named(tmp_path: Path) -> None:
    text = changed('    "stage1": [', '    "stage7": [')
    found = imported(tmp_path, text)
    assert (found.tier, [c.stage for c in found.spec.checks]) == ("B", ["stage0", None, None])
    line = line_of(text, '    "stage7": [')
    assert found.spec.provenance["not_taken"] == (
        [f"task.py, line {line}: there is no stage 'stage7'; its checkers are read at the end"]
    )


def test_a_picture_is_said_to_be_missing(tmp_path: Path) -> None:
    place = task(tmp_path)
    (place / "assets" / "input" / "lamp.png").write_bytes(b"\x89PNG\x00")
    found = read_folder(place, NAME)
    assert isinstance(found, Imported)
    assert (found.tier, found.spec.provenance["missing"]) == ("B", ["1 files are not carried over"])
    assert found.spec.provenance["files"]["assets/input/lamp.png"] == "no text"


def test_folders_are_found_below_domains_and_alone(tmp_path: Path) -> None:
    task(tmp_path, name="lamps/task2")
    task(tmp_path, name="desks/task1")
    (tmp_path / "tasks" / "lamps" / "task3").mkdir()
    assert [name_of(folder, tmp_path) for folder in folders(tmp_path)] == [
        "desks/task1",
        "lamps/task2",
        "lamps/task3",
    ]
    alone = tmp_path / "tasks" / "desks" / "task1"
    assert [name_of(folder, alone) for folder in folders(alone)] == ["task1"]
