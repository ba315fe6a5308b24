"""One step as the run will take it, on its longest rows, in a folder that is thrown away."""

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson
from transformers import TrainerCallback

from training_app.core import pocket
from training_app.core.demonstrations import Row, from_reference
from training_app.core.prompts import Prompt, prompt_of
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir
from training_app.engine import data, dialogues, grpo, images, models, sft
from training_app.engine.rewards import Rewards
from training_app.engine.tiny import config, tokenizer

FEW: Final = 8
"""Pocket tasks that stand in where the engine makes its own dataset."""


class _Unsaved(TrainerCallback):
    """Saves nothing, not even at the end."""

    def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
        control.should_save = False


def of(recipe: Recipe) -> Recipe:
    """The recipe of its dry run: one step, of as many sequences as go through at a time."""
    changes: dict[str, Any] = {"steps": 1, "save_every": 1, "warmup": 0, "processes": 1}
    together, play = recipe.together, recipe.rollouts
    once: dict[str, Any] = {"steps_per_generation": 1, "iterations": 1}
    if recipe.model.kind == "cpu-tiny":  # it fits anywhere; this is to see it work
        together = 2
        once |= {"group": 2, "tool_rounds": 1}
    play = play.model_copy(update=once)
    changes |= {"batch": together, "device_batch": together}
    if recipe.online:
        changes |= {"batch": math.lcm(together, play.group), "rollouts": play}
    return recipe.model_copy(update=changes)


def step(run: RunDir, recipe: Recipe) -> None:
    """Take the step. Raises whatever the run would raise; MemoryError and the like among it.

    Args:
        run: Its dataset is read, nothing of it is written.
        recipe: Of the run.
    """
    tried = of(recipe)
    with tempfile.TemporaryDirectory(prefix="dry-run-") as folder:
        place = RunDir(Path(folder))
        place.dataset = run.dataset
        if recipe.online:
            _prompted(place, tried)
        else:
            _taught(place, tried)


def _taught(run: RunDir, recipe: Recipe) -> None:
    made = (run.dataset / data.DEMONSTRATIONS).exists()
    rows = data.demonstrations(run, recipe) if made else _demonstrations()
    loaded = _model(recipe, rows)
    longest = _longest(rows, recipe.batch)
    learnt = (
        dialogues.label(loaded.tokenizer, longest)
        if loaded.processor is None
        else images.with_images(run, longest)
    )
    trainer = sft.make_trainer(run, recipe, loaded, learnt)
    trainer.add_callback(_Unsaved())
    trainer.train()


def _prompted(run: RunDir, recipe: Recipe) -> None:
    made = (run.dataset / data.PROMPTS).exists()
    few = pocket.tasks("train", FEW, 0)
    rows: list[Prompt] = data.prompts(run, recipe) if made else [prompt_of(spec) for spec in few]
    loaded = _model(recipe, _demonstrations())
    rewards = Rewards([loaded.tokenizer.eos_token_id, loaded.tokenizer.pad_token_id])
    longest = _longest(rows, recipe.batch // recipe.rollouts.group)
    trainer = grpo.make_trainer(run, recipe, loaded, longest, rewards)
    trainer.add_callback(_Unsaved())
    trainer.train()


def _demonstrations() -> list[Row]:
    return [from_reference(spec) for spec in pocket.tasks("train", FEW, 0)]


def _longest(rows: Sequence[Any], count: int) -> list[Any]:
    """The longest rows, the first again where there are fewer."""
    ordered = sorted(rows, key=_length, reverse=True)
    return (ordered * -(-count // len(ordered)))[:count]


def _length(row: Mapping[str, Any]) -> int:
    return len(orjson.dumps(dict(row)))


def _model(recipe: Recipe, rows: Sequence[Row]) -> models.Loaded:
    """The run's model; a fresh one of the same size where cpu-tiny has to be made first."""
    if recipe.model.init or recipe.model.kind != "cpu-tiny":
        return models.load_folder(recipe.model)
    words = tokenizer.build(rows)
    values, _ = tokenizer.value_ids(words, rows)
    return models.Loaded(config.make_model(words, recipe.seed, values), words)
