"""Audits of the gates: what was planted and found, and the specs in which something was missed."""

from django.db import models
from django.db.models import Q

from studio.web.codes import CodedModel
from studio.web.models import Job
from tasks_app.models.fields import WrittenJSONField


class GateAudit(CodedModel):
    """One audit: known defects planted in sound tasks, counted by gate."""

    code_prefix = "AUD"

    count = models.PositiveIntegerField()
    """Defects of each gate."""
    seed = models.PositiveBigIntegerField()
    gates_version = models.CharField(max_length=20)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    result = models.JSONField(default=dict)
    """What the command prints; empty until the audit is over."""
    planters = models.JSONField(default=list)
    """A row a planter: gate, name, title, kind, upstream, and what was counted."""
    sound = models.BooleanField(default=False)
    """Every defect was found, and no sound task was blamed."""
    seconds = models.FloatField(default=0)

    class Meta:
        ordering = ("-created_at", "-id")
        verbose_name = "audit of the gates"
        verbose_name_plural = "audits of the gates"


class AuditMiss(models.Model):
    """A defect that was not found or not mended, or a sound task in which something was found."""

    class Kind(models.TextChoices):
        """What went wrong."""

        MISSED = "missed", "Not found"
        UNMENDED = "unmended", "Not mended"
        ALARM = "alarm", "False alarm"

    audit = models.ForeignKey(GateAudit, on_delete=models.CASCADE, related_name="found")
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=8, choices=Kind.choices)
    gate = models.CharField(max_length=8, blank=True)
    """The gate that was to find it; of a false alarm, the first that found something."""
    planter = models.CharField(max_length=80, blank=True)
    title = models.CharField(max_length=300, blank=True)
    subject = models.CharField(max_length=200)
    """The sound task: family, subtype, level, seed."""
    words = models.CharField(max_length=2000, blank=True)
    """What the gates said instead."""
    spec = WrittenJSONField(null=True)
    """The task as it was looked at."""

    class Meta:
        ordering = ("audit", "position")
        constraints = [
            models.UniqueConstraint(fields=["audit", "position"], name="audit_miss_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["missed", "unmended", "alarm"]),
                name="audit_miss_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.gate}.{self.planter}"
