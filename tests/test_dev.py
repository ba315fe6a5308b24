"""The locks and dev.py's own words; what it sets up is what these tests run in."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
NAMES = ("base", "dev", "train")


def locked(name: str) -> dict[str, str]:
    """Return the packages of a lock with their versions."""
    lines = (PROJECT / "requirements" / f"{name}.lock").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def normal(requirement: str) -> str:
    """Return the name of a requirement as locks write it."""
    return re.split(r"[\[<>=!~ ;]", requirement)[0].lower().replace("_", "-")


def run_dev(*words: str) -> subprocess.CompletedProcess[str]:
    """Run dev.py."""
    return subprocess.run(
        [sys.executable, "dev.py", *words],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )


def test_locks_are_one_resolve() -> None:
    seen: dict[str, str] = {}
    for name in NAMES:
        for package, version in locked(name).items():
            assert seen.setdefault(package, version) == version


@pytest.mark.parametrize("name", NAMES)
def test_lock_names_versions_only(name: str) -> None:
    text = (PROJECT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    lines = text.splitlines()[1:]
    assert [line for line in lines if not re.fullmatch(r"[a-z0-9-]+==[0-9a-z.]+", line)] == []
    assert "torch==" not in text


def test_lock_holds_everything_the_project_declares() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {"base": project["dependencies"], **project["optional-dependencies"]}
    missing = {
        name: [item for item in declared[name] if normal(item) not in locked(name)]
        for name in NAMES
    }
    assert missing == {"base": [], "dev": [], "train": []}


def test_unknown_command_is_answered_with_the_known_ones() -> None:
    done = run_dev("tests")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() == (
        "dev.py knows no command 'tests'; "
        "it knows: run, test, setup, lint, bench, shots, story, lock."
    )


def test_pages_and_tests_of_a_set_up_machine_run_what_the_locks_say() -> None:
    code = (
        "import json\nfrom importlib.metadata import version\n"
        f"print(json.dumps({{name: version(name) for name in {sorted(locked('base'))!r}}}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == locked("base")
