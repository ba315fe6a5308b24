"""ClawMark files that are broken or hostile: refused or noted with file and line, never run."""

from pathlib import Path

import pytest

from tasks_app.core.importers.clawmark import folders, name_of, read_folder
from tasks_app.core.importers.outcome import Imported, Refused
from tasks_app.core.world.world import World
from tests.tasks_app.core.importers.mark_folders import (
    NAME,
    TASK,
    changed,
    imported,
    line_of,
    refused,
    task,
)

DOUBLING = f"L0 = {['x'] * 500}\n" + "".join(f"L{n} = L{n - 1} + L{n - 1}\n" for n in range(1, 11))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("x = '" + "a" * 10_000_000 + "'", "task.py: larger than 1,000,000 bytes"),
        ("x = (\n", "task.py, line 1: '(' was never closed"),
        ("x = " + "[" * 300 + "]" * 300, "task.py, line 1: too many nested parentheses"),
        ("x = 1\ny = " + "-" * 5_000 + "1", "task.py: nested too deep to be parsed"),
        ("x = 1\ny = a" + ".b" * 150, "task.py, line 2: nested more than 100 levels deep"),
        ("x = 1\n" + "x" + " + 1" * 30_000, "task.py"),
        ("x = " + "9" * 5_000, "task.py, line 1: Exceeds the limit (4300 digits)"),
        ("", "task.py, line 1: there is no stage function"),
        ("x = 'a\x00'", "task.py, line 1: a NUL character"),
        (b"x = 1\ny = '\xe9'", "task.py, line 2: not UTF-8 text"),
        (b"# -*- coding: latin-1 -*-\nx = 1", "task.py, line 1: encoded as latin-1; UTF-8 is read"),
        (b"#!x\n# coding=utf_16\nx = 1", "task.py, line 2: encoded as utf_16; UTF-8 is read"),
        (changed("PROMPT = ", "PROMPT2 = "), "task.py: PROMPT is not set to a text"),
        (
            changed('"You are Ida\'s assistant. "', "open('/etc/passwd').read()"),
            "task.py, line 61: invalid syntax",
        ),
        (
            changed('"You are Ida\'s assistant. " "Look', '"You are" + secret() + "Look'),
            "task.py, line 61: secret is computed (PROMPT)",
        ),
        (
            f"{TASK}\n{DOUBLING}\nasync def stage2(ctx):\n    for x in L10:\n        pass\n",
            "task.py, line 131: says more than is read of one task",
        ),
    ],
    ids=[
        "10MB", "syntax", "brackets", "unary", "attributes", "sum", "digits", "empty", "nul",
        "bytes", "latin", "utf16", "prompt", "garbled", "computed", "doubling",
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_is_refused_with_its_line(
    tmp_path: Path, text: str | bytes, reason: str
) -> None:
    assert refused(tmp_path, text).startswith(reason)


def test_nothing_of_a_file_is_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    text = f"open({str(made)!r}, 'w')\nimport os\nos.mkdir({str(made)!r})\n{TASK}"
    text = text.replace(
        'METADATA = {\n    "id"', f'METADATA = {{\n    "x": open({str(made)!r}, "w"),\n    "id"'
    ).replace("Both returns", f"Both {{open({str(made)!r})}} returns")
    found = imported(tmp_path, text)
    assert not made.exists()
    line = line_of(text, '    "x": open')
    assert found.spec.provenance["not_taken"] == (
        [f"task.py, line {line}: open is computed (METADATA, x)"]
    )


@pytest.mark.parametrize(
    ("old", "new", "at", "said"),
    [
        (
            '"final": [{"id": "Final"',
            '"final": [{"id": "S0_sorted"',
            '    "final"',
            "a second checker is called 'S0_sorted'; both are kept",
        ),
        (
            "async def _end(ctx):",
            "async def _s1_price(ctx):",
            "async def _s1_price(ctx):\n    return True",
            "_s1_price was defined on line ",
        ),
        (
            '    "Lamp": {"rich_text": {}},\n',
            '    "Lamp": {"rich_text": {}},\n    "Lamp": {"number": {}},\n',
            '    "Lamp": {"number": {}}',
            "'Lamp' stands twice in one object; the last counts",
        ),
        (
            '    "Price": {"number": {}},\n',
            '    "Price": {"number": {}},\n    "id": {"number": {}},\n    "a.b": {"url": {}},\n',
            "    await ctx.notion.create_database",
            "the column 'a.b' is called 'a_b' here",
        ),
    ],
    ids=["checkers", "functions", "keys", "columns"],
)
def test_names_that_collide_or_miss_are_noted_with_their_line(
    tmp_path: Path, old: str, new: str, at: str, said: str
) -> None:
    text = changed(old, new)
    findings = imported(tmp_path, text).spec.provenance["findings"]
    expected = f"task.py, line {line_of(text, at)}: {said}"
    assert any(finding.startswith(expected) for finding in findings), findings


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ('ctx.task_dir / ".." / ".." / "secret"', "../../secret: the path leaves the folder"),
        ('ctx.task_dir / "inject" / "none.md"', "inject/none.md: there is no such file"),
        ('ctx.task_dir / "inject" / "link.md"', "inject/link.md: links are not followed"),
        ('"/etc/passwd"', "which files are meant is computed"),
    ],
    ids=["outside", "absent", "link", "absolute"],
)
def test_a_file_that_may_not_be_read_is_not_taken(tmp_path: Path, new: str, said: str) -> None:
    (tmp_path / "secret").write_text("secret", encoding="utf-8")
    text = changed('ctx.task_dir / "inject" / "note.md"', new)
    place = task(tmp_path, text)
    (place / "inject" / "link.md").symlink_to(tmp_path / "secret")
    found = read_folder(place, NAME)
    assert isinstance(found, Imported)
    line = line_of(text, "    await ctx.fs.upload_file")
    assert found.spec.provenance["stages"][1]["not_taken"] == (
        [f"task.py, line {line}: fs.upload_file: {said}"]
    )
    assert "secret" not in found.spec.canonical().decode().replace(said, "")


