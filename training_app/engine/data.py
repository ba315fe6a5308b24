"""The dataset of a run directory: written by whoever made it, or made now from the pocket suite."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import orjson

from tasks_app.core.spec import TaskSpec
from training_app.core import pocket
from training_app.core.demonstrations import Row, from_reference
from training_app.core.lint import lint_demonstrations
from training_app.core.manifest import FILE, check_manifest, write_manifest
from training_app.core.prompts import Prompt, prompt_of, spec_of
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir, write_bytes
from training_app.core.unproven import put_back

DEMONSTRATIONS: Final = "demonstrations.jsonl"
PROMPTS: Final = "prompts.jsonl"
FINAL_SEED: Final = 1_000_003
"""Held-out tasks before and after a run are drawn from seeds that no measurement in a run uses."""


class DataError(ValueError):
    """A dataset that nobody can train on; the message says why."""


def stage(run: RunDir) -> str:
    """What has to be done before there are rows, in words."""
    return "reading the dataset" if any(run.dataset.glob("*.jsonl")) else "making the dataset"


def demonstrations(run: RunDir, recipe: Recipe) -> list[Row]:
    """The demonstrations of a run. Raises DataError for none, or for rows that fail E1."""
    file = run.dataset / DEMONSTRATIONS
    if not file.exists():
        specs = pocket.tasks("train", recipe.demonstrations.tasks, recipe.seed)
        made = [from_reference(spec, quote=recipe.demonstrations.quote) for spec in specs]
        _write(run, DEMONSTRATIONS, made, recipe, "demonstrations")
    rows = cast(list[Row], _read(run, DEMONSTRATIONS))
    findings = lint_demonstrations(rows)
    if findings:
        first = findings[0]
        raise DataError(
            f"{len(findings)} findings of E1, the first in row {first.row} at {first.place}: "
            f"{first.message}"
        )
    return rows


def prompts(run: RunDir, recipe: Recipe) -> list[Prompt]:
    """The prompts of a run. Raises DataError for none."""
    file = run.dataset / PROMPTS
    if not file.exists():
        specs = pocket.tasks("train", recipe.rollouts.tasks, recipe.seed)
        if recipe.rollouts.checks == "unproven":
            specs = [put_back(spec) for spec in specs]
        _write(run, PROMPTS, [prompt_of(spec) for spec in specs], recipe, "prompts")
    rows = cast(list[Prompt], _read(run, PROMPTS))
    for row in rows:
        spec_of(row)
    return rows


def held_out(recipe: Recipe, *, final: bool) -> list[TaskSpec]:
    """Held-out pocket tasks: those of measurements in the run, or the fresh ones."""
    if final:
        return pocket.tasks("held_out", recipe.measure.final_tasks, FINAL_SEED + recipe.seed)
    return pocket.tasks("held_out", recipe.measure.tasks, recipe.seed)


def _read(run: RunDir, name: str) -> list[dict[str, Any]]:
    if (run.dataset / FILE).exists():
        check_manifest(run.dataset)
    lines = (run.dataset / name).read_bytes().splitlines()
    rows = [orjson.loads(line) for line in lines if line]
    if not rows:
        raise DataError(f"{run.dataset / name} is empty; freeze a dataset with at least one row")
    return rows


def _write(
    run: RunDir, name: str, rows: Sequence[Mapping[str, Any]], recipe: Recipe, kind: Any
) -> None:
    write_bytes(run.dataset / name, b"".join(orjson.dumps(dict(row)) + b"\n" for row in rows))
    write_manifest(
        run.dataset,
        kind=kind,
        rows=len(rows),
        split_kind="new_instances",
        provenance={"suite": "pocket", "part": "train", "seed": recipe.seed},
    )
