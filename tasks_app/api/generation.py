"""Requirements and the runs that make tasks of them."""

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from studio.web import claims
from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.errors import Conflict, Invalid, Problem
from studio.web.htmx import etag
from studio.web.pagination import keyset
from tasks_app.jobs import start_fill, start_generation
from tasks_app.models import GenerationRun, WorkflowRequirement
from tasks_app.operations.generation import save_requirement
from tasks_app.queries import attempts_of, get_requirement, get_run, losses
from tasks_app.queries import runs as all_runs
from tasks_app.schemas.generation import (
    AttemptOut,
    GenerationRunDetail,
    GenerationRunIn,
    GenerationRunOut,
    RequirementIn,
    RequirementOut,
)

requirements = Router(tags=["generation"])
runs = Router(tags=["generation"])


class AttemptsAfter(Schema):
    """Where to go on."""

    after: int = Field(-1, ge=-1)
    size: int = Field(200, ge=1, le=1000)


@requirements.get("", response=PageOut[RequirementOut], summary="Requirements, newest first")
@require(Act.READ)
def list_requirements(request: HttpRequest, paging: Query[Paging]) -> PageOut[RequirementOut]:
    """Shipped ones included."""
    rows = WorkflowRequirement.objects.select_related("author")
    page = keyset(rows, order="-created_at", cursor=paging.cursor, size=paging.size)
    return page_out(page, RequirementOut.from_row)


@requirements.post("", response={201: RequirementOut}, summary="Write a requirement")
@require(Act.GENERATE)
def create_requirement(request: HttpRequest, body: RequirementIn) -> Status[RequirementOut]:
    """Keeps it; start a run to make tasks of it."""
    row = save_requirement(by=principal(request), **body.model_dump())
    return Status(201, RequirementOut.from_row(row))


@requirements.get("/{code}", response=RequirementOut, summary="One requirement")
@require(Act.READ)
def read_requirement(request: HttpRequest, code: str) -> RequirementOut:
    """As it was written."""
    return RequirementOut.from_row(get_requirement(code))


@runs.get("", response=PageOut[GenerationRunOut], summary="Generation runs, newest first")
@require(Act.READ)
def list_runs(request: HttpRequest, paging: Query[Paging]) -> PageOut[GenerationRunOut]:
    """With their funnels."""
    page = keyset(all_runs(), order="-created_at", cursor=paging.cursor, size=paging.size)
    return page_out(page, GenerationRunOut.from_row)


@runs.post("", response={202: GenerationRunOut}, summary="Generate tasks")
@require(Act.GENERATE)
def start_run(request: HttpRequest, body: GenerationRunIn) -> Status[GenerationRunOut]:
    """A worker fills the run: poll it until its state is an end."""
    if body.fill:
        return Status(202, GenerationRunOut.from_row(_fill(request, body)))
    wish = get_requirement(body.requirement) if body.requirement else None
    families = body.families or (wish.families if wish else None)
    if not families:
        raise Invalid(
            "Say what to generate.", [Problem("families", "is missing, and so is requirement")]
        )
    run = start_generation(
        by=principal(request),
        families=families,
        count=_given(body.count, wish.count if wish else 20),
        seed=_given(body.seed, wish.seed if wish else 1),
        difficulty=body.difficulty or (wish.difficulty if wish else []),
        requirement=wish.code if wish else None,
    )
    return Status(202, GenerationRunOut.from_row(run))


def _fill(request: HttpRequest, body: GenerationRunIn) -> GenerationRun:
    chosen = [name for name in ("requirement", "families") if getattr(body, name)]
    if chosen:
        raise Invalid(
            "A fill chooses the families itself.",
            [Problem(name, "does not go with fill") for name in chosen],
        )
    return start_fill(
        by=principal(request),
        count=_given(body.count, 20),
        seed=_given(body.seed, 1),
        difficulty=body.difficulty or [],
    )


@runs.get("/{code}", response=GenerationRunDetail, summary="One run with its losses")
@require(Act.READ)
def read_run(request: HttpRequest, response: HttpResponse, code: str) -> GenerationRunDetail:
    """The funnel as it stands, and a reason behind each loss."""
    run = get_run(code)
    out = GenerationRunDetail.from_run(run, losses(run))
    response["ETag"] = etag(out.model_dump(mode="json"))
    return out


@runs.get("/{code}/attempts", response=list[AttemptOut], summary="The attempts of a run")
@require(Act.READ)
def list_attempts(request: HttpRequest, code: str, asked: Query[AttemptsAfter]) -> list[AttemptOut]:
    """In order, those behind index ``after``."""
    found = attempts_of(get_run(code), after=asked.after, size=asked.size)
    return [AttemptOut.from_row(row) for row in found]


@runs.post("/{code}/cancel", response=GenerationRunOut, summary="Stop a run")
@require(Act.GENERATE)
def cancel_run(request: HttpRequest, code: str) -> GenerationRunOut:
    """Tasks that it made stay; 409 when it has ended."""
    run = get_run(code)
    if run.job is None:
        raise Conflict(f"{run.code} was never started.")
    claims.request_cancel(run.job)
    return GenerationRunOut.from_row(get_run(code))


def _given(asked: int | None, otherwise: int) -> int:
    return otherwise if asked is None else asked
