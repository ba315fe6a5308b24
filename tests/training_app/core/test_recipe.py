"""Recipes: presets, refused values, identity."""

import pytest

from training_app.core.recipe import PRESETS, Recipe, RecipeError, load_recipe, preset


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
        "learning_rate": (0.0, 1e-4),
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
        ({"sped": 1}, "sped: Extra inputs are not permitted"),
        ({"batch": 12}, "recipe: batch: a step holds whole groups"),
        ({"save_every": 15}, "recipe: save_every: a resumed run is the same only from"),
        ({"model": {"kind": "pretrained"}}, "model: a pretrained model has a name or folder"),
    ],
)
def test_wrong_values_are_named_with_their_place(changes: dict[str, object], problem: str) -> None:
    with pytest.raises(RecipeError) as caught:
        preset("cpu-tiny-grpo", **changes)
    assert [p[: len(problem)] for p in caught.value.problems] == [problem]


def test_an_unknown_preset_names_those_that_exist() -> None:
    with pytest.raises(RecipeError, match="known are cpu-tiny-sft"):
        preset("gpu-huge")


def test_a_loss_that_is_flat_by_construction_is_said_so() -> None:
    flat = preset("cpu-tiny-grpo", rollouts={"steps_per_generation": 1})
    assert "0 at every step" in flat.flat_loss
    assert PRESETS["cpu-tiny-grpo"].flat_loss == ""
    assert Recipe(algorithm="sft").flat_loss == ""
