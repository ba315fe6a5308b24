"""Opening batches and keeping their counts."""

from collections.abc import Sequence
from typing import Any

from django.db import transaction
from django.db.models import Avg, Count, F, Func, IntegerField, Q, Sum
from django.utils import timezone

from rollouts_app.core.scripted import POLICIES
from rollouts_app.core.teacher import PREFIX
from rollouts_app.enums import EpisodeState, Purpose
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.policies import Provider, brought, is_model, provider_of
from rollouts_app.queries import Chosen
from studio.lib.jsonvalue import JsonObject
from studio.web import audit
from studio.web.audit import HasUser
from studio.web.codes import new_codes
from studio.web.errors import Invalid, Problem
from studio.web.models import Job, User
from tasks_app.enums import EndpointRole
from tasks_app.models import ModelEndpoint
from tasks_app.operations.model_calls import spent
from tasks_app.queries import endpoints

MOST_EPISODES = 1_000_000
LARGEST_GROUP = 256
CONCURRENCY = 8
"""Episodes of a model at once, where nobody says otherwise."""
MOST_AT_ONCE = 64
LARGEST_BUDGET = 2**31 - 1
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
    sampling: JsonObject | None = None,
    concurrency: int = CONCURRENCY,
    budget_calls: int | None = None,
    budget_tokens: int | None = None,
) -> RolloutBatch:
    """Freeze what will be run: the batch, and a queued episode for every version and group index.

    Invalid names every argument that cannot be; nothing is written then. Leaves one audit entry.
    ``sampling`` replaces parts of how the model of the policy draws by itself.
    """
    endpoint = _endpoint(policy)
    provider = provider_of(policy)
    problems = _problems(policy, endpoint, provider, chosen, group_size, seed)
    if not 1 <= concurrency <= MOST_AT_ONCE:
        problems.append(Problem("concurrency", f"must be between 1 and {MOST_AT_ONCE}"))
    problems += _budget_problems(budget_calls, budget_tokens)
    if problems:
        raise Invalid("This batch cannot be started.", problems)
    batch = RolloutBatch(
        purpose=purpose,
        policy=policy,
        filter=filter_text,
        group_size=group_size,
        seed=seed,
        limits=limits or (dict(provider.limits) if provider is not None else {}),
        sampling=_sampling(policy, endpoint, provider) | (sampling or {}),
        concurrency=concurrency if endpoint is not None or provider is not None else 1,
        budget_calls=budget_calls,
        budget_tokens=budget_tokens,
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


def _endpoint(policy: str) -> ModelEndpoint | None:
    """The endpoint behind a policy's name, where it is offered as a teacher."""
    if not policy.startswith(PREFIX) or not policy.isprintable():
        return None
    return endpoints(EndpointRole.TEACHER).filter(name=policy.removeprefix(PREFIX)).first()


def _sampling(policy: str, endpoint: ModelEndpoint | None, provider: Provider | None) -> JsonObject:
    """How the model of a policy draws by itself."""
    if provider is not None:
        return provider.sampling(policy.removeprefix(provider.prefix))
    return {"model": endpoint.model, **endpoint.sampling} if endpoint is not None else {}


def _budget_problems(calls: int | None, tokens: int | None) -> list[Problem]:
    return [
        Problem(place, f"must be between 1 and {LARGEST_BUDGET:,}")
        for place, value in (("budget_calls", calls), ("budget_tokens", tokens))
        if value is not None and not 1 <= value <= LARGEST_BUDGET
    ]


def _problems(
    policy: str,
    endpoint: ModelEndpoint | None,
    provider: Provider | None,
    chosen: Sequence[Chosen],
    group_size: int,
    seed: int,
) -> list[Problem]:
    problems = []
    if endpoint is not None and endpoint.abilities.get("tools") is False:
        problems.append(
            Problem(
                "policy",
                f"the endpoint {endpoint.name} takes no tools, and acting needs them",
                "Serve the model with tool calls switched on, and probe it again.",
            )
        )
    if policy not in POLICIES and endpoint is None and provider is None:
        offered = endpoints(EndpointRole.TEACHER).values_list("name", flat=True)
        models = [*(f"{PREFIX}{name}" for name in offered), *(name for name, _ in brought())]
        known = ", ".join([*POLICIES, *models])
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
def set_budget(
    *, batch: RolloutBatch, by: User | HasUser | None, calls: int | None, tokens: int | None
) -> None:
    """Allow a stopped batch another budget, None for none. Audited."""
    problems = _budget_problems(calls, tokens)
    if problems:
        raise Invalid("This budget cannot be.", problems)
    RolloutBatch.objects.filter(pk=batch.pk).update(budget_calls=calls, budget_tokens=tokens)
    audit.record(by, "set_budget", batch.code, {"calls": calls, "tokens": tokens})


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
    if is_model(row.policy):
        counts["usage"] = spent(row.code)._asdict()
    for name, value in counts.items():
        setattr(row, name, value)
    row.seconds += seconds
    row.finished_at = timezone.now() if finished else None
    row.save(update_fields=[*counts, "seconds", "finished_at"])
    return row
