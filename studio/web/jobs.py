"""Work in the background. The job row is the truth; a Celery message is a wake-up.

An app's ``jobs.py`` registers its kinds, and its AppConfig.ready() imports that module::

    def prove(handle: JobHandle) -> JsonObject:
        for number, code in enumerate(codes):
            handle.progress(number, len(codes), f"proving {code}")   # also renews the lease
            handle.stop_if_cancelled()                               # raises Cancelled
            ...
        return {"proven": 3}                                         # becomes job.result

    register("prove_tasks", queue="light", function=prove)

Then ``start("prove_tasks", {"filter": "state:draft"}, user=request.user)`` writes the row and
sends the wake-up once the transaction is committed. Commands use ``run_inline`` (this process) or
``start`` and ``wait``. A job function must be safe to run twice: a killed worker's job is run
again from the beginning, by somebody else.

What a function raises: ``Cancelled`` ends the job as stopped, ``Postponed`` queues it again, a
``StudioError`` ends it as failed with its own words, anything else as failed with its type, and
the traceback goes to the log.
"""

import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from celery import shared_task
from django.db import close_old_connections, connection, transaction
from django.db.utils import InterfaceError, OperationalError
from kombu.exceptions import OperationalError as BrokerError

from studio.lib.jsonvalue import JsonObject
from studio.web import claims
from studio.web.choices import JobState
from studio.web.errors import Problem, StudioError
from studio.web.models import Job

if TYPE_CHECKING:
    from studio.web.models import User

logger = logging.getLogger(__name__)

#: Progress is written at most this often; the last report of a job is always written.
REPORT_SECONDS = 0.5
_RETRY_POLICY = {"max_retries": 1, "interval_start": 0, "interval_step": 0.1, "interval_max": 0.1}


class Cancelled(Exception):
    """Somebody asked the job to stop, and it did."""


class Postponed(Exception):
    """What the job needs is taken: it gives its worker back and is tried again; the words say why.

    Nothing of it is lost or counted; it is run from the beginning, some seconds later.
    """


class LeaseLost(Exception):
    """Another worker holds the job now: whatever this one still does must not be written."""


class JobEnded(StudioError):
    """A job that a command ran or waited for did not succeed."""

    kind = "job"
    title = "The job did not succeed"

    def __init__(self, job: Job, problems: Sequence[Problem] = ()) -> None:
        super().__init__(_end_words(job), problems)
        self.job = job


def _end_words(job: Job) -> str:
    if job.error:
        return f"{job.code} {job.state}: {job.error}"
    if job.state == JobState.STOPPED:
        page = f"/jobs/{job.code}/"
        return f"{job.code} stopped, as it was asked to. It goes on from its page, {page}."
    return f"{job.code} {job.state}: no reason given"


class OnProgress(Protocol):
    """Told of every report, also those that are not written."""

    def __call__(self, done: int, total: int | None, note: str) -> None:
        """Draw a bar, print a line."""


@dataclass
class JobHandle:
    """What a job function may know and say about its job."""

    job_id: int
    code: str
    arguments: JsonObject
    user_id: int | None
    attempt: int
    _claim: claims.Claim
    _on_progress: OnProgress | None = None
    _written_at: float = -1e9
    _asked_at: float = -1e9
    _cancel: threading.Event = field(default_factory=threading.Event)
    _lost: threading.Event = field(default_factory=threading.Event)

    def progress(self, done: int, total: int | None = None, note: str = "") -> None:
        """Say how far it is; LeaseLost when the job went to another worker."""
        if self._on_progress is not None:
            self._on_progress(done, total, note)
        now = time.monotonic()
        if done != total and now - self._written_at < REPORT_SECONDS:
            return
        self._written_at = now
        if self._lost.is_set() or not claims.report(self._claim, done=done, total=total, note=note):
            raise LeaseLost(self.code)

    def cancelled(self) -> bool:
        """Whether somebody wants it to stop; asks the row at most twice a second."""
        if self._lost.is_set():
            raise LeaseLost(self.code)
        now = time.monotonic()
        if not self._cancel.is_set() and now - self._asked_at >= REPORT_SECONDS:
            self._asked_at = now
            self._take(claims.beat(self._claim))
        if self._lost.is_set():
            raise LeaseLost(self.code)
        return self._cancel.is_set()

    def stop_if_cancelled(self) -> None:
        """Raise Cancelled if somebody wants it to stop: for the head of a loop."""
        if self.cancelled():
            raise Cancelled(self.code)

    def _take(self, answer: claims.Beat) -> None:
        if not answer.held:
            self._lost.set()
        elif answer.cancel_requested:
            self._cancel.set()


