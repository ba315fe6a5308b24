"""Whoever breaks a gate is never taught to do it again: what stands in the trainers' tensors."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from datasets import Dataset

from tasks_app.core.results import GRADED
from tests.training_app.engine.fixed import METHODS, FixedTrainer, PlainTrainer, tiny
from tests.training_app.engine.marks import ENGINE
from training_app.core.recipe import preset
from training_app.core.run_dir import RunDir
from training_app.engine import grpo
from training_app.engine.rewards import Rewards

pytestmark = ENGINE
Contributions = dict[str, float]


def honest(**parts: float) -> Contributions:
    return {name: parts.get(name, 0.0) for name in GRADED}


def breaker() -> Contributions:
    """What a broken gate leaves: nothing, of any component."""
    return honest()


def of_the_last(method: str, folder: Path, groups: Sequence[Sequence[Contributions]]) -> list[Any]:
    """The greatest advantage of each group's last rollout, on any of its tokens."""
    size = len(groups[0])
    every = [one for group in groups for one in group]
    recipe = preset(
        f"cpu-tiny-{method.replace('_', '-')}",
        steps=1,
        batch=len(every),
        save_every=1,
        rollouts={"group": size, "steps_per_generation": 1, "longest": 12},
    )
    names = GRADED if method == "gdpo" else ("total",)

    def column(name: str) -> Any:
        def reward(**more: Any) -> list[float]:
            return [sum(one.values()) if name == "total" else one[name] for one in every]

        reward.__name__ = name
        return reward

    class Trainer(FixedTrainer if method == "gigpo" else PlainTrainer):  # type: ignore[misc]  # one of two
        def given(self, index: int) -> dict[str, Any]:
            mask = [1, 1, 0, 1, 0, 1]  # three turns, the first of which all have in common
            anchors = (0, index % 2, index)
            return {"ids": [7] * len(mask), "mask": mask, "rewards": [], "anchors": anchors}

    model, tokenizer = tiny()
    trainer = Trainer(
        model=model,
        processing_class=tokenizer,
        reward_funcs=[column(name) for name in names],
        train_dataset=Dataset.from_list([{"prompt": "x"}] * len(groups)),
        args=grpo._arguments(RunDir(folder), recipe),
        rewards=Rewards([2]),
        settings=recipe.rollouts,
    )
    made = trainer._generate_and_score_completions([{"prompt": "x"}] * len(every))["advantages"]
    last = made[size - 1 :: size]
    return [row.max().item() for row in last]


@pytest.mark.parametrize("method", METHODS)
def test_a_gate_breaker_beside_three_honest_ones_is_the_least(method: str, tmp_path: Path) -> None:
    same = [honest(outcome=0.3) for _ in range(3)]
    deducted = [honest(outcome=value - 0.1) for value in (0.15, 0.35, 0.15)]
    found = of_the_last(method, tmp_path, [[*same, breaker()], [*deducted, breaker()]])
    spans = [0, 0] if method == "gigpo" else [-1e-3, -1e-3]  # 0 on tokens that are not its own
    assert [value <= limit for value, limit in zip(found, spans, strict=True)] == [True, True]


@pytest.mark.parametrize("method", METHODS)
def test_no_method_rewards_a_gate_breaker_in_random_groups(method: str, tmp_path: Path) -> None:
    rng = random.Random("gates")

    def one() -> Contributions:
        names = ("outcome", "process", "report", "collateral")
        return honest(**{name: round(rng.random() / 4, 3) for name in names})

    groups = [[*(one() for _ in range(3)), breaker()] for _ in range(50)]
    assert max(of_the_last(method, tmp_path, groups)) <= 1e-6
