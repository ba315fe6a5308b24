"""What people keep for later: views, drafts, and bulk actions that can be undone."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from studio.web.codes import CodedModel
from studio.web.models.job import Job


class SavedView(CodedModel):
    """A filter under a name, for one list page; shared ones are seen by everybody."""

    code_prefix = "V"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_views"
    )
    page = models.CharField(max_length=20)
    """The list it belongs to: "tasks", "episodes"."""
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=2000, blank=True)
    shared = models.BooleanField(default=False)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ("position", "name")
        constraints = [
            models.UniqueConstraint(fields=["user", "page", "name"], name="saved_view_once")
        ]


class BulkAction(CodedModel):
    """An act on all rows of a filter, run as a job and reversible until ``undo_until``."""

    code_prefix = "BA"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="bulk_actions"
    )
    page = models.CharField(max_length=20)
    query = models.CharField(max_length=2000, blank=True)
    act = models.CharField(max_length=60)
    arguments = models.JSONField(default=dict, blank=True)
    expected = models.PositiveIntegerField()
    """How many rows the preview counted."""
    affected = models.PositiveIntegerField(null=True, blank=True)
    before = models.JSONField(default=dict, blank=True)
    """What undo needs: the former value by row code."""
    job = models.ForeignKey(
        Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="bulk_actions"
    )
    undo_until = models.DateTimeField()
    undone_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "-id")


class Draft(models.Model):
    """Unsaved text of one person about one thing; survives reload, crash and lost session."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="drafts"
    )
    subject = models.CharField(max_length=120)
    """What it will become: "task:T-4F7K", "review:T-4F7K", "task:new"."""
    base = models.CharField(max_length=80, blank=True)
    """The version it was begun on, so that a stale one is seen before the save."""
    content = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "subject"], name="draft_once")]

    def __str__(self) -> str:
        return self.subject
