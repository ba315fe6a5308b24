"""Reads of datasets: what a filter selects, what curation would drop, pages, rows, differences."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson
import zstandard
from django.db.models import QuerySet

from rollouts_app.enums import Curation, EpisodeState, StopReason
from rollouts_app.models import Episode
from rollouts_app.queries import matching_episodes
from studio.lib.jsonvalue import JsonObject
from studio.web.codes import get_by_code
from studio.web.errors import NotFound
from studio.web.filters import parse
from studio.web.pagination import Page, keyset, keyset_all
from tasks_app.enums import Split, TaskState
from tasks_app.models import Task
from tasks_app.queries import NEVER_LISTED, matching
from training_app.core.curation import (
    HELD_INSTANCES,
    CallFacts,
    EpisodeFacts,
    Rules,
    Side,
    TaskFacts,
    call_facts,
    judge,
    judge_tasks,
    portions,
)
from training_app.core.dataset import GROUPS
from training_app.enums import DatasetKind
from training_app.models import Dataset, DatasetItem, TrainingRun

PREVIEWED: Final = 1000
"""Episodes or tasks that a preview looks at; it says so where there are more."""
ROWS_SHOWN: Final = 5
_CHUNK: Final = 200
HELD_OUT_TAG: Final = "held_out_names"
"""Of pocket tasks whose names come from the pool that no training task draws from."""
_TASK_PAYLOAD: Final = tuple(f"task__{name}" for name in NEVER_LISTED)


def all_families() -> list[str]:
    """Every family that a task has."""
    rows = Task.objects.order_by("family").values_list("family", flat=True).distinct()
    return list(rows)


# What a filter selects


def selected_episodes(filter_text: str) -> QuerySet[Episode]:
    """The ended episodes of a filter; FilterError names what is wrong with it."""
    return matching_episodes(filter_text)


def selected_tasks(filter_text: str) -> QuerySet[Task]:
    """The tasks of a filter; without a ``state:`` term only approved ones."""
    rows = matching(filter_text).filter(current__isnull=False)
    if "state" not in parse(filter_text).keys():  # noqa: SIM118  # a list of names, not a mapping
        rows = rows.filter(state=TaskState.APPROVED)
    return rows


def split_of(task: Task) -> str:
    """What a task may be used for; names held out by the draft count like the column."""
    if task.split == Split.TRAIN and HELD_OUT_TAG in task.tags:
        return Split.NEW_INSTANCES
    return task.split


def side_of(task: Task) -> Side:
    """What decides where rows of a task belong."""
    identity = frozenset(task.identity)
    return Side(task.pk, task.family, task.fingerprint, split_of(task), identity)


def episodes_with_payload(filter_text: str) -> Iterator[Episode]:
    """The episodes of a filter by id, each with task and trajectory."""
    return keyset_all(_readable(selected_episodes(filter_text)), chunk=200)


def _readable(rows: QuerySet[Episode]) -> QuerySet[Episode]:
    return rows.select_related("task", "version", "payload").defer(
        *_TASK_PAYLOAD, "version__spec", "version__patch", "payload__grade"
    )


def facts_of(episode: Episode) -> EpisodeFacts:
    """What curation asks of an episode."""
    payload = getattr(episode, "payload", None)
    calls = CallFacts(f"none {episode.pk}", 0) if payload is None else call_facts(payload.read())
    return EpisodeFacts(
        id=episode.pk,
        spec_hash=episode.version.hash,
        graded=episode.state == EpisodeState.GRADED and payload is not None,
        passed=bool(episode.passed),
        violations=len(episode.violations),
        by_hand=_by_hand(episode),
        finished=episode.stop == StopReason.FINISHED,
        turns=episode.turns,
        tokens=episode.tokens,
        errors=episode.errors,
        unrecovered=calls.unrecovered,
        signature=calls.signature,
        task_state=episode.task.state,
        split=split_of(episode.task),
    )


def _by_hand(episode: Episode) -> Any:
    return Curation(episode.curation).value


def task_facts(task: Task) -> TaskFacts:
    """What curation asks of a task; its proof must be loaded."""
    return TaskFacts(task.pk, task.spec_hash, task.state, task.is_proven, split_of(task))


def tasks_with_proof(filter_text: str, *, limit: int | None = None) -> list[Task]:
    """The tasks of a filter by id, without their specs."""
    rows = (
        selected_tasks(filter_text)
        .select_related("proof")
        .defer(*NEVER_LISTED, "proof__card")
        .order_by("pk")
    )
    return list(rows if limit is None else rows[:limit])


def episodes_to_build(ids: Sequence[int]) -> Iterator[Episode]:
    """Episodes in the order of their ids, whole, a chunk at a time."""
    rows = Episode.objects.select_related("task", "version", "payload").defer(
        *_TASK_PAYLOAD, "version__patch", "payload__grade"
    )
    for first in range(0, len(ids), _CHUNK):
        found = rows.in_bulk(list(ids[first : first + _CHUNK]))
        yield from (found[key] for key in ids[first : first + _CHUNK] if key in found)


def tasks_to_build(ids: Sequence[int]) -> Iterator[Task]:
    """Tasks in the order of their ids with their current versions, a chunk at a time."""
    rows = Task.objects.select_related("current").defer(*NEVER_LISTED)
    for first in range(0, len(ids), _CHUNK):
        found = rows.in_bulk(list(ids[first : first + _CHUNK]))
        yield from (found[key] for key in ids[first : first + _CHUNK] if key in found)


# Preview


class Preview(NamedTuple):
    """What freezing would do, as far as the rules can tell."""

    selected: int
    """Looked at."""
    more: bool
    """Whether the filter selects more than were looked at."""
    train: int
    held_out: int
    dropped: Mapping[str, int]
    alone: Mapping[str, int]
    by_hand: Mapping[str, int]
    """Kept and dropped by hand, of those looked at."""


def preview(
    kind: str, filter_text: str, rules: Rules, held_families: Sequence[str] = ()
) -> Preview:
    """Judge the first rows of a filter; FilterError names what is wrong with it."""
    if kind == DatasetKind.PROMPTS:
        tasks = tasks_with_proof(filter_text, limit=PREVIEWED + 1)
        more, tasks = len(tasks) > PREVIEWED, tasks[:PREVIEWED]
        judged = judge_tasks([task_facts(task) for task in tasks])
        owners = {task.pk: task.pk for task in tasks}
        by_hand: dict[str, int] = {}
    else:
        found = selected_episodes(filter_text).order_by("pk")
        episodes = list(_readable(found)[: PREVIEWED + 1])
        more, episodes = len(episodes) > PREVIEWED, episodes[:PREVIEWED]
        judged = judge([facts_of(episode) for episode in episodes], rules)
        owners = {episode.pk: episode.task_id for episode in episodes}
        tasks = list({episode.task_id: episode.task for episode in episodes}.values())
        by_hand = {
            name: sum(episode.curation == name for episode in episodes)
            for name in (Curation.KEPT.value, Curation.DROPPED.value)
        }
    sides = portions(map(side_of, tasks), held_families)
    places = [sides[owners[key]] for key in judged.kept]
    dropped = dict(judged.dropped)
    if neither := places.count("neither"):
        dropped[HELD_INSTANCES] = neither
    return Preview(
        selected=len(owners),
        more=more,
        train=places.count("train"),
        held_out=places.count("held_out"),
        dropped=dropped,
        alone=judged.alone,
        by_hand=by_hand,
    )


# Datasets


def dataset_page(cursor: str | None = None, size: int = 25) -> Page[Dataset]:
    """Datasets, newest first, without their manifests."""
    rows = Dataset.objects.select_related("job", "author").defer("manifest", "lint")
    return keyset(rows, order="-created_at", cursor=cursor, size=size)


def get_dataset(code: str) -> Dataset:
    """A dataset with its job; NotFound names the code."""
    return get_by_code(Dataset.objects.select_related("job", "author"), code)


def find_dataset(code: str) -> Dataset | None:
    """A dataset of that code, or None."""
    try:
        return get_dataset(code)
    except NotFound:
        return None


def runs_on(dataset: Dataset) -> QuerySet[TrainingRun]:
    """The runs that were trained on it, newest first."""
    return TrainingRun.objects.filter(dataset=dataset).order_by("-created_at", "-pk")


def export_row(dataset: Dataset) -> JsonObject:
    """A dataset as exports list it: all of it but its rows."""
    frozen_at = dataset.frozen_at
    return {
        "code": dataset.code,
        "name": dataset.name,
        "kind": dataset.kind,
        "filter": dataset.filter,
        "rules": dataset.rules,
        "split_kind": dataset.split_kind,
        "rows": dataset.rows,
        "dropped": dataset.dropped,
        "lint": dataset.lint,
        "composition": dataset.composition,
        "manifest": dataset.manifest,
        "sha256": dataset.sha256,
        "author": None if dataset.author is None else dataset.author.username,
        "frozen_at": None if frozen_at is None else frozen_at.isoformat(),
    }


class RowShown(NamedTuple):
    """A row to look at."""

    item: DatasetItem
    row: Mapping[str, Any]


def rows_shown(
    dataset: Dataset, portion: str, *, first: int = 0, size: int = ROWS_SHOWN
) -> list[RowShown]:
    """Some rows of a portion in order, from the first-th on, each once whatever its weight."""
    items = (
        dataset.items.filter(portion=portion)
        .select_related("episode", "version__task")
        .defer("version__spec", "version__patch", *(f"version__{name}" for name in _TASK_PAYLOAD))
        .order_by("position")[first : first + size]
    )
    return [RowShown(item, orjson.loads(unpacked(item))) for item in items]


def unpacked(item: DatasetItem) -> bytes:
    """The bytes of a row, without the newline."""
    return zstandard.ZstdDecompressor().decompress(bytes(item.row))


class Difference(NamedTuple):
    """How two datasets differ."""

    fields: tuple[tuple[str, str, str], ...]
    """Name, here, there; only those that differ."""
    both: int
    """Rows with the same content in both."""
    only_here: int
    only_there: int
    counts: tuple[tuple[str, str, int, int], ...]
    """Group, key, here, there; only those that differ."""


def difference(here: Dataset, there: Dataset) -> Difference:
    """Compare two datasets: what they were made from, and row by row by content."""
    fields = []
    for name in ("kind", "filter", "split_kind", "rows", "sha256"):
        mine, other = getattr(here, name), getattr(there, name)
        if mine != other:
            fields.append((name.replace("_", " "), str(mine), str(other)))
    for rule in sorted({*here.rules, *there.rules}):
        mine, other = here.rules.get(rule), there.rules.get(rule)
        if mine != other:
            fields.append((f"rule {rule}", _plain(mine), _plain(other)))
    mine_rows, other_rows = _contents(here), _contents(there)
    counts = [
        (group, key, a, b)
        for group in GROUPS
        for key in sorted({*here.composition.get(group, {}), *there.composition.get(group, {})})
        if (a := here.composition.get(group, {}).get(key, 0))
        != (b := there.composition.get(group, {}).get(key, 0))
    ]
    return Difference(
        fields=tuple(fields),
        both=len(mine_rows & other_rows),
        only_here=len(mine_rows - other_rows),
        only_there=len(other_rows - mine_rows),
        counts=tuple(counts),
    )


def _plain(value: Any) -> str:
    return "–" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _contents(dataset: Dataset) -> frozenset[str]:
    """The row hashes of a dataset, kept beside the rows so that nothing is unpacked for it."""
    return frozenset(dataset.items.values_list("digest", flat=True))
