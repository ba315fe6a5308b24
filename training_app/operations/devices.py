"""Of devices: taking a place in the queue and giving it back."""

from typing import Final

from django.db import connection, transaction
from django.utils import timezone

from training_app.models import DeviceTicket

_LOCK: Final = 7_316_001
"""Tickets are numbered one at a time: else a lower number could become visible later."""


@transaction.atomic
def take_ticket(*, device: str, job_id: int, what: str) -> DeviceTicket:
    """Queue for a device; a job that has an open ticket for it keeps its place."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
    known = DeviceTicket.objects.filter(job_id=job_id).first()
    if known is not None and known.device == device and known.released_at is None:
        return known
    if known is not None:
        known.delete()
    return DeviceTicket.objects.create(device=device, job_id=job_id, what=what[:80])


def release_ticket(*, ticket: DeviceTicket) -> None:
    """Give the device to whoever waits; doing so twice changes nothing."""
    DeviceTicket.objects.filter(pk=ticket.pk, released_at=None).update(released_at=timezone.now())
