"""The proof hash is the same in any process: another hash seed, locale and time zone."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.proof import prove
from tests.factories.examples import EXAMPLES, example

PROJECT = Path(__file__).resolve().parents[4]
NO_LOCALE = "no such locale"
PROVE = f"""
import json, locale, sys
try:
    locale.setlocale(locale.LC_ALL, "")
except locale.Error:
    print("{NO_LOCALE}")
    raise SystemExit(0)
from tasks_app.core.spec import load_spec
from tasks_app.core.validation.proof import prove
print(json.dumps([prove(load_spec(spec)).proof_hash for spec in json.load(sys.stdin)]))
"""


@functools.cache
def specs() -> tuple[TaskSpec, ...]:
    """The examples, and a draft of every family."""
    drafted = [draft(family, next(plans(family, 1, 21))) for family in FAMILIES.values()]
    return (*map(example, EXAMPLES), *drafted)


@functools.cache
def hashes() -> list[str]:
    return [prove(spec).proof_hash for spec in specs()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("hash_seed", "locale", "zone"),
    [
        ("0", "C.UTF-8", "UTC"),
        ("4242", "C.UTF-8", "Asia/Kathmandu"),
        ("4242", "tr_TR.UTF-8", "America/St_Johns"),
    ],
)
def test_another_process_finds_the_same_hashes(hash_seed: str, locale: str, zone: str) -> None:
    elsewhere = {"PYTHONHASHSEED": hash_seed, "LC_ALL": locale, "LANG": locale, "TZ": zone}
    done = subprocess.run(
        [sys.executable, "-c", PROVE],
        input=json.dumps([spec.written() for spec in specs()]),
        capture_output=True,
        text=True,
        check=True,
        cwd=PROJECT,
        env={**os.environ, **elsewhere},
    )
    if done.stdout.strip() == NO_LOCALE:
        pytest.skip(f"{locale} is not installed here")
    assert json.loads(done.stdout) == hashes()
    assert "" not in hashes()
