"""Running a batch: many tasks, n episodes each. Safe to run twice: graded episodes stay.

The batch's job does all of it. Where other workers are idle they help: a message asks them to take
packets for a while. Helpers need no row of their own, for whatever they leave undone the job does.
"""

import logging
import time
from typing import Final

from celery import shared_task
from django.db import transaction
from kombu.exceptions import OperationalError as BrokerError

from rollouts_app.enums import Purpose
from rollouts_app.model_runner import ModelRunner
from rollouts_app.models import RolloutBatch
from rollouts_app.operations.batches import (
    CONCURRENCY,
    link_job,
    open_batch,
    tally,
)
from rollouts_app.operations.flags import probe
from rollouts_app.policies import is_model
from rollouts_app.queries import open_episodes, selected, to_probe
from rollouts_app.runner import PACKET, BatchRunner, help_out
from studio.lib.jsonvalue import JsonObject
from studio.web.auth import Principal
from studio.web.jobs import JobHandle, register, start
from studio.web.models import Job, User

logger = logging.getLogger(__name__)

KIND: Final = "run_rollouts"
MODEL_KIND: Final = "run_model_rollouts"
"""The same on a model: its workers wait for endpoints, not for cores."""

PROBE_KIND: Final = "probe_episodes"

QUEUE: Final = "light"
MOST_HELPERS: Final = 15
_PROBED_A_REPORT: Final = 50
HELP_SECONDS: Final = 10.0
"""A helper's turn; then it queues up again behind whatever else waits for a worker."""


def kind_of(policy: str) -> str:
    """Which kind of job runs a policy."""
    return MODEL_KIND if is_model(policy) else KIND


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
    runner: ModelRunner | BatchRunner
    if is_model(batch.policy):
        runner = ModelRunner(batch, handle)
    else:
        runner = BatchRunner(batch, handle)
        if not Job.objects.filter(pk=handle.job_id, inline=True).exists():
            ask_for_help(batch, min(MOST_HELPERS, open_episodes(batch).count() // (2 * PACKET)))
    try:
        runner.run()
    finally:
        runner.store()
        batch = tally(batch=batch, seconds=runner.seconds, finished=runner.finished)
    if is_model(batch.policy):  # built-in policies are cheap tricks by design, or the reference
        probe(to_probe(f"batch:{batch.code}"))
    return result_of(batch)


def ask_for_help(batch: RolloutBatch, helpers: int) -> None:
    """Ask so many idle workers to take packets; without a broker the job does it alone."""
    try:
        for _ in range(helpers):
            help_with_batch.apply_async(args=[batch.pk], queue=QUEUE, retry=False)
    except (BrokerError, OSError) as error:
        logger.warning("nobody was asked to help with %s: %s", batch.code, error)


@shared_task(name="rollouts_app.jobs.help_with_batch", ignore_result=True)
def help_with_batch(batch_id: int) -> None:
    """Help with a batch for one turn; harmless when it is gone, over or stopped."""
    batch = RolloutBatch.objects.filter(pk=batch_id).first()
    if batch is not None and help_out(batch, seconds=HELP_SECONDS):
        ask_for_help(batch, 1)


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


def probe_episodes(handle: JobHandle) -> JsonObject:
    """Look at the episodes of a filter for rewards earned by a trick (gate P2)."""
    began = time.monotonic()

    def report(done: int) -> None:
        if done % _PROBED_A_REPORT == 0:
            handle.stop_if_cancelled()
            handle.progress(done, None, "")

    found = probe(to_probe(str(handle.arguments["filter"])), report=report)
    return {**found._asdict(), "seconds": round(time.monotonic() - began, 3)}


register(KIND, QUEUE, run_batch)
register(PROBE_KIND, QUEUE, probe_episodes)
register(MODEL_KIND, "chat", run_batch)
