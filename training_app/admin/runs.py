"""Runs and checkpoints."""

from django.contrib import admin

from training_app.admin.base import ReadOnlyAdmin
from training_app.models import Checkpoint, TrainingRun


@admin.register(TrainingRun)
class TrainingRunAdmin(ReadOnlyAdmin):
    """Training runs."""

    list_display = ("code", "preset", "algorithm", "state", "step", "steps", "created_at")
    list_filter = ("algorithm", "state", "adopted")
    search_fields = ("code", "preset")
    raw_id_fields = ("dataset", "parent")


@admin.register(Checkpoint)
class CheckpointAdmin(ReadOnlyAdmin):
    """Checkpoints."""

    list_display = ("code", "run", "step", "bytes", "promoted", "removed_at")
    list_filter = ("promoted",)
    search_fields = ("code",)
