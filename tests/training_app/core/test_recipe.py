"""Recipes: presets, refused values, identity."""

import math
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from training_app.core.recipe import (
    PRESETS,
    Recipe,
    RecipeError,
    load_recipe,
    no_such_place,
    places,
    preset,
)


def test_presets_are_the_six_of_the_command() -> None:
    assert list(PRESETS) == [
        "cpu-tiny-sft",
        "cpu-tiny-grpo",
        "cpu-tiny-dr-grpo",
        "cpu-tiny-gdpo",
        "cpu-tiny-gigpo",
        "cpu-tiny-control",
    ]


def test_the_control_is_grpo_that_learns_nothing() -> None:
    differs = PRESETS["cpu-tiny-control"].changed(PRESETS["cpu-tiny-grpo"])
    assert differs == {
        "learning_rate": (0.0, 2e-5),
        "preset": ("cpu-tiny-control", "cpu-tiny-grpo"),
    }


def test_a_recipe_read_back_has_the_same_hash() -> None:
    for recipe in PRESETS.values():
        assert load_recipe(recipe.model_dump(mode="json")).hash == recipe.hash
    assert len({recipe.hash for recipe in PRESETS.values()}) == len(PRESETS)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"steps": 0}, "steps: Input should be greater than or equal to 1"),
        ({"algorithm": "ppo"}, "algorithm: Input should be"),
        ({"sped": 1}, "sped: there is no such place. There are format, preset, algorithm, model."),
        (
            {"measure": {"task": 4}},
            "measure.task: there is no such place. There are measure.every, measure.tasks, mea",
        ),
        ({"seed": True}, "seed: true is no number"),
        ({"learning_rate": False}, "learning_rate: false is no number"),
        ({"batch": 12}, "recipe: batch: a step holds whole groups"),
        ({"save_every": 15}, "recipe: save_every: a resumed run is the same only from"),
        ({"processes": 3}, "recipe: batch: 32 sequences cannot be shared out to 3 processes"),
        ({"device_batch": 5}, "recipe: device_batch: it has to divide 32, a process's share"),
        ({"steps": 2**31}, "steps: Input should be less than or equal to 2147483647"),
        ({"warmup": 10**40}, "warmup: Input should be less than or equal to 2147483647"),
        ({"tiny": {"base_steps": 2**64}}, "tiny.base_steps: Input should be less than or equal to"),
        ({"rollouts": {"group": 2**64}}, "rollouts.group: Input should be less than or equal to"),
        ({"learning_rate": math.inf}, "learning_rate: Input should be a finite number"),
        ({"learning_rate": math.nan}, "learning_rate: Input should be a finite number"),
        ({"rollouts": {"temperature": math.inf}}, "rollouts.temperature: Input should be a finite"),
        ({"preset": "a\0"}, "preset: has a character that cannot be kept"),
        (
            {"model": {"init": "\ud800"}},
            "model.init: Input should be a valid string, unable to parse",
        ),
        ({"model": {"init": "x" * 4097}}, "model.init: String should have at most 4096 characters"),
        ({"model": {"kind": "pretrained"}}, "model: a pretrained model has a name or folder"),
    ],
)
def test_wrong_values_are_named_with_their_place(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(RecipeError) as caught:
        preset("cpu-tiny-grpo", **changes)
    assert [p[: len(problem)] for p in caught.value.problems] == [problem]


def _numbers(part: type[BaseModel], place: str = "") -> Iterator[str]:
    for name, field in part.model_fields.items():
        wanted = field.annotation
        if wanted in (int, float):
            yield f"{place}{name}"
        elif isinstance(wanted, type) and issubclass(wanted, BaseModel):
            yield from _numbers(wanted, f"{name}.")


@pytest.mark.parametrize("place", list(_numbers(Recipe)))
@pytest.mark.parametrize("value", [True, False])
def test_no_number_of_a_recipe_is_true_or_false(place: str, value: bool) -> None:
    part, _, name = place.rpartition(".")
    with pytest.raises(RecipeError) as caught:
        preset("cpu-tiny-sft", **{part or name: {name: value} if part else value})
    assert caught.value.problems == [f"{place}: {str(value).lower()} is no number"]


def test_all_places_of_a_recipe_are_known_by_name() -> None:
    known = places()
    assert len(known) == len(set(known)) > 40
    assert set(_numbers(Recipe)) < set(known)
    assert no_such_place("evaluation.tasks") == (
        "there is no such place. Did you mean demonstrations.tasks or rollouts.tasks or "
        f"measure.tasks? There are {', '.join(known)}."
    )


def test_an_unknown_preset_names_those_that_exist() -> None:
    with pytest.raises(RecipeError, match="known are cpu-tiny-sft"):
        preset("gpu-huge")


def test_a_loss_that_is_flat_by_construction_is_said_so() -> None:
    flat = preset("cpu-tiny-grpo", rollouts={"steps_per_generation": 1})
    assert "0 at every step" in flat.flat_loss
    assert PRESETS["cpu-tiny-grpo"].flat_loss == ""
    assert Recipe(algorithm="sft").flat_loss == ""


def test_a_device_batch_is_halved_down_to_one_and_the_step_stays_the_same() -> None:
    recipe: Recipe | None = preset("cpu-tiny-sft", batch=24, processes=2)
    met: list[tuple[int, int]] = []
    while recipe is not None:
        met.append((recipe.together, recipe.accumulation))
        assert recipe.together * recipe.accumulation * recipe.processes == recipe.batch
        recipe = recipe.halved()
    assert met == [(12, 1), (6, 2), (3, 4), (1, 12)]


def test_a_halved_recipe_has_the_hash_of_the_whole_one() -> None:
    whole = PRESETS["cpu-tiny-grpo"]
    half = whole.halved()
    assert half is not None
    assert (half.device_batch, half.hash) == (whole.batch // 2, whole.hash)
    assert half.changed(whole) == {"device_batch": (whole.batch // 2, 0)}
