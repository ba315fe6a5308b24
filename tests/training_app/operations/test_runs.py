"""Opening runs, reading their directories into rows, keeping and deleting checkpoints."""

import math
from pathlib import Path
from typing import Any

import pytest

from studio.web.choices import JobState
from studio.web.errors import Conflict, Invalid
from studio.web.models import AuditEntry
from tests.training_app.conftest import opened
from tests.training_app.library import frozen, rolled_out_library
from training_app.core.manifest import check_manifest
from training_app.core.recipe import PRESETS
from training_app.core.run_dir import Metrics, RunDir, Status
from training_app.models import Checkpoint, TrainingRun
from training_app.operations.absorbing import absorb
from training_app.operations.runs import (
    open_run,
    promote,
    remove_weights,
    reopen_run,
    rewind,
    settle_run,
)
from training_app.queries.runs import checkpoint_folder, metrics_since, run_dir, runs_folder

pytestmark = pytest.mark.django_db


def line(step: int, **values: float) -> Metrics:
    return Metrics(step, step * 4, step * 0.5, values or {"loss": 1 / step})


def curve(run: TrainingRun) -> list[tuple[int, dict[str, float]]]:
    return [(row.step, dict(row.values)) for row in metrics_since(run).rows]


def saved(directory: RunDir, step: int) -> None:
    folder = directory.checkpoint_path(step)
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    directory.seal(step, {"greedy": {"success": 0.5}})


def problems(error: pytest.ExceptionInfo[Invalid]) -> list[tuple[str, str]]:
    return [(problem.place, problem.message) for problem in error.value.problems]


# Opening


def test_a_run_is_a_row_and_a_directory_with_its_recipe(studio: Path) -> None:
    run = open_run(preset="cpu-tiny-grpo", changes={"rollouts.group": 4}, seed=7, by=None)
    directory = RunDir(studio / "runs" / run.code)
    assert directory.recipe() == PRESETS["cpu-tiny-grpo"].model_copy(
        update={
            "seed": 7,
            "rollouts": PRESETS["cpu-tiny-grpo"].rollouts.model_copy(update={"group": 4}),
        }
    )
    assert (run.state, run.steps, run.seed, run.algorithm) == (JobState.QUEUED, 78, 7, "grpo")
    assert run.recipe_hash == directory.recipe().hash
    entry = AuditEntry.objects.get(act="start_run")
    assert (entry.subject, entry.detail["seed"]) == (run.code, 7)


def test_changes_within_a_part_leave_the_rest_of_the_preset(studio: Path) -> None:
    run = open_run(preset="cpu-tiny-grpo", changes={"measure": {"tasks": 5}}, by=None)
    assert (run.recipe["measure"]["tasks"], run.recipe["measure"]["every"]) == (5, 0)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"steps": 0}, "steps"),
        ({"steps": 2**40}, "steps"),
        ({"learning_rate": "quick"}, "learning_rate"),
        ({"measure.each": 3}, "measure.each"),
        ({"nothing.at.all": 3}, "nothing.at.all"),
        ({"model.kind": "pretrained"}, "model"),
        ({"seed": -1}, "seed"),
    ],
)
def test_wrong_values_name_their_place_and_leave_nothing(
    studio: Path, changes: dict[str, Any], place: str
) -> None:
    with pytest.raises(Invalid) as error:
        open_run(preset="cpu-tiny-sft", changes=changes, by=None)
    assert [problem.place for problem in error.value.problems] == [place]
    assert not TrainingRun.objects.exists()
    assert not runs_folder().exists()


def test_an_unknown_preset_is_told_the_known_ones(studio: Path) -> None:
    with pytest.raises(Invalid) as error:
        open_run(preset="gpu-huge", by=None)
    assert problems(error) == [("preset", "there is no preset “gpu-huge”")]
    assert "cpu-tiny-gigpo" in error.value.problems[0].hint


def test_a_folder_that_cannot_be_written_is_a_problem_with_its_fix(studio: Path) -> None:
    studio.parent.mkdir(exist_ok=True)
    studio.write_text("a file where the folder should be")
    with pytest.raises(Invalid) as error:
        opened()
    assert [(p.place, p.hint) for p in error.value.problems] == [
        ("disk", "Free some space, or set STUDIO_VAR to a folder that can be written to.")
    ]
    assert not TrainingRun.objects.exists()


def test_a_pretrained_model_needs_a_dataset(studio: Path) -> None:
    with pytest.raises(Invalid) as error:
        opened(model={"kind": "pretrained", "name": "/models/none"})
    assert problems(error) == [("dataset", "a pretrained model needs one")]


