"""The admin site for the platform's rows: read-mostly, a role is the one thing to change here.

People come in by an invitation (account page), tokens are made by their owners, jobs move by
operations; so nothing is added here, and the audit log is only read.
"""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest

from studio.web import audit
from studio.web.models import (
    ApiToken,
    AuditEntry,
    Blob,
    BulkAction,
    Draft,
    Invitation,
    Job,
    SavedView,
    SignInThrottle,
    User,
    Worker,
)

admin.site.site_header = "CoworkEnv Studio"
admin.site.site_title = "CoworkEnv Studio"
admin.site.index_title = "Administration"
# The role decides; groups and their permissions would be a second, unused answer.
admin.site.unregister(Group)


class ReadOnly(admin.ModelAdmin[Any]):
    """Rows to look at."""

    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nothing is added here."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is changed here."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nothing is deleted here."""
        return False


@admin.register(User)
class UserAdmin(ReadOnly):
    """People: role and whether they may come in can be changed."""

    list_display = ("username", "email", "role", "is_active", "last_login")
    list_filter = ("role", "is_active")
    search_fields = ("username", "email", "first_name", "last_name")
    fields = (
        "username", "first_name", "last_name", "email", "role", "is_active", "last_login",
        "date_joined",
    )  # fmt: skip
    readonly_fields = ("username", "last_login", "date_joined")

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Administrators reach this site, and they may."""
        return True

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's signature
        """Save and remember who changed what."""
        super().save_model(request, obj, form, change)
        actor = request.user if isinstance(request.user, User) else None
        detail = {name: str(form.cleaned_data[name]) for name in form.changed_data}
        audit.record(actor, "change_user", obj.username, {**detail})


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly):
    """Who did what."""

    list_display = ("created_at", "actor_name", "act", "subject", "token")
    list_filter = ("act",)
    search_fields = ("subject", "actor_name")
    date_hierarchy = "created_at"


@admin.register(Job)
class JobAdmin(ReadOnly):
    """Work in the background."""

    list_display = ("code", "kind", "state", "user", "done", "total", "attempt", "created_at")
    list_filter = ("state", "kind", "queue")
    search_fields = ("code", "subject")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnly):
    """Tokens, never their secrets."""

    list_display = ("code", "user", "name", "scopes", "expires_at", "last_used_at", "revoked_at")
    exclude = ("digest",)


@admin.register(Invitation)
class InvitationAdmin(ReadOnly):
    """Links that were made, never their secrets."""

    list_display = ("created_at", "role", "email", "user", "invited_by", "expires_at", "used_at")
    exclude = ("digest",)


@admin.register(Blob)
class BlobAdmin(ReadOnly):
    """Stored bytes by their hash."""

    list_display = ("sha256", "media_type", "size", "created_at")
    exclude = ("content",)


@admin.register(Worker)
class WorkerAdmin(ReadOnly):
    """Workers as they were last seen."""

    list_display = ("name", "queues", "pid", "created_at", "seen_at")


@admin.register(SavedView, BulkAction, Draft, SignInThrottle)
class OtherAdmin(ReadOnly):
    """The rest, to look at."""

    list_display = ("__str__", "created_at")
