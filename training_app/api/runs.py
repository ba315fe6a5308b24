"""Training runs: start, watch, stop, go on, take away."""

from collections.abc import Callable
from typing import TypeVar

from django.http import FileResponse, HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.codes import CodedModel
from studio.web.errors import Invalid, NotFound, Problem
from training_app.jobs.runs import cancel_run, resume_run, start_run
from training_app.models import Checkpoint
from training_app.operations.run_archives import export_stream
from training_app.operations.runs import promote, remove_weights
from training_app.operations.samples import open_sample
from training_app.queries import runs as queries
from training_app.queries.datasets import get_dataset
from training_app.schemas.runs import (
    CheckpointOut,
    CurveOut,
    MetricsOut,
    OpenedOut,
    PresetOut,
    PromoteIn,
    RunDetail,
    RunIn,
    RunOut,
    SamplesOut,
    SampleStepsOut,
)

router = Router(tags=["training"])
Row = TypeVar("Row", bound=CodedModel)


class RunsAsked(Paging):
    """Which runs."""

    q: str = Field("", max_length=2000, description="A filter of runs.")


class Since(Schema):
    """Where to read on."""

    cursor: str = Field("", max_length=400, description="What the last answer gave as cursor.")
    size: int = Field(1000, ge=1, le=queries.MOST_ROWS)


class SamplesAsked(Schema):
    """Which samples, from 0."""

    first: int = Field(0, ge=0, le=2**31 - 1)
    size: int = Field(20, ge=1, le=100)


@router.get("", response=PageOut[RunOut], summary="Runs, newest first")
@require(Act.READ)
def list_runs(request: HttpRequest, asked: Query[RunsAsked]) -> PageOut[RunOut]:
    """All runs, or those of a filter."""
    return page_out(
        queries.run_page(asked.q, cursor=asked.cursor, size=asked.size), RunOut.from_row
    )


@router.get("/presets", response=list[PresetOut], summary="Recipes on offer")
@require(Act.READ)
def presets(request: HttpRequest) -> list[PresetOut]:
    """Each whole, in their order."""
    return [PresetOut.from_recipe(recipe) for recipe in queries.presets()]


@router.post("", response={201: RunDetail}, summary="Start a run")
@require(Act.TRAIN)
def create(request: HttpRequest, body: RunIn) -> Status[RunDetail]:
    """Write its directory and queue the job; 422 names every place and fault."""
    run = start_run(
        preset=body.preset,
        recipe=body.recipe,
        changes=body.changes,
        dataset=_named("dataset", get_dataset, body.dataset),
        parent=_named("init", queries.get_checkpoint, body.init),
        seed=body.seed,
        by=principal(request),
    )
    return Status(201, RunDetail.from_run(queries.get_run(run.code)))


@router.get("/{code}", response=RunDetail, summary="One run")
@require(Act.READ)
def get_run(request: HttpRequest, code: str) -> RunDetail:
    """As it stands, with its recipe."""
    return RunDetail.from_run(queries.get_run(code))


@router.get("/{code}/metrics", response=CurveOut, summary="Its curve since a cursor")
@require(Act.READ)
def metrics(request: HttpRequest, code: str, asked: Query[Since]) -> CurveOut:
    """Poll it with the cursor of the last answer."""
    found = queries.metrics_since(queries.get_run(code), asked.cursor, asked.size)
    return CurveOut(
        items=[MetricsOut.from_row(row) for row in found.rows],
        cursor=found.cursor,
        again=found.again,
        more=found.more,
    )


@router.get("/{code}/samples", response=SampleStepsOut, summary="Steps with samples")
@require(Act.READ)
def sample_steps(request: HttpRequest, code: str) -> SampleStepsOut:
    """At which steps it was kept what the model wrote."""
    return SampleStepsOut(steps=queries.sample_steps(queries.get_run(code)))


