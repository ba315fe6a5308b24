"""One table for all work in the background; see ``claims`` and ``jobs`` for how it moves."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from studio.web.choices import FINISHED, JobState
from studio.web.codes import CodedModel


class Job(CodedModel):
    """A piece of work. The row is the truth; a broker message only wakes a worker up."""

    code_prefix = "JOB"
    code_length = 5

    kind = models.CharField(max_length=60)
    queue = models.CharField(max_length=20, default="light")
    arguments = models.JSONField(default=dict)
    subject = models.CharField(max_length=40, blank=True, db_index=True)
    """The code of what the work is about (a batch, a run), so that its page finds the job."""
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="jobs",
    )
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    inline = models.BooleanField(default=False)
    """Runs in a command's own process: workers leave it alone, even when it is lost."""

    lease_holder = models.CharField(max_length=120, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    attempt = models.PositiveIntegerField(default=0)
    """Counts claims since the last start or resume; part of every conditional update."""
    max_attempts = models.PositiveIntegerField(default=3)
    cancel_requested = models.BooleanField(default=False)

    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True, blank=True)
    note = models.CharField(max_length=200, blank=True)
    """What is being done at the moment, in a few words."""
    result = models.JSONField(null=True, blank=True)
    error = models.TextField(blank=True)

    sent_at = models.DateTimeField(null=True, blank=True)
    sends = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="job_newest"),
            models.Index(fields=["kind", "-created_at"], name="job_kind_newest"),
            models.Index(
                fields=["state", "lease_until"],
                condition=~Q(state__in=[state.value for state in FINISHED]),
                name="job_open",
            ),
            models.Index(
                fields=["-created_at", "-id"],
                condition=~Q(state__in=[state.value for state in FINISHED]),
                name="job_open_newest",
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=JobState.values), name="job_state_known")
        ]

    @property
    def is_finished(self) -> bool:
        """Whether nothing moves any more by itself."""
        return self.state in FINISHED

    @property
    def doing(self) -> str:
        """What it is at, in words: what it said itself, or what it waits for."""
        if self.note:
            return self.note
        return "waiting for a worker" if self.state == JobState.QUEUED else "under way"

    @property
    def share(self) -> float | None:
        """Progress from 0 to 1; None while the total is not known."""
        return min(1.0, self.done / self.total) if self.total else None

    @property
    def rate(self) -> float | None:
        """Units per second since the start; None before the first unit."""
        end = self.finished_at or self.heartbeat_at
        if self.started_at is None or end is None or not self.done:
            return None
        seconds = (end - self.started_at).total_seconds()
        return self.done / seconds if seconds > 0 else None
