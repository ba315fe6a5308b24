"""The engine on a run directory alone: SFT, RL, cancel, resume, failure."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from safetensors.torch import load_file  # noqa: E402 (after the skip)

from tests.training_app.engine.marks import ENGINE  # noqa: E402
from tests.training_app.engine.small import NOTHING, TINY, sft  # noqa: E402
from training_app.core.manifest import check_manifest  # noqa: E402
from training_app.core.recipe import preset  # noqa: E402
from training_app.core.run_dir import RunDir  # noqa: E402
from training_app.engine.__main__ import main  # noqa: E402
from training_app.engine.callbacks import RunCallback  # noqa: E402

pytestmark = [*ENGINE, pytest.mark.slow]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def taught(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> RunDir:
    """An SFT run of four steps, measured."""
    measure = {"every": 2, "tasks": 4, "final_tasks": 4, "new_family_tasks": 2}
    run = RunDir.create(tmp_path_factory.mktemp("sft") / "run", sft(measure=measure))
    assert main([str(run.path), "--cache", str(cache)]) == 0
    return run


def test_sft_writes_metrics_samples_checkpoints_and_a_result(taught: RunDir) -> None:
    assert (taught.status().state, taught.status().step) == ("succeeded", 4)
    assert [c.step for c in taught.list_checkpoints()] == [2, 4]
    assert taught.list_checkpoints()[0].evaluation["sampled"]["n"] == 4
    assert check_manifest(taught.dataset)["rows"] == 8
    rows = taught.read().rows
    assert any("loss" in row.values for row in rows)
    assert {row.samples for row in rows} <= {row.step * 4 for row in rows}
    assert len(taught.read_samples(4)) == 4
    result = taught.result()
    assert result is not None
    assert result["before"]["split_kind"] == "new_instances"
    assert result["after"]["greedy"]["n"] == 4
    assert result["after_new_families"]["split_kind"] == "new_families"
    assert result["after_new_families"]["greedy"]["n"] == 2
    assert result["checkpoint"] == "step-000004"


def test_a_run_resumed_from_a_checkpoint_ends_with_the_same_weights(
    taught: RunDir, cache: Path, tmp_path: Path
) -> None:
    again = RunDir(tmp_path / "run")
    shutil.copytree(taught.path, again.path)
    shutil.rmtree(again.checkpoint_path(4))
    assert main([str(again.path), "--cache", str(cache), "--resume"]) == 0
    one, other = (load_file(r.checkpoint_path(4) / "model.safetensors") for r in (taught, again))
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    first = [row for row in taught.read().rows if row.step <= 2]
    assert list(again.read().rows[: len(first)]) == first


def test_a_run_that_is_asked_to_stop_keeps_a_checkpoint_of_that_step(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDir.create(tmp_path / "run", sft(steps=50, save_every=50))
    begin = RunCallback.on_train_begin

    def begun(self: RunCallback, *state: Any, **known: Any) -> None:
        begin(self, *state, **known)
        run.ask_to_stop()

    monkeypatch.setattr(RunCallback, "on_train_begin", begun)
    assert main([str(run.path), "--cache", str(cache)]) == 0
    assert run.status().state == "stopped"
    assert [c.step for c in run.list_checkpoints()] == [1]


def test_a_run_that_is_asked_to_stop_before_its_first_step_leaves_at_once(
    cache: Path, tmp_path: Path
) -> None:
    run = RunDir.create(tmp_path / "run", sft())
    run.ask_to_stop()
    assert main([str(run.path), "--cache", str(cache)], began=0.0) == 0
    assert (run.status().state, run.result(), run.list_checkpoints()) == ("stopped", None, [])
    assert main([str(run.path), "--cache", str(cache)]) == 0  # who asked before it began is past
    assert (run.status().state, run.status().step) == ("succeeded", 4)


@pytest.mark.parametrize("algorithm", ["grpo", "dr-grpo", "gdpo", "gigpo"])
def test_rl_takes_steps_from_a_checkpoint(
    algorithm: str, taught: RunDir, cache: Path, tmp_path: Path
) -> None:
    recipe = preset(
        f"cpu-tiny-{algorithm}",
        steps=2,
        batch=4,
        save_every=2,
        tiny=TINY,
        rollouts={"tasks": 4, "group": 4, "longest": 120},
        measure=NOTHING,
        model={"init": str(taught.checkpoint_path(4))},
    )
    run = RunDir.create(tmp_path / "run", recipe)
    assert main([str(run.path), "--cache", str(cache)]) == 0
    values = run.read().rows[0].values
    assert {"reward", "loss", "entropy", "violations", "completions/mean_length"} <= set(values)
    if algorithm == "gigpo":
        assert "gigpo/shared_anchors" in values
    if algorithm == "gdpo":
        assert "rewards/outcome/mean" in values
    assert len(run.read_samples(2)) == 8
    result = run.result()
    assert result is not None
    assert "reward_last_fifth" in result


def test_a_missing_checkpoint_fails_with_what_to_do(cache: Path, tmp_path: Path) -> None:
    recipe = preset("cpu-tiny-grpo", model={"init": str(tmp_path / "nowhere")})
    run = RunDir.create(tmp_path / "run", recipe)
    with pytest.raises(ValueError, match="holds no checkpoint"):
        main([str(run.path), "--cache", str(cache)])
    assert run.status().state == "failed"
    assert "choose one of a run's checkpoints" in run.status().message


def test_an_empty_dataset_is_refused(cache: Path, tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run", sft())
    (run.dataset / "demonstrations.jsonl").write_bytes(b"")
    with pytest.raises(ValueError, match="is empty; freeze a dataset"):
        main([str(run.path), "--cache", str(cache)])


def test_the_engine_imports_no_web_framework(tmp_path: Path) -> None:
    code = (
        "import sys, training_app.engine.__main__;"
        "print(sorted(m for m in ('django', 'celery', 'ninja') if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_another_number_of_processes_than_the_recipe_says_does_not_start(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunDir.create(tmp_path / "run", sft())
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert main([str(run.path), "--cache", str(cache)]) == 2
    assert run.status().state == "queued"


def test_a_run_that_was_begun_is_not_begun_again_over_its_curve(
    taught: RunDir, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = taught.metrics_file.read_bytes()
    assert main([str(taught.path), "--cache", str(cache)]) == 2
    assert "go on with it by --resume" in capsys.readouterr().err
    assert taught.metrics_file.read_bytes() == before
    assert taught.status().state == "succeeded"


def test_a_folder_without_a_recipe_says_so(tmp_path: Path) -> None:
    assert main([str(tmp_path)]) == 2
