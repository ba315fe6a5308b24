"""The audit log, for administrators."""

import datetime as dt
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import require
from studio.web.models import AuditEntry
from studio.web.pagination import keyset

router = Router(tags=["audit"])


class AuditOut(Schema):
    """Who did what to which thing."""

    created_at: dt.datetime
    actor_name: str
    token: str
    act: str
    subject: str
    detail: dict[str, Any]

    @staticmethod
    def from_row(row: AuditEntry) -> "AuditOut":
        """The public form of a row."""
        return AuditOut.from_orm(row)


class AuditFilter(Paging):
    """Which entries."""

    subject: Annotated[str, Field(max_length=120)] | None = None
    act: Annotated[str, Field(max_length=60)] | None = None


@router.get("", response=PageOut[AuditOut], summary="The audit log, newest first")
@require(Act.CHANGE_SETTINGS)
def list_entries(request: HttpRequest, asked: Query[AuditFilter]) -> PageOut[AuditOut]:
    """All entries, or those of a subject or an act."""
    chosen = {"subject": asked.subject, "act": asked.act}
    given = {key: value.replace("\x00", "") for key, value in chosen.items() if value}
    page = keyset(
        AuditEntry.objects.filter(**given),
        order="-created_at",
        cursor=asked.cursor,
        size=asked.size,
        filter_hash=repr(sorted(given.items())),
    )
    return page_out(page, AuditOut.from_row)
