"""The commands: their last JSON line, their refusals."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from rollouts_app.models import Episode, RolloutBatch
from studio.lib.jsonl import read_closed
from tasks_app.core.licences import NON_COMMERCIAL
from tasks_app.models import Task
from tests.rollouts_app.conftest import rolled_out


def last_line(*words: str) -> dict[str, Any]:
    """Run a command with --json and read its last line."""
    out = StringIO()
    call_command(*words, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return found


@pytest.mark.parametrize(("policy", "reward", "passed"), [("reference", 1.0, 2), ("null", 0.0, 0)])
def test_run_rollouts_prints_what_was_earned(
    support_task: Task, payment_task: Task, policy: str, reward: float, passed: int
) -> None:
    line = last_line("run_rollouts", "--policy", policy, "--tasks", "", "--n", "1", "--inline")
    seconds = line.pop("seconds")
    assert line == {
        "batch": RolloutBatch.objects.get().code,
        "episodes": 2,
        "mean_reward": reward,
        "passed": passed,
        "violations": 0,
        "failed_infrastructure": 0,
        "tokens": None,
    }
    assert seconds >= 0


def test_run_rollouts_takes_a_filter(support_task: Task, payment_task: Task) -> None:
    line = last_line(
        "run_rollouts", "--policy", "reference", "--tasks", "family:support_resolution", "--n", "2"
    )
    assert (line["episodes"], line["mean_reward"]) == (2, 1.0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--policy", "oracle", "--tasks", ""], "there is no policy “oracle”"),
        (["--policy", "null", "--tasks", "familly:x"], "There is no filter “familly” here"),
        (["--policy", "null", "--tasks", "state:retired"], "no task matches"),
        (["--policy", "null", "--tasks", "", "--n", "0"], "must be between 1 and 256"),
    ],
)
def test_run_rollouts_refuses_in_words_and_writes_nothing(
    support_task: Task, words: list[str], said: str
) -> None:
    with pytest.raises(CommandError, match=said):
        call_command("run_rollouts", *words)
    assert RolloutBatch.objects.count() == 0


def test_export_episodes_writes_closed_json_lines(
    support_task: Task, payment_task: Task, tmp_path: Path
) -> None:
    rolled_out("reference")
    rolled_out("null")
    path = tmp_path / "episodes.jsonl"
    line = last_line("export_episodes", "policy:reference", "--to", "jsonl", str(path))
    with path.open("rb") as stream:
        rows = list(read_closed(stream))
    assert line["rows"] == len(rows) == 2
    assert [row["code"] for row in rows] == list(
        Episode.objects.filter(policy="reference").order_by("pk").values_list("code", flat=True)
    )
    first = rows[0]
    turns, grade = first["turns"], first["grade"]
    assert isinstance(turns, list)
    assert isinstance(grade, dict)
    assert len(turns) == 13
    assert grade["total"] == first["reward"] == 1.0


def test_episodes_of_non_commercial_tasks_are_exported_only_where_the_task_is_named(
    support_task: Task, payment_task: Task, tmp_path: Path
) -> None:
    rolled_out("reference")
    Task.objects.filter(pk=payment_task.pk).update(tags=[NON_COMMERCIAL])
    named = {"": [support_task.code], f"task:{payment_task.code}": [payment_task.code]}
    for number, (text, codes) in enumerate(named.items()):
        path = tmp_path / f"{number}.jsonl"
        last_line("export_episodes", text, "--to", "jsonl", str(path))
        with path.open("rb") as stream:
            assert [row["task"] for row in read_closed(stream)] == codes


def test_export_episodes_writes_parquet_that_other_libraries_read(
    support_task: Task, tmp_path: Path
) -> None:
    rolled_out("reference", n=2)
    path = tmp_path / "episodes.parquet"
    line = last_line("export_episodes", "", "--to", "parquet", str(path))
    table = pq.read_table(path)
    assert (line["rows"], table.num_rows) == (2, 2)
    assert table["reward"].to_pylist() == [1.0, 1.0]
    assert len(json.loads(table["turns"][0].as_py())) == 13
    assert [file.name for file in tmp_path.iterdir()] == ["episodes.parquet"]


def test_export_episodes_says_where_it_cannot_write(support_task: Task, tmp_path: Path) -> None:
    target = str(tmp_path / "no" / "such" / "folder.jsonl")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_episodes", "", "--to", "jsonl", target)
