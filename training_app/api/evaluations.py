"""Evaluations: freeze a suite, measure a model on it, read what came of it; serve a checkpoint."""

from typing import Any, Final

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from studio.web import audit, claims, jobs
from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.codes import get_by_code
from studio.web.errors import Conflict
from studio.web.models import Job
from training_app.jobs.evaluations import start_evaluation, start_serving
from training_app.models import Evaluation
from training_app.operations.evaluations import (
    BUILT_IN,
    built_in_suite,
    find_suite,
    freeze_suite,
    set_baseline,
)
from training_app.queries import evaluations as queries
from training_app.queries.comparisons import comparison_of, different_suites
from training_app.queries.runs import get_checkpoint
from training_app.queries.servings import SERVE, servings
from training_app.schemas.evaluations import (
    BaselineIn,
    ComparisonOut,
    EvaluationDetail,
    EvaluationIn,
    EvaluationOut,
    ServingIn,
    ServingOut,
    ServingStarted,
    SuiteIn,
    SuiteOut,
)

router = Router(tags=["evaluations"])
suites = Router(tags=["evaluations"])
served = Router(tags=["evaluations"])
_NOTHING: Final = "none"


class Which(Schema):
    """Which evaluations."""

    suite: str = Field("", max_length=80, description="Name or code of a suite.")
    model: str = Field("", max_length=80, description="A run, a checkpoint or an endpoint.")


@suites.get("", response=PageOut[SuiteOut], summary="Suites, newest first")
@require(Act.READ)
def list_suites(request: HttpRequest, paging: Query[Paging]) -> PageOut[SuiteOut]:
    """All suites; built-in ones from their first use on."""
    return page_out(queries.suite_page(paging.cursor, paging.size), SuiteOut.from_row)


@suites.post("", response={201: SuiteOut}, summary="Freeze a suite")
@require(Act.EVALUATE)
def freeze(request: HttpRequest, body: SuiteIn) -> Status[SuiteOut]:
    """The tasks of the filter as they are now; a suite never changes afterwards."""
    if body.name in BUILT_IN:
        return Status(201, SuiteOut.from_row(built_in_suite(body.name)))
    row = freeze_suite(name=body.name, filter_text=body.filter, by=principal(request))
    return Status(201, SuiteOut.from_row(row))


@suites.get("/{code}", response=SuiteOut, summary="One suite")
@require(Act.READ)
def read_suite(request: HttpRequest, code: str) -> SuiteOut:
    """By name or code."""
    return SuiteOut.from_row(queries.get_suite(code))


@router.get("", response=PageOut[EvaluationOut], summary="Evaluations, newest first")
@require(Act.READ)
def list_evaluations(
    request: HttpRequest, paging: Query[Paging], which: Query[Which]
) -> PageOut[EvaluationOut]:
    """All, or those of a suite or a model."""
    page = queries.evaluation_page(paging.cursor, paging.size, suite=which.suite, model=which.model)
    return page_out(page, EvaluationOut.from_row)


@router.post("", response={201: EvaluationOut}, summary="Measure a model")
@require(Act.EVALUATE)
def create(request: HttpRequest, body: EvaluationIn) -> Status[EvaluationOut]:
    """Open the batch and queue the job; 422 says what cannot be. A checkpoint is served for it."""
    row = start_evaluation(
        suite=find_suite(body.suite),
        checkpoint=get_checkpoint(body.checkpoint) if body.checkpoint else None,
        endpoint=body.endpoint,
        greedy=body.greedy,
        group_size=body.n,
        seed=body.seed,
        by=principal(request),
        **_baseline(body.baseline),
    )
    return Status(201, EvaluationOut.from_row(row))


def _baseline(code: str) -> dict[str, Any]:
    if code == _NOTHING:
        return {"compare": False}
    return {"baseline": queries.get_evaluation(code)} if code else {}


@router.get("/{code}", response=EvaluationDetail, summary="One evaluation with its report")
@require(Act.READ)
def read(request: HttpRequest, code: str) -> EvaluationDetail:
    """Scores per family with intervals, the difference to the baseline, regressions first."""
    return EvaluationDetail.of(queries.get_evaluation(code))


@router.put("/{code}/baseline", response=EvaluationDetail, summary="Compare it with another")
@require(Act.EVALUATE)
def compare(request: HttpRequest, code: str, body: BaselineIn) -> EvaluationDetail:
    """On the same suite, task by task; empty: with nothing."""
    row = queries.get_evaluation(code)
    other = queries.get_evaluation(body.baseline) if body.baseline else None
    set_baseline(evaluation=row, baseline=other, by=principal(request))
    return EvaluationDetail.of(queries.get_evaluation(code))


@router.get(
    "/{code}/compare/{other}", response=ComparisonOut, summary="The first as before, the second now"
)
@require(Act.READ)
def compare_two(request: HttpRequest, code: str, other: str) -> ComparisonOut:
    """Paired differences by family with intervals, regressions first. 409 on different suites."""
    before, after = queries.get_evaluation(code), queries.get_evaluation(other)
    found = comparison_of(before, after)
    if found.difference is None:
        raise Conflict(different_suites(before, after))
    return ComparisonOut.of(found, found.difference)


@router.post("/{code}/cancel", response=EvaluationOut, summary="Stop an evaluation")
@require(Act.EVALUATE)
def cancel(request: HttpRequest, code: str) -> EvaluationOut:
    """Stop its job; graded episodes stay. 409 when it has ended."""
    row = queries.get_evaluation(code)
    claims.request_cancel(_job(row))
    audit.record(principal(request), "cancel_evaluation", row.code)
    return EvaluationOut.from_row(queries.get_evaluation(code))


@router.post("/{code}/resume", response=EvaluationOut, summary="Go on with a stopped evaluation")
@require(Act.EVALUATE)
def resume(request: HttpRequest, code: str) -> EvaluationOut:
    """Run what is left of it."""
    row = queries.get_evaluation(code)
    jobs.resume(_job(row))
    audit.record(principal(request), "resume_evaluation", row.code)
    return EvaluationOut.from_row(queries.get_evaluation(code))


def _job(row: Evaluation) -> Job:
    if row.job is None:
        raise Conflict(f"{row.code} has no job.")
    return row.job


@served.get("", response=list[ServingOut], summary="Served checkpoints")
@require(Act.READ)
def list_served(request: HttpRequest) -> list[ServingOut]:
    """Those that answer at the moment, with their addresses on the machine that serves them."""
    return [ServingOut.from_row(row) for row in servings()]


@served.post("", response={202: ServingStarted}, summary="Serve a checkpoint")
@require(Act.EVALUATE)
def serve(request: HttpRequest, body: ServingIn) -> Status[ServingStarted]:
    """Queue it: it waits for its device like a training run. 409 where its weights are gone."""
    checkpoint = get_checkpoint(body.checkpoint)
    job = start_serving(checkpoint=checkpoint, by=principal(request), idle=body.idle)
    audit.record(principal(request), "start_serving", checkpoint.code, {"job": job.code})
    return Status(202, ServingStarted.from_job(job))


@served.post("/{job}/stop", response=ServingStarted, summary="End a server")
@require(Act.EVALUATE)
def stop(request: HttpRequest, job: str) -> ServingStarted:
    """By the code of its job. 409 when it has ended."""
    row = get_by_code(Job.objects.filter(kind=SERVE), job)
    claims.request_cancel(row)
    audit.record(principal(request), "stop_serving", row.subject, {"job": row.code})
    return ServingStarted.from_job(row)
