"""Rollout batches: start, watch, stop, resume."""

from django.http import HttpRequest
from ninja import Query, Router, Status

from rollouts_app import queries, reports
from rollouts_app.jobs import start_batch
from rollouts_app.models import RolloutBatch
from rollouts_app.operations.batches import set_budget
from rollouts_app.schemas import BatchIn, BatchOut, BudgetIn, PassingOut
from studio.web import audit, claims, jobs
from studio.web.acts import Act
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.errors import Conflict
from studio.web.models import Job

router = Router(tags=["rollouts"])


@router.post("", response={201: BatchOut}, summary="Start a batch")
@require(Act.ROLL_OUT)
def create(request: HttpRequest, body: BatchIn) -> Status[BatchOut]:
    """Freeze the tasks of the filter as they are now and queue the job; 422 says what cannot be."""
    batch = start_batch(
        policy=body.policy,
        filter_text=body.tasks,
        group_size=body.n,
        seed=body.seed,
        by=principal(request),
        concurrency=body.concurrency,
        budget_calls=body.budget_calls,
        budget_tokens=body.budget_tokens,
    )
    return Status(201, BatchOut.from_row(queries.get_batch(batch.code)))


@router.get("", response=PageOut[BatchOut], summary="Batches, newest first")
@require(Act.READ)
def list_batches(request: HttpRequest, paging: Query[Paging]) -> PageOut[BatchOut]:
    """All batches."""
    return page_out(queries.batch_page(paging.cursor, paging.size), BatchOut.from_row)


@router.get("/{code}", response=BatchOut, summary="One batch")
@require(Act.READ)
def get_batch(request: HttpRequest, code: str) -> BatchOut:
    """The batch as it stands; poll it until ``finished_at`` is set."""
    return BatchOut.from_row(queries.get_batch(code))


@router.get("/{code}/passing", response=list[PassingOut], summary="pass@k and pass^k")
@require(Act.READ)
def get_passing(request: HttpRequest, code: str) -> list[PassingOut]:
    """All tasks of the batch, then family by family."""
    return [PassingOut.from_row(row) for row in reports.passing(queries.get_batch(code))]


@router.post("/{code}/cancel", response=BatchOut, summary="Stop a batch")
@require(Act.ROLL_OUT)
def cancel(request: HttpRequest, code: str) -> BatchOut:
    """Stop its job; graded episodes stay. 409 when it has ended."""
    batch = queries.get_batch(code)
    claims.request_cancel(_job(batch))
    audit.record(principal(request), "cancel_batch", batch.code)
    return BatchOut.from_row(queries.get_batch(code))


@router.post("/{code}/resume", response=BatchOut, summary="Go on with a stopped batch")
@require(Act.ROLL_OUT)
def resume(request: HttpRequest, code: str) -> BatchOut:
    """Run what is left: queued episodes, and those that failed outside the policy."""
    batch = queries.get_batch(code)
    jobs.resume(_job(batch))
    audit.record(principal(request), "resume_batch", batch.code)
    return BatchOut.from_row(queries.get_batch(code))


@router.put("/{code}/budget", response=BatchOut, summary="Allow a batch more")
@require(Act.ROLL_OUT)
def change_budget(request: HttpRequest, code: str, body: BudgetIn) -> BatchOut:
    """Before resuming one that stopped at its budget; 409 while it runs."""
    batch = queries.get_batch(code)
    if not _job(batch).is_finished:
        raise Conflict(f"{batch.code} is running; stop it first.")
    set_budget(batch=batch, by=principal(request), calls=body.calls, tokens=body.tokens)
    return BatchOut.from_row(queries.get_batch(code))


def _job(batch: RolloutBatch) -> Job:
    if batch.job is None:
        raise Conflict(f"{batch.code} has no job.")
    return batch.job
