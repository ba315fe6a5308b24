"""Reads of batches and episodes: the filter language, keyset pages, replays.

``EPISODES`` compiles filter texts (``policy:reference passed:no stop:turn_limit``);
``episode_page`` gives one page of the list; ``selected`` the task versions a batch would run.
"""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

import orjson
from django.db.models import Count, F, Max, Min, Q, QuerySet

from rollouts_app.core import calibration
from rollouts_app.core.errors import BOUNDARIES
from rollouts_app.core.frames import Replay
from rollouts_app.core.replay import replay
from rollouts_app.core.scripted import POLICIES
from rollouts_app.core.trajectory import DamagedTurn, RecordedTurn, turn_json
from rollouts_app.enums import Curation, EpisodeState, FlagState, Purpose, StopReason
from rollouts_app.models import Episode, EpisodeFlag, EpisodePayload, RolloutBatch
from studio.lib.jsonvalue import JsonObject, JsonValue
from studio.web.choices import HELD, JobState
from studio.web.codes import get_by_code, normalise
from studio.web.errors import BadRequest, NotFound
from studio.web.filters import FilterSet, Key, Value, choice, date, exact, number, parse, yes_no
from studio.web.models import Job
from studio.web.pagination import Count as RowCount
from studio.web.pagination import Page, capped_count, keyset, keyset_all
from tasks_app.core.licences import NON_COMMERCIAL
from tasks_app.core.validation.card import GATES_VERSION
from tasks_app.enums import Verdict
from tasks_app.models import Task, TaskVersion
from tasks_app.queries import matching, names_non_commercial, playable


class Chosen(NamedTuple):
    """A task and the version of it that is rolled out."""

    task_id: int
    version_id: int


EPISODE_ORDERS: Final = {
    "newest": "-created_at",
    "oldest": "created_at",
    "worst": "reward",
    "best": "-reward",
    "longest": "-turns",
    "shortest": "turns",
    "tokens": "-tokens",
}
"""Name in the URL → column. Each has an index with the id."""


def _code(lookup: str) -> "Key":
    def compile_value(value: Value) -> Q:
        return Q(**{lookup: normalise(exact(value))})

    return Key(lookup.partition("__")[0], compile_value, None, "a code")


def _policies() -> Iterable[str]:
    used = Episode.objects.order_by("policy").values_list("policy", flat=True).distinct()
    return dict.fromkeys([*POLICIES, *used])


def _families() -> Iterable[str]:
    return Task.objects.order_by("family").values_list("family", flat=True).distinct()


def _violation(value: Value) -> Q:
    """A constraint's id, `any` or `none`."""
    wanted = exact(value)
    if wanted in ("any", "none"):
        unbroken = Q(violations=[])
        return unbroken if wanted == "none" else ~unbroken
    return Q(violations__contains=[wanted])


def _failure(value: Value) -> Q:
    """What failed first: the id of a constraint or check, `any` or `none`."""
    wanted = exact(value)
    if wanted == "any":
        return ~Q(first_failed="")
    if wanted == "none":
        return Q(first_failed="", state=EpisodeState.GRADED)
    return Q(first_failed=wanted)


def _flag(value: Value) -> Q:
    """What is suspicious: `open`, `confirmed`, `dismissed`, `any` or `none`."""
    wanted = exact(value)
    flagged = EpisodeFlag.objects.all()
    if wanted in FlagState.values:
        flagged = flagged.filter(state=wanted)
    found = Q(pk__in=flagged.values("episode"))
    return ~found if wanted == "none" else found


def _word(word: str) -> Q:
    return Q(task__text__contains=word.lower()) | Q(code=word.upper())


