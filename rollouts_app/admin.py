"""The admin site's view of batches and episodes: to read and export, not to edit."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.queries import export_row
from studio.web.exports import jsonl_response
from studio.web.pagination import keyset_all


class _ReadOnly(admin.ModelAdmin[Any]):
    """Rows are written by jobs alone."""

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody adds here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        """Nobody changes here."""
        return False


@admin.register(RolloutBatch)
class RolloutBatchAdmin(_ReadOnly):
    """Batches."""

    list_display = ("code", "policy", "filter", "episodes_planned", "graded", "passed", "failed")
    list_filter = ("purpose", "policy")
    search_fields = ("code", "filter")
    show_full_result_count = False


@admin.register(Episode)
class EpisodeAdmin(_ReadOnly):
    """Episodes, with a streamed export of the chosen rows."""

    list_display = ("code", "policy", "state", "reward", "passed", "stop", "turns", "created_at")
    list_filter = ("state", "passed", "stop", "curation")
    search_fields = ("code", "policy")
    raw_id_fields = ("batch", "task", "version", "parent")
    show_full_result_count = False
    actions = ("export_jsonl",)

    @admin.action(description="Export as JSON lines")
    def export_jsonl(
        self, request: HttpRequest, queryset: QuerySet[Episode]
    ) -> StreamingHttpResponse:
        """The chosen rows, each with its grade and turns; streamed, with a closing line."""
        rows = queryset.select_related("task", "version", "batch", "payload").order_by()
        return jsonl_response(
            (export_row(episode) for episode in keyset_all(rows, chunk=200)), name="episodes"
        )
