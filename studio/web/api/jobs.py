"""Jobs: watch, stop, resume."""

import datetime as dt
from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field, JsonValue

from studio.web import audit, claims, jobs
from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import Principal, ensure, principal, require
from studio.web.choices import JobState
from studio.web.codes import get_by_code
from studio.web.htmx import etag
from studio.web.models import Job
from studio.web.pagination import keyset

router = Router(tags=["jobs"])


class JobOut(Schema):
    """A job; ``rate`` in units a second, ``result`` once it succeeded."""

    code: str
    kind: str
    state: JobState
    subject: str
    user: str | None
    done: int
    total: int | None
    rate: float | None
    note: str
    attempt: int
    cancel_requested: bool
    error: str
    result: JsonValue
    created_at: dt.datetime
    started_at: dt.datetime | None
    finished_at: dt.datetime | None

    @staticmethod
    def from_row(row: Job) -> "JobOut":
        """The public form of a row."""
        return JobOut(
            code=row.code,
            kind=row.kind,
            state=JobState(row.state),
            subject=row.subject,
            user=None if row.user is None else row.user.username,
            done=row.done,
            total=row.total,
            rate=row.rate,
            note=row.note,
            attempt=row.attempt,
            cancel_requested=row.cancel_requested,
            error=row.error,
            result=row.result,
            created_at=row.created_at,
            started_at=row.started_at,
            finished_at=row.finished_at,
        )


class JobFilter(Paging):
    """Which jobs."""

    state: JobState | None = None
    kind: Annotated[str, Field(max_length=60)] | None = None
    subject: Annotated[str, Field(max_length=40)] | None = None


@router.get("", response=PageOut[JobOut], summary="Jobs, newest first")
@require(Act.READ)
def list_jobs(request: HttpRequest, asked: Query[JobFilter]) -> PageOut[JobOut]:
    """All jobs, or those of a state, kind or subject."""
    chosen = {"state": asked.state, "kind": asked.kind, "subject": asked.subject}
    given = {key: str(value).replace("\x00", "") for key, value in chosen.items() if value}
    page = keyset(
        Job.objects.select_related("user").filter(**given),
        order="-created_at",
        cursor=asked.cursor,
        size=asked.size,
        filter_hash=repr(sorted(given.items())),
    )
    return page_out(page, JobOut.from_row)


@router.get("/{code}", response=JobOut, summary="One job")
@require(Act.READ)
def get_job(request: HttpRequest, response: HttpResponse, code: str) -> JobOut:
    """The job as it stands; poll it until ``finished_at`` is set."""
    out = JobOut.from_row(get_by_code(Job.objects.select_related("user"), code))
    response["ETag"] = etag(out.model_dump(mode="json"))
    return out


@router.post("/{code}/cancel", response=JobOut, summary="Stop a job")
@require(Act.GENERATE)
def cancel_job(request: HttpRequest, code: str) -> JobOut:
    """At once while it waits, at its next chance while it runs; 409 when it has ended."""
    row = _own(principal(request), code)
    claims.request_cancel(row)
    audit.record(principal(request), "cancel_job", row.code, {"kind": row.kind})
    return JobOut.from_row(row)


@router.post("/{code}/resume", response=JobOut, summary="Queue an ended job again")
@require(Act.GENERATE)
def resume_job(request: HttpRequest, code: str) -> JobOut:
    """For a stopped, failed, paused or lost job; 409 for any other."""
    row = _own(principal(request), code)
    jobs.resume(row)
    audit.record(principal(request), "resume_job", row.code, {"kind": row.kind})
    return JobOut.from_row(row)


def _own(who: Principal, code: str) -> Job:
    row = get_by_code(Job.objects.select_related("user"), code)
    if row.user_id not in (None, who.user.pk):
        ensure(who, Act.CHANGE_SETTINGS)
    return row
