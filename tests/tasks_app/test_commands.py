"""The commands: their last JSON line, their exit codes, their words for bad input."""

import json
import os
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command, load_command_class

from studio.lib.jsonl import read_closed
from studio.web.choices import JobState
from studio.web.models import Job
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.enums import TaskState
from tasks_app.models import GenerationRun, ImportRun, Task
from tasks_app.operations.tasks import create_task
from tests.factories.specs import green_card, small_spec, small_written

GENERATED = [
    "generated",
    "proven",
    "unique",
    "quarantined",
    "repairs",
    "families",
    "subtypes",
    "services",
    "capabilities",
    "seconds",
]


def last_line(*arguments: Any, **options: Any) -> dict[str, Any]:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out, stderr=StringIO(), **options)
    found = json.loads(out.getvalue().splitlines()[-1])
    assert isinstance(found, dict)
    return found


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    """The small spec in a file."""
    path = tmp_path / "spec.json"
    path.write_text(json.dumps(small_written()))
    return path


def calls_file(folder: Path, calls: Any) -> Path:
    path = folder / "calls.json"
    path.write_text(calls if isinstance(calls, str) else json.dumps(calls))
    return path


# No database: these must run where none is


def test_grade_says_what_calls_earn(spec_file: Path, tmp_path: Path) -> None:
    calls = calls_file(
        tmp_path,
        [
            {
                "tool": "helpdesk_close_ticket",
                "arguments": {"ticket_id": "TK-2", "resolution": "answered"},
            },
            {"reply": "TK-2 is closed."},
        ],
    )
    found = last_line("grade", "--spec", str(spec_file), "--calls", str(calls))
    assert list(found) == ["reward", "passed", "components", "violations", "checks", "state_key"]
    assert (found["reward"], found["passed"], found["checks"]) == (1.0, True, {"closed": 1.0})
    assert found["components"] == {
        "outcome": 1.0,
        "process": None,
        "report": None,
        "collateral": None,
        "constraint": 1.0,
    }


