"""The job of a run with the true engine: a few steps, stopped and resumed; what its check finds."""

from pathlib import Path

import pytest
from django.conf import LazySettings

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from studio.web import jobs
from studio.web.choices import JobState
from studio.web.jobs import JobEnded
from tests.training_app.engine.marks import ENGINE
from training_app import launcher
from training_app.core.recipe import PRESETS, Recipe, load_recipe
from training_app.core.run_dir import RunDir
from training_app.jobs.runs import KIND, cancel_run, resume_run
from training_app.models import Checkpoint, TrainingRun
from training_app.operations.runs import open_run
from training_app.operations.samples import open_sample
from training_app.queries.runs import metrics_since, sample_steps

pytestmark = [*ENGINE, pytest.mark.slow, pytest.mark.django_db(transaction=True)]
FEW = {
    "steps": 40,
    "batch": 2,
    "save_every": 2,
    "warmup": 1,
    "tiny": {"tokenizer_tasks": 64, "base_steps": 2, "base_batch": 4},
    "demonstrations.tasks": 8,
    "measure": {"every": 40, "tasks": 4, "final_tasks": 4, "new_family_tasks": 0},
}


@pytest.fixture
def studio(settings: LazySettings, tmp_path: Path) -> Path:
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = []
    return tmp_path / "var"


def test_the_true_engine_trains_stops_goes_on_and_its_samples_replay(studio: Path) -> None:
    run = open_run(preset="cpu-tiny-sft", changes=FEW, seed=1, by=None)

    def look(done: int, total: int | None, note: str) -> None:
        row = TrainingRun.objects.get(pk=run.pk)
        if row.state == JobState.RUNNING and row.step:
            cancel_run(run=row, by=None)

    with pytest.raises(JobEnded) as error:
        jobs.run_inline(KIND, {"run": run.code}, subject=run.code, on_progress=look)
    job = error.value.job
    assert job.state == JobState.STOPPED, job.error
    run.refresh_from_db()
    stopped = Checkpoint.objects.filter(run=run).latest("step").step
    assert (run.state, 0 < stopped < 40) == (JobState.STOPPED, True)
    resume_run(run=run, by=None)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    run.refresh_from_db()
    assert (run.state, run.step) == (JobState.SUCCEEDED, 40), job.error
    rows = metrics_since(run).rows
    assert [row.step for row in rows] == sorted({row.step for row in rows})
    assert {row.samples for row in rows} <= {row.step * 2 for row in rows}
    assert any("loss" in row.values for row in rows)
    result = job.result or {}
    assert [type(result[name]) for name in ("before", "after")] == [float, float]
    assert result["checkpoint"] == Checkpoint.objects.filter(run=run).latest("step").code
    episode = open_sample(run=run, step=sample_steps(run)[-1], index=0, by=None)
    assert episode.reward is not None


def test_the_true_engine_names_what_stands_in_the_way_with_its_fix(
    studio: Path, tmp_path: Path
) -> None:
    model = {"kind": "pretrained", "name": str(tmp_path / "no-model")}
    recipe: Recipe = load_recipe(
        {**PRESETS["cpu-tiny-sft"].model_dump(), "model": model, "keep": 10**6}
    )
    directory = RunDir.create(tmp_path / "run", recipe)
    found = {one.place: one for one in launcher.check(directory, recipe)}
    assert {"dataset", "model", "disk"} <= set(found) <= {"dataset", "model", "disk", "device"}
    assert found["model"].problem == f"{tmp_path / 'no-model'} is no folder with a model"
    assert found["disk"].fix == "free some space or keep fewer checkpoints"
    assert found["dataset"].fix == "freeze a dataset and choose it for the run"
    if "device" in found:
        assert found["device"].problem == "no GPU on this machine for a pretrained model"
