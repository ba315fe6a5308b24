"""The job of a run: starting, watching, stopping, going on, whatever dies on the way."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.conf import LazySettings, settings
from django.db import connection
from django.db.models import F
from django.utils import timezone

from studio.web import claims, jobs, workers
from studio.web.choices import JobState
from studio.web.errors import Conflict
from studio.web.jobs import JobEnded
from studio.web.models import Job
from tests.factories.waiting import until
from tests.training_app.conftest import opened
from training_app import launcher
from training_app.core.recipe import PRESETS
from training_app.jobs.runs import KIND, cancel_run, resume_run, start_run
from training_app.models import Checkpoint, DeviceTicket, TrainingRun
from training_app.operations.devices import take_ticket
from training_app.operations.runs import settle_abandoned
from training_app.queries.devices import queue_of
from training_app.queries.runs import metrics_since, run_dir

PROJECT = Path(__file__).parents[3]
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.slow,
    # an engine outlives the object that started it: that is the point
    pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
Step = Callable[[], None]


_workers: list["subprocess.Popen[bytes]"] = []


@pytest.fixture(autouse=True)
def nothing_stays(studio: Path) -> Any:
    yield
    while _workers:
        process = _workers.pop()
        process.kill()
        process.wait(10)
    for run in TrainingRun.objects.all():
        engine = launcher.find(run_dir(run))
        if engine is not None:
            engine.end(signal.SIGKILL)
            engine.wait(10)


def plan(run: TrainingRun, **values: Any) -> TrainingRun:
    (run_dir(run).path / "stub.json").write_text(json.dumps(values))
    return run


def go(run: TrainingRun) -> None:
    (run_dir(run).path / "go").touch()


def performed(run: TrainingRun, at: int = 0, then: Step | None = None) -> Job:
    """Run the job here; `then` is done once, when the run has come to a step."""
    waiting = [then] if then is not None else []

    def look(done: int, total: int | None, note: str) -> None:
        if waiting and done >= at and note.startswith(("step", "found")):
            waiting.pop()()

    return jobs.run_inline(KIND, {"run": run.code}, subject=run.code, on_progress=look)


def curve(run: TrainingRun) -> list[tuple[int, float]]:
    """Step, and the step that the engine that wrote it had started from."""
    return [(row.step, row.values["from"]) for row in metrics_since(run).rows]


def stop(run: TrainingRun) -> None:
    cancel_run(run=stored(run), by=None)


def stored(run: TrainingRun) -> TrainingRun:
    return TrainingRun.objects.get(pk=run.pk)


def kept(run: TrainingRun) -> list[int]:
    rows = Checkpoint.objects.filter(run=run, removed_at=None)
    return list(rows.order_by("step").values_list("step", flat=True))


def queued(run: TrainingRun) -> Job:
    job = jobs.start(KIND, {"run": run.code}, subject=run.code)
    TrainingRun.objects.filter(pk=run.pk).update(job=job)
    return job


def environment() -> dict[str, str]:
    """What another process needs to be in the studio of this test."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    name = str(connection.settings_dict["NAME"])
    return {
        **os.environ,
        "DATABASE_URL": urlunsplit(parts._replace(path=f"/{name}")),
        "DJANGO_SETTINGS_MODULE": "studio.settings",
        "STUDIO_VAR": str(settings.VAR_DIR),
        "STUDIO_ENGINE": " ".join(settings.STUDIO_ENGINE),
    }


def worker(job: Job) -> "subprocess.Popen[bytes]":
    """Another process that runs a queued job, as a worker would."""
    run = f"from studio.web.jobs import run_job; run_job({job.pk})"
    script = f"import django; django.setup()\n{run}"
    _workers.append(
        subprocess.Popen([sys.executable, "-c", script], cwd=PROJECT, env=environment())
    )
    return _workers[-1]


def abandoned(job: Job) -> Job:
    """Let the lease of a job run out whose worker is dead."""
    Job.objects.filter(pk=job.pk).update(lease_until=timezone.now() - claims.LEASE)
    claims.expire()
    job.refresh_from_db()
    return job


# To the end


def test_a_run_becomes_rows_checkpoints_and_a_result(studio: Path) -> None:
    run = opened()
    job = performed(run)
    run = stored(run)
    last = Checkpoint.objects.get(run=run, step=6)
    assert curve(run) == [(step, 0) for step in range(1, 7)]
    assert (run.state, run.step, run.samples, run.pid) == (JobState.SUCCEEDED, 6, 24, None)
    assert (run.finished_at is not None, kept(run)) == (True, [2, 4, 6])
    assert job.result == {
        "run": run.code,
        "before": 0.0,
        "after": 1.0,
        "reward_first_fifth": None,
        "reward_last_fifth": None,
        "steps": 6,
        "base_seconds": 1.5,
        "checkpoint": last.code,
    }
    assert DeviceTicket.objects.get().released_at is not None