@pytest.mark.parametrize(
    ("calls", "words"),
    [
        ("{", "not JSON at line 1"),
        ({"tool": "x"}, "a calls file is one JSON list"),
        ([{"reply": 3}], "is neither"),
        ([{"reply": "a"}, {"tool": "x", "reply": "y"}], r"\[1\] has both a tool and a reply"),
        ([{"reply": "a"}, {"tool": "x", "arguments": {"a\x00": 1}}], r"calls.json: \[1\].*NUL"),
        ([{"tool": "x", "arguments": []}], "arguments is not an object"),
    ],
)
def test_grade_says_what_is_wrong_with_calls(
    spec_file: Path, tmp_path: Path, calls: Any, words: str
) -> None:
    path = calls_file(tmp_path, calls)
    with pytest.raises(CommandError, match=words):
        last_line("grade", "--spec", str(spec_file), "--calls", str(path))


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("not json", "not JSON at line 1"),
        ({"format": "coworker-task/9"}, "this studio reads 'coworker-task/1'"),
        ({**small_written(), "seed": "x"}, "/seed"),
        (small_written(services={"helpdesk": {"tickets": [{"a": 1}]}}), "no world can be made"),
    ],
)
def test_probe_says_what_is_wrong_with_a_spec(tmp_path: Path, written: Any, words: str) -> None:
    path = tmp_path / "spec.json"
    path.write_text(written if isinstance(written, str) else json.dumps(written))
    with pytest.raises(CommandError, match=words):
        last_line("probe", "--spec", str(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"none\.json cannot be read: No such file"):
        last_line("probe", "--spec", str(tmp_path / "none.json"))


def test_probe_lists_what_every_cheap_policy_earns(tmp_path: Path) -> None:
    out = tmp_path / "specs.jsonl"
    last_line(
        "generate_tasks",
        "--family=support_resolution",
        "--count=1",
        "--seed=4",
        "--dry-run",
        f"--out={out}",
    )
    found = last_line("probe", "--spec", str(out))
    assert list(found) == ["reference", "null", "probes", "mutants", "constraints"]
    assert (found["reference"], found["null"]) == (1.0, 0.0)
    assert {
        "crawl",
        "spam",
        "echo",
        "paste",
        "first_record",
        "errors_only",
        "refuse",
        "regex",
    } <= set(found["probes"])
    assert all(reward < 0.2 for reward in found["probes"].values())
    assert found["mutants"]["survived"] == 0
    assert found["mutants"]["killed"] > 0
    assert found["constraints"]
    assert all(reward < 1 for reward in found["constraints"].values())


@pytest.mark.parametrize("family", list(FAMILIES))
def test_a_dry_run_gives_the_same_bytes_in_any_process(family: str, tmp_path: Path) -> None:
    files = []
    for number, (seed, zone) in enumerate([("1", "UTC"), ("977", "Pacific/Chatham")]):
        path = tmp_path / f"{number}.jsonl"
        subprocess.run(
            [
                sys.executable,
                "-m",
                "django",
                "generate_tasks",
                f"--family={family}",
                "--count=5",
                "--seed=11",
                "--dry-run",
                f"--out={path}",
                "--json",
            ],
            check=True,
            capture_output=True,
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "TZ": zone,
                "DJANGO_SETTINGS_MODULE": "studio.settings",
                # Nothing listens there: a dry run must not ask.
                "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
            },
        )
        files.append(path.read_bytes())
    assert files[0] == files[1]
    lines = files[0].splitlines()
    assert len(lines) == 5
    assert {json.loads(line)["family"] for line in lines} == {family}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--family=nobody", "--count=1", "--dry-run"], "no 'nobody'"),
        (["--family=support_resolution", "--count=0", "--dry-run"], "must be between 1 and"),
        (["--family=support_resolution", "--count=1000000000", "--dry-run"], "must be between 1"),
        (["--family=support_resolution", "--count=1", "--dry-run", "--seed=-1"], "seed: must be"),
        (
            ["--family=support_resolution", "--count=9", "--dry-run", "--out=/nowhere/x.jsonl"],
            r"/nowhere/x\.jsonl cannot be written: No such file",
        ),
        (
            ["--family=support_resolution", "--count=9", "--dry-run", "--out=/tmp"],
            "/tmp cannot be written: Is a directory",
        ),
        (
            ["--family=support_resolution", "--count=1", "--dry-run", "--difficulty=6"],
            "levels are 1 to 5",
        ),
        (
            ["--family=support_resolution", "--count=1", "--out=x"],
            "--out goes with --dry-run",
        ),
    ],
)
def test_generate_says_what_it_cannot_do(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        last_line("generate_tasks", *arguments)


# With a database


@pytest.mark.django_db
def test_generate_keeps_tasks_and_prints_the_counts() -> None:
    found = last_line("generate_tasks", "--family=support_resolution", "--count=3", "--seed=7")
    assert sorted(found) == sorted(GENERATED)
    assert (found["generated"], found["proven"], found["unique"]) == (3, 3, 3)
    assert Task.objects.filter(state=TaskState.PROVEN).count() == 3
    run = GenerationRun.objects.get()
    assert run.state == JobState.SUCCEEDED
    assert Job.objects.get().subject == run.code


@pytest.mark.django_db
def test_a_fill_makes_tasks_where_there_are_fewest() -> None:
    first = last_line("generate_tasks", "--fill", "--count=3", "--seed=7", "--difficulty=2")
    assert sorted(first) == sorted(GENERATED)
    assert (first["generated"], first["proven"], first["unique"]) == (3, 3, 3)
    second = last_line("generate_tasks", "--fill", "--count=2", "--seed=7", "--difficulty=2")
    assert (second["unique"], {*first["families"]} & {*second["families"]}) == (2, set())
    assert set(Task.objects.values_list("difficulty", flat=True)) == {2}
    newest, oldest = GenerationRun.objects.all()
    assert [[family, 2, 1, 0] for family in oldest.families] == oldest.shares
    assert (sorted(newest.families), newest.asked) == (sorted(second["families"]), 2)


@pytest.mark.django_db
def test_a_dry_fill_plans_by_the_library_and_keeps_nothing() -> None:
    found = last_line("generate_tasks", "--fill", "--count=2", "--dry-run", "--difficulty=1")
    assert (found["unique"], len(found["families"])) == (2, 2)
    assert not Task.objects.exists()
    assert not GenerationRun.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fill", "--family=support_resolution", "--count=1"], "not allowed with argument"),
        (["--fill", "--count=0"], "count: must be between"),
        (["--fill", "--count=1", "--difficulty=6"], "levels are 1 to 5"),
    ],
)
def test_a_fill_says_what_it_cannot_do(arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words):
        last_line("generate_tasks", *arguments)
    assert not GenerationRun.objects.exists()


