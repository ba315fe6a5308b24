"""What pages say about episodes beyond their rows: what failed first, pass@k, what a model saw.

The counts are made in the database and give back few rows, however many episodes there are.
"""

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal, NamedTuple

from django.db import connection
from django.db.models import BooleanField, Case, Count, Max, Value, When

from rollouts_app.core.teacher import conversation
from rollouts_app.core.trajectory import DamagedTurn, RecordedTurn
from rollouts_app.enums import EpisodeState
from rollouts_app.models import Episode, EpisodePayload, RolloutBatch
from rollouts_app.queries import matching_episodes
from studio.lib.jsonvalue import JsonObject
from studio.lib.stats import pass_at_k, pass_hat_k
from studio.web.errors import NotFound
from studio.web.filters import Term, parse
from studio.web.filters import Value as FilterValue
from tasks_app.core.briefing import tool_schemas
from tasks_app.core.spec import SpecError
from tasks_app.core.values import InvalidValueError
from tasks_app.core.world.world import Seed
from tasks_app.models import ModelCall, TaskVersion
from tasks_app.models.endpoint import unpack

MOST_COUNTED: Final = 100_000
"""Episodes that a table of failures counts; of more the newest."""

FailureKind = Literal["constraint", "check", "boundary"]


class Failure(NamedTuple):
    """How many episodes of a family and a policy failed first at one place."""

    family: str
    policy: str
    kind: FailureKind
    """A constraint broken, a check not met, or something outside the policy: no result at all."""
    failed: str
    """Id of the constraint or check; of a boundary its name."""
    episodes: int
    filter: str
    """The filter text of exactly these episodes."""
    example: int
    """Id of the newest task version among them."""


class Runs(NamedTuple):
    """The episodes of a family and a policy."""

    graded: int
    failed: int
    """Graded ones in which something failed."""
    unscored: int
    """Those without a result."""


class Failures(NamedTuple):
    """What failed first under a filter, most frequent first."""

    rows: tuple[Failure, ...]
    runs: Mapping[tuple[str, str], Runs]
    """By family and policy."""
    counted: int
    partial: bool
    """Whether only the newest were counted."""


def failures(filter_text: str) -> Failures:
    """Count what failed first among the ended episodes of a filter. Raises FilterError."""
    base = parse(filter_text).render()
    newest = matching_episodes(filter_text).order_by("-created_at", "-pk")
    window = newest.values("pk")[:MOST_COUNTED]
    counts = (
        Episode.objects.filter(pk__in=window)
        .order_by()
        .annotate(
            broken=Case(
                When(violations=[], then=Value(False)),
                default=Value(True),
                output_field=BooleanField(),
            )
        )
        .values_list("task__family", "policy", "state", "first_failed", "boundary", "broken")
        .annotate(episodes=Count("pk"), example=Max("version_id"))
    )
    rows: list[Failure] = []
    runs: dict[tuple[str, str], Runs] = {}
    counted = 0
    for family, policy, state, first_failed, boundary, broken, episodes, example in counts:
        counted += episodes
        unscored = state == EpisodeState.FAILED
        known = runs.get((family, policy), Runs(0, 0, 0))
        runs[family, policy] = Runs(
            known.graded + (0 if unscored else episodes),
            known.failed + (episodes if first_failed else 0),
            known.unscored + (episodes if unscored else 0),
        )
        kind: FailureKind = "boundary" if unscored else "constraint" if broken else "check"
        failed = boundary if unscored else first_failed
        if failed:
            terms = {"family": family, "policy": policy, _KEY_OF[kind]: failed}
            if kind != "boundary":
                # A constraint and a check may bear one name.
                terms["violation"] = failed if broken else "none"
            text = " ".join([base, *(_term(key, value) for key, value in terms.items())]).strip()
            rows.append(Failure(family, policy, kind, failed, episodes, text, example))
    rows.sort(key=lambda row: (-row.episodes, row[:4]))
    more = counted == MOST_COUNTED and newest[MOST_COUNTED : MOST_COUNTED + 1].exists()
    return Failures(tuple(rows), runs, counted, partial=more)


_KEY_OF: Final[Mapping[FailureKind, str]] = {
    "constraint": "failure",
    "check": "failure",
    "boundary": "boundary",
}


def _term(key: str, value: str) -> str:
    return Term(key, (FilterValue(value, None, False, 0, 0),), False, 0, 0).render()


@functools.lru_cache(maxsize=512)
def sentences_of(version_id: int) -> Mapping[tuple[FailureKind, str], str]:
    """What the constraints and checks of a version say. A version never changes, so it is kept.

    Empty where the version cannot be read any more.
    """
    version = TaskVersion.objects.filter(pk=version_id).first()
    try:
        spec = None if version is None else version.load()
    except SpecError:
        spec = None
    if spec is None:
        return {}
    said: dict[tuple[FailureKind, str], str] = {}
    said.update({("constraint", rule.id): rule.sentence for rule in spec.constraints})
    said.update({("check", check.id): check.explain for check in spec.checks})
    return said


FAILURE_COLUMNS: Final = (
    "family", "policy", "kind", "failed", "episodes", "graded", "unscored", "filter",
)  # fmt: skip
"""What an export says of each row."""