def test_what_the_engine_does_before_its_steps_is_told_with_its_own_count(studio: Path) -> None:
    words = "teaching the base: step 3 of 8"
    run = plan(opened(), stage=[words, 3, 8])
    told: list[tuple[int, int | None, str]] = []

    def look(done: int, total: int | None, note: str) -> None:
        told.append((done, total, note))
        if note == words:
            assert (stored(run).state, stored(run).message) == (JobState.STARTING, words)
            go(run)

    jobs.run_inline(KIND, {"run": run.code}, subject=run.code, on_progress=look)
    before = [one for one in told if not one[2].startswith("step")]
    assert list(dict.fromkeys(before))[:3] == [
        (0, 6, "checking the run"),
        (0, 6, "starting the engine"),
        (3, 8, words),
    ]
    assert (stored(run).state, stored(run).message) == (JobState.SUCCEEDED, "")


def test_a_run_is_left_while_the_engine_does_something_before_its_steps(studio: Path) -> None:
    run = plan(opened(), stage=["teaching the base: step 3 of 8", 3, 8])

    def look(done: int, total: int | None, note: str) -> None:
        if note.startswith("teaching"):
            stop(run)

    with pytest.raises(JobEnded):
        jobs.run_inline(KIND, {"run": run.code}, subject=run.code, on_progress=look)
    assert (stored(run).state, stored(run).message, curve(run)) == (JobState.STOPPED, "", [])


def test_a_second_run_of_the_job_changes_nothing(studio: Path) -> None:
    run = opened()
    first = performed(run).result
    assert performed(run).result == first
    assert curve(run) == [(step, 0) for step in range(1, 7)]


def test_a_job_whose_run_is_gone_ends_quietly(studio: Path) -> None:
    assert jobs.run_inline(KIND, {"run": "RUN-0000"}).result is None


# What stands in the way


def test_what_stands_in_the_way_is_told_with_its_fix(studio: Path) -> None:
    found = [
        {"place": "disk", "problem": "0.1 GB are free", "fix": "free some space"},
        {"place": "device", "problem": "no GPU", "fix": "use a cpu-tiny preset"},
    ]
    run = plan(opened(), problems=found)
    with pytest.raises(JobEnded) as error:
        performed(run)
    assert error.value.job.error.splitlines() == [
        "This run cannot be started.",
        "disk: 0.1 GB are free: free some space.",
        "device: no GPU: use a cpu-tiny preset.",
    ]
    run = stored(run)
    assert (run.state, run.message) == (JobState.FAILED, error.value.job.error)
    assert not run_dir(run).metrics_file.exists()


def test_an_engine_without_its_libraries_says_what_to_install(studio: Path) -> None:
    run = plan(opened(), mute=1)
    with pytest.raises(JobEnded, match="no module named torch: install the train extra"):
        performed(run)


def test_an_engine_that_is_not_there_names_the_setting(
    studio: Path, settings: LazySettings
) -> None:
    settings.STUDIO_ENGINE = ["/nowhere/python", "-m", "training_app.engine"]
    with pytest.raises(JobEnded, match=r"/nowhere/python cannot be started.*STUDIO_ENGINE"):
        performed(opened())


def test_a_directory_that_is_gone_fails_in_words(studio: Path) -> None:
    run = opened()
    (run_dir(run).path / "recipe.json").unlink()
    with pytest.raises(JobEnded, match=r"has no recipe.json. Start a new run"):
        performed(run)


def test_a_failed_engine_gives_its_own_reason(studio: Path) -> None:
    run = plan(opened(), fail="DataError: the dataset is empty; freeze another")
    with pytest.raises(JobEnded, match="the dataset is empty; freeze another"):
        performed(run)
    run = stored(run)
    assert (run.state, run.message, run.step) == (
        JobState.FAILED,
        "DataError: the dataset is empty; freeze another",
        2,
    )


