"""The records of one episode: store, snapshots, collections and differences.

Invariants:
- A table (id → record) is never changed in place and always in id order, so equal records give
  equal answers whatever the path that led to them.
- The store is a handful of references: a snapshot takes them, a restore puts them back.
- `state_key` = (Σ digest(address, record) + digest(context)) mod 2^128. A sum needs no order, so
  the key costs O(changed records). Log, id counters and time of day are not in the key.
- A write copies its table, which holds LARGEST_TABLE rows at most.
"""

import functools
import operator
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Generic, NamedTuple, TypeVar, cast

from tasks_app.core.calls import Call, Tables, ToolError
from tasks_app.core.values import (
    LEAVES,
    MODULUS,
    Change,
    InvalidValueError,
    Record,
    digest,
    freeze,
    freeze_values,
    in_order,
)

R = TypeVar("R")
_NUMBERED: Final = re.compile(r"^(.*?)(\d+)$", re.DOTALL)
LARGEST_TABLE: Final = 10_000
_BITS: Final = MODULUS - 1


class Counter(NamedTuple):
    """How the next id of a collection reads: prefix, width of the number, highest number ever
    seen.
    """

    prefix: str
    width: int
    highest: int


class Snapshot(NamedTuple):
    """All that an episode can change, as references."""

    tables: Tables
    total: int
    counters: Mapping[str, Counter]
    context: Any
    """Stage, colleague and closed stages; owned by the world, hashed into the key by `context_key`.
    """
    context_key: int
    log: tuple[Call, ...]


class Store:
    """The living state of one episode. Not thread-safe; one per world."""

    __slots__ = ("changes", "context", "context_key", "counters", "log", "tables", "total")

    def __init__(self, snapshot: Snapshot):
        self.changes: list[Change] = []
        self.restore(snapshot)

    def snapshot(self) -> Snapshot:
        """Take the state: six references."""
        return Snapshot(
            self.tables, self.total, self.counters, self.context, self.context_key, self.log
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Put a state back; pending changes are dropped."""
        self.tables, self.total, self.counters = snapshot[0], snapshot[1], snapshot[2]
        self.context, self.context_key, self.log = snapshot[3], snapshot[4], snapshot[5]
        if self.changes:
            self.changes = []

    def take_back(self, tables: Tables, total: int, counters: Mapping[str, Counter]) -> None:
        """Undo what a failed call wrote, but neither the faults it met nor what was said."""
        self.tables, self.total, self.counters = tables, total, counters
        if self.changes:
            self.changes = []

    def state_key(self) -> int:
        """The key of the present records and context, below 2^128."""
        return (self.total + self.context_key) & _BITS  # the remainder by 2^128

    def take_changes(self) -> tuple[Change, ...]:
        """Return the changes noted since the last time and forget them."""
        if not self.changes:
            return ()
        taken, self.changes = tuple(self.changes), []
        return taken


@dataclass(frozen=True, slots=True)
class CollectionFacts:
    """What a service declares about one of its collections."""

    address: str
    """`service/collection`."""
    id_field: str = "id"
    prefix: str = ""
    """Prefix of ids made in an empty collection."""
    unstable: tuple[str, ...] = ()
    """Fields left out of the state key."""
    width: int = 4
    fields: tuple[str, ...] = ()
    """Its known fields, in the order in which a record is read."""

    def ordered(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return a record's values in the order in which it is read, however it was written."""
        keys = _in_order(self.id_field, self.fields, tuple(record))
        return {
            key: value if isinstance(value := record[key], LEAVES) else in_order(value)
            for key in keys
        }


@functools.lru_cache(maxsize=1024)
def _in_order(id_field: str, fields: tuple[str, ...], written: tuple[str, ...]) -> tuple[str, ...]:
    """Return the keys of a record in the order in which it is read: few sets of keys are met."""
    return tuple(in_order(dict.fromkeys(written), (id_field, *fields)))


class Collection(Generic[R]):
    """A collection as a tool handler sees it: the only way to read and write its records."""

    __slots__ = ("address", "facts", "store")

    def __init__(self, store: Store, facts: CollectionFacts):
        self.store = store
        self.facts = facts
        self.address = facts.address

    @property
    def _rows(self) -> Mapping[str, Record]:
        return self.store.tables.get(self.address, _NOTHING)

    def __getitem__(self, record_id: str) -> R:
        """Return one record. Raises ToolError `not_found`."""
        try:
            return self.store.tables[self.address][record_id]  # type: ignore[return-value]  # a record is what its service declares
        except KeyError:
            noun = self.address.partition("/")[2]
            raise ToolError("not_found", f"no record {record_id} in {noun}") from None

    def get(self, record_id: str) -> R | None:
        """Return one record, None if there is none."""
        return cast(R | None, self._rows.get(record_id))

    def __contains__(self, record_id: str) -> bool:
        return record_id in self._rows

    def __iter__(self) -> Iterator[R]:
        """All records in id order."""
        return cast(Iterator[R], iter(self._rows.values()))

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, record: R) -> R:
        """Add or replace a record; the only way in. Raises ToolError `invalid_value`."""
        return cast(R, put(self.store, self.facts, cast(Mapping[str, Any], record)))

    def remove(self, record_id: str) -> None:
        """Remove a record. Raises ToolError `not_found`."""
        _ = self[record_id]
        remove(self.store, self.facts, record_id)

    def new_id(self) -> str:
        """Return the next id: prefix and the highest number ever seen plus one, never reused."""
        store, facts = self.store, self.facts
        prefix, width, highest = store.counters.get(self.address) or (
            f"{facts.prefix}-" if facts.prefix else "",
            facts.width,
            0,
        )
        following = Counter(prefix, width, highest + 1)
        store.counters = {**store.counters, self.address: following}
        return f"{prefix}{highest + 1:0{width}d}"


