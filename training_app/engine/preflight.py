"""What would stop a run, found before it starts: each problem with its place and its fix."""

import shutil
from pathlib import Path
from typing import Final, NamedTuple

import psutil
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
)
from trl.chat_template_utils import get_training_chat_template

from tasks_app.core.spec import SpecError
from training_app.core.prompts import PromptError
from training_app.core.recipe import Recipe
from training_app.core.run_dir import RunDir, RunDirError
from training_app.engine import data, dry

TINY: Final = 1_100_000
"""Parameters of cpu-tiny."""
UNKNOWN: Final = 8_000_000_000
"""Parameters of a model whose size cannot be read."""
SMALL: Final = 100_000_000
"""Parameters up to which a pretrained model can be trained without a GPU."""
NUMBER: Final = 4
"""Bytes of a number; weights are loaded as such."""
NO_ROOM: Final = "can't allocate memory"
"""How torch says on a CPU that there is none left; it has no class of its own for that."""
SAVED: Final = 3
"""A checkpoint holds the weights and two moments of the optimizer."""
HELD: Final = 4
"""Training holds the weights, their gradients and the two moments."""


class Problem(NamedTuple):
    """Something that would stop a run."""

    place: str
    """recipe, dataset, model, template, device, disk, memory or step."""
    problem: str
    fix: str


def check(run: RunDir) -> list[Problem]:
    """Return what would stop a run; nothing is trained or made for it."""
    try:
        recipe = run.recipe()
    except RunDirError as wrong:
        return [Problem("recipe", str(wrong), "correct the value or start from a preset")]
    tiny = recipe.model.kind == "cpu-tiny"
    size = TINY if tiny else _parameters(recipe)
    known = [
        *_dataset(run, recipe),
        *_model(recipe),
        *_device(recipe, size),
        *_disk(run, recipe, size or UNKNOWN),
        *_memory(size or 0),
    ]
    own = tiny and not recipe.model.init and not any(run.dataset.glob("*.jsonl"))
    if known or own:  # the engine's own model on its own suite needs no trial
        return known
    return _step(run, recipe)


def _parameters(recipe: Recipe) -> int | None:
    """How many parameters the model has, without loading it; None where it cannot be read."""
    choice = recipe.model
    place = choice.init or choice.name
    try:
        config = AutoConfig.from_pretrained(place)
        kind = AutoModelForImageTextToText if config.model_type == "qwen3_vl" else None
        with torch.device("meta"):
            model = (kind or AutoModelForCausalLM).from_config(config)
    except (OSError, ValueError):
        return None
    return sum(parameter.numel() for parameter in model.parameters())


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
    if not place and recipe.online and recipe.processes > 1:
        return [
            Problem(
                "model",
                "several processes start RL from a checkpoint",
                "choose a checkpoint to start from, or train in one process",
            )
        ]
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


def _device(recipe: Recipe, size: int | None) -> list[Problem]:
    small = size is not None and size <= SMALL
    if recipe.model.kind == "cpu-tiny" or small or torch.cuda.is_available():
        return []
    return [
        Problem(
            "device",
            "no GPU on this machine for a pretrained model",
            "export the run and start it where there is one, or use a cpu-tiny preset",
        )
    ]


def _disk(run: RunDir, recipe: Recipe, size: int) -> list[Problem]:
    needed = size * NUMBER * SAVED * (recipe.keep + 2)
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


def _memory(size: int) -> list[Problem]:
    """Weights, gradients and the optimizer alone; what a batch takes besides, the step shows."""
    needed = size * NUMBER * HELD
    gpu = torch.cuda.is_available()
    free = torch.cuda.mem_get_info()[0] if gpu else psutil.virtual_memory().available
    if free >= needed:
        return []
    place = "on the GPU" if gpu else "of memory"
    return [
        Problem(
            "memory",
            f"{free / 1e9:.1f} GB {place} are free, training needs {needed / 1e9:.1f} GB "
            "before the first batch",
            "close other programs, or choose a smaller model or a larger machine",
        )
    ]


def _step(run: RunDir, recipe: Recipe) -> list[Problem]:
    """One step of the run on its longest rows; whatever stops it stops the run."""
    try:
        dry.step(run, recipe)
    except (RuntimeError, MemoryError) as wrong:
        if out_of_memory(wrong):
            return [
                Problem(
                    "memory",
                    f"a step of {recipe.together} sequences at a time does not fit: "
                    f"{_first_line(wrong)}",
                    "choose a smaller device batch, shorter completions or shorter rows",
                )
            ]
        return [_stopped(wrong)]
    except (ValueError, TypeError, LookupError, OSError) as wrong:
        return [_stopped(wrong)]
    return []


def _stopped(wrong: BaseException) -> Problem:
    return Problem(
        "step",
        f"a first step on the longest rows ends with {type(wrong).__name__}: {_first_line(wrong)}",
        "correct the row or the value that it names; the step is the run's own",
    )


def _first_line(wrong: BaseException) -> str:
    return (str(wrong).strip().splitlines() or ["without a word"])[0][:300]


def out_of_memory(problem: BaseException) -> bool:
    """Whether it is want of memory, of a GPU or of the machine."""
    return isinstance(problem, MemoryError | torch.OutOfMemoryError) or NO_ROOM in str(problem)
