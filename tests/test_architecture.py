"""What no review has to look for: layers, and a core without framework, clock or chance."""

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
FRAMEWORK_FREE = ("studio/lib", "tasks_app/core", "rollouts_app/core", "training_app/core")
FRAMEWORKS = ("celery", "django", "kombu", "ninja", "psycopg", "torch", "transformers")
# Module attributes that read a clock, the environment or shared randomness.
IMPURE = {
    ("datetime", "now"),
    ("datetime", "today"),
    ("datetime", "utcnow"),
    ("date", "today"),
    ("time", "time"),
    ("time", "time_ns"),
    ("os", "environ"),
    ("os", "getenv"),
    ("os", "urandom"),
    ("uuid", "uuid1"),
    ("uuid", "uuid4"),
    ("random", "choice"),
    ("random", "randint"),
    ("random", "random"),
    ("random", "sample"),
    ("random", "seed"),
    ("random", "shuffle"),
}
RIGGED = frozenset({PROJECT / "tasks_app/core/audit/rigs.py"})
"""Misbehaves on purpose: what the audit of the gates plants to see whether they find it."""


def sources(folder: str) -> list[Path]:
    """Return the Python files below a folder in a fixed order."""
    return sorted((PROJECT / folder).rglob("*.py"))


def module_name(path: Path) -> str:
    """Return the dotted name of a file."""
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def impure(path: Path) -> Iterator[str]:
    """Name every place that reads a clock, the environment or shared randomness."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value
        name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
        if (name, node.attr) in IMPURE:
            yield f"{path.relative_to(PROJECT)}:{node.lineno} {name}.{node.attr}"


def test_import_contracts_hold() -> None:
    code = (
        "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_contract_on_torch_names_every_part_of_training_but_the_engine() -> None:
    # A module that the contract does not name could import torch, and no other test would tell.
    settings = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    torch = next(each for each in contracts if "torch" in each["name"])
    parts = {
        module_name(path)
        for place in (PROJECT / "training_app").iterdir()
        if (path := place if place.suffix == ".py" else place / "__init__.py").is_file()
    }
    assert {"studio", "tasks_app", "rollouts_app"} | parts - {"training_app"} == {
        *torch["source_modules"],
        "training_app.engine",
    }


def test_core_and_lib_load_no_framework() -> None:
    names = [module_name(path) for folder in FRAMEWORK_FREE for path in sources(folder)]
    assert len(names) > 20
    code = (
        "import importlib, json, sys\n"
        f"for name in {names!r}: importlib.import_module(name)\n"
        f"print(json.dumps([name for name in {FRAMEWORKS!r} if name in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.parametrize("folder", FRAMEWORK_FREE)
def test_core_and_lib_take_clock_chance_and_environment_as_arguments(folder: str) -> None:
    pure = [path for path in sources(folder) if path not in RIGGED]
    assert [place for path in pure for place in impure(path)] == []


def test_names_of_tests_hold_no_moment_and_no_chance() -> None:
    # Every worker collects for itself: a name that differs between two of them ends the whole run.
    drawn = {"now", "time", "today", "uuid4", "dumps", "sign", "token_hex", "token_urlsafe"}
    found = [
        f"{path.relative_to(PROJECT)}:{call.lineno}"
        for path in sources("tests")
        for mark in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(mark, ast.Call) and getattr(mark.func, "attr", "") == "parametrize"
        for call in ast.walk(mark)
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in drawn
        and getattr(call.func.value, "id", "") != "json"
    ]
    assert found == []


def test_studio_package_itself_stays_empty() -> None:
    assert (PROJECT / "studio" / "__init__.py").read_text(encoding="utf-8") == ""
