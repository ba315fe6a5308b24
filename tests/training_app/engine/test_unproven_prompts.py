from pathlib import Path

import pytest

pytest.importorskip("trl", reason="the train extra is not installed")

from training_app.core.prompts import spec_of
from training_app.core.recipe import preset
from training_app.core.run_dir import RunDir
from training_app.core.unproven import put_back
from training_app.engine.data import held_out, prompts


def test_an_unproven_recipe_trains_on_the_same_tasks_and_is_measured_on_proven_ones(
    tmp_path: Path,
) -> None:
    recipes = {
        checks: preset("cpu-tiny-grpo", rollouts={"tasks": 8, "checks": checks})
        for checks in ("proven", "unproven")
    }
    proven, unproven = (
        [spec_of(row) for row in prompts(RunDir.create(tmp_path / name, recipe), recipe)]
        for name, recipe in recipes.items()
    )
    assert unproven == [put_back(spec) for spec in proven]
    assert held_out(recipes["unproven"], final=True) == held_out(recipes["proven"], final=True)
