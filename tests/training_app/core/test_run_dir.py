"""A run directory is written whole and read while it grows."""

import math
from pathlib import Path

import pytest

from training_app.core.recipe import PRESETS
from training_app.core.run_dir import (
    Checkpoint,
    Chunk,
    Metrics,
    RunDir,
    RunDirError,
    Status,
    write_json,
)

RECIPE = PRESETS["cpu-tiny-sft"]


def line(step: int, loss: float = 1.5) -> Metrics:
    return Metrics(step, step * 16, step * 0.5, {"loss": loss})


@pytest.fixture
def run(tmp_path: Path) -> RunDir:
    return RunDir.create(tmp_path / "run", RECIPE)


def test_a_new_run_is_queued_and_gives_its_recipe_back(run: RunDir) -> None:
    assert run.recipe() == RECIPE
    assert run.status() == Status(state="queued", steps=RECIPE.steps)
    assert run.read() == Chunk((), 0, ())
    assert run.result() is None


def test_a_second_run_does_not_take_the_folder(run: RunDir) -> None:
    with pytest.raises(RunDirError, match="holds a run already"):
        RunDir.create(run.path, RECIPE)


def test_metrics_are_read_on_from_where_reading_stopped(run: RunDir) -> None:
    run.append(line(1))
    first = run.read()
    run.append(line(2))
    assert first.rows == (line(1),)
    assert run.read(first.offset).rows == (line(2),)
    assert run.read(run.read().offset).rows == ()


def test_half_a_line_waits_for_its_other_half(run: RunDir) -> None:
    run.append(line(1))
    whole = run.metrics_file.read_bytes()
    run.metrics_file.write_bytes(whole + whole[:20])
    chunk = run.read()
    assert chunk == Chunk((line(1),), len(whole), ())
    run.metrics_file.write_bytes(whole + whole)
    assert run.read(chunk.offset).rows == (line(1),)


def test_a_damaged_line_hides_nobody(run: RunDir) -> None:
    run.append(line(1))
    size = run.metrics_file.stat().st_size
    with run.metrics_file.open("ab") as stream:
        stream.write(b'{"step": 2}\n')
    run.append(line(3))
    chunk = run.read()
    assert chunk.rows == (line(1), line(3))
    assert chunk.damaged == (size,)


def test_numbers_that_are_not_finite_are_left_out(run: RunDir) -> None:
    run.append(Metrics(1, 16, 1.0, {"loss": math.nan, "reward": 0.5, "grad_norm": math.inf}))
    assert run.read().rows == (Metrics(1, 16, 1.0, {"reward": 0.5}),)


def test_cutting_back_drops_later_steps_and_samples(run: RunDir) -> None:
    for step in (1, 2, 3):
        run.append(line(step))
        run.write_samples(step, [{"text": f"step {step}"}])
    assert run.cut_back(2) == 1
    run.append(line(3, 9.0))
    assert run.read().rows == (line(1), line(2), line(3, 9.0))
    assert run.read_samples(2) == [{"text": "step 2"}]
    assert run.read_samples(3) == []


def test_only_sealed_checkpoints_count_and_old_ones_go(run: RunDir) -> None:
    for step in (100, 200, 300, 400):
        folder = run.checkpoint_path(step)
        folder.mkdir()
        (folder / "weights").write_bytes(b"1234")
        if step < 400:
            run.seal(step, {"success": step / 1000})
    assert run.list_checkpoints()[0] == Checkpoint(
        100, run.checkpoint_path(100), 4, {"success": 0.1}
    )
    assert run.prune(1) == [100]
    assert [c.step for c in run.list_checkpoints()] == [200, 300]
    assert run.prune(0, promoted=[200]) == []
    assert run.checkpoint_path(400).exists()


def test_asking_to_stop_is_a_file(run: RunDir) -> None:
    assert not run.asked_to_stop()
    run.ask_to_stop()
    run.ask_to_stop()
    assert run.asked_to_stop()
    run.forget_stop()
    assert not run.asked_to_stop()


def test_who_asked_later_is_still_heard(run: RunDir) -> None:
    run.forget_stop(0.0)
    run.ask_to_stop()
    run.forget_stop((run.path / "cancel").stat().st_mtime)
    assert run.asked_to_stop()
    run.forget_stop((run.path / "cancel").stat().st_mtime + 1)
    assert not run.asked_to_stop()


def test_a_broken_recipe_says_which_file_and_where(run: RunDir) -> None:
    write_json(run.path / "recipe.json", {"algorithm": "sft", "steps": -1})
    with pytest.raises(RunDirError, match=r"recipe\.json: steps: Input should be greater"):
        run.recipe()
    (run.path / "recipe.json").write_text("{")
    with pytest.raises(RunDirError, match="is not JSON"):
        run.recipe()
    with pytest.raises(RunDirError, match=r"has no recipe\.json"):
        RunDir(run.path / "elsewhere").recipe()


def test_nothing_partial_is_left(run: RunDir) -> None:
    run.write_status(Status(state="running", step=3, steps=5, pid=7, heartbeat=1.5))
    run.write_result({"after": 0.9})
    assert run.result() == {"after": 0.9}
    assert sorted(p.name for p in run.path.iterdir()) == [
        "checkpoints",
        "dataset",
        "recipe.json",
        "result.json",
        "samples",
        "status.json",
    ]
