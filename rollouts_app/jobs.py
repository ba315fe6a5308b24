"""Running a batch: many tasks, n episodes each. Safe to run twice: graded episodes stay."""

from typing import Final

from django.db import transaction

from rollouts_app.core.teacher import PREFIX
from rollouts_app.enums import Purpose
from rollouts_app.model_runner import ModelRunner
from rollouts_app.models import RolloutBatch
from rollouts_app.operations.batches import (
    CONCURRENCY,
    link_job,
    open_batch,
    tally,
)
from rollouts_app.queries import selected
from rollouts_app.runner import BatchRunner
from studio.lib.jsonvalue import JsonObject
from studio.web.auth import Principal
from studio.web.jobs import JobHandle, register, start
from studio.web.models import User

KIND: Final = "run_rollouts"
MODEL_KIND: Final = "run_model_rollouts"
"""The same on a model: its workers wait for endpoints, not for cores."""


def kind_of(policy: str) -> str:
    """Which kind of job runs a policy."""
    return MODEL_KIND if policy.startswith(PREFIX) else KIND


def start_batch(
    *,
    policy: str,
    filter_text: str,
    group_size: int,
    seed: int,
    by: User | Principal | None,
    purpose: Purpose = Purpose.ROLLOUT,
    concurrency: int = CONCURRENCY,
    budget_calls: int | None = None,
    budget_tokens: int | None = None,
) -> RolloutBatch:
    """Open a batch and queue its job. Invalid or FilterError say what cannot be."""
    user = by if isinstance(by, User) or by is None else by.user
    with transaction.atomic():
        batch = open_batch(
            policy=policy,
            chosen=selected(filter_text),
            filter_text=filter_text,
            group_size=group_size,
            seed=seed,
            by=by,
            purpose=purpose,
            concurrency=concurrency,
            budget_calls=budget_calls,
            budget_tokens=budget_tokens,
        )
        job = start(kind_of(policy), {"batch": batch.code}, user, subject=batch.code)
        link_job(batch=batch, job_id=job.pk)
        batch.job = job
    return batch


def run_batch(handle: JobHandle) -> JsonObject | None:
    """Run what is left of a batch; None where the batch is gone."""
    batch = RolloutBatch.objects.filter(code=handle.arguments.get("batch")).first()
    if batch is None:
        return None
    link_job(batch=batch, job_id=handle.job_id)
    model = batch.policy.startswith(PREFIX)
    runner = ModelRunner(batch, handle) if model else BatchRunner(batch, handle)
    try:
        runner.run()
    finally:
        runner.store()
        batch = tally(batch=batch, seconds=runner.seconds, finished=runner.finished)
    return result_of(batch)


def result_of(batch: RolloutBatch) -> JsonObject:
    """The job's result, as the command prints it."""
    return {
        "batch": batch.code,
        "episodes": batch.graded + batch.failed,
        "mean_reward": batch.mean_reward,
        "passed": batch.passed,
        "violations": batch.violations,
        "failed_infrastructure": batch.failed,
        "tokens": batch.tokens,
    }


register(KIND, "light", run_batch)
register(MODEL_KIND, "chat", run_batch)