def failure_rows(found: Failures) -> Iterator[JsonObject]:
    """The table as exports write it, with how many episodes there were."""
    for row in found.rows:
        runs = found.runs[row.family, row.policy]
        yield {
            "family": row.family,
            "policy": row.policy,
            "kind": row.kind,
            "failed": row.failed,
            "episodes": row.episodes,
            "graded": runs.graded,
            "unscored": runs.unscored,
            "filter": row.filter,
        }


class Share(NamedTuple):
    """pass@k or pass^k, the mean over the tasks that have k graded episodes."""

    k: int
    value: float | None
    """None where no task has so many."""
    tasks: int


class Passing(NamedTuple):
    """How the tasks of a family fare in a batch."""

    family: str
    """Empty: all of them."""
    tasks: int
    graded: int
    passed: int
    mean_reward: float | None
    at: tuple[Share, ...]
    hat: tuple[Share, ...]


_KS: Final = (1, 2, 3, 4, 8)


def ks_of(group_size: int) -> tuple[int, ...]:
    """The k that are told of a batch: the small ones, and the whole group."""
    return tuple(sorted({k for k in _KS if k <= group_size} | {group_size}))


def passing(batch: RolloutBatch) -> tuple[Passing, ...]:
    """pass@k and pass^k of a batch: all tasks first, then each family by name."""
    with connection.cursor() as cursor:
        cursor.execute(_GROUPS, [batch.pk])
        classes = [_Class(*row) for row in cursor.fetchall()]
    families = sorted({each.family for each in classes})
    ks = ks_of(batch.group_size)
    return (
        _passing("", classes, ks),
        *(_passing(name, [c for c in classes if c.family == name], ks) for name in families),
    )


class _Class(NamedTuple):
    """The tasks of a family that have the same counts."""

    family: str
    graded: int
    passed: int
    tasks: int
    rewards: float


_GROUPS: Final = f"""
SELECT family, graded, passed, count(*), coalesce(sum(rewards), 0)
FROM (
    SELECT task.family AS family,
        count(*) FILTER (WHERE episode.state = 'graded') AS graded,
        count(*) FILTER (WHERE episode.passed) AS passed,
        sum(episode.reward) AS rewards
    FROM {Episode._meta.db_table} AS episode
    JOIN tasks_app_task AS task ON task.id = episode.task_id
    WHERE episode.batch_id = %s
    GROUP BY task.family, episode.version_id
) AS groups
GROUP BY family, graded, passed
"""  # noqa: S608 - a name of ours, no values


def _passing(family: str, classes: list[_Class], ks: tuple[int, ...]) -> Passing:
    graded = sum(each.graded * each.tasks for each in classes)
    rewards = sum(each.rewards for each in classes)
    return Passing(
        family=family,
        tasks=sum(each.tasks for each in classes),
        graded=graded,
        passed=sum(each.passed * each.tasks for each in classes),
        mean_reward=rewards / graded if graded else None,
        at=tuple(
            _share(k, [(pass_at_k(c.graded, c.passed, k), c.tasks) for c in classes]) for k in ks
        ),
        hat=tuple(
            _share(k, [(pass_hat_k(c.graded, c.passed, k), c.tasks) for c in classes]) for k in ks
        ),
    )


def _share(k: int, values: list[tuple[float | None, int]]) -> Share:
    tasks = sum(count for value, count in values if value is not None)
    total = sum(value * count for value, count in values if value is not None)
    return Share(k, total / tasks if tasks else None, tasks)


class Told(NamedTuple):
    """What a policy was given before one turn."""

    turn: int
    """From 1; one more than there are turns: what a next turn would be given."""
    turns: int
    """How many can be asked for."""
    messages: list[dict[str, Any]]
    tools: tuple[dict[str, Any], ...]
    counted: int | None
    """Prompt tokens as the server counted them; None where no server did."""
    damage: str
    """Why a later turn cannot be shown; empty: nothing is wrong."""


def told(episode: Episode, turn: int | None = None) -> Told:
    """What the model saw before a turn, the first one where none is named.

    Of a model behind an endpoint it is the stored request; else it is made again from the
    recording, in the form in which a server is sent it, JSON respaced. NotFound for a turn that
    does not exist.
    """
    spec = episode.version.load()
    payload = EpisodePayload.objects.filter(pk=episode.pk).first()
    readable: list[RecordedTurn] = []
    damage = ""
    for recorded in payload.read().turns if payload is not None else ():
        if isinstance(recorded, DamagedTurn):
            damage = f"Turn {recorded.index + 1} cannot be read: {recorded.problem}."
            break
        readable.append(recorded)
    last = max(1, len(readable) + bool(damage))
    wanted = 1 if turn is None else turn
    if not 1 <= wanted <= last:
        raise NotFound(f"{episode.code} has no turn {wanted}; the last one is {last}.")
    calls = ModelCall.objects.filter(subject=episode.batch.code, part=episode.code).order_by("pk")
    call = next(iter(calls.defer("answer")[wanted - 1 : wanted]), None)
    if call is not None:  # what was sent, to the letter
        sent = unpack(bytes(call.request))
        counted = call.prompt_tokens or None
        return Told(wanted, last, sent["messages"], tuple(sent["tools"]), counted, damage)
    try:
        tools = tool_schemas(spec, Seed.of(spec).ground.tools)
    except InvalidValueError:
        tools = ()
    return Told(wanted, last, conversation(spec, readable[: wanted - 1]), tools, None, damage)
