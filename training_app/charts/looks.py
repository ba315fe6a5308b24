"""Hue, dash, name and words of runs and values: the same in every chart, table and legend."""

from typing import Final, NamedTuple

from studio.web.words import NONE, duration, number, percent, score
from training_app.core.recipe import Recipe, RecipeError, load_recipe
from training_app.enums import Algorithm
from training_app.models import TrainingRun
from training_app.queries.curve_families import Form
from training_app.queries.curves import Axis, is_control, is_unproven


class Look(NamedTuple):
    """Hue, dash and weight of a series: the same in every chart, table and legend."""

    css: str
    """The class of the legend's stroke."""
    token: str
    dash: str
    width: float


LOOKS: Final = {
    Algorithm.GRPO: Look("grpo", "--s-grpo", "solid", 1.75),
    Algorithm.GDPO: Look("gdpo", "--s-gdpo", "7px,2px", 1.75),
    Algorithm.GIGPO: Look("gigpo", "--s-gigpo", "solid", 2.5),
    Algorithm.DR_GRPO: Look("drgrpo", "--s-drgrpo", "2px,2px", 1.75),
    Algorithm.SFT: Look("sft", "--ink", "solid", 1.75),
}
CONTROL: Final = Look("basel", "--s-base", "solid", 1.75)
AXIS_WORDS: Final[dict[Axis, str]] = {
    "samples": "processed training samples",
    "step": "optimizer steps",
    "seconds": "seconds",
}


def look_of(run: TrainingRun) -> Look:
    """How a run is drawn."""
    return CONTROL if is_control(run) else LOOKS[Algorithm(run.algorithm)]


def name_of(run: TrainingRun) -> str:
    """What its lines are called."""
    name = "Control" if is_control(run) else Algorithm(run.algorithm).label
    return f"{name}, unproven checks" if is_unproven(run) else name


def recipe_of(run: TrainingRun) -> Recipe | None:
    """The recipe as a value; None for one of another format."""
    try:
        return load_recipe(run.recipe)
    except RecipeError:
        return None


def loss_note(run: TrainingRun, recipe: Recipe | None) -> str:
    """Why the curve of the policy loss says little, where it does."""
    if recipe is None:
        return ""
    if recipe.flat_loss:
        return recipe.flat_loss
    if is_control(run):
        return "Learning rate 0: nothing is learnt, the loss only shows how batches are cut."
    return ""


def value_words(value: float | None, form: Form) -> str:
    """A value as people read it in that form."""
    if value is None:
        return NONE
    if form == "share":
        return percent(value)
    if form == "score":
        return score(value)
    if form == "tokens":
        return number(round(value))
    if form == "seconds":
        return duration(value)
    return _short(value)


def _short(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.2e}" if abs(value) < 1e-3 or abs(value) >= 1e5 else f"{value:#.3g}"