def test_links_are_never_followed(tmp_path: Path) -> None:
    place = task(tmp_path)
    (tmp_path / "secret.txt").write_text("hidden words", encoding="utf-8")
    (place / "assets" / "input" / "link.txt").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "tasks" / "lamps" / "task2").symlink_to(place)
    (tmp_path / "tasks" / "desks").symlink_to(tmp_path / "tasks" / "lamps")
    found = {name_of(f, tmp_path): read_folder(f, name_of(f, tmp_path)) for f in folders(tmp_path)}
    taken = found.pop(NAME)
    assert isinstance(taken, Imported)
    assert b"hidden words" not in taken.spec.canonical()
    assert found == {
        "desks": Refused("desks", "links are not followed"),
        "lamps/task2": Refused("lamps/task2", "links are not followed"),
    }


def test_a_task_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    place = task(tmp_path)
    (place / "task.py").rename(tmp_path / "elsewhere.py")
    (place / "task.py").symlink_to(tmp_path / "elsewhere.py")
    assert read_folder(place, NAME) == Refused(NAME, "task.py: links are not followed")


@pytest.mark.parametrize(
    "value", ["None", "3", "'x'", "[]", "{}", "[1, {}]", "{'a': []}", "f()", "-1.5", "...", "b'x'"]
)
@pytest.mark.parametrize(
    "name", ["METADATA", "SCHEMA", "SEED", "STOCK", "HEADER", "RUBRIC", "DB", "stage1", "_field"]
)
def test_a_name_that_holds_something_else_never_breaks_the_reader(
    tmp_path: Path, name: str, value: str
) -> None:
    text = TASK.replace(f"\n{name} = ", f"\n{name} = {value}\n_{name} = ").replace(
        f"def {name}(", f"def other_{name}("
    )
    assert text != TASK
    found = read_folder(task(tmp_path, text), NAME)
    if isinstance(found, Refused):
        assert found.reason.startswith("task.py")
    else:
        assert World(found.spec).notification
