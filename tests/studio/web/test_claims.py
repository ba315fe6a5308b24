import datetime as dt
import threading

import pytest
from django.db import connection
from django.utils import timezone

from studio.web import claims
from studio.web.choices import JobState
from studio.web.errors import Conflict
from studio.web.models import Job

GONE = dt.timedelta(seconds=-1)


def _job(**values: object) -> Job:
    return Job.objects.create(**{"kind": "x", **values})


def _claimed(job: Job, holder: str = "a", lease: dt.timedelta = claims.LEASE) -> claims.Claim:
    held = claims.claim(job.pk, holder, lease)
    assert held is not None
    return held


@pytest.mark.django_db
def test_a_queued_job_is_claimed_once() -> None:
    job = _job()
    assert claims.claim(job.pk, "a") == claims.Claim(job.pk, "a", 1)
    assert claims.claim(job.pk, "b") is None
    job.refresh_from_db()
    assert (job.state, job.lease_holder, job.attempt) == ("running", "a", 1)


@pytest.mark.django_db(transaction=True)
def test_of_many_workers_at_once_one_gets_the_job() -> None:
    job = _job()
    barrier = threading.Barrier(8)
    got: list[claims.Claim] = []

    def work(name: str) -> None:
        barrier.wait(timeout=10)
        held = claims.claim(job.pk, name)
        if held is not None:
            got.append(held)
        connection.close()

    threads = [threading.Thread(target=work, args=(f"w{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)
    job.refresh_from_db()
    assert [held.holder for held in got] == [job.lease_holder]
    assert job.attempt == 1


@pytest.mark.django_db
def test_an_expired_lease_can_be_taken_and_the_former_holder_can_write_nothing() -> None:
    job = _job()
    first = _claimed(job, "a", GONE)
    second = _claimed(job, "b")
    assert second.attempt == 2
    assert claims.beat(first) == claims.Beat(held=False, cancel_requested=False)
    assert not claims.report(first, done=5, total=9)
    assert not claims.finish(first, JobState.SUCCEEDED, result={"by": "a"})
    assert not claims.requeue(first)
    assert claims.report(second, done=3, total=4, note="three")
    assert claims.finish(second, JobState.SUCCEEDED, result={"by": "b"})
    job.refresh_from_db()
    assert (job.state, job.result, job.done, job.total, job.note) == (
        "succeeded",
        {"by": "b"},
        3,
        4,
        "three",
    )


@pytest.mark.django_db
def test_a_postponed_job_waits_as_if_it_had_not_been_tried() -> None:
    job = _job(max_attempts=1)
    held = _claimed(job)
    assert claims.postpone(held, note="waiting for the other one")
    assert not claims.postpone(held, note="twice")
    job.refresh_from_db()
    assert (job.state, job.attempt, job.started_at, job.note) == (
        "queued",
        0,
        None,
        "waiting for the other one",
    )
    assert claims.due_for_sending() == [job]
    assert claims.claim(job.pk, "b") is not None


@pytest.mark.django_db
def test_a_postponed_job_that_was_asked_to_stop_is_stopped() -> None:
    job = _job()
    held = _claimed(job)
    claims.request_cancel(job)
    assert claims.postpone(held, note="waiting")
    job.refresh_from_db()
    assert job.state == "stopped"


@pytest.mark.django_db
def test_the_same_holder_of_an_earlier_attempt_is_somebody_else() -> None:
    job = _job()
    first = _claimed(job, "a", GONE)
    _claimed(job, "a")
    assert not claims.finish(first, JobState.FAILED)


@pytest.mark.django_db
def test_a_lease_ends_when_attempts_are_used_up() -> None:
    job = _job(max_attempts=2)
    for _ in range(2):
        _claimed(job, "a", GONE)
    assert claims.claim(job.pk, "b") is None
    assert claims.expire() == 1
    job.refresh_from_db()
    assert (job.state, job.lease_holder) == ("lost", "")
    assert claims.resume(job).state == "queued"
    assert _claimed(job, "c").attempt == 1


@pytest.mark.django_db
def test_a_waiting_job_is_stopped_at_once_and_never_claimed() -> None:
    job = claims.request_cancel(_job())
    assert job.state == "stopped"
    assert claims.claim(job.pk, "a") is None


@pytest.mark.django_db
def test_a_running_job_is_asked_to_stop_and_learns_it_by_its_heartbeat() -> None:
    job = _job()
    held = _claimed(job)
    assert claims.request_cancel(job).state == "stopping"
    assert claims.beat(held) == claims.Beat(held=True, cancel_requested=True)
    assert claims.finish(held, JobState.STOPPED)
    with pytest.raises(Conflict, match="is stopped already"):
        claims.request_cancel(job)


@pytest.mark.django_db
def test_a_job_whose_worker_died_while_stopping_is_stopped() -> None:
    job = _job()
    _claimed(job, "a", GONE)
    claims.request_cancel(job)
    assert claims.claim(job.pk, "b") is None
    assert claims.expire() == 1
    job.refresh_from_db()
    assert job.state == "stopped"


@pytest.mark.django_db
def test_a_job_of_a_killed_command_is_lost_and_not_run_by_workers() -> None:
    job = _job(inline=True)
    _claimed(job, "a", GONE)
    assert claims.expire() == 1
    job.refresh_from_db()
    assert job.state == "lost"
    assert claims.due_for_sending() == []


@pytest.mark.django_db
def test_a_job_of_a_killed_worker_waits_to_be_sent_again_and_a_living_one_is_left_alone() -> None:
    killed, living = _job(), _job()
    _claimed(killed, "a", GONE)
    _claimed(living, "b")
    assert claims.expire() == 1
    assert claims.due_for_sending() == [killed]


@pytest.mark.django_db
def test_an_unanswered_message_is_sent_again_after_a_pause_that_doubles() -> None:
    now = timezone.now()
    never = _job()
    fresh = _job(sends=1, sent_at=now)
    old = _job(sends=1, sent_at=now - dt.timedelta(seconds=61))
    often = _job(sends=3, sent_at=now - dt.timedelta(seconds=61))
    long_ago = _job(sends=99, sent_at=now - dt.timedelta(hours=1))
    assert claims.due_for_sending() == [never, old, long_ago]
    claims.mark_sent(never.pk)
    never.refresh_from_db()
    assert never.sends == 1
    assert [fresh.sends, often.sends] == [1, 3]
    assert claims.due_for_sending() == [old, long_ago]


@pytest.mark.django_db
def test_only_ended_or_paused_jobs_can_be_resumed() -> None:
    with pytest.raises(Conflict, match="nothing to resume"):
        claims.resume(_job())
    with pytest.raises(Conflict):
        claims.resume(_job(state="succeeded"))
    held = _claimed(job := _job())
    assert claims.finish(held, JobState.PAUSED)
    assert claims.resume(job).state == "queued"


@pytest.mark.django_db
def test_only_an_end_is_an_end() -> None:
    with pytest.raises(ValueError, match="not an end"):
        claims.finish(_claimed(_job()), JobState.QUEUED)
