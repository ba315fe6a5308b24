"""What would stop a run, found before it starts: each problem with its place and its fix."""

import shutil
from pathlib import Path
from typing import Final, NamedTuple

import torch
from transformers import AutoTokenizer
from trl.chat_template_utils import get_training_chat_template

from tasks_app.core.spec import SpecError
from training_app.core.prompts import PromptError
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir, RunDirError
from training_app.engine import data

TINY_BYTES: Final = 1_100_000 * 4
PRETRAINED_BYTES: Final = 16_000_000_000
"""Weights of a model whose size is not known: 8 billion parameters at two bytes."""
STATES: Final = 3
"""A checkpoint holds the weights and two moments of the optimizer."""


class Problem(NamedTuple):
    """Something that would stop a run."""

    place: str
    """recipe, dataset, model, template, device or disk."""
    problem: str
    fix: str


def check(run: RunDir) -> list[Problem]:
    """Return what would stop a run; nothing is trained or made for it."""
    try:
        recipe = run.recipe()
    except RunDirError as wrong:
        return [Problem("recipe", str(wrong), "correct the value or start from a preset")]
    return [*_dataset(run, recipe), *_model(recipe), *_device(recipe), *_disk(run, recipe)]


def _dataset(run: RunDir, recipe: Recipe) -> list[Problem]:
    name = data.PROMPTS if recipe.online else data.DEMONSTRATIONS
    if not (run.dataset / name).exists():
        if recipe.model.kind == "cpu-tiny":
            return []  # the built-in pocket suite is made when the run starts
        return [Problem("dataset", f"no {name}", "freeze a dataset and choose it for the run")]
    try:
        if recipe.online:
            data.prompts(run, recipe)
        else:
            data.demonstrations(run, recipe)
    except (data.DataError, RunDirError, PromptError, SpecError) as wrong:
        return [Problem("dataset", str(wrong), "freeze the dataset again; its lint drops bad rows")]
    return []


def _model(recipe: Recipe) -> list[Problem]:
    choice = recipe.model
    place = choice.init or choice.name
    if not place:
        return []
    if not (Path(place) / "config.json").is_file():
        return [
            Problem(
                "model",
                f"{place} is no folder with a model",
                "choose a checkpoint of a run, or download the model and name its folder",
            )
        ]
    try:
        get_training_chat_template(AutoTokenizer.from_pretrained(place))
    except (OSError, ValueError) as wrong:
        return [
            Problem(
                "template",
                f"the chat template of {place} is not one that can be trained: {wrong}",
                "use the template that the model's makers ship, unchanged",
            )
        ]
    return []


def _device(recipe: Recipe) -> list[Problem]:
    if recipe.model.kind == "cpu-tiny" or torch.cuda.is_available():
        return []
    return [
        Problem(
            "device",
            "no GPU on this machine for a pretrained model",
            "export the run and start it where there is one, or use a cpu-tiny preset",
        )
    ]


def _disk(run: RunDir, recipe: Recipe) -> list[Problem]:
    weights = TINY_BYTES if recipe.model.kind == "cpu-tiny" else PRETRAINED_BYTES
    needed = weights * STATES * (recipe.keep + 2)
    free = shutil.disk_usage(run.path).free
    if free >= needed:
        return []
    return [
        Problem(
            "disk",
            f"{free / 1e9:.1f} GB are free, checkpoints need {needed / 1e9:.1f} GB",
            "free some space or keep fewer checkpoints",
        )
    ]
