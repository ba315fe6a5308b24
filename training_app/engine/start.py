"""Where RL starts from: a named checkpoint, or the first imperfect one of an SFT run.

RL learns nothing from tasks that always or never succeed. So where no checkpoint is named, SFT is
run once, kept in the cache, until its sampled success is within the band of the recipe.
"""

import logging
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from training_app.core.recipe import ModelChoice, Recipe, preset
from training_app.core.run_dir import RunDir
from training_app.engine import models, sft
from training_app.engine.stages import Left, Told, untold, within

log = logging.getLogger(__name__)
FINE: Final = 20
"""Steps between two checkpoints: success rises from nothing to the top of the band within 60."""
_MAKING: Final = "teaching a model to start from"


def load(recipe: Recipe, cache: Path, told: Told = untold) -> models.Loaded:
    """Load the model that an RL recipe starts from, made and cached if it has to be.

    Args:
        recipe: Of the run.
        cache: A folder that outlives runs.
        told: Hears how far it is.

    Raises ModelError where SFT never came into the band.
    """
    if recipe.model.kind != "cpu-tiny" or recipe.model.init:
        told("loading the model", 0, 0)
        return models.load_folder(recipe.model)
    low, high = recipe.rollouts.start_low, recipe.rollouts.start_high
    teaching = preset(
        "cpu-tiny-sft",
        tiny=recipe.tiny.model_dump(),
        measure={"every": FINE, "tasks": 40, "final_tasks": 0},
        save_every=FINE,
        keep=100,
    )
    run = RunDir(cache / f"start-{teaching.hash[:24]}")
    began = time.monotonic()
    found = _within(run, low, high) if run.result() is not None else None
    if found is None:
        shutil.rmtree(run.path, ignore_errors=True)
        run = RunDir.create(run.path, teaching)

        def enough(evaluation: Mapping[str, Any]) -> bool:
            return bool(evaluation["sampled"]["success"] >= low)

        part = within(told, _MAKING)
        result = sft.train(
            run,
            teaching,
            cache,
            enough=enough,
            told=part,
            on_step=lambda step: part("step", step, teaching.steps),
        )
        if result["cancelled"]:
            raise Left(_MAKING)
        run.write_result(result)
        found = _within(run, low, high)
    if found is None:
        raise models.ModelError(
            f"no checkpoint of SFT succeeded within {low}–{high} when sampled; name one"
        )
    loaded = models.load_folder(ModelChoice(init=str(found)))
    return models.Loaded(loaded.model, loaded.tokenizer, time.monotonic() - began)


def _within(run: RunDir, low: float, high: float) -> Path | None:
    for checkpoint in run.list_checkpoints():
        sampled = checkpoint.evaluation.get("sampled")
        if sampled and low <= sampled["success"] <= high:
            return checkpoint.path
    return None