def put(store: Store, facts: CollectionFacts, record: Mapping[str, Any]) -> Record:
    """Add or replace one record in a store; notes the change and keeps the key."""
    rows = store.tables.get(facts.address, {})
    record_id = record.get(facts.id_field)
    before = rows.get(record_id) if isinstance(record_id, str) else None
    known = before if before is not None else _NOTHING
    try:  # most values are the very ones of the record before: frozen already
        frozen: Record = Record(
            {
                key: value if known.get(key, known) is value else freeze(value)
                for key, value in record.items()
            }
        )
    except InvalidValueError as problem:
        raise ToolError("invalid_value", str(problem)) from problem
    if not isinstance(record_id, str) or not record_id:
        raise ToolError("invalid_value", f"a record of {facts.address} needs {facts.id_field}")
    frozen.digest = digest(f"{facts.address}/{record_id}", frozen, facts.unstable)
    table = {**rows, record_id: frozen}
    if before is None:
        if len(table) > LARGEST_TABLE:
            raise ToolError("invalid_value", f"{facts.address} is full")
        if rows and record_id < next(reversed(cast("dict[str, Record]", rows))):
            table = dict(sorted(table.items()))
        note_id(store, facts, record_id)
    store.total += frozen.digest - (before.digest if before is not None else 0)
    store.tables = {**store.tables, facts.address: table}
    store.changes.append(Change(facts.address, record_id, before, frozen))
    return frozen


def remove(store: Store, facts: CollectionFacts, record_id: str) -> None:
    """Remove one record that exists; notes the change and keeps the key."""
    rows = store.tables[facts.address]
    before = rows[record_id]
    store.total -= before.digest
    store.tables = {
        **store.tables,
        facts.address: {key: row for key, row in rows.items() if key != record_id},
    }
    store.changes.append(Change(facts.address, record_id, before, None))


