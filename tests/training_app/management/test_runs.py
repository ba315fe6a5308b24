"""The commands of runs: their last JSON line, their refusals."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.training_app.conftest import SMALL, opened
from tests.training_app.jobs.test_runs import plan
from training_app.jobs.runs import cancel_run
from training_app.models import Checkpoint, TrainingRun

pytestmark = pytest.mark.django_db


def last_line(*words: str) -> dict[str, Any]:
    """Run a command with --json and read its last line."""
    out = StringIO()
    call_command(*words, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue().splitlines()[-1])
    return found


def small(*words: str) -> list[str]:
    changes = [f"--set={place}={value}" for place, value in SMALL.items()]
    return ["train", "--preset", "cpu-tiny-sft", *changes, *words]


def test_train_prints_what_the_run_came_to(studio: Path) -> None:
    line = last_line(*small("--seed", "3", "--steps", "4"))
    run = TrainingRun.objects.get()
    assert line.pop("seconds") > 0
    assert line == {
        "run": run.code,
        "before": 0.0,
        "after": 1.0,
        "reward_first_fifth": None,
        "reward_last_fifth": None,
        "steps": 4,
        "base_seconds": 1.5,
        "checkpoint": Checkpoint.objects.get(run=run, step=4).code,
    }
    assert (run.seed, run.steps) == (3, 4)
    next_line = last_line(*small("--init", line["checkpoint"]))
    assert TrainingRun.objects.get(code=next_line["run"]).parent is not None


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "magic"], "there is no preset “magic”. Known: cpu-tiny-sft"),
        (["--preset", "cpu-tiny-sft", "--dataset", "DS-0000"], "There is no dataset DS-0000"),
        (["--preset", "cpu-tiny-sft", "--init", "CK-0000"], "There is no checkpoint CK-0000"),
        (["--preset", "cpu-tiny-sft", "--set", "steps"], "“steps” is not PLACE=VALUE"),
        (["--preset", "cpu-tiny-sft", "--set", "batch=much"], "batch: Input should be a valid"),
        (["--preset", "cpu-tiny-grpo", "--set", "batch=5"], "a step holds whole groups"),
    ],
)
def test_train_says_what_cannot_be(studio: Path, words: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("train", *words)
    assert not TrainingRun.objects.exists()


class Stopping(StringIO):
    """Somebody who reads that two steps are done and stops the run then; it waits there."""

    def write(self, text: str) -> int:
        if '"done": 0' in text:
            plan(TrainingRun.objects.get(), hold=3)
        if '"done": 2' in text:
            cancel_run(run=TrainingRun.objects.get(), by=None)
        return super().write(text)


def test_train_says_of_a_stopped_run_where_it_stopped_and_how_it_goes_on(studio: Path) -> None:
    with pytest.raises(CommandError) as error:
        call_command(*small(), "--json", stdout=Stopping())
    run = TrainingRun.objects.get()
    job = run.job
    assert job is not None
    assert str(error.value).splitlines() == [
        f"{job.code} stopped, as it was asked to. It goes on from its page, /jobs/{job.code}/.",
        (
            f"  {run.code}: stopped at step 2 of 6. Resume (R) on its page, "
            f"/runs/{run.code}/, goes on from step 2, which is kept; over the API it is POST "
            f"/api/v1/training-runs/{run.code}/resume."
        ),
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("evaluation.tasks=4", "evaluation.tasks: there is no such place. Did you mean demonstr"),
        ("seed=true", "seed: true is no number"),
    ],
)
def test_train_names_a_place_or_value_that_no_recipe_has(
    studio: Path, change: str, message: str
) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("train", "--preset", "cpu-tiny-sft", "--set", change)
    assert not TrainingRun.objects.exists()


def test_a_run_is_exported_and_adopted(studio: Path, tmp_path: Path) -> None:
    run = opened()
    exported = last_line("export_run", run.code, str(tmp_path / "away.zip"))
    assert (exported["run"], exported["files"], len(exported["sha256"])) == (run.code, 3, 64)
    adopted = last_line("adopt_run", str(tmp_path / "away.zip"))
    assert list(adopted) == ["run", "files", "sha256"]
    assert TrainingRun.objects.get(code=adopted["run"]).adopted
    with pytest.raises(CommandError, match="There is no "):
        call_command("adopt_run", str(tmp_path / "nowhere"))
    with pytest.raises(CommandError, match="There is no training run RUN-0000"):
        call_command("export_run", "RUN-0000", str(tmp_path / "x"))