def test_an_engine_without_memory_goes_on_with_half_the_device_batch(studio: Path) -> None:
    run = plan(opened(batch=16), room=4)
    job = performed(run)
    run = stored(run)
    assert (run.state, run.halvings, job.attempt) == (JobState.SUCCEEDED, 2, 1)
    recipe = run_dir(run).recipe()
    assert (recipe.batch, recipe.device_batch, recipe.accumulation) == (16, 4, 4)
    assert (run.recipe["device_batch"], run.recipe_hash) == (4, recipe.hash)
    assert curve(run) == [(1, 0), (2, 0), *((step, 2) for step in range(3, 7))]
    assert [
        line for line in run_dir(run).log_file.read_text().splitlines() if "halved" in line
    ] == [
        "memory ran out: the device batch is halved to 8, 2 passes a step (time 1)",
        "memory ran out: the device batch is halved to 4, 4 passes a step (time 2)",
    ]


@pytest.mark.parametrize(("batch", "halvings"), [(64, 3), (4, 2)])
def test_a_device_batch_is_halved_three_times_at_most_and_never_below_one(
    studio: Path, batch: int, halvings: int
) -> None:
    run = plan(opened(batch=batch), room=0)
    message = rf"CUDA out of memory.*smaller batch.*halved {halvings} times already"
    with pytest.raises(JobEnded, match=message):
        performed(run)
    run = stored(run)
    assert (run.state, run.halvings, kept(run)) == (JobState.FAILED, halvings, [2])


# Stopping and going on


def test_a_stopped_run_keeps_a_checkpoint_and_goes_on_without_doubled_steps(studio: Path) -> None:
    run = plan(opened(), hold=4)
    with pytest.raises(JobEnded) as error:
        performed(run, 3, lambda: stop(run))
    assert error.value.job.state == JobState.STOPPED
    assert (stored(run).state, kept(run)) == (JobState.STOPPED, [2, 3])
    go(run)
    resume_run(run=stored(run), by=None)
    jobs.run_job(error.value.job.pk)
    assert stored(run).state == JobState.SUCCEEDED
    assert curve(run) == [(1, 0), (2, 0), (3, 0), (4, 3), (5, 3), (6, 3)]
    assert (stored(run).result or {})["before"] == {"greedy": {"success": 0.0}}


def test_an_engine_that_does_not_listen_is_killed(studio: Path) -> None:
    run = plan(opened(), hold=4, deaf=True)
    with pytest.raises(JobEnded) as error:
        performed(run, 3, lambda: stop(run))
    assert error.value.job.state == JobState.STOPPED
    run = stored(run)
    assert (run.state, kept(run)) == (JobState.STOPPED, [2])
    assert run.message.startswith("It did not stop when asked and was killed")
    assert launcher.find(run_dir(run)) is None


def test_an_interrupted_command_stops_its_engine(studio: Path) -> None:
    run = plan(opened(), hold=4)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        performed(run, 3, interrupt)
    run = stored(run)
    assert (run.state, kept(run)) == (JobState.STOPPED, [2, 3])
    assert launcher.find(run_dir(run)) is None
    assert Job.objects.get().state == JobState.STOPPED
    assert DeviceTicket.objects.get().released_at is not None


def test_a_run_that_waits_for_a_worker_stops_at_once(studio: Path) -> None:
    run = start_run(preset="cpu-tiny-sft", by=None)
    cancel_run(run=run, by=None)
    assert (stored(run).state, Job.objects.get().state) == (JobState.STOPPED, JobState.STOPPED)
    with pytest.raises(Conflict, match="is not running"):
        cancel_run(run=stored(run), by=None)


def test_a_job_that_was_stopped_elsewhere_settles_its_run(studio: Path) -> None:
    run = start_run(preset="cpu-tiny-sft", by=None)
    claims.request_cancel(Job.objects.get())
    assert settle_abandoned() == 1
    assert stored(run).state == JobState.STOPPED
    assert settle_abandoned() == 0


# What dies on the way


def test_an_engine_that_ends_on_a_full_disk_is_reported_with_what_to_do(
    studio: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = plan(opened(), die=4)
    monkeypatch.setattr(launcher, "_FULL", 2**62)
    with pytest.raises(JobEnded, match=r"The disk is full\. Free some space, then.* from step 2"):
        performed(run)
    assert stored(run).state == JobState.FAILED


def test_an_engine_killed_by_9_is_reported_as_out_of_memory_and_goes_on(studio: Path) -> None:
    run = plan(opened(), die=4)
    with pytest.raises(JobEnded, match=r"signal 9: probably the memory ran out.*from step 2"):
        performed(run)
    assert (stored(run).state, kept(run)) == (JobState.FAILED, [2])
    resume_run(run=stored(run), by=None)
    jobs.run_job(Job.objects.get().pk)
    assert stored(run).state == JobState.SUCCEEDED
    assert curve(run) == [(1, 0), (2, 0), *((step, 2) for step in range(3, 7))]


def test_a_worker_killed_by_9_leaves_an_engine_that_the_next_one_takes_up(studio: Path) -> None:
    run = plan(opened(), hold=4)
    job = queued(run)
    process = worker(job)
    until(lambda: stored(run).step == 3)
    process.kill()
    assert process.wait(10) == -9
    engine = launcher.find(run_dir(run))
    assert engine is not None
    abandoned(job)
    go(run)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.attempt, stored(run).state) == (
        JobState.SUCCEEDED,
        2,
        JobState.SUCCEEDED,
    )
    assert curve(run) == [(step, 0) for step in range(1, 7)]


