"""Two processes train as one: advantages, losses, who writes, who is waited for."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pytest

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from tests.training_app.engine import fixed
from tests.training_app.engine.marks import ENGINE
from tests.training_app.engine.small import PROJECT, curve, sft
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir
from training_app.engine.__main__ import main

pytestmark = [*ENGINE, pytest.mark.slow]


def together(folder: Path, *command: str, code: int = 0) -> str:
    """Run a module in two processes by torch's own starter; return what they printed."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
            *("--nproc-per-node", "2", "-m", *command),
        ],
        cwd=PROJECT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == code, done.stdout[-4000:]
    return done.stdout


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    found = fixed.record(tmp_path_factory.mktemp("one"))
    read: Mapping[str, Any] = orjson.loads(orjson.dumps(found))
    return read


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Any]:
    folder = tmp_path_factory.mktemp("two")
    together(folder, "tests.training_app.engine.fixed", str(folder))
    found: Mapping[str, Any] = orjson.loads((folder / "found.json").read_bytes())
    return found


def flat(value: Any) -> list[float]:
    if not isinstance(value, list):
        return [value]
    return [number for item in value for number in flat(item)]


@pytest.mark.parametrize("method", fixed.METHODS)
def test_two_processes_have_the_advantages_and_the_loss_of_one(
    method: str, one: Mapping[str, Any], two: Mapping[str, Any]
) -> None:
    alone, shared = one[method], two[method]
    assert [len(rows) for rows in alone["advantages"]] == [12, 12]
    assert any(flat(alone["advantages"]))
    assert flat(shared["advantages"]) == pytest.approx(flat(alone["advantages"]), abs=1e-5)
    assert shared["loss"] == pytest.approx(alone["loss"], abs=1e-5)
    assert shared["grad_norm"] == pytest.approx(alone["grad_norm"], abs=1e-4)
    assert shared["reward"] == pytest.approx(alone["reward"], abs=1e-6)
    assert max(map(abs, alone["loss"])) > 1e-3
    assert min(alone["grad_norm"]) > 1e-3


def test_one_process_writes_each_step_once_and_samples_of_both(two: Mapping[str, Any]) -> None:
    for found in two.values():
        assert found["steps"] == [1, 2, 3, 4]
        assert found["checkpoints"] == [4]
        assert found["samples"] == [{"rows": 6}, {"rows": 6}]


@pytest.mark.parametrize("method", ["grpo", "dr_grpo"])
def test_a_smaller_device_batch_takes_the_same_steps(
    method: str, one: Mapping[str, Any], tmp_path: Path
) -> None:
    found = fixed.train(method, tmp_path, device_batch=3)
    assert found["loss"] == pytest.approx(one[method]["loss"], abs=1e-5)
    assert found["grad_norm"] == pytest.approx(one[method]["grad_norm"], abs=1e-4)


def test_two_processes_teach_and_measure_once_and_go_on_after_a_stop(tmp_path: Path) -> None:
    def made(name: str, **changes: Any) -> RunDir:
        return RunDir.create(tmp_path / name, recipe(**changes))

    def recipe(**changes: Any) -> Recipe:
        measure = {"every": 2, "tasks": 2, "final_tasks": 2, "new_family_tasks": 1}
        return sft(measure=measure, steps=4, **changes)

    cache = tmp_path / "cache"
    alone, shared = made("alone"), made("shared", processes=2)
    assert main([str(alone.path), "--cache", str(cache)]) == 0
    together(tmp_path, "training_app.engine", str(shared.path), "--cache", str(cache))
    losses = [
        [values["loss"] for _, _, values in curve(run) if "loss" in values]
        for run in (alone, shared)
    ]
    assert losses[1] == pytest.approx(losses[0], abs=1e-4)
    assert [len(each) for each in losses] == [4, 4]
    assert shared.status().state == "succeeded"
    assert [row.step for row in shared.read().rows if "success/greedy" in row.values] == [2, 4]
    result = shared.result() or {}
    assert {"before", "after", "after_new_families"} <= set(result)
    for name in ("rng_state_0.pth", "rng_state_1.pth"):
        assert (shared.checkpoint_path(4) / name).is_file()


def test_several_processes_start_rl_from_a_named_checkpoint_only(tmp_path: Path) -> None:
    run = RunDir.create(
        tmp_path / "run", sft(processes=2).model_copy(update={"algorithm": "grpo", "batch": 16})
    )
    together(tmp_path, "training_app.engine", str(run.path), code=1)
    assert run.status().state == "failed"
    assert run.status().message == (
        "ModelError: several processes start RL from a checkpoint; name one in model.init"
    )
