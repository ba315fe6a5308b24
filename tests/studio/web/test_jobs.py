import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit, urlunsplit

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pydantic_core import PydanticSerializationError

from studio.web import claims, jobs, workers
from studio.web.choices import JobState
from studio.web.models import Job
from tests.studio.web import job_kinds

REPORTS = list[tuple[int, int | None, str]]


@pytest.mark.django_db
def test_an_inline_job_runs_here_and_keeps_result_and_progress() -> None:
    told: REPORTS = []
    job = jobs.run_inline(
        "test_count",
        {"total": 3},
        subject="B-1234",
        on_progress=lambda done, total, note: told.append((done, total, note)),
    )
    assert (job.state, job.result, job.done, job.total, job.subject, job.inline) == (
        "succeeded",
        {"counted": 3, "attempt": 1},
        3,
        3,
        "B-1234",
        True,
    )
    assert told == [(1, 3, "at 1"), (2, 3, "at 2"), (3, 3, "at 3")]
    assert job.started_at is not None
    assert job.finished_at is not None


@pytest.mark.django_db
def test_a_refusal_keeps_its_words_and_a_defect_its_type() -> None:
    with pytest.raises(jobs.JobEnded, match="Two things are wrong"):
        jobs.run_inline("test_refuse", {})
    with pytest.raises(jobs.JobEnded, match="ZeroDivisionError"):
        jobs.run_inline("test_break_down", {})
    assert list(Job.objects.order_by("pk").values_list("state", "error")) == [
        ("failed", "Two things are wrong.\na: is missing\nb: is late"),
        ("failed", "ZeroDivisionError: integer division or modulo by zero"),
    ]


@pytest.mark.django_db
def test_an_interrupted_command_leaves_a_stopped_job() -> None:
    with pytest.raises(KeyboardInterrupt):
        jobs.run_inline("test_interrupt", {})
    assert Job.objects.get().state == "stopped"


@pytest.mark.django_db
def test_an_interrupted_worker_gives_its_job_back() -> None:
    job = Job.objects.create(kind="test_interrupt")
    with pytest.raises(KeyboardInterrupt):
        jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.lease_holder) == ("queued", "")
    assert claims.due_for_sending() == [job]


@pytest.mark.django_db
def test_a_worker_interrupted_inside_a_library_gives_its_job_back() -> None:
    job = Job.objects.create(kind="test_interrupt_a_serialiser")
    with pytest.raises(PydanticSerializationError):
        jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("queued", "")


def test_an_error_that_nobody_wished_for_is_no_interruption() -> None:
    assert jobs.interrupted(SystemExit())
    assert not jobs.interrupted(ValueError("x"))


@pytest.mark.django_db
def test_a_second_wake_up_for_the_same_row_does_nothing() -> None:
    job = Job.objects.create(kind="test_count", arguments={"total": 1})
    jobs.run_job(job.pk)
    jobs.run_job(job.pk)
    jobs.run_job(job.pk + 1000)
    job.refresh_from_db()
    assert (job.state, job.attempt) == ("succeeded", 1)


@pytest.mark.django_db
def test_a_worker_that_lost_its_lease_writes_nothing_more() -> None:
    job = Job.objects.create(kind="test_lose")

    def lose(handle: jobs.JobHandle) -> None:
        Job.objects.filter(pk=handle.job_id).update(lease_holder="somebody else")
        handle.progress(1, 1)

    jobs.register("test_lose", "light", lose)
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.lease_holder, job.result) == ("running", "somebody else", None)


@pytest.mark.django_db
def test_a_job_of_an_unknown_kind_is_refused_at_the_start_and_failed_by_a_worker() -> None:
    with pytest.raises(ValueError, match="no job kind 'test_nothing'"):
        jobs.start("test_nothing", {})
    job = Job.objects.create(kind="test_nothing")
    jobs.run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "No worker here knows the kind test_nothing.")


def test_two_functions_under_one_kind_are_a_mistake() -> None:
    jobs.register("test_count", job_kinds.QUEUE, job_kinds.count)
    with pytest.raises(ValueError, match="registered twice"):
        jobs.register("test_count", job_kinds.QUEUE, job_kinds.refuse)


@pytest.mark.django_db(transaction=True)
def test_nothing_is_sent_when_the_transaction_fails() -> None:
    with transaction.atomic():
        jobs.start("test_count", {"total": 1})
        transaction.set_rollback(True)
    assert not Job.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_broker_that_is_away_leaves_the_job_for_the_beat() -> None:
    code = """
import django; django.setup()
from tests.studio.web import job_kinds
from studio.web import jobs
jobs.start("test_count", {"total": 1})
"""
    away = {**_environment(), "BROKER_URL": "redis://127.0.0.1:1/0"}
    subprocess.run([sys.executable, "-c", code], env=away, check=True, timeout=60)
    job = Job.objects.get()
    assert (job.state, job.sends, job.sent_at) == ("queued", 0, None)
    assert claims.due_for_sending() == [job]


def _environment() -> dict[str, str]:
    """What another process needs to see this test's database."""
    parts = urlsplit(os.environ["DATABASE_URL"])
    name = str(connection.settings_dict["NAME"])
    return {
        **os.environ,
        "DATABASE_URL": urlunsplit(parts._replace(path=f"/{name}")),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


@pytest.fixture
def worker(transactional_db: None) -> Iterator[None]:
    """A real Celery worker on the test database and on a queue of its own."""
    command = [sys.executable, "-m", "celery", "-A", "studio.celery", "worker", "-c", "1"]
    command += ["-Q", job_kinds.QUEUE, "-I", "tests.studio.web.job_kinds", "-l", "WARNING"]
    process = subprocess.Popen(command, env=_environment())
    yield
    process.terminate()
    process.wait(timeout=30)


@pytest.mark.usefixtures("worker")
def test_workers_run_stop_and_run_again_what_a_killed_one_left() -> None:
    counted = jobs.start("test_count", {"total": 2})
    assert jobs.wait(counted, timeout=60).result == {"counted": 2, "attempt": 1}

    endless = jobs.start("test_until_cancelled", {})
    _until(endless, lambda: endless.state == "running")
    claims.request_cancel(endless)
    with pytest.raises(jobs.JobEnded, match="stopped"):
        jobs.wait(endless, timeout=60)

    assert [row.queues for row in workers.alive()] == [[job_kinds.QUEUE]]

    killed = jobs.start("test_die_once", {})
    _until(killed, lambda: killed.note == "dying")
    # The lease would run out in a minute; the beat job then sends the job again.
    Job.objects.filter(pk=killed.pk).update(lease_until=timezone.now())
    jobs.resend_lost_jobs()
    assert jobs.wait(killed, timeout=60).result == {"attempt": 2}


def _until(job: Job, reached: Callable[[], bool]) -> None:
    pause = threading.Event()
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline, f"{job.code} is still {job.state}"
        pause.wait(0.05)
        job.refresh_from_db()


@pytest.mark.parametrize(
    ("state", "note", "doing"),
    [
        (JobState.QUEUED, "", "waiting for a worker"),
        (JobState.RUNNING, "", "under way"),
        (JobState.RUNNING, "proving T-0001", "proving T-0001"),
    ],
)
def test_a_job_says_what_it_is_at(state: JobState, note: str, doing: str) -> None:
    assert Job(state=state, note=note).doing == doing