@router.get("/{code}/samples/{step}", response=SamplesOut, summary="Samples of a step")
@require(Act.READ)
def samples(request: HttpRequest, code: str, step: int, asked: Query[SamplesAsked]) -> SamplesOut:
    """What the model wrote, with reward and violations; 404 where nothing was kept."""
    rows = queries.samples_at(queries.get_run(code), step)
    end = asked.first + asked.size
    return SamplesOut(
        step=step,
        total=len(rows),
        items=rows[asked.first : end],
        next_first=end if end < len(rows) else None,
    )


@router.post(
    "/{code}/samples/{step}/{index}/open",
    response=OpenedOut,
    summary="Make an episode of a sample",
)
@require(Act.ROLL_OUT)
def open_one(request: HttpRequest, code: str, step: int, index: int) -> OpenedOut:
    """So that it replays and is graded like any other; the same one again is the same episode."""
    run = queries.get_run(code)
    episode = open_sample(run=run, step=step, index=index, by=principal(request))
    return OpenedOut(episode=episode.code, task=episode.task.code, reward=episode.reward)


@router.get("/{code}/checkpoints", response=list[CheckpointOut], summary="Its checkpoints")
@require(Act.READ)
def checkpoints(request: HttpRequest, code: str) -> list[CheckpointOut]:
    """By step, those whose weights are gone included."""
    return [CheckpointOut.from_row(row) for row in queries.checkpoints_of(queries.get_run(code))]


@router.put(
    "/{code}/checkpoints/{step}/promoted",
    response=CheckpointOut,
    summary="Keep a checkpoint",
)
@require(Act.TRAIN)
def promote_one(request: HttpRequest, code: str, step: int, body: PromoteIn) -> CheckpointOut:
    """Whatever its age, or no longer; 409 where its weights are gone."""
    row = promote(checkpoint=_checkpoint(code, step), promoted=body.promoted, by=principal(request))
    return CheckpointOut.from_row(row)


@router.delete(
    "/{code}/checkpoints/{step}/weights",
    response=CheckpointOut,
    summary="Delete the weights of a checkpoint",
)
@require(Act.DELETE)
def delete_weights(request: HttpRequest, code: str, step: int) -> CheckpointOut:
    """Its row stays; 409 for a promoted one, or one that something goes on from."""
    row = remove_weights(checkpoint=_checkpoint(code, step), by=principal(request))
    return CheckpointOut.from_row(row)


@router.post("/{code}/cancel", response=RunDetail, summary="Stop a run")
@require(Act.TRAIN)
def cancel(request: HttpRequest, code: str) -> RunDetail:
    """At its next boundary, with a checkpoint; 409 where there is nothing to stop."""
    run = cancel_run(run=queries.get_run(code), by=principal(request))
    return RunDetail.from_run(queries.get_run(run.code))


@router.post("/{code}/resume", response=RunDetail, summary="Go on with a run")
@require(Act.TRAIN)
def resume(request: HttpRequest, code: str) -> RunDetail:
    """From its last checkpoint; 409 unless it was stopped, failed or got lost."""
    run = resume_run(run=queries.get_run(code), by=principal(request))
    return RunDetail.from_run(queries.get_run(run.code))


@router.get("/{code}/export", summary="The run as a zip that the engine runs anywhere")
@require(Act.EXPORT)
def export(request: HttpRequest, code: str) -> FileResponse:
    """413 for one that is too large for a download; the command export_run has no such limit."""
    run = queries.get_run(code)
    answer = FileResponse(export_stream(run=run), as_attachment=True, filename=f"{run.code}.zip")
    answer["Cache-Control"] = "no-store"
    return answer


def _checkpoint(code: str, step: int) -> Checkpoint:
    run = queries.get_run(code)
    row = (
        Checkpoint.objects.select_related("run").filter(run=run, step=min(step, 2**31 - 1)).first()
    )
    if row is None:
        raise NotFound(f"{run.code} has no checkpoint of step {step}.")
    return row


def _named(place: str, get: Callable[[str], Row], code: str) -> Row | None:
    """What a body names by its code: one that is not there is a fault of the body."""
    if not code:
        return None
    try:
        return get(code)
    except NotFound as error:
        raise Invalid("This run cannot be started.", [Problem(place, error.detail)]) from error