def test_a_run_starts_from_a_checkpoint_by_its_code(studio: Path) -> None:
    first = opened()
    saved(run_dir(first), 2)
    absorb(run=first)
    parent = Checkpoint.objects.get()
    run = open_run(preset="cpu-tiny-grpo", parent=parent, by=None)
    assert run.recipe["model"]["init"] == parent.code
    assert run_dir(run).recipe().model.init == str(checkpoint_folder(parent))
    remove = checkpoint_folder(parent) / "config.json"
    remove.unlink()
    with pytest.raises(Invalid) as error:
        open_run(preset="cpu-tiny-grpo", parent=parent, by=None)
    assert problems(error) == [("init", f"the weights of {parent.code} are gone")]


def test_a_frozen_dataset_lies_in_the_directory_as_the_engine_reads_it(studio: Path) -> None:
    rolled_out_library()
    dataset = frozen()
    run = open_run(preset="cpu-tiny-sft", dataset=dataset, by=None)
    manifest = check_manifest(run_dir(run).dataset)
    assert (manifest["kind"], manifest["sha256"]) == ("demonstrations", dataset.sha256)
    assert (run_dir(run).dataset / "demonstrations.jsonl").is_file()
    with pytest.raises(Invalid) as error:
        open_run(preset="cpu-tiny-grpo", dataset=dataset, by=None)
    assert problems(error) == [
        ("dataset", f"{dataset.code} holds demonstrations, grpo learns from prompts")
    ]


# Reading


