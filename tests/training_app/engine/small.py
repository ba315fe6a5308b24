"""Runs that take seconds: a model that was taught a little, recipes of a few steps."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from training_app.core.recipe import Recipe, preset
from training_app.core.run_dir import RunDir

PROJECT: Final = Path(__file__).parents[3]
TINY: Final[Mapping[str, int]] = {"tokenizer_tasks": 64, "base_steps": 2, "base_batch": 4}
NOTHING: Final[Mapping[str, int]] = {"every": 0, "tasks": 0, "final_tasks": 0}
_CLOCKS: Final = ("step_time",)
"""Values that no two runs have in common."""


def sft(**changes: Any) -> Recipe:
    """SFT of four steps."""
    asked: dict[str, Any] = {
        "steps": 4,
        "batch": 4,
        "save_every": 2,
        "warmup": 1,
        "tiny": TINY,
        "demonstrations": {"tasks": 8},
        "measure": NOTHING,
        **changes,
    }
    return preset("cpu-tiny-sft", **asked)


def rl(init: Path, algorithm: str = "grpo", **changes: Any) -> Recipe:
    """RL of eight steps, two on each generation, from a checkpoint."""
    asked: dict[str, Any] = {
        "steps": 8,
        "batch": 8,
        "save_every": 4,
        "learning_rate": 1e-4,
        "tiny": TINY,
        "rollouts": {"tasks": 4, "group": 4, "longest": 200},
        "measure": NOTHING,
        "model": {"init": str(init)},
        **changes,
    }
    return preset(f"cpu-tiny-{algorithm.replace('_', '-')}", **asked)


def somewhat_taught() -> Recipe:
    """SFT after which rollouts earn something now and then, so that RL has something to learn."""
    return sft(
        steps=24,
        batch=8,
        save_every=24,
        learning_rate=3e-3,
        demonstrations={"tasks": 4, "skill_share": 0.0, "disguised_share": 0.0},
    )


def started(run: RunDir, cache: Path, *more: str) -> "subprocess.Popen[bytes]":
    """Start the engine in a process of its own; what it prints goes to the run's folder."""
    command = [sys.executable, "-m", "training_app.engine", str(run.path), "--cache", str(cache)]
    with (run.path / "printed.txt").open("ab") as printed:
        return subprocess.Popen(
            [*command, *more],
            cwd=PROJECT,
            env={**os.environ, "TOKENIZERS_PARALLELISM": "false"},
            stdout=printed,
            stderr=subprocess.STDOUT,
        )


def performed(run: RunDir, cache: Path, *more: str) -> None:
    """Run the engine in a process of its own to its end."""
    code = started(run, cache, *more).wait(300)
    assert code == 0, (run.path / "printed.txt").read_text()[-3000:]


def curve(run: RunDir) -> list[tuple[int, int, dict[str, float]]]:
    """Step, samples and values of each row, without what a clock decides."""
    return [
        (row.step, row.samples, {k: v for k, v in row.values.items() if k not in _CLOCKS})
        for row in run.read().rows
    ]


def weights(run: RunDir, step: int) -> bytes:
    """The weights of a checkpoint as they lie on the disk."""
    return (run.checkpoint_path(step) / "model.safetensors").read_bytes()