EPISODES: Final = FilterSet(
    "episodes",
    (
        _code("task__code"),
        choice("family", "task__family", _families),
        choice("policy", "policy", _policies),
        _code("batch__code"),
        number("reward", "reward", "0 to 1; also >=0.5 and 0.2..0.8"),
        yes_no("passed", "passed"),
        Key("violation", _violation, help="a constraint's id, any or none"),
        Key("failure", _failure, help="what failed first: a check's or constraint's id, any, none"),
        choice("boundary", "boundary", lambda: BOUNDARIES),
        choice("stop", "stop", lambda: StopReason.values),
        number("turns", "turns"),
        number("tokens", "tokens"),
        choice("curation", "curation", lambda: Curation.values),
        Key(
            "flag",
            _flag,
            lambda: [*FlagState.values, "any", "none"],
            "suspected of a trick: open (to judge), confirmed, dismissed, any, none",
        ),
        date("created", "created_at"),
    ),
    search=_word,
)


class EpisodeList(NamedTuple):
    """One page of episodes under a filter."""

    page: Page[Episode]
    total: RowCount
    order: str


def ended() -> QuerySet[Episode]:
    """All episodes that were run, scored or not: those that lists show."""
    return Episode.objects.exclude(state=EpisodeState.QUEUED)


def matching_episodes(filter_text: str) -> QuerySet[Episode]:
    """All ended episodes of a filter; FilterError names what is wrong with it and where."""
    return ended().filter(EPISODES.compile(filter_text))


def episode_page(
    filter_text: str = "", *, order: str = "newest", cursor: str | None = None, size: int = 50
) -> EpisodeList:
    """One page of the episode list, and how many match (capped)."""
    column = EPISODE_ORDERS.get(order)
    if column is None:
        raise BadRequest(f"There is no order “{order}”; known are {', '.join(EPISODE_ORDERS)}.")
    rows = matching_episodes(filter_text)
    page = keyset(
        rows.select_related("task", "version", "batch").defer(*_NEVER_LISTED),
        order=column,
        cursor=cursor,
        size=size,
        filter_hash=EPISODES.hash(filter_text),
    )
    return EpisodeList(page, capped_count(rows), order)


_NEVER_LISTED: Final = (
    "task__text", "task__signature", "task__bands", "version__spec", "version__patch",
)  # fmt: skip


def every_episode(filter_text: str, *, after: int = 0, chunk: int = 200) -> Iterator[Episode]:
    """All ended episodes of a filter by id, in chunks, each with its payload."""
    return keyset_all(
        matching_episodes(filter_text)
        .select_related("task", "version", "batch", "payload")
        .defer(*_NEVER_LISTED),
        chunk=chunk,
        after=after,
    )


def get_episode(code: str) -> Episode:
    """An episode with batch, task and version; NotFound names the code."""
    rows = Episode.objects.select_related("batch", "task", "version", "parent")
    return get_by_code(rows.defer("task__text", "task__signature", "task__bands"), code)


def payload_of(episode: Episode) -> EpisodePayload:
    """Its trajectory and grade; NotFound where it has none."""
    row = EpisodePayload.objects.filter(pk=episode.pk).first()
    if row is None:
        raise NotFound(
            f"{episode.code} has no trajectory: {episode.failure or 'it has not been run yet'}."
        )
    return row


_KEPT: Final = 8
_replays: "OrderedDict[tuple[int, int], Replay]" = OrderedDict()
_guard = threading.Lock()


def replay_of(episode: Episode) -> Replay:
    """The frames of an episode, made again; the last few are kept, stepping asks for them often.

    Raises NotFound without a trajectory, TaskFailure or SpecError where the version cannot be
    opened any more.
    """
    key = (episode.pk, episode.attempts)
    with _guard:
        known = _replays.get(key)
        if known is not None:
            _replays.move_to_end(key)
            return known
    made = replay(episode.version.load(), payload_of(episode).read())
    with _guard:
        _replays[key] = made
        while len(_replays) > _KEPT:
            _replays.popitem(last=False)
    return made


def siblings(episode: Episode) -> QuerySet[Episode]:
    """The other ended episodes of its group, in order."""
    return (
        Episode.objects.filter(batch_id=episode.batch_id, version_id=episode.version_id)
        .exclude(pk=episode.pk)
        .exclude(state=EpisodeState.QUEUED)
        .order_by("group_index")
    )


BESIDE: Final = 25
"""Episodes that a page offers to compare one with; the number of all is said by the list."""


