"""Waiting for a device: one run, or one served checkpoint, holds it at a time.

::

    with holding(handle, "cpu", "RUN-4K7Q"):
        ...                                  # Cancelled while waiting, where somebody stops the job

A worker of the queue `train` does not wait in place: there may be one only, and who holds the
device may need it. Its job keeps its place by its ticket and is tried again.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from django.db.utils import InterfaceError, OperationalError

from studio.web.jobs import JobHandle, LeaseLost, Postponed
from studio.web.models import Job
from training_app import launcher
from training_app.models import DeviceTicket, TrainingRun
from training_app.operations.devices import release_ticket, take_ticket
from training_app.queries.devices import QUEUE, abandoned, queue_of
from training_app.queries.runs import run_dir

_PAUSE: Final = 1.0


@contextmanager
def holding(handle: JobHandle, device: str, what: str) -> Iterator[None]:
    """Wait for a device, hold it, give it back.

    It is kept where only this process ends, or the database is away: what it started goes on, and
    whoever takes the job up finds the same ticket.

    Args:
        handle: The job that wants it.
        device: `cpu` or `cuda:0`.
        what: Whom it is for: a run's code, `serving CK-81ZZ`.
    """
    ticket = take_ticket(device=device, job_id=handle.job_id, what=what)
    keep = False
    try:
        _wait(handle, ticket)
        yield
    except (LeaseLost, Postponed, SystemExit, OperationalError, InterfaceError):
        keep = True
        raise
    finally:
        if not keep:
            release_ticket(ticket=ticket)


def _wait(handle: JobHandle, ticket: DeviceTicket) -> None:
    pause = threading.Event()
    rare = Job.objects.filter(pk=handle.job_id, inline=False, queue=QUEUE).exists()
    while note := _before(ticket):
        handle.stop_if_cancelled()
        handle.progress(0, None, note)
        if rare:
            raise Postponed(note)
        pause.wait(_PAUSE)


def _before(ticket: DeviceTicket) -> str:
    """Who is before a ticket, in words; nothing where it is its turn."""
    first = queue_of(ticket.device).exclude(pk__gte=ticket.pk).first()
    if first is not None:
        return f"waiting for {ticket.device}: {_doing(first.what)}"
    for old in abandoned(ticket.device, ticket.pk):
        if _still_runs(old):
            return (
                f"waiting for {ticket.device}: {_doing(old.what)}, though nobody watches it; "
                f"resume or cancel it"
            )
        release_ticket(ticket=old)
    return ""


def _doing(what: str) -> str:
    return f"{what} trains" if what.startswith(TrainingRun.code_prefix) else what


def _still_runs(ticket: DeviceTicket) -> bool:
    """Whether a run's engine has outlived its job on this machine."""
    run = TrainingRun.objects.filter(code=ticket.what).first()
    return run is not None and launcher.find(run_dir(run)) is not None
