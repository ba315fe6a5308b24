"""Datasets: to read and export; a frozen one never changes, and goes from its own page alone."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from studio.web.exports import jsonl_response
from studio.web.pagination import keyset_all
from training_app.admin.base import ReadOnlyAdmin
from training_app.models import Dataset
from training_app.queries.datasets import export_row


@admin.register(Dataset)
class DatasetAdmin(ReadOnlyAdmin):
    """Datasets, with an export of the chosen rows' manifests."""

    list_display = ("code", "name", "kind", "rows", "split_kind", "frozen_at")
    list_filter = ("kind", "split_kind")
    search_fields = ("code", "name")
    raw_id_fields = ("author", "job")
    actions = ("export_jsonl",)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """What runs were trained on stays; the rest goes with a name and a reason."""
        return False

    @admin.action(description="Export as JSON Lines", permissions=["view"])
    def export_jsonl(
        self, request: HttpRequest, queryset: QuerySet[Dataset]
    ) -> StreamingHttpResponse:
        """The chosen datasets, each with its manifest; their rows have downloads of their own."""
        plain = Dataset.objects.filter(pk__in=queryset.order_by().values("pk"))
        rows = plain.select_related("author")
        return jsonl_response(map(export_row, keyset_all(rows, chunk=100)), name="datasets")
