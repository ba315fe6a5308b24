"""What checks and constraints read: records, calls, stages, replies. A grader sees nothing else."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from tasks_app.core.calls import Call, Tables, ToolFacts
from tasks_app.core.predicates import compile_where
from tasks_app.core.records import diff
from tasks_app.core.values import LEAVES, LISTS, MISSING, OBJECTS, Change, Record, follow
from tasks_app.core.writes import Stray, WriteRule, strays

_NO_ROWS: Final[Mapping[str, Record]] = {}
_NO_CALLS: Final[tuple[Call, ...]] = ()


class EvidenceError(LookupError):
    """A check asks for what the evidence does not hold; the check then fails."""


class StageEvidence(NamedTuple):
    """One stage (working day) of an episode."""

    id: str
    at: str
    opened: Tables
    """The records after the stage's mutations, before its first call."""
    closed: Tables
    """The records when its reply ended it (or as they are, while it runs)."""
    first_call: int
    end_call: int
    """Index after its last call."""
    reply: str
    """The reply without tool calls that ended it; empty if there was none."""


@dataclass(frozen=True, slots=True)
class Ground:
    """What is the same for every episode of a spec."""

    start: Tables
    tools: Mapping[str, ToolFacts]
    """The tools offered, by the studio's name."""
    write_set: tuple[WriteRule, ...]
    id_fields: Mapping[str, str]
    """Collection address → name of its id field, where it isn't `id`."""


class Evidence:
    """One episode as its grader sees it."""

    __slots__ = ("_by_tool", "_changes", "_resolved", "_strays", "calls", "ground", "stages")

    def __init__(self, ground: Ground, stages: Sequence[StageEvidence], calls: Sequence[Call]):
        self.ground = ground
        self.stages = tuple(stages)
        """Stages reached so far, in order; never empty."""
        self.calls = tuple(calls)
        self._changes: tuple[tuple[str, tuple[Change, ...]], ...] | None = None
        self._strays: tuple[Stray, ...] | None = None
        self._by_tool: dict[str, list[Call]] | None = None
        self._resolved: dict[tuple[bytes, str | None], Any] = {}

    def stage(self, stage_id: str) -> StageEvidence:
        """Return a stage. Raises EvidenceError if the episode has not reached it."""
        for stage in self.stages:
            if stage.id == stage_id:
                return stage
        raise EvidenceError(f"stage {stage_id} was not reached")

    def tables(self, stage_id: str | None = None) -> Tables:
        """Return the records at the end of a stage, or at the end of the episode."""
        return (self.stages[-1] if stage_id is None else self.stage(stage_id)).closed

    def rows(self, collection: str, stage_id: str | None = None) -> Mapping[str, Record]:
        """Return a collection's records by id; empty if there is no such collection."""
        return self.tables(stage_id).get(collection, _NO_ROWS)

    def calls_of(self, stage_id: str | None = None) -> tuple[Call, ...]:
        """Return the calls of a stage, or all of them."""
        if stage_id is None:
            return self.calls
        stage = self.stage(stage_id)
        return self.calls[stage.first_call : stage.end_call]

    def calls_to(self, tool: str) -> Sequence[Call]:
        """Return the calls of one tool, whatever came of them, in order."""
        return self.calls_by_tool().get(tool, _NO_CALLS)

    def calls_by_tool(self) -> Mapping[str, Sequence[Call]]:
        """Return tool → its calls, in order of their first."""
        if self._by_tool is None:
            grouped: dict[str, list[Call]] = {}
            for call in self.calls:
                grouped.setdefault(call.tool, []).append(call)
            self._by_tool = grouped
        return self._by_tool

    def reply(self, stage_id: str | None = None) -> str:
        """Return a stage's reply, or the last one."""
        return (self.stages[-1] if stage_id is None else self.stage(stage_id)).reply

    def changes(self) -> tuple[tuple[str, tuple[Change, ...]], ...]:
        """Return per stage what differs between its opening and its end."""
        if self._changes is None:
            self._changes = tuple((s.id, diff(s.opened, s.closed)) for s in self.stages)
        return self._changes

    def strays(self) -> tuple[Stray, ...]:
        """Return the changes outside the write set."""
        if self._strays is None:
            self._strays = tuple(strays(self.ground.write_set, self.changes()))
        return self._strays

    def select(
        self, collection: str, where: Mapping[str, Any], stage_id: str | None = None
    ) -> list[Record]:
        """Return the records of a collection that a `where` selects, in id order."""
        return Selection(collection, where).of(self, stage_id)

    def resolve(self, value: Any, stage_id: str | None = None) -> Any:
        """Replace every `{"record", "where", "field"}` in a value by the field of the one record it
        selects.

        Raises EvidenceError unless exactly one record is selected and has that field.
        """
        if isinstance(value, LEAVES):
            return value
        if isinstance(value, LISTS):
            return [self.resolve(item, stage_id) for item in value]
        if isinstance(value, OBJECTS):
            if is_reference(value):
                key = orjson.dumps(value), stage_id
                if key not in self._resolved:
                    self._resolved[key] = self._referred(value, key[0], stage_id)
                return self._resolved[key]
            return {key: self.resolve(item, stage_id) for key, item in value.items()}
        return value

    def _referred(self, reference: Mapping[str, Any], text: bytes, stage_id: str | None) -> Any:
        found = _selection(text).of(self, stage_id)
        if len(found) != 1:
            raise EvidenceError(f"{len(found)} records of {reference['record']} instead of one")
        field = reference.get("field", "id")
        inner = follow(found[0], field) if isinstance(field, str) else MISSING
        if inner is MISSING:
            raise EvidenceError(f"{reference['record']} has no field {field}")
        return inner


