"""Opening batches and keeping their counts."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Avg, Count, F, Func, IntegerField, Q, Sum
from django.utils import timezone

from rollouts_app.core.scripted import POLICIES
from rollouts_app.enums import EpisodeState, Purpose
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.queries import Chosen
from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.codes import new_codes
from studio.web.errors import Invalid, Problem
from studio.web.models import Job, User

MOST_EPISODES = 1_000_000
LARGEST_GROUP = 256
_CHUNK = 2000
_INTEGER: IntegerField[int, int] = IntegerField()


@transaction.atomic
def open_batch(
    *,
    policy: str,
    chosen: Sequence[Chosen],
    filter_text: str,
    group_size: int,
    seed: int,
    by: User | HasUser | None,
    purpose: Purpose = Purpose.ROLLOUT,
    limits: JsonObject | None = None,
) -> RolloutBatch:
    """Freeze what will be run: the batch, and a queued episode for every version and group index.

    Invalid names every argument that cannot be; nothing is written then. Leaves one audit entry.
    """
    problems = _problems(policy, chosen, group_size, seed)
    if problems:
        raise Invalid("This batch cannot be started.", problems)
    batch = RolloutBatch(
        purpose=purpose,
        policy=policy,
        filter=filter_text,
        group_size=group_size,
        seed=seed,
        limits=limits or {},
        author=by if isinstance(by, User) or by is None else by.user,
        tasks=len(chosen),
        episodes_planned=len(chosen) * group_size,
    )
    batch.save()
    for first in range(0, len(chosen), _CHUNK):
        part = chosen[first : first + _CHUNK]
        codes = iter(new_codes(Episode, len(part) * group_size))
        Episode.objects.bulk_create(
            [
                Episode(
                    code=next(codes),
                    batch=batch,
                    task_id=each.task_id,
                    version_id=each.version_id,
                    group_index=index,
                    seed=seed + index,
                    policy=policy,
                )
                for each in part
                for index in range(group_size)
            ],
            batch_size=_CHUNK,
        )
    detail: JsonObject = {
        "policy": policy,
        "filter": filter_text,
        "tasks": len(chosen),
        "episodes": batch.episodes_planned,
    }
    audit.record(by, "start_batch", batch.code, detail)
    return batch


def _problems(policy: str, chosen: Sequence[Chosen], group_size: int, seed: int) -> list[Problem]:
    problems = []
    if policy not in POLICIES:
        known = ", ".join(POLICIES)
        problems.append(Problem("policy", f"there is no policy “{policy}”", f"Known: {known}."))
    if not chosen:
        problems.append(
            Problem(
                "filter",
                "no task matches",
                "Without state: only tasks with a green proof are rolled out.",
            )
        )
    if not 1 <= group_size <= LARGEST_GROUP:
        problems.append(Problem("group_size", f"must be between 1 and {LARGEST_GROUP}"))
    elif len(chosen) * group_size > MOST_EPISODES:
        problems.append(Problem("group_size", f"more than {MOST_EPISODES:,} episodes in one batch"))
    if not 0 <= seed <= 2**53:
        problems.append(Problem("seed", "must be between 0 and 2^53"))
    return problems


@transaction.atomic
def link_job(*, batch: RolloutBatch, job_id: int) -> None:
    """Say which job runs the batch now."""
    RolloutBatch.objects.filter(pk=batch.pk).update(job=Job(pk=job_id), finished_at=None)


@transaction.atomic
def tally(*, batch: RolloutBatch, seconds: float, finished: bool = False) -> RolloutBatch:
    """Count the batch's episodes into its columns; safe to repeat.

    Args:
        batch: The batch.
        seconds: Time spent since the last tally; added up.
        finished: Whether nothing is left to run.
    """
    row = RolloutBatch.objects.select_for_update(of=("self",)).get(pk=batch.pk)
    graded = Q(state=EpisodeState.GRADED)
    counts: dict[str, Any] = row.episodes.aggregate(
        graded=Count("pk", filter=graded),
        passed=Count("pk", filter=Q(passed=True)),
        failed=Count("pk", filter=Q(state=EpisodeState.FAILED)),
        mean_reward=Avg("reward", filter=graded),
        tokens=Sum("tokens"),
        violations=Sum(Func(F("violations"), function="cardinality", output_field=_INTEGER)),
    )
    counts["violations"] = counts["violations"] or 0
    for name, value in counts.items():
        setattr(row, name, value)
    row.seconds += seconds
    row.finished_at = timezone.now() if finished else None
    row.save(update_fields=[*counts, "seconds", "finished_at"])
    return row
