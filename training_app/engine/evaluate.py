"""How often a model succeeds: per family, greedy and sampled, with intervals."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerBase

from studio.lib.stats import wilson
from tasks_app.core.spec import TaskSpec
from training_app.core import pocket
from training_app.core.manifest import SplitKind
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir
from training_app.engine import data
from training_app.engine.play import Played, play
from training_app.engine.stages import Told, untold


def summary(played: Sequence[Played]) -> dict[str, Any]:
    """Success as a share with its Wilson interval, reward, truncated share, and each family."""
    body = _shares(played)
    body["families"] = {
        family: _shares([one for one in played if one.spec.family == family])
        for family in sorted({one.spec.family for one in played})
    }
    return body


def _shares(played: Sequence[Played]) -> dict[str, Any]:
    passed = sum(one.passed for one in played)
    interval = wilson(passed, len(played))
    return {
        "n": len(played),
        "success": passed / len(played) if played else None,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "reward": math.fsum(one.reward for one in played) / len(played) if played else None,
        "truncated": sum(one.truncated for one in played),
        "violations": sum(bool(one.violations) for one in played),
    }


def measure(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    specs: Sequence[TaskSpec],
    *,
    seed: int,
    greedy: bool = True,
    sampled: bool = True,
    split_kind: SplitKind = "new_instances",
    told: Told = untold,
    stage: str = "measuring:",
) -> tuple[dict[str, Any], list[Played]]:
    """Measure a model on tasks; return {"greedy": …, "sampled": …} and what it wrote last."""
    report: dict[str, Any] = {"split_kind": split_kind}
    played: list[Played] = []
    ways = [
        (name, temperature)
        for name, wanted, temperature in (("greedy", greedy, 0.0), ("sampled", sampled, 1.0))
        if wanted
    ]
    total = len(ways) * len(specs)
    for number, (name, temperature) in enumerate(ways):
        before = number * len(specs)
        told(stage, before, total)
        played = play(
            model,
            tokenizer,
            specs,
            temperature=temperature,
            seed=seed,
            on_turn=_counting_on(told, stage, before, total),
        )
        report[name] = summary(played)
    return report, played


def _counting_on(told: Told, stage: str, before: int, total: int) -> Callable[[int], None]:
    return lambda over: told(stage, before + over, total)


def after(
    run: RunDir,
    recipe: Recipe,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    step: int,
    told: Told,
) -> dict[str, Any]:
    """Measure a trained model on fresh held-out instances and, beside them, on other families."""
    fresh = data.held_out(recipe, final=True)
    report, played = measure(
        model, tokenizer, fresh, seed=recipe.seed, told=told, stage="measuring after:"
    )
    run.write_samples(step, [one.row() for one in played])
    result = {"after": report}
    others = pocket.other_families(recipe.measure.new_family_tasks, recipe.seed)
    if others:
        result["after_new_families"], _ = measure(
            model,
            tokenizer,
            others,
            seed=recipe.seed,
            sampled=False,
            split_kind="new_families",
            told=told,
            stage="measuring on other families:",
        )
    return result
