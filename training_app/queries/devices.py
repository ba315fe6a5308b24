"""Of devices: who holds one, and who waits for it."""

import shutil
from pathlib import Path

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from studio.web.choices import HELD, JobState
from studio.web.workers import alive
from training_app.core.recipe import Recipe
from training_app.models import DeviceTicket

CPU = "cpu"
GPU = "cuda:0"
_NVIDIA = Path("/dev/nvidiactl")
QUEUE = "train"
"""Of the workers that runs need."""


def device_of(recipe: Recipe) -> str:
    """The device that a recipe trains on."""
    return CPU if recipe.model.kind == "cpu-tiny" else GPU


def shows_gpu() -> bool:
    """Whether this machine shows a GPU; asked without the libraries that would use it."""
    return _NVIDIA.exists() or shutil.which("nvidia-smi") is not None


def queue_of(device: str) -> QuerySet[DeviceTicket]:
    """Open tickets whose job is alive, oldest first; the first holds the device.

    A job that waits, or whose worker died, is alive while there is a worker to take it up again.
    One that a command ran in its own process dies with it.
    """
    held = Q(job__state__in=HELD)
    counted = held & Q(job__lease_until__gt=Now())
    if any(QUEUE in worker.queues for worker in alive()):
        counted |= Q(job__inline=False) & (held | Q(job__state=JobState.QUEUED))
    return (
        DeviceTicket.objects.filter(counted, device=device, released_at=None)
        .select_related("job")
        .order_by("pk")
    )


def abandoned(device: str, before: int) -> QuerySet[DeviceTicket]:
    """Open tickets older than one whose job is over: what they started may still be running."""
    return DeviceTicket.objects.filter(device=device, released_at=None, pk__lt=before).exclude(
        pk__in=queue_of(device).values("pk")
    )
