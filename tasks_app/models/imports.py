"""Imports and what became of each of their items."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from studio.web.codes import CodedModel
from studio.web.models import Job
from tasks_app.enums import ImportOutcome, ImportSource
from tasks_app.models.task import Task


class ImportRun(CodedModel):
    """One import of a folder, file or upload."""

    code_prefix = "IMP"

    source = models.CharField(max_length=12, choices=ImportSource.choices)
    name = models.CharField(max_length=300)
    """The folder's or file's name, as the person gave it."""
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="import_runs",
    )
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created = models.PositiveIntegerField(default=0)
    known = models.PositiveIntegerField(default=0)
    refused = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "import"


class ImportItem(models.Model):
    """One folder, file or line of an import."""

    run = models.ForeignKey(ImportRun, on_delete=models.CASCADE, related_name="items")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=300)
    outcome = models.CharField(max_length=8, choices=ImportOutcome.choices)
    tier = models.CharField(max_length=8, blank=True)
    """How much of the original's grading is carried over: A, B …"""
    reason = models.CharField(max_length=2000, blank=True)
    defects = models.JSONField(default=dict)
    """Id of a defect found upstream → what was found and done."""
    task = models.ForeignKey(
        Task, null=True, blank=True, on_delete=models.SET_NULL, related_name="import_items"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("run", "position")
        constraints = [
            models.UniqueConstraint(fields=["run", "position"], name="import_item_once"),
            models.CheckConstraint(
                condition=Q(outcome__in=ImportOutcome.values), name="import_item_outcome_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}: {self.outcome}"