class Selection:
    """A compiled `where` on one collection: made once, asked of many episodes."""

    __slots__ = ("_alone", "_collection", "_literals", "_made", "_test", "_where")

    def __init__(self, collection: str, where: Mapping[str, Any]):
        self._collection = collection
        self._where = where
        self._made = has_reference(where)
        self._test = None if self._made else compile_where(where)
        self._literals = {k: v for k, v in where.items() if isinstance(v, str)}
        self._alone = len(where) == 1

    def of(self, evidence: Evidence, stage_id: str | None = None) -> list[Record]:
        """Return the selected records in id order. Raises EvidenceError for a reference to
        nothing.
        """
        rows = evidence.rows(self._collection, stage_id)
        test = self._test
        if test is None:
            test = compile_where(evidence.resolve(self._where, stage_id))
        literals = self._literals
        wanted = literals and literals.get(evidence.ground.id_fields.get(self._collection, "id"))
        if wanted and wanted in rows:  # a literal id: no need to look at every record
            row = rows[wanted]
            return [row] if self._alone or test(row) else []
        return [row for row in rows.values() if test(row)]


@functools.lru_cache(maxsize=1024)
def _selection(reference: bytes) -> Selection:
    value = orjson.loads(reference)
    return Selection(value["record"], value.get("where", {}))


def is_reference(value: Any) -> bool:
    """Say whether a value stands for a field of a record made during the run."""
    return (
        not isinstance(value, LEAVES)
        and isinstance(value, OBJECTS)
        and isinstance(value.get("record"), str)
        and value.keys() <= {"record", "where", "field"}
    )


def has_reference(value: Any) -> bool:
    """Say whether a value holds a reference anywhere; values without can be compiled once."""
    if isinstance(value, LEAVES):
        return False
    if isinstance(value, LISTS):
        return any(map(has_reference, value))
    if isinstance(value, OBJECTS):
        return is_reference(value) or any(map(has_reference, value.values()))
    return False


def without_references(value: Any) -> Any:
    """Return a value with a text in place of each reference: what can be compiled before an
    episode.
    """
    if isinstance(value, LEAVES):
        return value
    if isinstance(value, OBJECTS):
        if is_reference(value):
            return ""
        return {key: without_references(item) for key, item in value.items()}
    if isinstance(value, LISTS):
        return [without_references(item) for item in value]
    return value


def referenced(value: Any) -> tuple[str, ...]:
    """Return the collections that the references inside a value read, in order."""
    if isinstance(value, LEAVES):
        return ()
    if isinstance(value, OBJECTS):
        if is_reference(value):
            return (value["record"], *referenced(value.get("where", {})))
        return tuple(place for item in value.values() for place in referenced(item))
    if isinstance(value, LISTS):
        return tuple(place for item in value for place in referenced(item))
    return ()