def comparable(episode: Episode) -> list[Episode]:
    """Episodes on the same task that have turns: those of its own group first, then the newest."""
    rows = Episode.objects.filter(task_id=episode.task_id, turns__gt=0).exclude(pk=episode.pk)
    rows = rows.exclude(state=EpisodeState.QUEUED).select_related("version", "batch")
    rows = rows.defer("version__spec", "version__patch")
    group = rows.filter(batch_id=episode.batch_id, version_id=episode.version_id)
    found = list(group.order_by("group_index")[:BESIDE])
    others = rows.exclude(pk__in=[row.pk for row in found]).order_by("-created_at", "-pk")
    return [*found, *others[: BESIDE - len(found)]]


# Gates P


_LEARNERS: Final = r"^(endpoint|checkpoint|person)"
"""Policies that had not seen the reference: models, and people who play."""


def attempts_at(version_id: int) -> QuerySet[Episode]:
    """The graded episodes of a version by policies that had not seen its reference."""
    return Episode.objects.filter(
        version=version_id, state=EpisodeState.GRADED, policy__regex=_LEARNERS
    ).exclude(batch__purpose=Purpose.SAMPLE)


def calibration_groups(version_id: int) -> list[calibration.Group]:
    """What each policy came to in each batch on a version."""
    rows = (
        attempts_at(version_id)
        .order_by("policy", "batch")
        .values("policy", "batch")
        .annotate(
            n=Count("pk"),
            c=Count("pk", filter=Q(passed=True)),
            low=Min("reward"),
            high=Max("reward"),
        )
    )
    return [
        calibration.Group(row["policy"], row["n"], row["c"], row["low"], row["high"])
        for row in rows
    ]


def overturned(version_id: int) -> tuple[int, int]:
    """How many failed episodes of a version people kept, of those that they judged: each kept one
    is a false rejection.
    """
    judged = Episode.objects.filter(
        version=version_id, state=EpisodeState.GRADED, passed=False
    ).exclude(curation=Curation.OPEN)
    return judged.filter(curation=Curation.KEPT).count(), judged.count()


def blind_pass(version: TaskVersion) -> Episode | None:
    """The first full pass of a version by a model, or by a person who did not write it."""
    rows = attempts_at(version.pk).filter(passed=True, violations=[])
    if version.author_id is not None:
        rows = rows.exclude(policy__startswith="person", batch__author=version.author_id)
    return rows.order_by("pk").first()


def flags_of(episode: Episode) -> QuerySet[EpisodeFlag]:
    """What is suspicious about an episode."""
    return EpisodeFlag.objects.filter(episode=episode).select_related("decided_by")


def to_probe(filter_text: str) -> Iterator[Episode]:
    """The episodes of a filter that may have earned by a trick: passes, and rewards beside a broken
    rule. By version, each with its payload, so that one reference's run serves all of a version.
    """
    rows = matching_episodes(filter_text).filter(state=EpisodeState.GRADED)
    odd = rows.filter(Q(passed=True) | ~Q(violations=[])).exclude(policy="reference")
    return (
        odd.select_related("version", "payload", "task")
        .defer("task__text", "task__signature", "task__bands", "version__patch", "payload__grade")
        .order_by("version_id", "pk")
        .iterator(chunk_size=50)
    )


# Batches


def selected(filter_text: str) -> list[Chosen]:
    """The task versions a batch would run: current ones, by id.

    Without a ``state:`` term only those with a green proof by the present gates. Imports that are
    there to be seen never run: something that they need is missing. FilterError names what is wrong
    with the filter.
    """
    rows = playable(matching(filter_text)).filter(current__isnull=False)
    written = parse(filter_text).keys()
    if "state" not in written:
        rows = rows.filter(
            proof__verdict=Verdict.PROVEN,
            proof__spec_hash=F("spec_hash"),
            proof__gates_version=GATES_VERSION,
        )
    pairs = rows.order_by("pk").values_list("pk", "current_id")
    return [Chosen(task, version) for task, version in pairs if version is not None]


def batch_page(cursor: str | None = None, size: int = 25) -> Page[RolloutBatch]:
    """Batches, newest first, with their jobs."""
    rows = RolloutBatch.objects.select_related("job", "author")
    return keyset(rows, order="-created_at", cursor=cursor, size=size)


