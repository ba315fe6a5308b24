"""Suites and evaluations."""

from django.contrib import admin

from training_app.admin.base import ReadOnlyAdmin
from training_app.models import Evaluation, Suite


@admin.register(Suite)
class SuiteAdmin(ReadOnlyAdmin):
    """Suites."""

    list_display = ("code", "name", "split_kind", "size", "created_at")
    list_filter = ("split_kind",)
    search_fields = ("code", "name")


@admin.register(Evaluation)
class EvaluationAdmin(ReadOnlyAdmin):
    """Evaluations."""

    list_display = ("code", "suite", "checkpoint", "endpoint", "greedy", "finished_at")
    list_filter = ("greedy",)
    search_fields = ("code", "endpoint")
