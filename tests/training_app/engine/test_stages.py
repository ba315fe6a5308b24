"""What the engine does besides its steps is told, and can be left."""

import time
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from tests.training_app.engine.marks import ENGINE  # noqa: E402 (after the skip)
from tests.training_app.engine.small import TINY, curve, sft, started  # noqa: E402
from training_app.core.recipe import preset  # noqa: E402
from training_app.core.run_dir import Metrics, RunDir, Status  # noqa: E402
from training_app.engine import models, start  # noqa: E402
from training_app.engine import sft as engine  # noqa: E402
from training_app.engine.__main__ import main  # noqa: E402
from training_app.engine.stages import Left, Stages, within  # noqa: E402
from training_app.engine.tiny import copy_base  # noqa: E402

pytestmark = [*ENGINE, pytest.mark.slow]
MEASURED = {"every": 2, "tasks": 2, "final_tasks": 3, "new_family_tasks": 1}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    """As the recipes of SFT say; the engine itself is not asked in each of these tests."""
    torch.set_num_threads(1)


class Heard:
    """Somebody who is told, and leaves when it comes to a stage."""

    def __init__(self, leaves_at: tuple[str, int] | None = None):
        self.stages: dict[str, tuple[int, int]] = {}
        """Stage → how far it came, of how much; in their order."""
        self._leaves_at = leaves_at

    def __call__(self, doing: str, done: int, total: int) -> None:
        self.stages[doing] = (done, total)
        if (doing, done) == self._leaves_at:
            raise Left(doing)


def asking(run: RunDir, step: int, patch: pytest.MonkeyPatch) -> None:
    """Let somebody ask the run to stop as soon as the row of a step is there."""
    append = RunDir.append

    def spied(self: RunDir, metrics: Metrics) -> None:
        append(self, metrics)
        if metrics.step == step:
            run.ask_to_stop()

    patch.setattr(RunDir, "append", spied)


def test_every_stage_of_a_run_is_told_to_its_end(tmp_path: Path) -> None:
    heard = Heard()
    recipe = sft(measure=MEASURED)
    engine.train(RunDir.create(tmp_path / "run", recipe), recipe, tmp_path / "cache", told=heard)
    assert list(heard.stages.items()) == [
        ("making the dataset", (0, 0)),
        ("making the tokenizer", (0, 0)),
        ("teaching the base: step", (2, 2)),
        ("measuring before:", (6, 6)),
        ("measuring at step 2:", (4, 4)),
        ("measuring at step 4:", (4, 4)),
        ("measuring after:", (6, 6)),
        ("measuring on other families:", (1, 1)),
    ]


def test_a_starting_point_is_told_as_a_stage_and_left_at_a_step_of_it(tmp_path: Path) -> None:
    what = "teaching a model to start from"
    heard = Heard((f"{what}, step", 2))
    recipe = preset("cpu-tiny-grpo", tiny=TINY)
    with pytest.raises(Left):
        start.load(recipe, tmp_path / "cache", heard)
    assert list(heard.stages) == [
        f"{what}, making the dataset",
        f"{what}, making the tokenizer",
        f"{what}, teaching the base: step",
        f"{what}, step",
    ]


def test_a_stage_is_written_once_a_second_and_a_new_one_at_once(tmp_path: Path) -> None:
    run = RunDir.create(tmp_path / "run", sft())
    run.write_status(Status("starting", 0, 4))
    told = within(Stages(run), "before that")

    def said() -> tuple[str, int, int, str]:
        status = run.status()
        assert time.time() - status.heartbeat < 60
        return (status.message, status.done, status.total, status.state)

    told("teaching the base: step", 1, 1200)
    told("teaching the base: step", 2, 1200)
    words = "before that, teaching the base: step 1 of 1,200"
    assert said() == (words, 1, 1200, "starting")
    told("making the tokenizer", 0, 0)
    assert said() == ("before that, making the tokenizer", 0, 0, "starting")
    run.ask_to_stop()
    with pytest.raises(Left, match="making the tokenizer"):
        told("making the tokenizer", 0, 0)


def test_a_base_that_is_left_is_kept_and_goes_on_to_the_same_weights(tmp_path: Path) -> None:
    rows = models.tokenizer_rows(sft())
    recipe = copy_base.BaseRecipe(steps=4, batch=4)
    whole = copy_base.obtain(rows, tmp_path / "whole", recipe)
    stage = "teaching the base: step"
    with pytest.raises(Left):
        copy_base.obtain(rows, tmp_path / "parts", recipe, told=Heard((stage, 2)))
    heard = Heard()
    parts = copy_base.obtain(rows, tmp_path / "parts", recipe, told=heard)
    assert (parts.step, heard.stages) == (4, {stage: (4, 4)})
    for one, other in zip(whole.model.parameters(), parts.model.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_stop_while_the_engine_still_reads_its_libraries_is_heard(
    cache: Path, tmp_path: Path
) -> None:
    run = RunDir.create(tmp_path / "run", sft(steps=500, save_every=500))
    process = started(run, cache)
    run.ask_to_stop()
    assert process.wait(300) == 0
    assert (run.status().state, run.status().message, run.read().rows) == ("stopped", "", ())


def test_a_stop_during_a_measurement_in_the_run_ends_it_at_that_checkpoint(
    cache: Path, tmp_path: Path
) -> None:
    recipe = sft(measure={**MEASURED, "final_tasks": 0, "new_family_tasks": 0})
    straight, run = (RunDir.create(tmp_path / name, recipe) for name in ("straight", "run"))
    assert main([str(straight.path), "--cache", str(cache)]) == 0
    with pytest.MonkeyPatch.context() as patch:
        asking(run, 2, patch)
        assert main([str(run.path), "--cache", str(cache)]) == 0
    assert (run.status().state, run.status().step) == ("stopped", 2)
    assert [(c.step, dict(c.evaluation)) for c in run.list_checkpoints()] == [(2, {})]
    assert main([str(run.path), "--cache", str(cache), "--resume"]) == 0
    assert run.status().state == "succeeded"
    losses = [[(s, v["loss"]) for s, _, v in curve(r) if "loss" in v] for r in (straight, run)]
    assert losses[0] == losses[1] != []


def test_a_run_left_while_it_is_measured_after_its_steps_only_measures_when_it_goes_on(
    cache: Path, tmp_path: Path
) -> None:
    run = RunDir.create(tmp_path / "run", sft(measure={**MEASURED, "every": 0}))
    with pytest.MonkeyPatch.context() as patch:
        asking(run, 4, patch)
        assert main([str(run.path), "--cache", str(cache)]) == 0
    before = curve(run)
    assert (run.status().state, run.result()) == ("stopped", None)
    assert main([str(run.path), "--cache", str(cache), "--resume"]) == 0
    result = run.result() or {}
    assert (run.status().state, result["steps"], result["after"]["greedy"]["n"]) == (
        "succeeded",
        4,
        3,
    )
    assert curve(run) == before
