"""What our trainers cost beside TRL's own: the same model, prompts, seed and settings, in turns.

Plain TRL gets the same environments and one reward function, and tells nobody anything. The
learning rate is 0, so that every trainer is given the same work: the same random numbers give the
same rollouts. The environments' share is the time inside `reset`, the tools and the grading.
"""

import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from datasets import Dataset
from transformers import PrinterCallback
from trl import GRPOTrainer

from benchmarks.measure import print_table, time_text
from training_app.core.prompts import Prompt, toolsets
from training_app.core.recipe import Recipe, preset
from training_app.core.run_dir import RunDir
from training_app.engine import data, models, start
from training_app.engine.callbacks import RunCallback
from training_app.engine.environments import ToolEnvironment, environment_class
from training_app.engine.grpo import _arguments, make_trainer, order_of
from training_app.engine.play import taught_limit
from training_app.engine.rewards import Rewards

STEPS = 6
"""Optimizer steps of a repetition: one generation, gone over three times."""
SUBJECTS: Mapping[str, str] = {"plain": "grpo", "grpo": "grpo", "gigpo": "gigpo"}


class _Spent(NamedTuple):
    """CPU seconds of a repetition."""

    step: float
    environment: float
    """Share of it inside the environments."""
    reward: float
    """What the rollouts earned: equal where the work was."""


class _Clock:
    """Adds up the time inside the environments."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def timed(self, action: Callable[..., Any]) -> Callable[..., Any]:
        def measured(*args: Any, **kwargs: Any) -> Any:
            began = time.process_time()
            try:
                return action(*args, **kwargs)
            finally:
                self.seconds += time.process_time() - began

        return measured


def run(repetitions: int = 5, cache: Path | None = None) -> Mapping[str, float]:
    """Measure, print, and return ratios to plain TRL and the environments' share.

    Args:
        repetitions: Of each trainer, after one that warms up.
        cache: Where the model to start from lies or is put; None: it is made for this run.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        recipe = preset("cpu-tiny-control", steps=STEPS, save_every=STEPS)
        torch.set_num_threads(1)
        sys.stderr.write("Teaching the model to start from (about two minutes) ...\n")
        begun_from = _saved(start.load(recipe, cache or home / "cache"), home / "start")
        found: dict[str, list[_Spent]] = {name: [] for name in SUBJECTS}
        for turn in range(repetitions + 1):
            for name, algorithm in SUBJECTS.items():
                chosen = preset(
                    f"cpu-tiny-{algorithm}",
                    steps=STEPS,
                    save_every=STEPS,
                    learning_rate=0.0,
                    seed=turn,
                )
                place = home / f"{name}-{turn}"
                spent = _repetition(name, chosen, begun_from, place)
                if turn:
                    found[name].append(spent)
    return _told(found)


def _saved(loaded: models.Loaded, place: Path) -> Path:
    loaded.model.save_pretrained(place)
    loaded.tokenizer.save_pretrained(place)
    return place


def _repetition(name: str, recipe: Recipe, begun_from: Path, place: Path) -> _Spent:
    run_dir = RunDir.create(place, recipe)
    loaded = models.load_folder(recipe.model.model_copy(update={"init": str(begun_from)}))
    rows = data.prompts(run_dir, recipe)
    rewards = Rewards([loaded.tokenizer.eos_token_id, loaded.tokenizer.pad_token_id])
    earned: list[float] = []
    clock = _Clock()
    ours = {one: getattr(ToolEnvironment, one) for one in ("reset", "_call", "_settle")}
    for one, action in ours.items():
        setattr(ToolEnvironment, one, clock.timed(action))
    try:
        trainer = (
            _plain(run_dir, recipe, loaded, rows, rewards, earned)
            if name == "plain"
            else make_trainer(run_dir, recipe, loaded, rows, rewards, RunCallback(run_dir, recipe))
        )
        trainer.remove_callback(PrinterCallback)
        began = time.process_time()
        trainer.train()
        took = time.process_time() - began
    finally:
        for one, action in ours.items():
            setattr(ToolEnvironment, one, action)
    if not earned:
        earned = [row.values["reward"] for row in run_dir.read().rows if "reward" in row.values]
    return _Spent(took / STEPS, clock.seconds / took, statistics.mean(earned))


def _plain(
    run_dir: RunDir,
    recipe: Recipe,
    loaded: models.Loaded,
    rows: Sequence[Prompt],
    rewards: Rewards,
    earned: list[float],
) -> GRPOTrainer:
    """TRL as it comes: our environments behind it, one function that reads their reward."""

    def reward(
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
        environments: Sequence[ToolEnvironment],
        **more: Any,
    ) -> list[float]:
        settled = rewards.settle(environments, completions, completion_ids)
        totals = [one.reward for one in settled]
        earned.append(statistics.mean(totals))
        return totals

    offered = toolsets(rows)
    trainer = GRPOTrainer(
        model=loaded.model,
        processing_class=loaded.tokenizer,
        reward_funcs=[reward],
        train_dataset=Dataset.from_list(
            [
                {
                    "prompt": row["prompt"],
                    "environment": row["toolset"],
                    "spec": row["spec"],
                    "spec_hash": row["spec_hash"],
                }
                for row in rows
            ]
        ).select(order_of(recipe, len(rows))),  # ours brings its own order, and TRL shuffles none
        args=_arguments(run_dir, recipe, taught_limit(loaded.model)),
        environment_factory={key: environment_class(key, tools) for key, tools in offered.items()},
    )
    # the same declarations as ours, or its prompts would be longer
    trainer._env_tools = {key: list(tools) for key, tools in offered.items()}
    return trainer


def _told(found: Mapping[str, Sequence[_Spent]]) -> Mapping[str, float]:
    plain = found["plain"]
    for name, spent in found.items():
        for one, other in zip(spent, plain, strict=True):
            # a metric is a float of 32 bits, a mean of Python's one of 64
            if not math.isclose(one.reward, other.reward, rel_tol=1e-6):
                raise RuntimeError(
                    f"{name} earned {one.reward} and plain TRL {other.reward}: they were not given "
                    "the same work, and nothing can be compared"
                )
    ratios = {
        name: [one.step / other.step for one, other in zip(spent, plain, strict=True)]
        for name, spent in found.items()
    }
    share = statistics.median(one.environment for one in found["grpo"])
    print_table(
        f"RL step of cpu-tiny, {len(plain)} × {STEPS} steps of 32 in turns, CPU time, one thread",
        ("trainer", "a step", "of plain TRL", "lowest", "highest", "environments"),
        [
            (
                {"plain": "GRPO, plain TRL", "grpo": "GRPO, ours", "gigpo": "GiGPO, ours"}[name],
                time_text(statistics.median(one.step for one in spent)),
                f"{statistics.median(ratios[name]):.3f}",
                f"{min(ratios[name]):.3f}",
                f"{max(ratios[name]):.3f}",
                f"{statistics.median(one.environment for one in spent):.1%}",
            )
            for name, spent in found.items()
        ],
    )
    return {
        "grpo_of_plain": round(statistics.median(ratios["grpo"]), 3),
        "gigpo_of_plain": round(statistics.median(ratios["gigpo"]), 3),
        "environment_share": round(share, 4),
    }


if __name__ == "__main__":
    run()
