"""Training runs with what a run directory would have brought in, written straight into the rows."""

import math
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from studio.web.choices import JobState
from training_app.core.recipe import Recipe, preset
from training_app.enums import Algorithm
from training_app.models import MetricRow, TrainingRun

PRESET_OF = {
    Algorithm.SFT: "cpu-tiny-sft",
    Algorithm.GRPO: "cpu-tiny-grpo",
    Algorithm.GDPO: "cpu-tiny-gdpo",
    Algorithm.GIGPO: "cpu-tiny-gigpo",
    Algorithm.DR_GRPO: "cpu-tiny-dr-grpo",
}
COMPONENTS = {"outcome": 0.6, "process": 0.25, "report": 0.15, "collateral": 0.0}


def made_run(
    algorithm: Algorithm = Algorithm.GRPO,
    *,
    steps: int = 0,
    state: JobState = JobState.SUCCEEDED,
    recipe: Recipe | None = None,
    **fields: Any,
) -> TrainingRun:
    """Store a run that has logged its first steps."""
    chosen = recipe or preset(PRESET_OF[algorithm])
    run = TrainingRun(
        preset=chosen.preset,
        algorithm=algorithm,
        recipe=chosen.model_dump(mode="json"),
        recipe_hash=chosen.hash,
        state=state,
        step=steps,
        steps=chosen.steps,
        samples=steps * chosen.batch,
        started_at=timezone.now(),
        **fields,
    )
    run.path = run.path or "nowhere"
    run.save()
    log_steps(run, 1, steps)
    return run


def log_steps(
    run: TrainingRun, first: int, last: int, changes: Mapping[int, Mapping[str, Any]] | None = None
) -> None:
    """Add the values of steps; a change of None leaves a value out."""
    batch = int(run.recipe["batch"])
    rows = []
    for step in range(first, last + 1):
        values = values_at(run, step)
        for name, value in (changes or {}).get(step, {}).items():
            if value is None:
                values.pop(name, None)
            else:
                values[name] = value
        rows.append(
            MetricRow(
                run=run, step=step, samples=step * batch, seconds=round(step * 2.0, 3),
                values=values,
            )
        )  # fmt: skip
    MetricRow.objects.bulk_create(rows)


def values_at(run: TrainingRun, step: int) -> dict[str, float]:
    """What an engine logs: a curve that rises and wobbles, the same at every call."""
    share = step / max(run.steps, 1)
    wobble = math.sin(step * 2.4) + 0.5 * math.sin(step * 5.3)
    always = {"learning_rate": float(run.recipe["learning_rate"]), "grad_norm": 1 + 0.1 * wobble}
    if run.algorithm == Algorithm.SFT:
        values = {
            **always,
            "loss": 2.4 * math.exp(-4 * share) + 0.05 + 0.01 * wobble,
            "mean_token_accuracy": 1 - 0.6 * math.exp(-4 * share),
            "num_tokens": 1000.0 * step,
            "entropy": 1.0 - 0.5 * share,
        }
        if step % 100 == 0:
            values |= {"success/greedy": 0.9 * share, "success/sampled": 0.8 * share}
        return values
    place = list(PRESET_OF).index(Algorithm(run.algorithm))
    gain = 0.0 if always["learning_rate"] == 0 else 0.2 + 0.03 * place
    reward = min(1.0, 0.5 + gain * (1 - math.exp(-3 * share)) + 0.02 * wobble)
    values = {
        **always,
        "loss": 0.02 * math.sin(step * 1.7) + 0.005 * place,
        "entropy": 0.9 - 0.4 * share,
        "step_time": 2.0 + 0.05 * wobble,
    }
    if step % 2 == 0:  # a generation serves two steps: what it measures is logged once
        return values
    components = {
        f"rewards/{name}/mean" if run.algorithm == Algorithm.GDPO else f"contributions/{name}":
        reward * part
        for name, part in COMPONENTS.items()
    }  # fmt: skip
    return {
        **values,
        **components,
        "reward": reward,
        "reward_std": 0.3,
        "num_tokens": 9000.0 * step,
        "frac_reward_zero_std": 0.1 + 0.3 * share,
        "completions/mean_length": 190 - 40 * share + 2 * wobble,
        "completions/clipped_ratio": 0.02,
        "passed": reward * 0.9,
        "truncated": 0.02,
        "violations": 0.05 * (1 - share),
    }
