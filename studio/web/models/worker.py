"""Worker processes as they were last seen."""

from django.db import models
from django.utils import timezone


class Worker(models.Model):
    """One Celery worker; it says every few seconds that it is alive (see ``workers``)."""

    name = models.CharField(max_length=120, unique=True)
    """Celery's node name: queue and host, such as ``light@mill``."""
    queues = models.JSONField(default=list)
    pid = models.PositiveIntegerField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    seen_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name