def note_id(store: Store, facts: CollectionFacts, record_id: str) -> None:
    """Raise the id counter of a collection to an id that came from outside."""
    known = store.counters.get(facts.address)
    if known is not None and record_id.startswith(known.prefix):
        end = record_id[len(known.prefix) :]
        if len(end) <= 15 and end.isdecimal() and int(end) <= known.highest:
            return  # nearly always: the collection's own next id
    found = _NUMBERED.match(record_id)
    if found is None or len(found[2]) > 15:
        return
    number = int(found[2])
    if known is None or (number > known.highest and found[1] == known.prefix):
        store.counters = {
            **store.counters,
            facts.address: Counter(found[1], len(found[2]), number),
        }


def counter_of(ids: Iterable[str], declared_prefix: str) -> Counter | None:
    """Return the counter that a collection's seed records imply, None without numbered ids.

    With several prefixes the declared one wins, else that of the highest number.
    """
    best: Counter | None = None
    for record_id in ids:
        found = _NUMBERED.match(record_id)
        if found is None or len(found[2]) > 15:
            continue
        candidate = Counter(found[1], len(found[2]), int(found[2]))
        preferred = found[1].rstrip("-_") == declared_prefix
        if best is None:
            best = candidate
        elif preferred != (best.prefix.rstrip("-_") == declared_prefix):
            best = candidate if preferred else best
        elif candidate.highest > best.highest:
            best = candidate
    return best


def build_tables(
    services: Mapping[str, Mapping[str, Iterable[Mapping[str, Any]]]],
    facts: Mapping[str, CollectionFacts],
) -> tuple[dict[str, dict[str, Record]], int, dict[str, Counter]]:
    """Freeze a spec's records: tables in id order, their additive hash, the id counters.

    Raises InvalidValueError that names the place of a record without id, a repeated id or a bad
    value.
    """
    tables: dict[str, dict[str, Record]] = {}
    total, counters = 0, {}
    for service in sorted(services):
        for name in sorted(services[service]):
            place = f"{service}/{name}"
            declared = facts.get(place) or CollectionFacts(place)
            rows: dict[str, Record] = {}
            for position, raw in enumerate(services[service][name]):
                try:
                    frozen = freeze_values(declared.ordered(raw))
                except InvalidValueError as problem:
                    raise InvalidValueError(f"{place}[{position}]: {problem}") from problem
                record_id = frozen.get(declared.id_field)
                if not isinstance(record_id, str) or not record_id:
                    raise InvalidValueError(f"{place}[{position}] has no {declared.id_field}")
                if record_id in rows:
                    raise InvalidValueError(f"{place}[{position}]: {record_id} stands there twice")
                frozen.digest = digest(f"{place}/{record_id}", frozen, declared.unstable)
                total += frozen.digest
                rows[record_id] = frozen
            tables[place] = dict(sorted(rows.items()))
            counter = counter_of(rows, declared.prefix)
            if counter is not None:
                counters[place] = counter
    return tables, total, counters


def diff(before: Tables, after: Tables) -> tuple[Change, ...]:
    """Return what differs between two states, sorted by address.

    Tables and records that are the same object are skipped; a field put back is no difference.
    """
    if before is after:
        return ()
    changes: list[Change] = []
    for place, new in after.items():
        old = before.get(place, _NOTHING)
        if old is new:
            continue
        before_it = old.get
        others = [item for item in new.items() if before_it(item[0]) is not item[1]]
        for record_id, second in others:
            first = before_it(record_id)
            if first != second:
                changes.append(Change(place, record_id, first, second))
        if len(new) != len(old) or not new.keys() >= old.keys():
            gone = (item for item in old.items() if item[0] not in new)
            changes.extend(Change(place, record_id, row, None) for record_id, row in gone)
    for place, old in before.items():
        if place not in after:
            changes.extend(Change(place, record_id, row, None) for record_id, row in old.items())
    if len(changes) > 1:
        changes.sort(key=_place_of)
    return tuple(changes)


_NOTHING: Final[Mapping[str, Record]] = {}
_place_of: Final = operator.itemgetter(0, 1)
