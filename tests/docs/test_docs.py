"""Documents say what the code says: links lead somewhere, commands exist, built pages are new."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import get_commands

from docs.build import PAGES, SOURCES, Undescribed, build, pages
from docs.variables import PROJECT, variables
from rollouts_app.queries import EPISODES
from studio.web.filters import FilterSet
from tasks_app.queries import TASKS

ROOT_PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")
PROSE = sorted([*(PROJECT / name for name in ROOT_PAGES), *PAGES.glob("**/*.md")])
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_MANAGE = re.compile(r"manage\.py ([a-z_]+)")
_DEV = re.compile(r"dev\.py ([a-z]+)")
# Paths of ours in backticks; capitals stand for a name to be filled in.
_PATH = re.compile(
    r"`((?:studio|tasks_app|rollouts_app|training_app|benchmarks|tests|docs|templates|static)"
    r"/[a-z0-9_./]+)`"
)


def anchor(heading: str) -> str:
    """Return the name that a page's heading is linked by."""
    kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return kept.replace(" ", "-")


def links(path: Path) -> Iterator[tuple[str, str]]:
    """Yield file and anchor of every link into this repository."""
    for target in _LINK.findall(_FENCE.sub("", path.read_text(encoding="utf-8"))):
        if not target.startswith(("http://", "https://", "mailto:")):
            file, _, place = target.partition("#")
            yield file, place


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    home = PAGES if page.parent == SOURCES else page.parent
    broken = []
    for file, place in links(page):
        target = (home / file).resolve() if file else page
        if not target.exists():
            broken.append(file)
        elif place and target.suffix == ".md":
            headings = map(anchor, _HEADING.findall(target.read_text(encoding="utf-8")))
            if place not in set(headings):
                broken.append(f"{file}#{place}")
    assert broken == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_path_of_ours_exists(page: Path) -> None:
    named = dict.fromkeys(_PATH.findall(page.read_text(encoding="utf-8")))
    assert [path for path in named if not (PROJECT / path).exists()] == []


def test_built_pages_are_what_the_code_says() -> None:
    stale = [
        str(path.relative_to(PROJECT))
        for path, text in pages().items()
        if path.read_text(encoding="utf-8") != text
    ]
    assert stale == [], "run `.venv/bin/python -m docs.build`"


def test_a_description_of_something_that_is_gone_ends_the_build(tmp_path: Path) -> None:
    source = tmp_path / "page.md"
    source.write_text("<!-- model Clock\nstart: When.\nzone: Where.\nhands: Two.\n-->\n", "utf-8")
    with pytest.raises(Undescribed, match="Clock has no hands"):
        build(source)


def test_a_field_that_nobody_describes_ends_the_build(tmp_path: Path) -> None:
    source = tmp_path / "page.md"
    source.write_text("<!-- model Clock\nstart: When.\n-->\n", "utf-8")
    with pytest.raises(Undescribed, match=r"Clock\.zone is not described"):
        build(source)


@pytest.mark.parametrize(
    ("core", "first", "last"),
    [
        ("tasks_app/core", "From the bottom up", "\nIn `rollouts_app/core`"),
        ("rollouts_app/core", "\nIn `rollouts_app/core`", "\n`training_app/core`"),
    ],
)
def test_the_page_on_architecture_names_every_module_of_a_core_and_no_other(
    core: str, first: str, last: str
) -> None:
    text = (PROJECT / "ARCHITECTURE.md").read_text("utf-8").partition(first)[2].partition(last)[0]
    # In a table the names stand in the first column, else anywhere.
    rows = re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE) or [text]
    named = {name for row in rows for name in re.findall(r"`(\w+(?:\.py|/))`", row)}
    there = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (PROJECT / core).iterdir()
        if path.name not in {"__init__.py", "__pycache__"}
    }
    assert named == there


def _named(expression: re.Pattern[str]) -> set[str]:
    return {name for page in PROSE for name in expression.findall(page.read_text("utf-8"))}


def test_commands_that_are_named_exist() -> None:
    assert _named(_MANAGE) - set(get_commands()) == set()
    assert _named(_DEV) - set(_dev_commands()) == set()


def test_the_readme_names_every_command_of_ours() -> None:
    ours = {name for name, app in get_commands().items() if app in _our_apps()}
    text = (PROJECT / "README.md").read_text("utf-8")
    # Backticked, and first in a table's row.
    rows = set(re.findall(r"^\| `([a-z_]+)", text, re.MULTILINE))
    assert {*ours, *_dev_commands()} - rows == set()


def _our_apps() -> set[str]:
    return {"studio", "studio.web", "tasks_app", "rollouts_app", "training_app"}


def _dev_commands() -> tuple[str, ...]:
    tree = ast.parse((PROJECT / "dev.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "COMMANDS":
            return tuple(ast.literal_eval(node.value))
    raise AssertionError("dev.py lists no COMMANDS")


def test_the_operations_page_names_every_variable_and_no_other() -> None:
    text = (PAGES / "operations.md").read_text("utf-8")
    assert set(re.findall(r"^\| `([A-Z0-9_]+)`", text, re.MULTILINE)) == set(variables())


@pytest.mark.parametrize(("heading", "filters"), [("Tasks", TASKS), ("Episodes", EPISODES)])
def test_the_filter_page_names_every_key(heading: str, filters: FilterSet) -> None:
    text = (PAGES / "filters.md").read_text("utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    named = [
        key
        for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", section, re.MULTILINE)
        for key in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(named) == sorted(key.name for key in filters.keys)


def test_the_notice_names_every_package_we_ask_for() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    asked = [line for group in groups for line in group]
    names = {re.split(r"[\[<>=]", line, maxsplit=1)[0].strip().lower() for line in asked}
    text = (PROJECT / "NOTICE").read_text("utf-8")
    listed = {line.split()[0].lower() for line in text.splitlines() if line.startswith("    ")}
    assert names - listed == set()


def test_every_decision_stands_in_the_list() -> None:
    listed = (PAGES / "decisions" / "README.md").read_text("utf-8")
    pages_there = [path.name for path in sorted((PAGES / "decisions").glob("0*.md"))]
    assert [name for name in pages_there if f"({name})" not in listed] == []
    assert [name[:4] for name in pages_there] == [f"{n:04}" for n in range(1, len(pages_there) + 1)]


def test_pictures_are_small() -> None:
    assert [p.name for p in (PAGES / "images").glob("*") if p.stat().st_size > 300_000] == []