def test_reading_twice_writes_each_step_once(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    directory.append(line(1))
    directory.append(line(2))
    directory.write_status(Status("running", 2, 6, 4711, 1_900_000_000.0))
    assert absorb(run=run)[:2] == (2, 0)
    assert absorb(run=run)[:2] == (0, 0)
    directory.append(line(3))
    assert absorb(run=run)[:2] == (1, 0)
    assert curve(run) == [(1, {"loss": 1.0}), (2, {"loss": 0.5}), (3, {"loss": 1 / 3})]
    assert (run.state, run.step, run.steps, run.samples) == (JobState.RUNNING, 3, 6, 12)
    assert run.heartbeat_at is not None
    assert int(run.heartbeat_at.timestamp()) == 1_900_000_000


def test_a_later_line_of_the_same_step_adds_its_values(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    directory.append(line(1))
    absorb(run=run)
    directory.append(line(1, **{"success/greedy": 0.25}))
    absorb(run=run)
    assert curve(run) == [(1, {"loss": 1.0, "success/greedy": 0.25})]


def test_damaged_lines_are_counted_and_hide_nobody(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    directory.append(line(1))
    with directory.metrics_file.open("ab") as stream:
        for text in (
            b"{not json}\n",
            b'{"step": 2, "samples": 8, "seconds": 1, "values": {"loss": NaN}}\n',
            b'{"step": 99999999999, "samples": 8, "seconds": 1, "values": {}}\n',
            b'{"step": 3, "samples": 8, "seconds": 1, "values": [1]}\n',
            b"[]\n",
        ):
            stream.write(text)
    directory.append(line(4, loss=math.nan, reward=1.0))
    assert absorb(run=run)[:2] == (2, 5)
    assert curve(run) == [(1, {"loss": 1.0}), (4, {"reward": 1.0})]
    assert run.damaged == 5
    assert absorb(run=run)[:2] == (0, 0)
    assert run.damaged == 5


def test_names_that_a_database_cannot_hold_are_mended(studio: Path) -> None:
    run = opened()
    with run_dir(run).metrics_file.open("ab") as stream:
        stream.write(
            b'{"step": 1, "samples": 4, "seconds": 1, "values": {"a\\u0000b": 1.0, "c": 1e308}}\n'
        )
    absorb(run=run)
    assert curve(run) == [(1, {"a�b": 1.0, "c": 1e308})]


def test_a_file_that_was_cut_back_cuts_the_curve_back(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    for step in range(1, 6):
        directory.append(line(step))
    absorb(run=run)
    directory.cut_back(2)
    absorb(run=run)
    assert [step for step, _ in curve(run)] == [1, 2]
    for step in range(3, 6):
        directory.append(line(step, loss=9.0))
    absorb(run=run)
    directory.cut_back(3)
    for step in range(4, 9):  # longer than it was before anybody looks again
        directory.append(line(step, loss=7.0))
    absorb(run=run)
    assert curve(run) == [
        (1, {"loss": 1.0}),
        (2, {"loss": 0.5}),
        (3, {"loss": 9.0}),
        *((step, {"loss": 7.0}) for step in range(4, 9)),
    ]


def test_a_reader_who_was_further_than_a_resumed_run_starts_over(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    for step in (1, 2, 3):
        directory.append(line(step))
    absorb(run=run)
    first = metrics_since(run)
    assert ([row.step for row in first.rows], first.again) == ([1, 2, 3], False)
    directory.append(line(4))
    absorb(run=run)
    second = metrics_since(run, first.cursor)
    assert ([row.step for row in second.rows], second.again) == ([3, 4], False)
    rewind(run=run, step=1)
    absorb(run=run)
    third = metrics_since(run, second.cursor)
    assert ([row.step for row in third.rows], third.again) == ([1], True)
    pages = metrics_since(run, "", size=1)
    assert (len(pages.rows), pages.more) == (1, False)


@pytest.mark.parametrize(
    "status",
    [
        b"{}",
        b"[]",
        b"not json",
        b'{"state": "banana", "step": "many", "steps": -1, "heartbeat": "now", "message": 3}',
        b'{"done": -1, "total": "all"}',
        b'{"state": ["running"], "step": 1e400}',
        b'{"state": "running", "heartbeat": 1e300}',
    ],
)
def test_a_status_that_makes_no_sense_changes_nothing(studio: Path, status: bytes) -> None:
    run = opened()
    (run_dir(run).path / "status.json").write_bytes(status)
    absorb(run=run)
    assert (run.step, run.steps, run.heartbeat_at, run.message) == (0, 6, None, "")


def test_checkpoints_come_go_and_come_again(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    saved(directory, 2)
    (directory.checkpoints / "step-000004").mkdir()
    (directory.checkpoints / "step-000004" / "checkpoint.json").write_text("{}")
    absorb(run=run)
    row = Checkpoint.objects.get(run=run)
    assert (row.step, row.bytes, row.evaluation, row.removed_at) == (
        2,
        2,
        {"greedy": {"success": 0.5}},
        None,
    )
    (directory.checkpoints / "step-000004" / "checkpoint.json").unlink()
    saved(directory, 6)
    directory.prune(0)
    absorb(run=run)
    assert [(c.step, c.removed_at is None) for c in Checkpoint.objects.filter(run=run)] == [
        (2, False),
        (6, True),
    ]
    saved(directory, 2)
    absorb(run=run)
    row.refresh_from_db()
    assert row.removed_at is None


# Keeping, deleting, going on


def test_a_promoted_checkpoint_outlives_the_retention_rule(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    for step in (2, 4, 6):
        saved(directory, step)
    absorb(run=run)
    first = Checkpoint.objects.get(run=run, step=2)
    promote(checkpoint=first, promoted=True, by=None)
    assert directory.prune(0) == [4]
    absorb(run=run)
    first.refresh_from_db()
    assert (first.promoted, first.removed_at) == (True, None)
    with pytest.raises(Conflict, match="is promoted"):
        remove_weights(checkpoint=first, by=None)
    promote(checkpoint=first, promoted=False, by=None)
    remove_weights(checkpoint=first, by=None)
    assert not directory.checkpoint_path(2).exists()
    with pytest.raises(Conflict, match="are gone"):
        promote(checkpoint=first, promoted=True, by=None)


def test_the_checkpoint_that_a_run_goes_on_from_is_not_deleted(studio: Path) -> None:
    run = opened()
    saved(run_dir(run), 2)
    absorb(run=run)
    with pytest.raises(Conflict, match="goes on from"):
        remove_weights(checkpoint=Checkpoint.objects.get(run=run), by=None)


def test_only_an_ended_run_is_resumed(studio: Path) -> None:
    run = opened()
    with pytest.raises(Conflict, match="is queued; nothing to resume"):
        reopen_run(run=run, by=None)
    settle_run(run=run, state=JobState.FAILED, message="out of memory")
    assert reopen_run(run=run, by=None).state == JobState.QUEUED
    settle_run(run=run, state=JobState.SUCCEEDED)
    with pytest.raises(Conflict, match="is succeeded; nothing to resume"):
        reopen_run(run=run, by=None)


def test_what_was_measured_before_the_first_step_survives_a_resume(studio: Path) -> None:
    run = opened()
    directory = run_dir(run)
    directory.write_result({"before": {"greedy": 0.25}, "steps": 2, "cancelled": True})
    absorb(run=run)
    rewind(run=run, step=2)
    assert run.result == {"before": {"greedy": 0.25}}
    directory.write_result({"after": {"greedy": 0.75}, "steps": 6})
    absorb(run=run)
    assert run.result == {"before": {"greedy": 0.25}, "after": {"greedy": 0.75}, "steps": 6}
