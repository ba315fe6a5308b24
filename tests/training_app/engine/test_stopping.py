"""The true engine and its job, stopped from the page, over the API and from a command.

Each puts down its request by itself, without waiting for whoever watches the run, so the engine
ends with the step that it is in.
"""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connections
from django.test import Client

pytest.importorskip("torch", reason="the train extra is not installed")
pytest.importorskip("trl", reason="the train extra is not installed")

from studio.web import jobs
from studio.web.choices import JobState, Role
from tests.factories.people import person
from tests.factories.waiting import until
from tests.training_app.engine.marks import ENGINE
from tests.training_app.engine.small import NOTHING, PROJECT, TINY
from tests.training_app.jobs.test_runs import environment
from training_app import launcher
from training_app.core.run_dir import RunDir
from training_app.jobs.runs import KIND
from training_app.models import Checkpoint, TrainingRun
from training_app.operations.runs import open_run
from training_app.queries.runs import metrics_since, run_dir

pytestmark = [
    *ENGINE,
    pytest.mark.slow,
    pytest.mark.django_db(transaction=True),
    # an engine outlives the object that started it: that is the point
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
PATIENCE = 300
"""Seconds that an engine has to hear: it stops because it is asked, not because it is told."""
LONG: dict[str, Any] = {
    "steps": 5000,
    "batch": 4,
    "save_every": 5000,
    "tiny": dict(TINY),
    "demonstrations.tasks": 8,
    "measure": dict(NOTHING),
}
"""A run that never ends by itself while a test looks on."""
HEARS_CTRL_C = """
import runpy, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs a script as a terminal would: what a shell starts in the background ignores Ctrl-C, and so
does all that it starts.
"""


@pytest.fixture(autouse=True)
def studio(settings: LazySettings, tmp_path: Path) -> Iterator[None]:
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = []
    settings.STUDIO_ENGINE_PATIENCE = PATIENCE
    yield
    for run in TrainingRun.objects.all():
        engine = launcher.find(run_dir(run))
        if engine is not None:
            engine.end(signal.SIGKILL)
            engine.wait(10)


@pytest.fixture
def editor() -> Client:
    client = Client()
    client.force_login(person("jo", Role.EDITOR))
    return client


def steps_of(directory: RunDir) -> list[int]:
    return [row.step for row in directory.read().rows]


def took_steps_after(directory: RunDir, step: int) -> bool:
    return steps_of(directory)[-1:] > [step + 1]


def ended_within_a_step(run: TrainingRun, when_asked: int) -> int:
    """Assert that a stopped run took no step that it was not in; return its last one."""
    run.refresh_from_db()
    steps = steps_of(run_dir(run))
    assert (run.state, steps) == (JobState.STOPPED, list(range(1, len(steps) + 1)))
    assert when_asked <= steps[-1] <= when_asked + 1
    assert Checkpoint.objects.filter(run=run).latest("step").step == steps[-1]
    assert [row.step for row in metrics_since(run).rows] == steps
    return steps[-1]


def test_a_run_stops_within_one_step_from_its_page_and_over_the_api(editor: Client) -> None:
    run = open_run(preset="cpu-tiny-sft", changes=LONG, by=None)
    directory = run_dir(run)
    came_to = 0
    for path in (f"/runs/{run.code}/cancel/", f"/api/v1/training-runs/{run.code}/cancel"):
        seen = came_to
        worker = working(run)
        until(partial(took_steps_after, directory, seen))
        answer = editor.post(path, {}, content_type="application/json")
        assert answer.status_code in (200, 303)
        when_asked = steps_of(directory)[-1]
        worker.join(300)
        came_to = ended_within_a_step(run, when_asked)
        assert came_to > seen
        resumed = editor.post(
            f"/api/v1/training-runs/{run.code}/resume", {}, content_type="application/json"
        )
        assert (resumed.status_code, resumed.json()["state"]) == (200, "queued")


def working(run: TrainingRun) -> threading.Thread:
    """A worker takes up the run's job."""
    run.refresh_from_db()
    job = run.job or jobs.start(KIND, {"run": run.code}, subject=run.code)

    def work() -> None:
        try:
            jobs.run_job(job.pk)
        finally:
            connections.close_all()

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    return worker


def test_a_command_that_is_interrupted_stops_its_run_within_one_step(tmp_path: Path) -> None:
    recipe = {**LONG, "tiny": {**TINY, "base_steps": 60}}
    changes = [f"--set={place}={json.dumps(value)}" for place, value in recipe.items()]
    script = ["manage.py", "train", "--preset", "cpu-tiny-sft", *changes, "--json"]
    command = [sys.executable, "-c", HEARS_CTRL_C, *script]
    with (tmp_path / "printed.txt").open("wb") as printed:
        process = subprocess.Popen(
            command,
            cwd=PROJECT,
            env={**environment(), "STUDIO_ENGINE_PATIENCE": f"{PATIENCE}"},
            stdout=printed,
            stderr=subprocess.STDOUT,
        )
    try:
        until(lambda: TrainingRun.objects.exists() or process.poll() is not None)
        run = TrainingRun.objects.get()
        directory = run_dir(run)
        until(partial(took_steps_after, directory, 0))
        process.send_signal(signal.SIGINT)
        until(directory.asked_to_stop)
        when_asked = steps_of(directory)[-1]
        assert process.wait(300) != 0
    finally:
        process.kill()
    ended_within_a_step(run, when_asked)
    told = [json.loads(line) for line in lines(tmp_path / "printed.txt")]
    base = [one for one in told if one["progress"]["note"].startswith("teaching the base: step")]
    assert {one["progress"]["total"] for one in base} == {60}
    assert told == [one for one, before in zip(told, [None, *told], strict=False) if one != before]


def lines(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if line.startswith("{")]