def test_an_engine_that_ended_while_nobody_watched_is_accounted_for(studio: Path) -> None:
    run = plan(opened(), hold=4)
    job = queued(run)
    process = worker(job)
    until(lambda: stored(run).step == 3)
    process.kill()
    process.wait(10)
    engine = launcher.find(run_dir(run))
    assert engine is not None
    go(run)
    assert engine.wait(100)
    jobs.run_job(abandoned(job).pk)
    assert stored(run).state == JobState.SUCCEEDED
    assert curve(run) == [(step, 0) for step in range(1, 7)]


@pytest.mark.parametrize(("hold", "ended"), [(4, "succeeded"), (2, "lost")])
def test_where_worker_and_engine_die_it_goes_on_from_a_checkpoint_or_is_lost(
    studio: Path, hold: int, ended: str
) -> None:
    run = plan(opened(), hold=hold)
    job = queued(run)
    process = worker(job)
    until(lambda: stored(run).step == hold - 1)
    process.kill()
    process.wait(10)
    engine = launcher.find(run_dir(run))
    assert engine is not None
    engine.end(signal.SIGKILL)
    assert engine.wait(10)
    go(run)
    jobs.run_job(abandoned(job).pk)
    run = stored(run)
    assert run.state == ended
    if ended == "lost":
        assert "left no checkpoint. Resume it: it starts again from the beginning" in run.message
        resume_run(run=run, by=None)
        jobs.run_job(job.pk)
        assert curve(run) == [(step, 0) for step in range(1, 7)]
    else:
        assert curve(run) == [(1, 0), (2, 0), *((step, 2) for step in range(3, 7))]


def test_a_run_of_another_machine_is_lost_rather_than_started_twice(studio: Path) -> None:
    run = opened()
    job = queued(run)
    TrainingRun.objects.filter(pk=run.pk).update(
        state=JobState.RUNNING, pid=4711, host="another", started_at=timezone.now()
    )
    jobs.run_job(job.pk)
    run = stored(run)
    assert run.state == JobState.LOST
    assert "ran on another, and who watched it there is gone" in run.message


def test_a_run_trains_on_while_the_database_is_away(studio: Path) -> None:
    run = plan(opened(), hold=4)

    def cut() -> None:
        pid = connection.connection.info.backend_pid
        known = connection.get_connection_params()
        known = {key: known[key] for key in ("host", "port", "user", "password") if key in known}
        with psycopg.connect(dbname=str(connection.settings_dict["NAME"]), **known) as other:
            other.execute("SELECT pg_terminate_backend(%s)", [pid])
        go(run)

    job = performed(run, 3, cut)
    assert (job.state, stored(run).state) == (JobState.SUCCEEDED, JobState.SUCCEEDED)
    assert curve(run) == [(step, 0) for step in range(1, 7)]


def test_a_run_whose_job_is_lost_is_lost_too(studio: Path) -> None:
    run = opened()
    job = queued(run)
    Job.objects.filter(pk=job.pk).update(state=JobState.LOST, attempt=F("max_attempts"))
    TrainingRun.objects.filter(pk=run.pk).update(state=JobState.RUNNING)
    assert settle_abandoned() == 1
    assert (stored(run).state, "Resume it" in stored(run).message) == (JobState.LOST, True)


# One device


def test_a_second_run_waits_for_the_first_and_says_for_whom(studio: Path) -> None:
    first, second = plan(opened(), hold=4), opened()
    process = worker(queued(first))
    until(lambda: stored(first).step == 3)
    notes: list[str] = []

    def look(done: int, total: int | None, note: str) -> None:
        notes.append(note)
        go(first)

    jobs.run_inline(KIND, {"run": second.code}, subject=second.code, on_progress=look)
    assert process.wait(100) == 0
    assert notes[0] == f"waiting for cpu: {first.code} trains"
    assert {stored(first).state, stored(second).state} == {JobState.SUCCEEDED}
    assert queue_of("cpu").first() is None


