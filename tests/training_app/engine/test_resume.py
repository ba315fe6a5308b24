"""A run that was stopped or killed goes on as if nothing had happened, bit by bit."""

from pathlib import Path
from typing import Any

import psutil
import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from tests.training_app.engine.marks import ENGINE  # noqa: E402 (after the skip)
from tests.training_app.engine.small import (  # noqa: E402
    curve,
    performed,
    rl,
    sft,
    somewhat_taught,
    started,
    weights,
)
from training_app.core.recipe import Recipe  # noqa: E402
from training_app.core.run_dir import OUT_OF_MEMORY, Metrics, RunDir  # noqa: E402
from training_app.engine.__main__ import main  # noqa: E402

pytestmark = [*ENGINE, pytest.mark.slow]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def recipes(cache: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recipe]:
    taught = RunDir.create(tmp_path_factory.mktemp("taught") / "run", somewhat_taught())
    assert main([str(taught.path), "--cache", str(cache)]) == 0
    return {"sft": sft(steps=8, save_every=4), "grpo": rl(taught.checkpoint_path(24))}


@pytest.fixture(scope="module")
def straight(
    recipes: dict[str, Recipe], cache: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, RunDir]:
    """Of each recipe a run that nobody disturbed."""
    runs: dict[str, RunDir] = {}
    for name, recipe in recipes.items():
        runs[name] = RunDir.create(tmp_path_factory.mktemp(name) / "run", recipe)
        assert main([str(runs[name].path), "--cache", str(cache)]) == 0
    return runs


def stopped(
    run: RunDir, cache: Path, asked_after: int, monkeypatch: pytest.MonkeyPatch
) -> list[int]:
    """Run until somebody asks it to stop, as soon as a step's row is there; return its steps."""
    append = RunDir.append

    def spied(self: RunDir, metrics: Metrics) -> None:
        append(self, metrics)
        if metrics.step == asked_after:
            self.ask_to_stop()

    with monkeypatch.context() as patched:
        patched.setattr(RunDir, "append", spied)
        assert main([str(run.path), "--cache", str(cache)]) == 0
    assert run.status().state == "stopped"
    return [row.step for row in run.read().rows]


def test_rl_learns_something_here(straight: dict[str, RunDir]) -> None:
    """Or its runs were equal whatever happened to them."""
    assert any(values.get("grad_norm") for _, _, values in curve(straight["grpo"]))
    assert weights(straight["grpo"], 4) != weights(straight["grpo"], 8)


@pytest.mark.parametrize(
    ("name", "asked_after", "steps", "checkpoint"),
    [
        ("sft", 5, 6, 6),
        # in the midst of a generation it goes back to the end of the one before
        ("grpo", 6, 7, 6),
    ],
)
def test_a_run_stops_within_one_step_and_goes_on_bit_by_bit_in_another_process(
    name: str,
    asked_after: int,
    steps: int,
    checkpoint: int,
    recipes: dict[str, Recipe],
    straight: dict[str, RunDir],
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = RunDir.create(tmp_path / "run", recipes[name])
    assert stopped(run, cache, asked_after, monkeypatch) == list(range(1, steps + 1))
    assert run.list_checkpoints()[-1].step == checkpoint
    performed(run, cache, "--resume")
    assert curve(run) == curve(straight[name])
    assert weights(run, 8) == weights(straight[name], 8)


def test_a_checkpoint_that_was_saved_when_it_was_reached_is_the_one_gone_back_to(
    recipes: dict[str, Recipe],
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = RunDir.create(tmp_path / "run", recipes["grpo"])
    assert stopped(run, cache, 4, monkeypatch) == [1, 2, 3, 4, 5]
    assert [checkpoint.step for checkpoint in run.list_checkpoints()] == [4]


def test_a_run_stopped_in_its_first_generation_begins_again(
    recipes: dict[str, Recipe],
    cache: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    play = recipes["grpo"].rollouts.model_copy(update={"iterations": 2})
    recipe = recipes["grpo"].model_copy(update={"steps": 4, "rollouts": play})
    run = RunDir.create(tmp_path / "run", recipe)
    assert stopped(run, cache, 1, monkeypatch) == [1, 2]
    assert run.list_checkpoints() == []
    assert main([str(run.path), "--cache", str(cache), "--resume"]) == 0
    assert [row.step for row in run.read().rows] == [1, 2, 3, 4]


def test_an_engine_killed_by_9_goes_on_without_a_doubled_or_missing_step(
    recipes: dict[str, Recipe],
    straight: dict[str, RunDir],
    cache: Path,
    tmp_path: Path,
) -> None:
    run = RunDir.create(tmp_path / "run", recipes["grpo"])
    engine = started(run, cache)
    process = psutil.Process(engine.pid)
    while len(run.read().rows) < 5:
        with pytest.raises(psutil.TimeoutExpired):
            process.wait(0.01)
    engine.kill()
    assert engine.wait(10) == -9
    assert run.status().state == "running"
    performed(run, cache, "--resume")
    assert curve(run) == curve(straight["grpo"])
    assert weights(run, 8) == weights(straight["grpo"], 8)


def test_a_run_whose_memory_runs_out_says_so_and_takes_the_same_steps_with_half_of_it(
    recipes: dict[str, Recipe], straight: dict[str, RunDir], cache: Path, tmp_path: Path
) -> None:
    run = RunDir.create(tmp_path / "run", recipes["sft"])
    passes: list[int] = []

    def short(module: Any, arguments: Any) -> None:
        if isinstance(module, torch.nn.Embedding) and module.training:
            passes.append(len(arguments[0]))
            if len(passes) > 6 and passes[-1] > 2:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")

    handle = torch.nn.modules.module.register_module_forward_pre_hook(short)
    try:
        with pytest.raises(torch.OutOfMemoryError):
            main([str(run.path), "--cache", str(cache)])
        assert run.status().message.startswith(f"{OUT_OF_MEMORY}: CUDA out of memory.")
        smaller = run.recipe().halved()
        assert smaller is not None
        run.change_recipe(smaller)
        del passes[:]
        assert main([str(run.path), "--cache", str(cache), "--resume"]) == 0
    finally:
        handle.remove()
    assert passes == [2] * 8
    for name in ("loss", "grad_norm"):
        found, expected = (
            [values[name] for _, _, values in curve(each)] for each in (run, straight["sft"])
        )
        assert found == pytest.approx(expected, rel=1e-3)
