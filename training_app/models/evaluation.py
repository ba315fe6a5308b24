"""Evaluations: a model on a frozen suite, as an ordinary batch of rollouts."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from studio.web.codes import CodedModel
from studio.web.models import Job
from training_app.enums import SplitKind
from training_app.models.run import Checkpoint


class Suite(CodedModel):
    """A frozen list of task versions."""

    code_prefix = "SU"

    name = models.CharField(max_length=80, unique=True)
    filter = models.CharField(max_length=2000, blank=True)
    split_kind = models.CharField(
        max_length=16, choices=SplitKind.choices, default=SplitKind.NEW_INSTANCES
    )
    sha256 = models.CharField(max_length=64)
    """Over the hashes of its versions, in order."""
    size = models.PositiveIntegerField(default=0)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ("name",)
        constraints = [
            models.CheckConstraint(
                condition=Q(split_kind__in=SplitKind.values), name="suite_split_kind_known"
            )
        ]


class SuiteItem(models.Model):
    """One version of a suite."""

    suite = models.ForeignKey(Suite, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    version = models.ForeignKey("tasks_app.TaskVersion", on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ("suite", "position")
        constraints = [
            models.UniqueConstraint(fields=["suite", "position"], name="suite_item_once")
        ]

    def __str__(self) -> str:
        return f"task {self.position} of {self.suite_id}"


class Evaluation(CodedModel):
    """A checkpoint or an endpoint on a suite."""

    code_prefix = "EV"

    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="evaluations")
    checkpoint = models.ForeignKey(
        Checkpoint, null=True, blank=True, on_delete=models.PROTECT, related_name="evaluations"
    )
    endpoint = models.CharField(max_length=40, blank=True)
    """Name of an endpoint, where no checkpoint is measured."""
    greedy = models.BooleanField(default=True)
    """Temperature 0; else sampled at 1."""
    group_size = models.PositiveSmallIntegerField(default=1)
    """Episodes a task."""
    seed = models.PositiveBigIntegerField(default=0)
    baseline = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="compared"
    )
    """What the paired difference is taken to."""
    batch = models.ForeignKey(
        "rollouts_app.RolloutBatch",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    report = models.JSONField(default=dict, blank=True)
    """Scores per family with intervals, Pass^3, difference to the baseline; empty at first."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [models.Index(fields=["-created_at", "-id"], name="evaluation_newest")]
        constraints = [
            models.CheckConstraint(
                condition=Q(checkpoint__isnull=False) ^ ~Q(endpoint=""),
                name="evaluation_measures_one",
            )
        ]
