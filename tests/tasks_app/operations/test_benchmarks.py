"""Benchmarks: kept as hashes, compared with every task, and what adding one does to proofs."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from studio.web.models import AuditEntry
from tasks_app.enums import TaskState
from tasks_app.jobs import prove_now
from tasks_app.models import Benchmark, BenchmarkItem, Task
from tasks_app.operations.tasks import create_task
from tests.factories.examples import PAYMENT, SUPPORT, example

pytestmark = pytest.mark.django_db


def run(*arguments: Any) -> dict[str, Any]:
    out = StringIO()
    call_command("add_benchmark", *arguments, "--json", stdout=out, stderr=StringIO())
    found = json.loads(out.getvalue().splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.fixture
def tasks() -> dict[str, Task]:
    """The examples as proven tasks."""
    found = {name: create_task(spec=example(name), by=None) for name in (SUPPORT, PAYMENT)}
    for task in found.values():
        prove_now(task=task, by=None)
    return found


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A benchmark that has the support example's request, and one of its own."""
    path = tmp_path / "Their Tasks.jsonl"
    rows = [
        {"id": "THEIRS-1", "prompt": f"Context. {example(SUPPORT).request.text}"},
        {"id": "THEIRS-2", "prompt": "Paint the fence green and tell the neighbours about it."},
        {"id": "THEIRS-3"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def state(task: Task) -> tuple[str, list[str]]:
    task.refresh_from_db()
    return task.state, task.findings


def test_adding_names_what_repeats_it_and_voids_that_proof_alone(
    tasks: dict[str, Task], source: Path
) -> None:
    found = run(str(source))

    assert {key: found[key] for key in ("benchmark", "items", "skipped", "proven", "invalid")} == {
        "benchmark": "their-tasks",
        "items": 2,
        "skipped": {"THEIRS-3": "no prompt"},
        "proven": 0,
        "invalid": 1,
    }
    assert state(tasks[SUPPORT]) == (TaskState.INVALID, ["V2"])
    assert state(tasks[PAYMENT]) == (TaskState.PROVEN, [])
    proof = tasks[SUPPORT].proof
    assert proof is not None
    message = proof.read().findings[0].message
    assert "“THEIRS-1” of their-tasks" in message


def test_removing_it_proves_again_what_repeated_it(tasks: dict[str, Task], source: Path) -> None:
    run(str(source), "--name", "theirs")
    found = run("--remove", "theirs")

    assert (found["benchmark"], found["proven"], found["invalid"]) == ("theirs", 1, 0)
    assert state(tasks[SUPPORT]) == (TaskState.PROVEN, [])
    assert list(Benchmark.objects.all()) == []


def test_no_text_is_kept(source: Path) -> None:
    run(str(source))

    kept = [str(getattr(item, field.name)) for item in BenchmarkItem.objects.all()
            for field in BenchmarkItem._meta.fields]  # fmt: skip
    assert not any("kettle" in value or "fence" in value for value in kept)
    assert sorted(BenchmarkItem.objects.values_list("title", flat=True)) == ["THEIRS-1", "THEIRS-2"]


def test_a_later_proof_is_compared_and_says_with_what(source: Path) -> None:
    run(str(source))
    task = create_task(spec=example(PAYMENT), by=None)
    gates = {gate.id: gate for gate in prove_now(task=task, by=None).read().gates}

    assert gates["V2"].state == "held"
    assert gates["V2"].reason.endswith("of their-tasks")


def test_the_list_gives_names_and_counts(source: Path) -> None:
    assert run("--list") == {}
    run(str(source))
    assert run("--list") == {"their-tasks": 2}


def test_each_act_leaves_an_entry(source: Path) -> None:
    run(str(source))
    run("--remove", "their-tasks")

    acts = AuditEntry.objects.filter(subject="their-tasks").order_by("pk")
    assert [entry.act for entry in acts] == ["add_benchmark", "remove_benchmark"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--remove", "nothing"], "There is no benchmark nothing"),
        (["/no/such/place"], "does not exist"),
        (["{source}", "--name", "Not A Name"], "has small letters"),
        (["{empty}"], "no prompt was found"),
        (["{program}"], "expected .txt"),
    ],
)
def test_what_cannot_be_added_says_why(
    arguments: list[str], words: str, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty.txt").write_text(" ")
    (tmp_path / "grader.py").write_text("raise SystemExit")
    places = {
        "{source}": str(source),
        "{empty}": str(tmp_path / "empty.txt"),
        "{program}": str(tmp_path / "grader.py"),
    }

    with pytest.raises(CommandError, match=words):
        run(*(places.get(argument, argument) for argument in arguments))
    assert list(Benchmark.objects.all()) == []


def test_a_name_is_given_once(source: Path) -> None:
    run(str(source))

    with pytest.raises(CommandError, match="already"):
        run(str(source))
    assert Benchmark.objects.count() == 1