JobFunction: TypeAlias = Callable[[JobHandle], JsonObject | None]


@dataclass(frozen=True)
class JobKind:
    """A registered kind of work."""

    name: str
    queue: str
    function: JobFunction
    max_attempts: int = 3


_kinds: dict[str, JobKind] = {}


def register(kind: str, queue: str, function: JobFunction, *, max_attempts: int = 3) -> None:
    """Make a kind of work known; two functions under one name are a mistake."""
    known = _kinds.get(kind)
    if known is not None and known.function is not function:
        raise ValueError(f"the job kind {kind} is registered twice")
    _kinds[kind] = JobKind(kind, queue, function, max_attempts)


def kinds() -> Mapping[str, JobKind]:
    """All registered kinds by name."""
    return dict(sorted(_kinds.items()))


def start(
    kind: str, arguments: JsonObject, user: "User | None" = None, *, subject: str = ""
) -> Job:
    """Write the row, and wake a worker once the transaction is committed."""
    job = _create(kind, arguments, user, subject=subject, inline=False)
    transaction.on_commit(lambda: send(job))
    return job


def resume(job: Job) -> Job:
    """Queue an ended or paused job again and wake a worker."""
    with transaction.atomic():
        claims.resume(job)
        transaction.on_commit(lambda: send(job))
    return job


def send(job: Job) -> bool:
    """Wake a worker up; False where the broker does not answer, then the beat job tries again."""
    try:
        run_job.apply_async(args=[job.pk], queue=job.queue, retry=True, retry_policy=_RETRY_POLICY)
    except (BrokerError, OSError) as error:
        logger.warning("the broker did not take %s, it is sent again later: %s", job.code, error)
        return False
    claims.mark_sent(job.pk)
    return True


def run_inline(
    kind: str,
    arguments: JsonObject,
    user: "User | None" = None,
    *,
    subject: str = "",
    on_progress: OnProgress | None = None,
) -> Job:
    """Run a job here and now; JobEnded unless it succeeds, and Ctrl-C stops it properly."""
    job = _create(kind, arguments, user, subject=subject, inline=True)
    _perform(job.pk, on_progress=on_progress)
    return _succeeded(job)


def wait(
    job: Job,
    *,
    on_progress: OnProgress | None = None,
    timeout: float | None = None,
    interval: float = 0.2,
) -> Job:
    """Watch a job that workers run until it ends; JobEnded unless it succeeded."""
    deadline = None if timeout is None else time.monotonic() + timeout
    told: tuple[int, int | None, str] | None = None
    while True:
        job.refresh_from_db()
        now = (job.done, job.total, job.note)
        if on_progress is not None and now != told and job.started_at is not None:
            told = now
            on_progress(*now)
        if job.is_finished or job.state == JobState.PAUSED:
            return _succeeded(job)
        if deadline is not None and time.monotonic() > deadline:
            raise TimeoutError(f"{job.code} is still {job.state}")
        time.sleep(interval)


@shared_task(
    name="studio.web.jobs.run_job", acks_late=True, reject_on_worker_lost=True, ignore_result=True
)
def run_job(job_id: int) -> None:
    """Claim the row and run it; harmless when it is gone, ended or somebody else's."""
    _perform(job_id)


@shared_task(name="studio.web.jobs.resend_lost_jobs", ignore_result=True)
def resend_lost_jobs() -> None:
    """Settle expired leases and wake workers for what waits without a message. Every 10 s."""
    settled = claims.expire()
    sent = sum(1 for job in claims.due_for_sending() if job.kind in _kinds and send(job))
    if settled or sent:
        logger.info("%d expired leases settled, %d jobs sent again", settled, sent)


#: For CELERY_BEAT_SCHEDULE.
BEAT_SCHEDULE = {
    "resend-lost-jobs": {
        "task": "studio.web.jobs.resend_lost_jobs",
        "schedule": 10.0,
        # An answer that nobody was there to give in time is worth nothing later.
        "options": {"expires": 10, "queue": "light"},
    }
}


