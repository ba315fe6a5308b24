"""Jobs of evaluations: measuring a model on a suite, and serving a checkpoint."""

from typing import Final

from django.db import transaction

from rollouts_app.jobs import run_batch
from rollouts_app.operations.batches import link_job as link_batch
from studio.lib.jsonvalue import JsonObject
from studio.web.auth import Principal
from studio.web.errors import NotFound
from studio.web.jobs import JobHandle, register, start
from studio.web.models import Job, User
from training_app.jobs.serving import ensure_servable, keep
from training_app.models import Checkpoint, Evaluation, Suite
from training_app.operations.evaluations import link_job, open_evaluation, record_report
from training_app.queries.evaluations import get_evaluation
from training_app.queries.runs import get_checkpoint
from training_app.queries.servings import SERVE

EVALUATE: Final = "evaluate"
IDLE: Final = 900.0
"""Seconds without a question after which a served checkpoint makes room for others."""


@transaction.atomic
def start_evaluation(
    *,
    suite: Suite,
    checkpoint: Checkpoint | None = None,
    endpoint: str = "",
    greedy: bool = True,
    group_size: int = 1,
    seed: int = 0,
    baseline: Evaluation | None = None,
    compare: bool = True,
    by: User | Principal | None,
) -> Evaluation:
    """Open an evaluation and queue its job. Invalid says what cannot be."""
    row = open_evaluation(
        suite=suite,
        checkpoint=checkpoint,
        endpoint=endpoint,
        greedy=greedy,
        group_size=group_size,
        seed=seed,
        baseline=baseline,
        compare=compare,
        by=by,
    )
    user = by if isinstance(by, User) or by is None else by.user
    job = start(EVALUATE, arguments_of(row), user, subject=row.code)
    link_job(evaluation=row, job_id=job.pk)
    if row.batch is not None:
        link_batch(batch=row.batch, job_id=job.pk)
    return get_evaluation(row.code)


def arguments_of(evaluation: Evaluation) -> JsonObject:
    """What its job needs: the batch too, since it runs that."""
    batch = evaluation.batch
    return {"evaluation": evaluation.code, "batch": batch.code if batch is not None else ""}


def evaluate(handle: JobHandle) -> JsonObject | None:
    """Run what is left of an evaluation's batch, then say what it came to; None where it is gone.

    Safe to run twice: graded episodes stay, and stored answers are not asked for again.
    """
    row = Evaluation.objects.filter(code=handle.arguments.get("evaluation")).first()
    if row is None:
        return None
    link_job(evaluation=row, job_id=handle.job_id)
    run_batch(handle)
    return result_of(record_report(evaluation=row))


def result_of(evaluation: Evaluation) -> JsonObject:
    """The job's result, as the command prints it."""
    report = evaluation.report
    return {
        "evaluation": evaluation.code,
        **{name: report.get(name) for name in ("score", "low", "high", "pass_3")},
        "n": report.get("graded"),
        "split_kind": report.get("split_kind"),
    }


def start_serving(
    *, checkpoint: Checkpoint, by: User | Principal | None, idle: float = IDLE
) -> Job:
    """Queue the serving of a checkpoint. Conflict where its weights are gone."""
    ensure_servable(checkpoint)
    user = by if isinstance(by, User) or by is None else by.user
    arguments: JsonObject = {"checkpoint": checkpoint.code, "idle": idle}
    return start(SERVE, arguments, user, subject=checkpoint.code)


def serve_checkpoint(handle: JobHandle) -> JsonObject | None:
    """Serve until somebody stops the job or nobody asks any more; None where it is gone."""
    try:
        checkpoint = get_checkpoint(str(handle.arguments.get("checkpoint")))
    except NotFound:
        return None
    idle = handle.arguments.get("idle")
    seconds = float(idle) if isinstance(idle, int | float) else IDLE
    return {"checkpoint": checkpoint.code, "answers": keep(checkpoint, handle, idle=seconds)}


register(EVALUATE, "chat", evaluate)
register(SERVE, "train", serve_checkpoint)
