"""A spec's records as tables: typed columns, and which part each record plays in the task.

A *target* is a record that a check names, by its id or because the reference's run is judged on
it. A *lookalike* shares most of what tells records of its collection apart with a target, and is
none: what a careless worker takes instead.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from tasks_app.core.grading.grade import grade
from tasks_app.core.instants import is_instant
from tasks_app.core.presenting.words import literals, plain, shown
from tasks_app.core.program import run_program
from tasks_app.core.services.catalog import collections
from tasks_app.core.spec import TaskSpec
from tasks_app.core.values import InvalidValueError, address, unescape_id
from tasks_app.core.world.world import World

Kind = Literal["text", "number", "yes_no", "nested"]
Role = Literal["target", "lookalike", ""]
LONG: Final = 60
"""Characters from which on a text gets a field of several lines."""
_NOT_WANTED: Final = ("explain", "because", "forbidden")
"""Keys of a check whose texts do not name what it is about."""
_ALIKE: Final = 0.5
"""Share of telling fields from which on a record is a lookalike."""
_MOST_NAMED: Final = 4


@dataclass(frozen=True)
class Column:
    """A field of a collection; ``kind`` is what most of its values are."""

    name: str
    kind: Kind
    long: bool
    """Whether any value is too long for one line."""


@dataclass(frozen=True)
class Cell:
    """One field of one record."""

    name: str
    kind: Kind
    text: str
    """On one line, perhaps cut."""
    whole: str
    """As text, whole; JSON where it is nested."""
    state: Literal["", "null", "absent"]
    long: bool
    key: bool
    """Whether it is the record's id."""


@dataclass(frozen=True)
class Row:
    """One record."""

    index: int
    id: str
    address: str
    cells: tuple[Cell, ...]
    role: Role
    named_by: tuple[str, ...]
    """Checks that name it."""
    avoided_by: tuple[str, ...]
    """Checks under which the reply must not name it."""
    differs: tuple[str, ...]
    """Fields in which a lookalike differs from its target."""
    write_set: bool
    """Whether the write set names exactly this record."""


@dataclass(frozen=True)
class Table:
    """One collection."""

    service: str
    name: str
    place: str
    id_field: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    may_change: bool
    """Whether any rule of the write set lies in it."""
    read_by: tuple[str, ...]
    """Checks that look into it."""
    made: int
    """How many records the reference adds here."""

    @property
    def size(self) -> int:
        """How many records."""
        return len(self.rows)

    def row(self, record_id: str) -> Row | None:
        """A record by id."""
        return next((row for row in self.rows if row.id == record_id), None)


def tables(spec: TaskSpec) -> tuple[Table, ...]:
    """Every collection of a spec, in its order, with roles."""
    parts = _parts(spec)
    facts = collections()
    found = []
    for service, held in spec.services.items():
        for name, records in held.items():
            place = f"{service}/{name}"
            declared = facts.get(place)
            id_field = declared.id_field if declared is not None else "id"
            found.append(_table(service, name, id_field, records, parts))
    return tuple(found)


def columns_of(records: Sequence[Mapping[str, Any]], id_field: str) -> tuple[Column, ...]:
    """The columns of a collection: the id first, then fields in the order they first appear."""
    names = dict.fromkeys([id_field, *(key for record in records for key in record)])
    columns = []
    for name in names:
        values = [r[name] for r in records if r.get(name) is not None]
        kind = _kind(values)
        long = kind == "text" and any(len(str(v)) > LONG or "\n" in str(v) for v in values)
        columns.append(Column(name, kind, long))
    return tuple(columns)


def _kind(values: Sequence[Any]) -> Kind:
    if values and all(isinstance(value, bool) for value in values):
        return "yes_no"
    if values and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    ):
        return "number"
    if any(isinstance(value, list | tuple | Mapping) for value in values):
        return "nested"
    return "text"


@dataclass(frozen=True)
class _Parts:
    """What a spec says about single records."""

    named: Mapping[str, tuple[str, ...]]
    """Address → checks that name it."""
    decoys: Mapping[str, tuple[str, ...]]
    """Address → checks under which the reply must not name it."""
    written: frozenset[str]
    """Addresses the write set names exactly."""
    may_change: frozenset[str]
    read_by: Mapping[str, tuple[str, ...]]
    made: Mapping[str, int]


