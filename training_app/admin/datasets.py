"""Datasets."""

from django.contrib import admin

from training_app.admin.base import ReadOnlyAdmin
from training_app.models import Dataset


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin):
    """Datasets."""

    list_display = ("code", "name", "kind", "rows", "split_kind", "frozen_at")
    list_filter = ("kind", "split_kind")
    search_fields = ("code", "name")
