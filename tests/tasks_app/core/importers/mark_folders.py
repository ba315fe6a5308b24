"""Small ClawMark tasks of our own that copy the shapes of real ones."""

from pathlib import Path

from tasks_app.core.importers.clawmark import read_folder
from tasks_app.core.importers.outcome import Imported, Refused

TASK = '''"""Lamp returns: three services, two days."""
import re

DB = "lamp_returns"
SCHEMA = {
    "Return ID": {"title": {}},
    "Lamp": {"rich_text": {}},
    "Price": {"number": {}},
    "State": {"select": {"options": [{"name": "open"}, {"name": "closed"}]}},
}
SEED = [
    {"id": "RT-1", "lamp": "Desk lamp", "price": 40.5, "state": "open"},
    {"id": "RT-2", "lamp": "Floor lamp", "price": 120, "state": "open"},
]
HEADER = ["Lamp", "Stock"]
STOCK = [["Desk lamp", "4"], ["Floor lamp", "0"]]


def _title(value: str) -> dict:
    return {"title": [{"text": {"content": value}}]}


def _text(value):
    """A helper with a docstring."""
    return {"rich_text": [{"text": {"content": value}}]}


def _field(row, name, kind="rich_text"):
    parts = row.get("properties", {}).get(name, {}).get(kind, [])
    return "".join(part.get("plain_text", "") for part in parts)


async def _find(ctx, wanted):
    """The row of a return."""
    rows = await ctx.notion.query_db(DB)
    for row in rows:
        if _field(row, "Return ID", "title") == wanted:
            return row
    return None


METADATA = {
    "id": "lamps_task1",
    "name": "Lamp Returns",
    "category": "lamps",
    "environments": ["filesystem", "email", "notion", "google_sheets"],
    "timeout_seconds": 900,
    "difficulty": "hard",
    "role": "Ida's assistant",
    "tags": ["returns", "silent change"],
    "env_config": {
        "email": {
            "users": {
                "ida": {"email": "ida@lamps.example", "password": "x"},
                "depot": {"email": "depot@lamps.example", "password": "x"},
            },
        },
    },
}

PROMPT = "You are Ida's assistant. " "Look at the inbox first."


async def stage0(ctx):
    """Monday."""
    await ctx.fs.upload_dir(ctx.task_dir / "assets", "/workspace")
    await ctx.notion.create_database(DB, SCHEMA)
    for entry in SEED:
        await ctx.notion.add_database_row(DB, {
            "Return ID": _title(entry["id"]),
            "Lamp": _text(entry["lamp"]),
            "Price": {"number": entry["price"]},
            "State": {"select": {"name": entry["state"]}},
        })
    info = await ctx.google_sheets.create_spreadsheet("stock")
    sheet_id = info["sheet_id"]
    await ctx.google_sheets.update_values(
        sheet_id, f"Sheet1!A1:B{1 + len(STOCK)}", [HEADER] + STOCK,
    )
    await ctx.email.send_email(
        from_user="depot", to="ida@lamps.example", subject="Two returns",
        body="Two lamps came back. " f"See {DB}.",
    )
    return {"notification": "[Monday] Sort the returns.", "time": "2026-03-02T09:00:00+01:00"}


async def stage1(ctx):
    """Tuesday."""
    sheet_id = await ctx.google_sheets.get_spreadsheet_id("stock")
    if sheet_id:
        await ctx.google_sheets.append_rows(sheet_id, "Sheet1", [["Wall lamp", "7"]])
        await ctx.google_sheets.update_values(sheet_id, "Sheet1!B3", [["2"]])
    rows = await ctx.notion.query_db(DB)
    for row in rows:
        number = _field(row, "Return ID", "title")
        if number == "RT-1":
            await ctx.notion.update_db_row(row["id"], {"State": {"select": {"name": "closed"}}})
            break
    late = await _find(ctx, "RT-2")
    if late:
        await ctx.notion.update_db_row(late["id"], {"Price": {"number": 99}})
    await ctx.fs.upload_file(ctx.task_dir / "inject" / "note.md", "/workspace/input/note.md")
    return {"notification": "[Tuesday] Go on.", "time": "2026-03-03T09:00:00+01:00"}


async def _s0_sorted(ctx) -> bool:
    """Both returns stand
    in the report."""
    return bool(re.search("RT-2", ctx.workspace))


async def _s1_price(ctx) -> bool:
    """The new price was noticed."""
    return True


async def _end(ctx):
    return True


RUBRIC = {
    "stage0": [{"id": "S0_sorted", "checker": _s0_sorted, "weight": 2.0}],
    "stage1": [{"id": "S1_price", "checker": _s1_price, "weight": 1.5}],
    "final": [{"id": "Final", "checker": _end, "weight": 0.5}],
}
'''
"""A task whose every change is literal."""
NAME = "lamps/task1"


def task(root: Path, text: str | bytes = TASK, name: str = NAME) -> Path:
    """A task folder below a checkout."""
    place = root / "tasks" / name
    (place / "assets" / "input").mkdir(parents=True)
    (place / "inject").mkdir()
    (place / "assets" / "AGENTS.md").write_text("Write outputs/report.md.\n", encoding="utf-8")
    (place / "assets" / "input" / "old.csv").write_text("lamp\nDesk lamp\n", encoding="utf-8")
    (place / "inject" / "note.md").write_text("The depot closes at noon.\n", encoding="utf-8")
    data = text if isinstance(text, bytes) else text.encode("utf-8")
    (place / "task.py").write_bytes(data)
    return place


def changed(old: str, new: str) -> str:
    """The task with one part of its text replaced."""
    assert TASK.count(old) == 1, old
    return TASK.replace(old, new)


def line_of(text: str, part: str) -> int:
    """The line on which a part of a text begins."""
    return text[: text.index(part)].count("\n") + 1


def imported(root: Path, text: str = TASK) -> Imported:
    """The task that a text becomes."""
    found = read_folder(task(root, text), NAME)
    assert isinstance(found, Imported), found
    return found


def refused(root: Path, text: str | bytes) -> str:
    """Why a text is refused."""
    found = read_folder(task(root, text), NAME)
    assert isinstance(found, Refused), found
    return found.reason