def test_a_waiting_run_gives_its_worker_to_the_one_before(studio: Path) -> None:
    first, second = plan(opened(), hold=4), opened()
    before, after = queued(first), queued(second)
    process = worker(before)
    until(lambda: stored(first).step == 3)
    process.kill()
    process.wait(10)
    abandoned(before)
    workers.say("train@here", ["train"])
    jobs.run_job(after.pk)  # the only worker comes upon the second one first
    after.refresh_from_db()
    assert (after.state, after.note, after.attempt) == (
        JobState.QUEUED,
        f"waiting for cpu: {first.code} trains",
        0,
    )
    assert after in claims.due_for_sending()
    go(first)
    jobs.run_job(before.pk)
    jobs.run_job(after.pk)
    assert {stored(first).state, stored(second).state} == {JobState.SUCCEEDED}
    assert curve(first) == [(step, 0) for step in range(1, 7)]


def test_who_waits_keeps_the_place_in_the_queue(studio: Path) -> None:
    first, second, third = plan(opened(), hold=4), opened(), opened()
    process = worker(queued(first))
    until(lambda: stored(first).step == 3)
    waiting, last = queued(second), queued(third)
    workers.say("train@here", ["train"])
    jobs.run_job(waiting.pk)
    jobs.run_job(last.pk)
    assert [ticket.what for ticket in queue_of("cpu")] == [first.code, second.code, third.code]
    go(first)
    assert process.wait(100) == 0
    jobs.run_job(last.pk)
    last.refresh_from_db()
    assert (last.state, last.note) == (JobState.QUEUED, f"waiting for cpu: {second.code} trains")
    stop(second)
    jobs.run_job(last.pk)
    assert (stored(second).state, stored(third).state) == (JobState.STOPPED, JobState.SUCCEEDED)


def test_without_a_worker_nobody_waits_for_a_queued_run(studio: Path) -> None:
    first, second = opened(), opened()
    take_ticket(device="cpu", job_id=queued(first).pk, what=first.code)
    performed(second)
    assert stored(second).state == JobState.SUCCEEDED


def test_a_run_that_waits_for_the_device_can_be_stopped(studio: Path) -> None:
    first, second = plan(opened(), hold=4), opened()
    process = worker(queued(first))
    until(lambda: stored(first).step == 3)

    def look(done: int, total: int | None, note: str) -> None:
        if not Job.objects.filter(subject=second.code, cancel_requested=True).exists():
            stop(second)

    with pytest.raises(JobEnded):
        jobs.run_inline(KIND, {"run": second.code}, subject=second.code, on_progress=look)
    assert stored(second).state == JobState.STOPPED
    go(first)
    assert process.wait(100) == 0
    assert stored(first).state == JobState.SUCCEEDED


def test_an_engine_that_nobody_watches_keeps_its_device(studio: Path) -> None:
    first, second = plan(opened(), hold=4), opened()
    job = queued(first)
    process = worker(job)
    until(lambda: stored(first).step == 3)
    process.kill()
    process.wait(10)
    Job.objects.filter(pk=job.pk).update(state=JobState.LOST, lease_until=None)
    notes: list[str] = []

    def look(done: int, total: int | None, note: str) -> None:
        notes.append(note)
        go(first)

    jobs.run_inline(KIND, {"run": second.code}, subject=second.code, on_progress=look)
    assert notes[0] == (
        f"waiting for cpu: {first.code} trains, though nobody watches it; resume or cancel it"
    )
    assert stored(second).state == JobState.SUCCEEDED


# What the engine is told


def test_an_engine_gets_no_keys_of_ours(
    studio: Path, settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("STUDIO_SECRET_KEY", "LAB_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "BROKER_URL"):
        monkeypatch.setenv(name, "made up")
    monkeypatch.setenv("HF_HOME", "/models")
    recipe = PRESETS["cpu-tiny-sft"]
    told = launcher.environment(recipe)
    assert "made up" not in told.values()
    assert (told["HF_HOME"], told["PYTHONPATH"].split(os.pathsep)[0]) == (
        "/models",
        str(settings.BASE_DIR),
    )
    assert "DATABASE_URL" not in told
    reporting = launcher.environment(recipe.model_copy(update={"report_to": ("wandb",)}))
    assert reporting["WANDB_API_KEY"] == "made up"