def _create(
    kind: str, arguments: JsonObject, user: "User | None", *, subject: str, inline: bool
) -> Job:
    known = _kinds.get(kind)
    if known is None:
        raise ValueError(f"no job kind {kind!r} is registered, only {', '.join(sorted(_kinds))}")
    return Job.objects.create(
        kind=kind,
        queue=known.queue,
        arguments=arguments,
        subject=subject,
        user=user,
        inline=inline,
        max_attempts=known.max_attempts,
    )


def _perform(job_id: int, *, on_progress: OnProgress | None = None) -> None:
    held = claims.claim(job_id, _holder())
    if held is None:
        return
    job = Job.objects.get(pk=job_id)
    handle = JobHandle(
        job_id=job.pk,
        code=job.code,
        arguments=job.arguments,
        user_id=job.user_id,
        attempt=held.attempt,
        _claim=held,
        _on_progress=on_progress,
    )
    known = _kinds.get(job.kind)
    if known is None:
        # A newer release started it: leave it to a worker that knows the kind.
        logger.error("%s is of the unknown kind %s", job.code, job.kind)
        claims.finish(held, JobState.FAILED, error=f"No worker here knows the kind {job.kind}.")
        return
    with _Heartbeat(handle):
        _call(known, handle)


def _call(known: JobKind, handle: JobHandle) -> None:
    held = handle._claim
    try:
        result = known.function(handle)
    except Cancelled:
        claims.finish(held, JobState.STOPPED)
    except Postponed as wait:
        claims.postpone(held, note=str(wait))
    except LeaseLost:
        logger.warning("%s went to another worker; its result here is dropped", handle.code)
    except StudioError as error:
        claims.finish(held, JobState.FAILED, error=_words(error))
    except (OperationalError, InterfaceError):
        # The database went away. Nothing can be written; the lease runs out and it runs again.
        logger.exception("%s lost the database", handle.code)
        raise
    except (KeyboardInterrupt, SystemExit):
        _give_back(handle)
        raise
    except Exception as error:
        if interrupted(error):
            _give_back(handle)
            raise
        logger.exception("%s failed", handle.code)
        claims.finish(held, JobState.FAILED, error=f"{type(error).__name__}: {error}")
    else:
        claims.finish(held, JobState.SUCCEEDED, result=result)


def interrupted(error: BaseException) -> bool:
    """Whether somebody's wish to end this process stands behind an error.

    A signal is an exception in whatever runs just then, and libraries written in other languages
    (serialisers) turn what is raised in their callbacks into errors of their own.
    """
    cause: BaseException | None = error
    while cause is not None:
        if not isinstance(cause, Exception):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _give_back(handle: JobHandle) -> None:
    """The command was interrupted, or the worker is ending: say so while there is time."""
    if Job.objects.filter(pk=handle.job_id, inline=True).exists():
        claims.finish(handle._claim, JobState.STOPPED, error="Interrupted.")
    else:
        claims.requeue(handle._claim, note="waiting for another worker")


class _Heartbeat:
    """Renews the lease from a thread, so that a long step without reports keeps its job."""

    def __init__(self, handle: JobHandle) -> None:
        self._handle = handle
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"beat-{handle.code}", daemon=True)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        pause = claims.LEASE.total_seconds() / 3
        while not self._stop.wait(pause):
            try:
                self._handle._take(claims.beat(self._handle._claim))
            except (OperationalError, InterfaceError) as error:
                # Two more tries fit into the lease.
                logger.warning("no heartbeat for %s: %s", self._handle.code, error)
                close_old_connections()
            finally:
                connection.close()


def _succeeded(job: Job) -> Job:
    job.refresh_from_db()
    if job.state != JobState.SUCCEEDED:
        raise JobEnded(job)
    return job


def _words(error: StudioError) -> str:
    lines = [error.detail]
    for problem in error.problems[:20]:
        place = f"{problem.place}: " if problem.place else ""
        lines.append(f"{place}{problem.words}")
    return "\n".join(dict.fromkeys(lines))


def _holder() -> str:
    return f"{socket.gethostname()[:60]}:{os.getpid()}:{secrets.token_hex(4)}"
