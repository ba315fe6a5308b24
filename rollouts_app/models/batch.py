"""A batch: many tasks, n episodes each, one policy."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from rollouts_app.enums import Purpose
from studio.web.choices import JobState
from studio.web.codes import CodedModel
from studio.web.models import Job


class RolloutBatch(CodedModel):
    """Grouped episodes of one policy on the tasks of a filter; its counts are tallied from them."""

    code_prefix = "B"

    purpose = models.CharField(max_length=12, choices=Purpose.choices, default=Purpose.ROLLOUT)
    policy = models.CharField(max_length=120)
    """`reference`, `null`, another built-in, `endpoint:NAME`, `checkpoint:CODE`, `person`."""
    filter = models.CharField(max_length=2000, blank=True)
    """The task filter as it was written; which versions it meant is frozen in the episodes."""
    group_size = models.PositiveIntegerField(default=1)
    seed = models.PositiveBigIntegerField(default=0)
    limits = models.JSONField(default=dict, blank=True)
    """turns, tool_calls, seconds instead of the tasks' own; empty: the tasks' own."""
    sampling = models.JSONField(default=dict, blank=True)
    """Of an endpoint: model, temperature, top_p, max_tokens as they were when it was opened."""
    concurrency = models.PositiveSmallIntegerField(default=1)
    """Episodes at once, where they wait for an endpoint."""
    budget_calls = models.PositiveIntegerField(null=True, blank=True)
    """Calls to the endpoint that the batch may make; None: no limit."""
    budget_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    """Tokens of both kinds; None: no limit."""
    usage = models.JSONField(default=dict, blank=True)
    """Of an endpoint: calls, prompt_tokens, completion_tokens of the stored answers."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="rollout_batches",
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    tasks = models.PositiveIntegerField(default=0)
    episodes_planned = models.PositiveIntegerField(default=0)
    graded = models.PositiveIntegerField(default=0)
    passed = models.PositiveIntegerField(default=0)
    failed = models.PositiveIntegerField(default=0)
    """Episodes without a reward because something outside the policy broke."""
    violations = models.PositiveIntegerField(default=0)
    """Constraints broken, over all episodes."""
    mean_reward = models.FloatField(null=True, blank=True)
    """Over the graded episodes; None before the first."""
    tokens = models.PositiveBigIntegerField(null=True, blank=True)
    """Completion tokens; None where nobody counted."""
    seconds = models.FloatField(default=0)
    """Time the job took."""
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "rollout batch"
        verbose_name_plural = "rollout batches"
        indexes = [models.Index(fields=["-created_at", "-id"], name="batch_newest")]
        constraints = [
            models.CheckConstraint(
                condition=Q(purpose__in=Purpose.values), name="batch_purpose_known"
            ),
            models.CheckConstraint(condition=Q(group_size__gte=1), name="batch_group_size"),
        ]

    @property
    def state(self) -> str:
        """The job's state; without a job, whether all episodes have ended."""
        if self.job is not None:
            return self.job.state
        if self.purpose == Purpose.PLAY and not self.finished_at:
            return JobState.RUNNING
        return JobState.SUCCEEDED if self.finished_at else JobState.QUEUED

    @property
    def done(self) -> int:
        """How many episodes have ended."""
        return self.graded + self.failed

    @property
    def rate(self) -> float | None:
        """Episodes a second while its job ran; None before the first were counted."""
        return self.done / self.seconds if self.done and self.seconds > 0 else None

    @property
    def eta(self) -> float | None:
        """Seconds that the open episodes will take at that rate; None where nobody can say."""
        if self.rate is None or self.state != JobState.RUNNING:
            return None
        return (self.episodes_planned - self.done) / self.rate
