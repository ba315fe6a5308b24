"""The admin site: look, search, export. Writes go through pages and API, which keep the rules."""

from collections.abc import Callable
from typing import Any

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from studio.lib.jsonvalue import JsonObject
from studio.web.exports import jsonl_response
from studio.web.pagination import keyset_all
from tasks_app.models import (
    Attempt,
    Comment,
    GenerationRun,
    ImportItem,
    ImportRun,
    ModelCall,
    ModelEndpoint,
    Proof,
    Review,
    ReviewAnswer,
    ReviewItem,
    ReviewQueue,
    Task,
    TaskVersion,
    WorkflowRequirement,
)
from tasks_app.queries import NEVER_LISTED
from tasks_app.schemas.tasks import export_row


class ReadOnly(admin.ModelAdmin[Any]):
    """Rows to look at; nothing is added, changed or deleted here."""

    list_per_page = 50
    show_full_result_count = False
    ordering = ("-pk",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """No."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """No."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """No."""
        return False


def export_action(
    name: str, row: Callable[[Any], JsonObject], *related: str
) -> Callable[[Any, HttpRequest, "QuerySet[Any]"], HttpResponseBase]:
    """Make an admin action that streams the chosen rows, or the whole filter, as JSON Lines."""

    @admin.action(description="Export as JSON Lines", permissions=["view"])
    def export(
        modeladmin: Any, request: HttpRequest, queryset: "QuerySet[Any]"
    ) -> HttpResponseBase:
        # The admin's own ordering and columns would make every chunk slower and larger.
        plain = queryset.model._default_manager.filter(pk__in=queryset.order_by().values("pk"))
        return jsonl_response(map(row, keyset_all(plain.select_related(*related))), name=name)

    export.__name__ = f"export_{name}"
    return export


def proof_row(proof: Proof) -> JsonObject:
    """Return a proof as the export writes it."""
    return {
        "hash": proof.spec_hash,
        "gates_version": proof.gates_version,
        "verdict": proof.verdict,
        "card": proof.card,
    }


def attempt_row(attempt: Attempt) -> JsonObject:
    """Return an attempt as the export writes it."""
    return {
        "run": attempt.run.code,
        "key": attempt.key,
        "outcome": attempt.outcome,
        "gate": attempt.gate,
        "reason": attempt.reason,
        "findings": attempt.findings,
        "repairs": attempt.repairs,
    }


@admin.register(Task)
class TaskAdmin(ReadOnly):
    """Tasks with their list columns."""

    list_display = ("code", "title", "state", "family", "subtype", "difficulty", "created_at")
    list_filter = ("state", "track", "origin", "difficulty", "evaluation_only")
    list_select_related = ("author",)
    search_fields = ("code__iexact", "text__contains")
    exclude = NEVER_LISTED
    actions = (export_action("tasks", export_row, "current"),)

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        """Without the columns that only the search and the duplicate test read."""
        return super().get_queryset(request).defer(*NEVER_LISTED)


@admin.register(TaskVersion)
class TaskVersionAdmin(ReadOnly):
    """Versions, without their specs in the list."""

    list_display = ("task", "number", "origin", "author", "reason", "created_at")
    list_filter = ("origin",)
    list_select_related = ("task", "author")
    search_fields = ("task__code__iexact", "hash__startswith")

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        """Lists load no specs."""
        return super().get_queryset(request).defer("spec", "patch")


@admin.register(Proof)
class ProofAdmin(ReadOnly):
    """Proofs."""

    list_display = ("spec_hash", "verdict", "gates_version", "milliseconds", "created_at")
    list_filter = ("verdict", "gates_version")
    search_fields = ("spec_hash__startswith",)
    raw_id_fields = ("version",)
    actions = (export_action("proofs", proof_row),)

    def get_queryset(self, request: HttpRequest) -> "QuerySet[Any]":
        """Lists load no cards."""
        return super().get_queryset(request).defer("card")


@admin.register(Review)
class ReviewAdmin(ReadOnly):
    """Verdicts of people."""

    list_display = ("version", "decision", "reviewer", "reason", "created_at")
    list_filter = ("decision",)
    list_select_related = ("version", "reviewer")


@admin.register(ReviewQueue)
class ReviewQueueAdmin(ReadOnly):
    """Review queues."""

    list_display = ("code", "name", "query", "reviewers", "author", "closed_at", "created_at")
    list_select_related = ("author",)


@admin.register(ReviewItem)
class ReviewItemAdmin(ReadOnly):
    """Items of review queues, with who holds them."""

    list_display = ("queue", "task", "state", "outcome", "holder", "lease_until", "settled_by")
    list_filter = ("state", "outcome")
    list_select_related = ("queue", "task", "holder", "settled_by")
    raw_id_fields = ("version",)


@admin.register(ReviewAnswer)
class ReviewAnswerAdmin(ReadOnly):
    """What reviewers said, blind or not: for administrators only, like this whole site."""

    list_display = ("item", "answer", "reviewer", "reason", "undone_at", "created_at")
    list_filter = ("answer",)
    list_select_related = ("reviewer",)
    raw_id_fields = ("version",)


@admin.register(Comment)
class CommentAdmin(ReadOnly):
    """Notes."""

    list_display = ("task", "anchor", "text", "author", "created_at")
    list_select_related = ("task", "author")


@admin.register(WorkflowRequirement)
class WorkflowRequirementAdmin(ReadOnly):
    """Requirements."""

    list_display = ("code", "title", "count", "shipped", "author", "created_at")
    list_select_related = ("author",)


@admin.register(GenerationRun)
class GenerationRunAdmin(ReadOnly):
    """Runs with their funnels."""

    list_display = ("code", "asked", "drafted", "valid", "proven", "unique", "created_at")
    search_fields = ("code__iexact",)


@admin.register(Attempt)
class AttemptAdmin(ReadOnly):
    """Attempts and the reason behind each loss."""

    list_display = ("run", "index", "outcome", "gate", "reason", "title")
    list_filter = ("outcome", "gate")
    list_select_related = ("run",)
    raw_id_fields = ("version",)
    actions = (export_action("attempts", attempt_row, "run"),)


@admin.register(ImportRun)
class ImportRunAdmin(ReadOnly):
    """Imports."""

    list_display = ("code", "source", "name", "created", "known", "refused", "created_at")


@admin.register(ImportItem)
class ImportItemAdmin(ReadOnly):
    """Items of imports."""

    list_display = ("run", "name", "outcome", "tier", "reason", "task")
    list_filter = ("outcome", "tier")
    list_select_related = ("run", "task")


@admin.register(ModelEndpoint)
class ModelEndpointAdmin(ReadOnly):
    """Endpoints; they are changed on their page, which checks addresses and keeps the log."""

    list_display = ("name", "base_url", "model", "active", "latency", "probed_at")
    list_filter = ("active",)
    search_fields = ("name", "model")


@admin.register(ModelCall)
class ModelCallAdmin(ReadOnly):
    """Calls to models, by what they were made for."""

    list_display = (
        "endpoint", "model", "subject", "part", "prompt_tokens", "completion_tokens", "seconds",
        "created_at",
    )  # fmt: skip
    list_filter = ("endpoint",)
    search_fields = ("subject", "part", "key__startswith")
    exclude = ("request", "answer")