@pytest.mark.django_db
def test_a_run_that_cannot_be_opened_leaves_no_job() -> None:
    with pytest.raises(CommandError, match="count: must be between"):
        last_line("generate_tasks", "--family=support_resolution", "--count=0")
    assert not Job.objects.exists()
    assert not GenerationRun.objects.exists()


@pytest.mark.django_db
def test_prove_counts_what_held() -> None:
    create_task(spec=small_spec(), by=None)
    found = last_line("prove_tasks", "state:draft")
    assert sorted(found) == ["invalid", "proven", "seconds"]
    assert found["proven"] + found["invalid"] == 1
    assert not Task.objects.filter(state=TaskState.DRAFT).exists()


@pytest.mark.django_db
def test_a_broken_filter_ends_before_a_job_exists() -> None:
    with pytest.raises(CommandError, match="Did you mean “state”"):
        last_line("prove_tasks", "stat:draft")
    assert not Job.objects.exists()


@pytest.mark.django_db
def test_a_filter_may_begin_with_a_negated_term(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create_task(spec=small_spec(), by=None)
    path = tmp_path / "out.jsonl"
    argv = ["manage.py", "export_tasks", "-state:draft", "--to", "json", str(path), "--json"]
    load_command_class("tasks_app", "export_tasks").run_from_argv(argv)
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["rows"] == 0


@pytest.mark.django_db
def test_an_export_comes_back_in(tmp_path: Path) -> None:
    spec = small_spec()
    create_task(spec=spec, by=None, card=green_card(spec))
    create_task(spec=small_spec(seed=8), by=None)
    path = tmp_path / "out.jsonl"
    found = last_line("export_tasks", "state:proven", "--to", "json", str(path))
    assert sorted(found) == ["rows", "seconds", "sha256"]
    assert found["rows"] == 1
    with path.open("rb") as stream:
        assert [row["hash"] for row in read_closed(stream)] == [spec.hash]
    Task.objects.update(spec_hash="")
    again = last_line("import_tasks", "--from", "json", str(path))
    assert (again["tiers"], again["refused"]) == ({"A": ["out.jsonl:1"]}, {})
    assert Task.objects.count() == 2  # known by its content, in whatever version


@pytest.mark.django_db
def test_an_import_of_nothing_is_refused_before_it_begins(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="does not exist"):
        last_line("import_tasks", "--from", "json", str(tmp_path / "none"))
    assert not ImportRun.objects.exists()


@pytest.mark.django_db
def test_a_folder_without_tasks_is_no_benchmark(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no task folders below it"):
        last_line("import_tasks", "--from", "claw-eval", str(tmp_path))
    assert not Task.objects.exists()


CLAW = """\
task_id: T900_contact_lookup
task_name: Look a colleague up
version: "1.0"
category: communication
difficulty: easy
language: en
"""


@pytest.mark.django_db
def test_every_benchmark_folder_is_taken_or_refused_with_its_reason(tmp_path: Path) -> None:
    folder = tmp_path / "tasks" / "T900_contact_lookup"
    folder.mkdir(parents=True)
    (folder / "task.yaml").write_text(CLAW)
    broken = tmp_path / "tasks" / "T901_broken"
    broken.mkdir()
    (broken / "task.yaml").write_text("- not\n- an object\n")
    found = last_line("import_tasks", "--from", "claw-eval", str(tmp_path))
    assert list(found) == ["tiers", "refused", "defects", "seconds"] or sorted(found) == [
        "defects",
        "refused",
        "seconds",
        "tiers",
    ]
    assert found["refused"]["T901_broken"] == "task.yaml, line 1: expected an object"
    assert set(found["refused"]) == {"T900_contact_lookup", "T901_broken"}
