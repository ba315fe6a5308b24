"""Preflight names what would stop a run, and the fix."""

import json
import shutil
from pathlib import Path
from typing import Any

import orjson
import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from tests.training_app.engine.marks import ENGINE  # noqa: E402 (after the skip)
from tests.training_app.engine.seeing import png, save_model, task_with_image  # noqa: E402
from training_app.core import pocket  # noqa: E402
from training_app.core.demonstrations import from_reference  # noqa: E402
from training_app.core.prompts import prompt_of  # noqa: E402
from training_app.core.recipe import load_recipe, preset  # noqa: E402
from training_app.core.run_dir import RunDir, write_json  # noqa: E402
from training_app.engine.__main__ import main  # noqa: E402
from training_app.engine.preflight import check  # noqa: E402

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


def test_rl_in_several_processes_needs_a_checkpoint(tmp_path: Path) -> None:
    (problem,) = check(made(tmp_path, "cpu-tiny-grpo", processes=2))
    assert problem.fix == "choose a checkpoint to start from, or train in one process"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("model"))


def pretrained(folder: Path, model: Path, *rows: Any, **changes: Any) -> RunDir:
    asked: dict[str, Any] = {
        "algorithm": "sft",
        "model": {"kind": "pretrained", "name": str(model)},
        "batch": 4,
        "device_batch": 2,
    }
    run = RunDir.create(folder / "run", load_recipe({**asked, **changes}))
    name = "demonstrations.jsonl" if run.recipe().algorithm == "sft" else "prompts.jsonl"
    (run.dataset / name).write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    return run


@pytest.mark.slow
def test_a_model_that_can_take_a_step_passes_and_nothing_is_left_of_it(
    tmp_path: Path, model: Path
) -> None:
    spec = pocket.tasks("train", 1, 0)[0]
    taught = pretrained(tmp_path / "sft", model, from_reference(spec))
    play = {"group": 2, "longest": 16}
    prompted = pretrained(
        tmp_path / "rl", model, prompt_of(spec), algorithm="grpo", rollouts=play, save_every=2
    )
    for run in (taught, prompted):
        before = sorted(run.path.rglob("*"))
        assert check(run) == []
        assert sorted(run.path.rglob("*")) == before


def test_a_step_that_fails_is_named_with_the_row(tmp_path: Path, model: Path) -> None:
    run = pretrained(tmp_path, model, from_reference(task_with_image(png("red"))))
    (problem,) = check(run)
    assert problem.place == "step"
    assert "no such image; put its bytes at" in problem.problem


def test_a_step_that_does_not_fit_is_named_with_the_device_batch(
    tmp_path: Path, model: Path
) -> None:
    run = pretrained(tmp_path, model, from_reference(pocket.tasks("train", 1, 0)[0]))

    def full(module: Any, arguments: Any) -> None:
        if isinstance(module, torch.nn.Embedding):
            raise torch.OutOfMemoryError("CUDA out of memory. Tried 2 GiB.\nMore.")

    handle = torch.nn.modules.module.register_module_forward_pre_hook(full)
    try:
        (problem,) = check(run)
    finally:
        handle.remove()
    assert problem == (
        "memory",
        "a step of 2 sequences at a time does not fit: CUDA out of memory. Tried 2 GiB.",
        "choose a smaller device batch, shorter completions or shorter rows",
    )


def test_a_broken_template_is_named(tmp_path: Path, model: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(model, broken)
    (broken / "chat_template.jinja").write_text(
        "{% for m in messages %}{{ m.content }}{% endfor %}"
    )
    run = pretrained(tmp_path, broken, from_reference(pocket.tasks("train", 1, 0)[0]))
    (problem,) = check(run)
    assert problem.place == "template"
    assert problem.fix == "use the template that the model's makers ship, unchanged"


def test_a_model_for_which_neither_disk_nor_memory_suffices_is_named(
    tmp_path: Path, model: Path
) -> None:
    large = tmp_path / "large"
    large.mkdir()
    config = json.loads((model / "config.json").read_text())
    config["text_config"] |= {"hidden_size": 65536, "num_hidden_layers": 200}
    (large / "config.json").write_text(json.dumps(config))
    for file in model.glob("token*"):
        shutil.copy(file, large)
    shutil.copy(model / "chat_template.jinja", large)
    run = pretrained(tmp_path, large, from_reference(pocket.tasks("train", 1, 0)[0]))
    found = {problem.place: problem for problem in check(run)}
    assert {"disk", "memory"} <= set(found)
    assert found["memory"].fix.startswith("close other programs, or choose a smaller model")
    assert found["disk"].fix == "free some space or keep fewer checkpoints"
    if not torch.cuda.is_available():
        assert found["device"] == (
            "device",
            "no GPU on this machine for a pretrained model",
            "export the run and start it where there is one, or use a cpu-tiny preset",
        )


def test_the_command_prints_the_problems(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made(tmp_path, model={"init": str(tmp_path / "nowhere")})
    assert main([str(run.path), "--check"]) == 1
    (problem,) = json.loads(capsys.readouterr().out)["problems"]
    assert problem["place"] == "model"
    assert problem["fix"].startswith("choose a checkpoint of a run")
