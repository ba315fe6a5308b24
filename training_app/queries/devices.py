"""Of devices: who holds one, and who waits for it."""

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from studio.web.choices import HELD, JobState
from training_app.core.recipe import Recipe
from training_app.models import DeviceTicket

CPU = "cpu"
GPU = "cuda:0"


def device_of(recipe: Recipe) -> str:
    """The device that a recipe trains on."""
    return CPU if recipe.model.kind == "cpu-tiny" else GPU


def queue_of(device: str) -> QuerySet[DeviceTicket]:
    """Open tickets whose job is alive, oldest first; the first holds the device.

    A job whose worker died is alive while it is going to be run again; one that a command ran in
    its own process dies with it.
    """
    held = Q(job__state__in=HELD)
    leased = held & Q(job__lease_until__gt=Now())
    again = Q(job__inline=False) & (held | Q(job__state=JobState.QUEUED))
    return (
        DeviceTicket.objects.filter(leased | again, device=device, released_at=None)
        .select_related("job")
        .order_by("pk")
    )


def abandoned(device: str, before: int) -> QuerySet[DeviceTicket]:
    """Open tickets older than one whose job is over: what they started may still be running."""
    return DeviceTicket.objects.filter(device=device, released_at=None, pk__lt=before).exclude(
        pk__in=queue_of(device).values("pk")
    )


def holder_of(device: str) -> DeviceTicket | None:
    """Who holds a device."""
    return queue_of(device).first()
