"""What was asked for, the runs that made tasks of it, and every single attempt."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from studio.web.choices import JobState
from studio.web.codes import CodedModel
from studio.web.models import Job
from tasks_app.enums import Outcome
from tasks_app.models.task import TaskVersion


class WorkflowRequirement(CodedModel):
    """The researcher's wish that tasks are generated from."""

    code_prefix = "REQ"

    title = models.CharField(max_length=200)
    text = models.TextField(blank=True)
    capabilities = ArrayField(models.CharField(max_length=3), default=list, blank=True)
    families = ArrayField(models.CharField(max_length=64), default=list)
    services = ArrayField(models.CharField(max_length=64), default=list, blank=True)
    difficulty = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    """Levels wanted; empty for all five."""
    count = models.PositiveIntegerField(default=20)
    seed = models.PositiveBigIntegerField(default=1)
    writer = models.CharField(max_length=80, default="built-in")
    """``built-in`` for the families; else the name of a writer endpoint."""
    shipped = models.BooleanField(default=False)
    """Comes with the studio: shown where nobody has written one yet."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="requirements",
    )

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "workflow requirement"


class GenerationRun(CodedModel):
    """One execution of a requirement, or of a command; its counts are the funnel."""

    code_prefix = "GEN"

    requirement = models.ForeignKey(
        WorkflowRequirement, null=True, blank=True, on_delete=models.SET_NULL, related_name="runs"
    )
    families = ArrayField(models.CharField(max_length=64))
    """Each makes its share of ``asked``."""
    difficulty = ArrayField(models.PositiveSmallIntegerField(), default=list, blank=True)
    shares = models.JSONField(default=list, blank=True)
    """Of a run that fills the emptiest cells: [family, level, tasks, those there before] each;
    empty where every family and difficulty makes an equal share.
    """
    seed = models.PositiveBigIntegerField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="generation_runs",
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    asked = models.PositiveIntegerField()
    drafted = models.PositiveIntegerField(default=0)
    valid = models.PositiveIntegerField(default=0)
    """Form, references and tools hold (gates S, R, T)."""
    proven = models.PositiveIntegerField(default=0)
    unique = models.PositiveIntegerField(default=0)
    """Proven and no near duplicate: stored as tasks."""
    repairs = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    usage = models.JSONField(default=dict, blank=True)
    """Tokens and cost of a writer endpoint; empty for the built-in families."""

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "generation run"

    @property
    def state(self) -> str:
        """The job's state; queued before a job exists."""
        return self.job.state if self.job is not None else JobState.QUEUED

    @property
    def is_finished(self) -> bool:
        """Whether nothing moves any more by itself."""
        return self.job is not None and self.job.is_finished

    @property
    def quarantined(self) -> int:
        """Attempts whose defects no repair mended."""
        return self.drafted - self.proven


class Attempt(models.Model):
    """One draft of a run and what became of it."""

    run = models.ForeignKey(GenerationRun, on_delete=models.CASCADE, related_name="attempts")
    index = models.PositiveIntegerField()
    """Position in the run, from 0."""
    key = models.CharField(max_length=120)
    """Family, seed, plan and try: the same key gives the same draft, and one run keeps it once."""
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    title = models.CharField(max_length=300)
    family = models.CharField(max_length=64)
    subtype = models.CharField(max_length=64)
    difficulty = models.PositiveSmallIntegerField()
    gate = models.CharField(max_length=8, blank=True)
    """The gate it fell at; empty for a stored one."""
    reason = models.CharField(max_length=1000, blank=True)
    valid = models.BooleanField(default=False)
    proven = models.BooleanField(default=False)
    findings = models.JSONField(default=list)
    """What is left of its findings, as the proof card words them."""
    repairs = models.JSONField(default=list)
    round = models.PositiveSmallIntegerField(default=0)
    """0 for the first try of a planned task; a lost one is tried again."""
    nearest = models.CharField(max_length=20, blank=True)
    """Code of the task it repeats; empty where that is a sibling of the same run."""
    similarity = models.FloatField(null=True, blank=True)
    version = models.ForeignKey(
        TaskVersion, null=True, blank=True, on_delete=models.SET_NULL, related_name="attempts"
    )
    milliseconds = models.FloatField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("run", "index")
        constraints = [
            models.UniqueConstraint(fields=["run", "index"], name="attempt_once"),
            models.UniqueConstraint(fields=["run", "key"], name="attempt_key_once"),
            models.CheckConstraint(
                condition=Q(outcome__in=Outcome.values), name="attempt_outcome_known"
            ),
        ]

    def __str__(self) -> str:
        return f"attempt {self.index} of run {self.run_id}: {self.outcome}"
