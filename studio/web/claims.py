"""Holding a job row: claim, lease, heartbeat, progress, end. All by conditional updates.

``claim(job_id, holder)`` gives a ``Claim`` or None; whoever holds one may ``beat``, ``report`` and
``finish``, each of which names holder and attempt in its WHERE clause and says False once the
lease went to somebody else: a worker thought dead that wakes up again cannot overwrite anything.

The database's clock decides, so machines need not agree on the time. Only functions of this
module write state, lease, attempt and cancel_requested.
"""

import datetime as dt
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now

from studio.lib.jsonvalue import JsonValue
from studio.web.choices import FINISHED, HELD, JobState
from studio.web.errors import Conflict
from studio.web.models import Job

LEASE = dt.timedelta(seconds=60)
#: A queued job whose message was not answered is sent again after this, then twice as long …
RESEND_AFTER = dt.timedelta(seconds=30)
_ERROR_LENGTH = 10_000
_NOTE_LENGTH = 200


class Claim(NamedTuple):
    """The right to work on a job, until the lease ends."""

    job_id: int
    holder: str
    attempt: int


class Beat(NamedTuple):
    """Answer to a heartbeat: is it still ours, and does somebody want it to stop?"""

    held: bool
    cancel_requested: bool


def claim(job_id: int, holder: str, lease: dt.timedelta = LEASE) -> Claim | None:
    """Take a queued job, or one whose lease ran out; None when somebody else was quicker."""
    free = Q(state=JobState.QUEUED) | Q(state__in=HELD, lease_until__lt=Now())
    open_rows = Job.objects.filter(
        free, pk=job_id, attempt__lt=F("max_attempts"), cancel_requested=False
    )
    updated = open_rows.update(
        state=JobState.RUNNING,
        lease_holder=holder,
        lease_until=Now() + lease,
        heartbeat_at=Now(),
        attempt=F("attempt") + 1,
        started_at=Now(),
        finished_at=None,
        done=0,
        note="",
        error="",
    )
    if not updated:
        return None
    attempt = Job.objects.values_list("attempt", flat=True).get(pk=job_id)
    return Claim(job_id, holder, attempt)


def beat(held: Claim, lease: dt.timedelta = LEASE) -> Beat:
    """Extend the lease."""
    updated = _own(held).update(lease_until=Now() + lease, heartbeat_at=Now())
    if not updated:
        return Beat(held=False, cancel_requested=False)
    wanted = Job.objects.values_list("cancel_requested", flat=True).filter(pk=held.job_id).first()
    return Beat(held=wanted is not None, cancel_requested=bool(wanted))


def report(
    held: Claim, *, done: int, total: int | None, note: str = "", lease: dt.timedelta = LEASE
) -> bool:
    """Write progress and extend the lease; False when the job is no longer ours."""
    values: dict[str, Any] = {"done": done, "total": total, "heartbeat_at": Now()}
    if note:
        values["note"] = note[:_NOTE_LENGTH]
    return bool(_own(held).update(lease_until=Now() + lease, **values))


def finish(held: Claim, state: JobState, *, result: JsonValue = None, error: str = "") -> bool:
    """End the job in a finished state, or park it as paused; False when it is no longer ours."""
    if state not in (*FINISHED, JobState.PAUSED):
        raise ValueError(f"{state} is not an end")
    return bool(
        _own(held).update(
            state=state,
            result=result,
            error=error[:_ERROR_LENGTH],
            lease_holder="",
            lease_until=None,
            finished_at=Now(),
        )
    )


def requeue(held: Claim, *, note: str = "") -> bool:
    """Give the job back, to be run again: what it needed was away, or the worker is ending."""
    return bool(
        _own(held).update(
            state=JobState.QUEUED,
            lease_holder="",
            lease_until=None,
            note=note[:_NOTE_LENGTH],
            # Sent again by the beat job.
            sent_at=None,
        )
    )


def postpone(held: Claim, *, note: str) -> bool:
    """Give the job back as if it had not been tried; the beat job sends it again.

    One that was asked to stop in the meantime is stopped: nobody would take it any more.
    """
    if _own(held).filter(cancel_requested=True).exists():
        return finish(held, JobState.STOPPED)
    return bool(
        _own(held).update(
            state=JobState.QUEUED,
            attempt=F("attempt") - 1,
            lease_holder="",
            lease_until=None,
            started_at=None,
            note=note[:_NOTE_LENGTH],
            sent_at=None,
            sends=0,
        )
    )


def request_cancel(job: Job) -> Job:
    """Stop a waiting job at once, ask a running one to; Conflict when it has ended already."""
    waiting = Job.objects.filter(pk=job.pk, state__in=(JobState.QUEUED, JobState.PAUSED))
    if not waiting.update(
        state=JobState.STOPPED, cancel_requested=True, finished_at=Now()
    ) and not Job.objects.filter(pk=job.pk, state__in=HELD).update(
        state=JobState.STOPPING, cancel_requested=True
    ):
        job.refresh_from_db()
        raise Conflict(f"{job.code} is {job.get_state_display().lower()} already.")
    job.refresh_from_db()
    return job


def resume(job: Job) -> Job:
    """Queue an ended or paused job again, with its attempts counted anew; sends nothing itself."""
    resumable = (JobState.PAUSED, JobState.STOPPED, JobState.FAILED, JobState.LOST)
    updated = Job.objects.filter(pk=job.pk, state__in=resumable).update(
        state=JobState.QUEUED,
        attempt=0,
        cancel_requested=False,
        inline=False,
        sent_at=None,
        sends=0,
        error="",
        finished_at=None,
    )
    job.refresh_from_db()
    if not updated:
        raise Conflict(f"{job.code} is {job.get_state_display().lower()}; nothing to resume.")
    return job


def expire() -> int:
    """Settle the rows whose lease ran out: queued again, or lost after the last attempt or inline.

    A job that was asked to stop is stopped: its worker died on the way.
    """
    with transaction.atomic():
        expired = Job.objects.filter(state__in=HELD, lease_until__lt=Now())
        ended: dict[str, Any] = {
            "lease_holder": "",
            "lease_until": None,
            "finished_at": Now(),
        }
        stopped = expired.filter(cancel_requested=True).update(state=JobState.STOPPED, **ended)
        hopeless = Q(inline=True) | Q(attempt__gte=F("max_attempts"))
        lost = expired.filter(hopeless).update(
            state=JobState.LOST,
            error="The process that ran it is gone. Resume it to go on.",
            **ended,
        )
        again = expired.update(
            state=JobState.QUEUED, lease_holder="", lease_until=None, sent_at=None
        )
    return stopped + lost + again


def due_for_sending() -> list[Job]:
    """Queued jobs whose wake-up was never sent or not answered, longest waiting first.

    The pause doubles with every send: a long queue is not the same as a lost message.
    """
    queued = Job.objects.filter(state=JobState.QUEUED, inline=False).order_by("created_at", "pk")
    overdue = Q(sent_at__isnull=True)
    for sends in range(6):
        pause = RESEND_AFTER * 2**sends
        at = Q(sends=sends) if sends < 5 else Q(sends__gte=sends)
        overdue |= at & Q(sent_at__lt=Now() - pause)
    return list(queued.filter(overdue)[:1000])


def mark_sent(job_id: int) -> None:
    """Remember that a wake-up went to the broker."""
    Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(sent_at=Now(), sends=F("sends") + 1)


def _own(held: Claim) -> "QuerySet[Job]":
    return Job.objects.filter(
        pk=held.job_id, state__in=HELD, lease_holder=held.holder, attempt=held.attempt
    )
