"""Preflight names what would stop a run, and the fix."""

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from tests.training_app.engine.marks import ENGINE
from training_app.core.recipe import preset
from training_app.core.run_dir import RunDir, write_json
from training_app.engine.__main__ import main
from training_app.engine.preflight import check

pytestmark = ENGINE


def made(folder: Path, name: str = "cpu-tiny-sft", **changes: Any) -> RunDir:
    return RunDir.create(folder / "run", preset(name, **changes))


def test_every_preset_passes(tmp_path: Path) -> None:
    for algorithm in ("sft", "gigpo"):
        assert check(made(tmp_path / algorithm, f"cpu-tiny-{algorithm}")) == []


def test_wrong_recipe_values_are_named(tmp_path: Path) -> None:
    run = made(tmp_path)
    write_json(run.path / "recipe.json", {"algorithm": "sft", "batch": 0})
    (problem,) = check(run)
    assert problem.place == "recipe"
    assert "batch: Input should be greater than or equal to 1" in problem.problem


def test_an_empty_or_broken_dataset_is_named(tmp_path: Path) -> None:
    run = made(tmp_path)
    file = run.dataset / "demonstrations.jsonl"
    file.write_bytes(b"")
    assert [p.place for p in check(run)] == ["dataset"]
    file.write_bytes(b'{"messages": [{"role": "user", "content": "x"}], "tools": "[]"}\n')
    (problem,) = check(run)
    assert "does not end with a reply" in problem.problem


def test_a_missing_model_and_a_missing_gpu_are_named(tmp_path: Path) -> None:
    model = {"kind": "pretrained", "name": str(tmp_path / "nowhere")}
    found = {problem.place for problem in check(made(tmp_path, model=model))}
    assert {"model", "dataset"} <= found


def test_the_command_prints_the_problems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made(tmp_path, model={"init": str(tmp_path / "nowhere")})
    assert main([str(run.path), "--check"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["place"] == "model"
    assert problem["fix"].startswith("choose a checkpoint of a run")
