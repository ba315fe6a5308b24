"""Datasets: immutable snapshots of curated episodes or of approved tasks."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from studio.web.codes import CodedModel
from studio.web.models import Job
from training_app.enums import DatasetKind, Portion, SplitKind


class Dataset(CodedModel):
    """A snapshot: once ``frozen_at`` is set, nothing of it changes any more."""

    code_prefix = "DS"

    name = models.CharField(max_length=80, unique=True)
    kind = models.CharField(max_length=16, choices=DatasetKind.choices)
    filter = models.CharField(max_length=2000, blank=True)
    """The episode or task filter as it was written; what it meant is frozen in the items."""
    rules = models.JSONField(default=dict, blank=True)
    """Curation rule → its setting; prompts have none."""
    held_families = models.JSONField(default=list, blank=True)
    """Families that were held back whole; only then the split kind is ``new_families``."""
    mixes = models.JSONField(default=list, blank=True)
    """Files from outside: name, sha256 (of the bytes, kept as a Blob), weight, license, rows."""
    split_kind = models.CharField(
        max_length=16, choices=SplitKind.choices, default=SplitKind.NEW_INSTANCES
    )
    rows = models.PositiveIntegerField(default=0)
    """Lines to train on, repetitions of mixed rows included; held-out rows are not counted."""
    dropped = models.JSONField(default=dict, blank=True)
    """Rule → how many it dropped."""
    lint = models.JSONField(default=list, blank=True)
    """Findings of E1 or E2 on rows that were dropped for them: gate, row, place, message."""
    composition = models.JSONField(default=dict, blank=True)
    """Counts by family, subtype, difficulty, policy, portion."""
    manifest = models.JSONField(default=dict, blank=True)
    """The manifest as exports write it: files with hashes, provenance."""
    sha256 = models.CharField(max_length=64, blank=True)
    """The manifest's hash; empty while it is being made."""
    frozen_at = models.DateTimeField(null=True, blank=True)
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [models.Index(fields=["-created_at", "-id"], name="dataset_newest")]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=DatasetKind.values), name="dataset_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(split_kind__in=SplitKind.values), name="dataset_split_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(frozen_at__isnull=True) | ~Q(sha256=""), name="dataset_frozen_has_hash"
            ),
        ]


class DatasetItem(models.Model):
    """One row of a dataset, whole: it outlives the episode it was made from."""

    dataset = models.ForeignKey(Dataset, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    portion = models.CharField(max_length=8, choices=Portion.choices, default=Portion.TRAIN)
    episode = models.ForeignKey(
        "rollouts_app.Episode", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    """Of a demonstration: where it comes from; None for outside rows."""
    version = models.ForeignKey(
        "tasks_app.TaskVersion",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
    )
    source = models.CharField(max_length=80, blank=True)
    """Of a row from outside: the file's name; its weight stands in the dataset's mixes."""
    origin = models.JSONField(default=dict, blank=True)
    """Where the row comes from, as exports write it: codes, spec hash, policy, or file and line."""
    copies = models.PositiveSmallIntegerField(default=1)
    """How often the row stands in the written file: a weight, made whole."""
    row = models.BinaryField()
    """Compressed JSON, as the exports write it."""
    digest = models.CharField(max_length=64, blank=True)
    """SHA-256 of the row's bytes: datasets are compared by it."""

    class Meta:
        ordering = ("dataset", "position")
        constraints = [
            models.UniqueConstraint(fields=["dataset", "position"], name="dataset_item_once"),
            models.CheckConstraint(
                condition=Q(portion__in=Portion.values), name="dataset_item_portion_known"
            ),
        ]

    def __str__(self) -> str:
        return f"row {self.position} of {self.dataset_id}"
