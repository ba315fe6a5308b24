"""A batch that several processes work on: each episode once, whoever dies and whatever restarts."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from django.db import connection, connections, transaction

from rollouts_app.enums import EpisodeState
from rollouts_app.jobs import KIND, help_with_batch
from rollouts_app.models import RolloutBatch
from rollouts_app.operations.batches import link_job, open_batch
from rollouts_app.queries import open_episodes, selected
from rollouts_app.runner import PACKET, Hand, help_out
from studio.web import jobs
from studio.web.choices import JobState
from studio.web.models import Job
from tasks_app.models import Task
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import rolled_out, stored

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def task(db: None) -> Task:
    """The small task, proven."""
    return stored(small_spec())


def opened(n: int, state: JobState = JobState.RUNNING) -> RolloutBatch:
    """Open a batch whose job is said to be in a state."""
    batch = open_batch(
        policy="reference", chosen=selected(""), filter_text="", group_size=n, seed=0, by=None
    )
    link_job(batch=batch, job_id=Job.objects.create(kind=KIND, state=state).pk)
    return batch


def graded(batch: RolloutBatch) -> list[int]:
    """How often each graded episode was stored."""
    rows = batch.episodes.filter(state=EpisodeState.GRADED)
    return list(rows.values_list("attempts", flat=True))


def test_a_helper_runs_what_is_open_and_ends(task: Task) -> None:
    batch = opened(PACKET + 8)
    assert not help_out(batch, seconds=60)
    assert graded(batch) == [1] * (PACKET + 8)


def test_a_helper_whose_turn_is_over_says_that_there_may_be_more(task: Task) -> None:
    batch = opened(2)
    assert help_out(batch, seconds=-1)
    assert graded(batch) == []


@pytest.mark.parametrize("state", [JobState.STOPPED, JobState.FAILED, JobState.LOST])
def test_nobody_helps_with_a_batch_that_does_not_go_on(task: Task, state: JobState) -> None:
    batch = opened(2, state)
    help_with_batch(batch.pk)
    assert graded(batch) == []


def test_nobody_helps_with_a_batch_that_is_asked_to_stop_or_gone(task: Task) -> None:
    batch = opened(2)
    Job.objects.update(cancel_requested=True)
    help_with_batch(batch.pk)
    assert graded(batch) == []
    help_with_batch(batch.pk + 1)


def test_a_helper_goes_on_while_the_job_waits_for_another_worker(task: Task) -> None:
    batch = opened(2, JobState.QUEUED)
    help_with_batch(batch.pk)
    assert graded(batch) == [1, 1]


def test_what_failed_waits_behind_what_was_not_run_yet(task: Task) -> None:
    batch = opened(3)
    first = batch.episodes.get(group_index=0)
    batch.episodes.filter(pk=first.pk).update(state=EpisodeState.FAILED, attempts=1)
    assert [row.group_index for row in Hand(batch).packet()] == [1, 2, 0]


@pytest.mark.django_db(transaction=True)
def test_episodes_that_somebody_holds_are_left_to_them() -> None:
    stored(small_spec())
    batch = opened(4)
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            assert len(open_episodes(batch).select_for_update()[:3]) == 3
            held.set()
            go_on.wait(20)
            transaction.set_rollback(True)  # as a process that dies leaves it
        connections.close_all()

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(20)
    hand = Hand(batch)
    assert len(hand.packet()) == 1
    assert hand.packet() == []
    assert open_episodes(batch).count() == 3
    go_on.set()
    other.join(20)
    assert len(hand.packet()) == 3
    assert graded(batch) == [1, 1, 1, 1]


@pytest.mark.django_db(transaction=True)
def test_a_database_that_goes_away_in_the_middle_is_waited_for() -> None:
    stored(small_spec())
    batch = opened(3 * PACKET)
    cut = threading.Event()

    def cut_off() -> None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        connections.close_all()

    def on_progress(done: int, total: int | None, note: str) -> None:
        if done >= PACKET and not cut.is_set():
            cut.set()
            other = threading.Thread(target=cut_off)
            other.start()
            other.join(20)

    job = jobs.run_inline(KIND, {"batch": batch.code}, on_progress=on_progress)
    assert cut.is_set()
    assert job.state == JobState.SUCCEEDED
    assert graded(batch) == [1] * (3 * PACKET)


def test_a_batch_run_by_a_command_asks_nobody_for_help(task: Task) -> None:
    batch = rolled_out(n=2 * PACKET + 1)
    assert (batch.graded, batch.failed) == (2 * PACKET + 1, 0)


@pytest.mark.slow
def test_killed_worker_restarted_broker_and_database_change_no_result() -> None:
    """On servers of its own, in the middle of 200 episodes; see `benchmarks.batch`."""
    ours = ("DATABASE_URL", "BROKER_URL", "STUDIO_VAR", "DJANGO_SETTINGS_MODULE")
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.batch", "--episodes", "200", "--chaos", "--hurry"],
        cwd=PROJECT,
        env={name: value for name, value in os.environ.items() if name not in ours},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    del found["episodes_per_s"]
    assert found == {"lost": 0, "doubled": 0, "failed": 0, "wrong": 0}
