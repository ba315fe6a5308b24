"""Where a run's model comes from: the cached base of cpu-tiny, a checkpoint, a pretrained one."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoModelForImageTextToText,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerBase,
)

from training_app.core import pocket
from training_app.core.demonstrations import Row, from_reference
from training_app.core.recipe import ModelChoice, Recipe
from training_app.engine.images import Processor
from training_app.engine.stages import Told, untold
from training_app.engine.tiny import copy_base


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model with its tokenizer."""

    model: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    base_seconds: float = 0.0
    """Spent making it, if it was made for this run."""
    base_accuracy: float | None = None
    """How well the base of cpu-tiny copies."""
    processor: Processor | None = None
    """Of a model that sees; its tokenizer is the one above."""


class ModelError(ValueError):
    """A model that cannot be had; the message says what to do."""


def tokenizer_rows(recipe: Recipe) -> list[Row]:
    """The dialogues that cpu-tiny's tokenizer is built from: both pools of names, one seed."""
    count = recipe.tiny.tokenizer_tasks // 2
    specs = [*pocket.tasks("train", count, 0), *pocket.tasks("held_out", count, 0)]
    return [from_reference(spec, quote=recipe.demonstrations.quote) for spec in specs]


def base_recipe(recipe: Recipe) -> copy_base.BaseRecipe:
    """How the base of a recipe is trained. Its seed is its own: all runs share one base."""
    return copy_base.BaseRecipe(steps=recipe.tiny.base_steps, batch=recipe.tiny.base_batch)


def load_base(
    recipe: Recipe,
    cache: Path,
    rows: Sequence[Row],
    told: Told = untold,
) -> Loaded:
    """The base of cpu-tiny, from the cache or trained now."""
    base = copy_base.obtain(rows, cache, base_recipe(recipe), told=told)
    return Loaded(base.model, base.tokenizer, base.spent_now, base.accuracy)


def load_folder(choice: ModelChoice) -> Loaded:
    """A checkpoint, or a pretrained model by name or folder. Raises ModelError."""
    place = choice.init or choice.name
    if choice.init and not (Path(choice.init) / "config.json").is_file():
        raise ModelError(f"{choice.init} holds no checkpoint; choose one of a run's checkpoints")
    try:
        if getattr(AutoConfig.from_pretrained(place), "model_type", "") == "qwen3_vl":
            processor = Processor.load(place)
            seeing = AutoModelForImageTextToText.from_pretrained(place, dtype=torch.float32)
            return Loaded(seeing, processor.tokenizer, processor=processor)
        tokenizer = AutoTokenizer.from_pretrained(place)
        model = AutoModelForCausalLM.from_pretrained(place, dtype=torch.float32)
    except OSError as problem:
        raise ModelError(f"no model at {place!r}: give a folder that holds one") from problem
    except (SafetensorError, ValueError) as problem:
        said = str(problem).strip().splitlines()[:1]
        raise ModelError(
            f"the model at {place!r} cannot be read ({''.join(said)}); choose another one"
        ) from problem
    return Loaded(model, tokenizer)