def _parts(spec: TaskSpec) -> _Parts:
    facts = collections()
    places: dict[str, list[str]] = {}
    for service, held in spec.services.items():
        for name, records in held.items():
            place = f"{service}/{name}"
            id_field = facts[place].id_field if place in facts else "id"
            for record in records:
                record_id = record.get(id_field)
                if isinstance(record_id, str):
                    places.setdefault(record_id, []).append(address(place, record_id))
    named: dict[str, dict[str, None]] = {}
    decoys: dict[str, dict[str, None]] = {}
    read_by: dict[str, dict[str, None]] = {}
    for check in spec.checks:
        raw = check.model_dump(mode="json", exclude_defaults=True)
        body = {key: value for key, value in raw.items() if key not in _NOT_WANTED}
        for text in literals(body):
            for place in places.get(text, ()):
                named.setdefault(place, {})[check.id] = None
        for text in literals(raw.get("forbidden", ())):
            for place in places.get(text, ()):
                decoys.setdefault(place, {})[check.id] = None
        for place in check.reads():
            read_by.setdefault(place, {})[check.id] = None
    cited, made = _judged(spec)
    for place, checks in cited.items():
        for check_id in checks:
            named.setdefault(place, {})[check_id] = None
    rules = [rule.place for rule in spec.write_set]
    return _Parts(
        named={place: tuple(checks) for place, checks in named.items()},
        decoys={place: tuple(checks) for place, checks in decoys.items()},
        written=frozenset(
            address(rule.collection, rule.exact_id) for rule in rules if rule.exact_id is not None
        ),
        may_change=frozenset(rule.collection for rule in rules),
        read_by={place: tuple(checks) for place, checks in read_by.items()},
        made=made,
    )


def _judged(spec: TaskSpec) -> tuple[dict[str, list[str]], dict[str, int]]:
    """Records that the checks cite after the reference has run; how many it added where."""
    if not spec.reference:
        return {}, {}
    try:
        world = World(spec)
    except InvalidValueError:
        return {}, {}
    run_program(world, spec.reference)
    evidence = world.evidence()
    start = evidence.ground.start
    made = {
        place: added
        for place, rows in world.store.tables.items()
        if (added := sum(key not in start.get(place, {}) for key in rows))
    }
    cited: dict[str, list[str]] = {}
    for result in grade(spec.checks, spec.constraints, evidence).checks:
        for place in result.cites:
            collection, _, written = place.rpartition("/")
            if unescape_id(written) in start.get(collection, {}):
                cited.setdefault(place, []).append(result.id)
    return cited, made


def _table(
    service: str,
    name: str,
    id_field: str,
    records: Sequence[Mapping[str, Any]],
    parts: _Parts,
) -> Table:
    place = f"{service}/{name}"
    columns = columns_of(records, id_field)
    targets = [
        record for record in records if address(place, str(record.get(id_field, ""))) in parts.named
    ]
    telling = _telling(records, id_field)
    rows = []
    for index, record in enumerate(records):
        record_id = str(record.get(id_field, ""))
        where = address(place, record_id)
        named = parts.named.get(where, ())
        avoided = () if named else parts.decoys.get(where, ())
        differs = () if named else _lookalike(record, targets, telling)
        rows.append(
            Row(
                index=index,
                id=record_id,
                address=where,
                cells=tuple(_cell(record, column, id_field) for column in columns),
                role="target" if named else "lookalike" if differs or avoided else "",
                named_by=named,
                avoided_by=avoided,
                differs=differs,
                write_set=where in parts.written,
            )
        )
    return Table(
        service=service,
        name=name,
        place=place,
        id_field=id_field,
        columns=columns,
        rows=tuple(rows),
        may_change=place in parts.may_change,
        read_by=parts.read_by.get(place, ()),
        made=parts.made.get(place, 0),
    )


def _telling(records: Sequence[Mapping[str, Any]], id_field: str) -> tuple[str, ...]:
    """Fields that tell records apart at a glance: no id, no moment, no long text, not all alike."""
    names = dict.fromkeys(key for record in records for key in record if key != id_field)
    found = []
    for name in names:
        values = [record.get(name) for record in records]
        texts = [value for value in values if isinstance(value, str)]
        moments = any(is_instant(text) for text in texts)
        long = any(len(text) > LONG for text in texts)
        if not moments and not long and len({plain(value) for value in values}) > 1:
            found.append(name)
    return tuple(found)


def _lookalike(
    record: Mapping[str, Any], targets: Iterable[Mapping[str, Any]], telling: Sequence[str]
) -> tuple[str, ...]:
    for target in targets:
        told = [name for name in telling if target.get(name) is not None]
        differs = [name for name in told if plain(record.get(name)) != plain(target.get(name))]
        if told and differs and 1 - len(differs) / len(told) >= _ALIKE:
            return tuple(differs[:_MOST_NAMED])
    return ()


def _cell(record: Mapping[str, Any], column: Column, id_field: str) -> Cell:
    value = record.get(column.name)
    state: Literal["", "null", "absent"] = ""
    if column.name not in record:
        state = "absent"
    elif value is None:
        state = "null"
    kind = column.kind if value is None else _kind([value])
    nested = kind == "nested"
    return Cell(
        name=column.name,
        kind=kind,
        text="" if state else _summary(value) if nested else shown(value, 80),
        whole="" if state else plain(value),
        state=state,
        long=kind == "text" and not state and (len(plain(value)) > LONG or "\n" in plain(value)),
        key=column.name == id_field,
    )


def _summary(value: Any) -> str:
    """A nested value on one line: how many, or its first words."""
    if isinstance(value, list | tuple):
        if all(isinstance(item, str | int | float) for item in value):
            return shown(", ".join(plain(item) for item in value), 60)
        return f"{len(value)} item{'' if len(value) == 1 else 's'}"
    return shown(value, 60)