def get_batch(code: str) -> RolloutBatch:
    """A batch with its job; NotFound names the code."""
    return get_by_code(RolloutBatch.objects.select_related("job", "author"), code)


MOST_ATTEMPTS: Final = 3
"""How often an episode is run before its failure stands."""


def open_episodes(batch: RolloutBatch) -> QuerySet[Episode]:
    """What is left to run: queued episodes, and failed ones that may be tried again."""
    return Episode.objects.filter(
        batch=batch,
        # As the index of open episodes has it, so that it is used.
        state__in=(EpisodeState.QUEUED, EpisodeState.FAILED),
        attempts__lt=MOST_ATTEMPTS,
    ).exclude(
        # A version never changes, so one that makes no world never will.
        boundary="task"
    )


def wants_help(batch: RolloutBatch) -> bool:
    """Whether the batch's job is at it, or will be again: not over, not asked to stop."""
    going = (*HELD, JobState.QUEUED)
    return Job.objects.filter(
        pk__in=RolloutBatch.objects.filter(pk=batch.pk).values("job"),
        state__in=going,
        cancel_requested=False,
    ).exists()


class Group(NamedTuple):
    """The episodes of one task version in a batch."""

    task: Task
    episodes: tuple[Episode, ...]


GROUPS_SHOWN: Final = 100


def groups_of(batch: RolloutBatch, *, after: int = 0) -> Sequence[Group]:
    """The next groups of a batch by version id, at most ``GROUPS_SHOWN``."""
    versions = list(
        batch.episodes.filter(version_id__gt=after)
        .order_by("version_id")
        .values_list("version_id", flat=True)
        .distinct()[:GROUPS_SHOWN]
    )
    groups: dict[int, list[Episode]] = {}
    rows = batch.episodes.filter(version_id__in=versions).select_related("task")
    for episode in rows.defer("task__text", "task__signature", "task__bands").order_by(
        "version_id", "group_index"
    ):
        groups.setdefault(episode.version_id, []).append(episode)
    return [Group(found[0].task, tuple(found)) for found in groups.values()]


def export_row(episode: Episode) -> JsonObject:
    """One episode as exports write it: list columns, grade in detail, all turns."""
    payload = getattr(episode, "payload", None)
    turns: list[JsonValue] = []
    if payload is not None:
        turns = [turn_value(turn) for turn in payload.read().turns]
    return {
        "code": episode.code,
        "batch": episode.batch.code,
        "task": episode.task.code,
        "version": episode.version.number,
        "spec_hash": episode.version.hash,
        "family": episode.task.family,
        "subtype": episode.task.subtype,
        "policy": episode.policy,
        "group_index": episode.group_index,
        "seed": episode.seed,
        "state": episode.state,
        "stop": episode.stop,
        "reward": episode.reward,
        "passed": episode.passed,
        "components": episode.components,
        "violations": list(episode.violations),
        "tokens": episode.tokens,
        "seconds": episode.seconds,
        "curation": episode.curation,
        "boundary": episode.boundary,
        "failure": episode.failure,
        "created_at": episode.created_at.isoformat(),
        "grade": None if payload is None else payload.grade,
        "turns": turns,
    }


def turn_value(turn: RecordedTurn | DamagedTurn) -> JsonValue:
    """One turn as exports and the API give it; a damaged one raw, with what is wrong."""
    if isinstance(turn, DamagedTurn):
        raw = turn.raw.decode("utf-8", errors="replace")
        return {"turn": turn.index, "damaged": raw, "problem": turn.problem}
    value: JsonValue = orjson.loads(turn_json(turn))
    return value


def export_rows(filter_text: str) -> Iterator[JsonObject]:
    """All ended episodes of a filter by id, as exports write them; those of tasks whose licence
    forbids commercial use only where the filter names the tasks.
    """
    named = names_non_commercial(filter_text, codes="task")
    return (
        export_row(episode)
        for episode in every_episode(filter_text)
        if named or NON_COMMERCIAL not in episode.task.tags
    )
