"""Arguments that a tool's schema accepts, made without understanding the task.

Cheap policies, violating policies and extra writes of a proof need calls that are valid; what an
argument takes is read off the tool's JSON Schema, and off the validator where the schema is silent
(dates).
"""

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import orjson
from pydantic import ValidationError

from tasks_app.core.calls import Tables
from tasks_app.core.memo import Memo
from tasks_app.core.services.base import Tool
from tasks_app.core.services.catalog import collections, tools
from tasks_app.core.values import PLAIN

Kind = Literal[
    "id", "email", "day", "instant", "text", "number", "boolean", "choice", "list", "object"
]

DUMMY_TEXT: Final = "sample"
DUMMY_ADDRESS: Final = "someone@elsewhere.example"
_PROBES: Final[Mapping[Kind, Any]] = {
    "text": "x1",
    "day": "2031-01-02",
    "instant": "2031-01-02T09:00:00+00:00",
    "email": DUMMY_ADDRESS,
}

_LATER: Final[Mapping[Kind, Any]] = {"day": "2031-01-03", "instant": "2031-01-02T10:00:00+00:00"}


class Argument(NamedTuple):
    """One argument of a tool."""

    name: str
    required: bool
    kind: Kind
    choices: tuple[Any, ...] = ()
    low: float | None = None
    integer: bool = False
    item: "Argument | None" = None
    """What a list holds."""
    sample: Any = None
    """A value the schema accepts."""


@functools.cache
def arguments_of(tool_name: str) -> tuple[Argument, ...]:
    """Return the arguments of a tool, in the order of its signature."""
    tool = tools()[tool_name]
    schema = tool.facts.parameters or {}
    required = set(schema.get("required", ()))
    definitions = schema.get("$defs", {})
    found = [
        _read(name, body, definitions, required=name in required)
        for name, body in schema.get("properties", {}).items()
    ]
    return _probed(tool, found)


def _read(name: str, body: Mapping[str, Any], definitions: Any, *, required: bool) -> Argument:
    body = _resolved(body, definitions)
    if "enum" in body:
        return Argument(name, required, "choice", tuple(body["enum"]), sample=body["enum"][0])
    if "const" in body:
        return Argument(name, required, "choice", (body["const"],), sample=body["const"])
    match body.get("type"):
        case "boolean":
            return Argument(name, required, "boolean", sample=True)
        case "integer" | "number" as kind:
            low = body.get("minimum", body.get("exclusiveMinimum"))
            value = 1 if low is None or low <= 1 else low
            return Argument(
                name, required, "number", low=low, integer=kind == "integer", sample=value
            )
        case "array":
            item = _read(name, body.get("items", {"type": "string"}), definitions, required=True)
            return Argument(name, required, "list", item=item, sample=[item.sample])
        case "object":
            return Argument(name, required, "object", sample=_object(body, definitions))
        case _:
            named = name.endswith(("_id", "_ids"))
            longest = "x1" * 8 if body.get("minLength", 0) > 2 else "x1"
            return Argument(name, required, "id" if named else "text", sample=longest)


def _resolved(body: Mapping[str, Any], definitions: Any) -> Mapping[str, Any]:
    for _ in range(8):
        if "$ref" in body:
            body = definitions.get(str(body["$ref"]).rpartition("/")[2], {})
        elif "anyOf" in body:
            body = next((b for b in body["anyOf"] if b.get("type") != "null"), {})
        else:
            break
    return body


def _object(body: Mapping[str, Any], definitions: Any) -> dict[str, Any]:
    required = body.get("required", ())
    made = {
        name: _read(name, inner, definitions, required=True).sample
        for name, inner in body.get("properties", {}).items()
        if name in required
    }
    free = body.get("additionalProperties")
    if not made and body.get("minProperties", 0) > 0 and isinstance(free, Mapping):
        made[DUMMY_TEXT] = _read(DUMMY_TEXT, free, definitions, required=True).sample
    return made


def _probed(tool: Tool, found: Sequence[Argument]) -> tuple[Argument, ...]:
    """Let the validator say which texts are dates or addresses."""
    known = {argument.name: argument for argument in found}
    for kind, value in list(_PROBES.items())[1:]:
        for name in _refused(tool, known.values()):
            argument = known.get(name)
            if argument is None:
                continue
            if argument.kind == "list" and argument.item is not None:
                item = argument.item._replace(kind=kind, sample=value)
                known[name] = argument._replace(item=item, sample=[value])
            elif argument.kind in ("text", "id", *_PROBES):
                known[name] = argument._replace(kind=kind, sample=value)
    for name in _refused(tool, known.values()):  # a pattern of its own: lower-case words
        argument = known.get(name)
        if argument is not None and argument.kind == "email":
            known[name] = argument._replace(kind="text", sample="sample")
    return tuple(_in_turn(known.values()))


def _in_turn(arguments: Iterable[Argument]) -> Iterator[Argument]:
    """Give the second day or instant of a tool a later sample: where the first begins a span, the
    second ends it, and no span ends when it begins.
    """
    begun: set[Kind] = set()
    for argument in arguments:
        later = _LATER.get(argument.kind)
        if later is None or argument.kind not in begun:
            begun.add(argument.kind)
            yield argument
        else:
            yield argument._replace(sample=later)


def _refused(tool: Tool, arguments: Any) -> list[str]:
    values = {argument.name: argument.sample for argument in arguments}
    try:
        tool.model.__pydantic_validator__.validate_json(orjson.dumps(values))
    except ValidationError as problem:
        return [str(error["loc"][0]) for error in problem.errors() if error["loc"]]
    return []


# --- what records offer --------------------------------------------------------------------------


class _Offer:
    """What the records of one state offer; a proof asks for the same again and again."""

    def __init__(self, _tables: Tables):
        self.places: dict[tuple[str, str], str | None] = {}
        self.values: dict[str, list[Any]] = {}
        self.homes: dict[str, list[str]] | None = None


_offers: Final[Memo[Tables, _Offer]] = Memo(_Offer, most=8)


def collection_for(argument: str, service: str, tables: Tables) -> str | None:
    """Return the collection an id argument names: `ticket_id` of helpdesk → helpdesk/tickets."""
    places, key = _offers.of(tables).places, (argument, service)
    if key not in places:
        places[key] = _collection_for(argument, service, tables)
    return places[key]


def _collection_for(argument: str, service: str, tables: Tables) -> str | None:
    noun = argument.removesuffix("_ids").removesuffix("_id")
    own: list[str] = []
    other: list[str] = []
    for place in tables:
        home, _, name = place.partition("/")
        if noun in (name, singular(name)):
            (own if home == service else other).append(place)
    return next(iter(own + other), None)


def singular(noun: str) -> str:
    """`policies` → `policy`, `addresses` → `address`, `people` → `person`, `tickets` → `ticket`."""
    if noun == "people":
        return "person"
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith(("sses", "xes", "ches")):
        return noun[:-2]
    return noun.removesuffix("s")


def holders(tables: Tables) -> dict[str, list[str]]:
    """Return record id → the collections that hold a record of that id; not to be changed."""
    offer = _offers.of(tables)
    if offer.homes is None:
        offer.homes = _holders(tables)
    return offer.homes


def _holders(tables: Tables) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for place, rows in tables.items():
        for record_id in rows:
            found.setdefault(record_id, []).append(place)
    return found


def field_values(tables: Tables, field: str) -> list[Any]:
    """Return the distinct plain values of a field anywhere in the records, in order."""
    values = _offers.of(tables).values
    if field not in values:
        values[field] = _field_values(tables, field)
    return values[field][:]


def _field_values(tables: Tables, field: str) -> list[Any]:
    seen: dict[Any, None] = {}
    for rows in tables.values():
        for row in rows.values():
            value = row.get(field)
            if isinstance(value, PLAIN) and not isinstance(value, bool) and value != "":
                seen.setdefault(value)
    return list(seen)


def offered_values(argument: Argument, service: str, tables: Tables, *, most: int = 8) -> list[Any]:
    """Return values for an argument that the records make likely to work, best first."""
    match argument.kind:
        case "id":
            place = collection_for(argument.name, service, tables)
            ids = list(tables[place])[:most] if place is not None else []
            return ids or [argument.sample]
        case "choice":
            return list(argument.choices)
        case "list" if argument.item is not None:
            return [[v] for v in offered_values(argument.item, service, tables, most=most)]
        case "text" | "email":
            known = [v for v in field_values(tables, argument.name) if isinstance(v, str)]
            return [*known[:most], argument.sample]
        case _:
            return [argument.sample]


def dummy(tool_name: str, *, optional: bool = False) -> dict[str, Any]:
    """Return schema-valid arguments that mean nothing."""
    return {
        argument.name: argument.sample
        for argument in arguments_of(tool_name)
        if argument.required or optional
    }


def likely(
    tool_name: str, tables: Tables, fixed: Mapping[str, Any] | None = None, *, most: int = 12
) -> Iterator[dict[str, Any]]:
    """Yield arguments that probably execute: ids of real records, values that occur in records.

    Args:
        tool_name: The tool.
        tables: The records to choose from.
        fixed: Arguments that are given.
        most: How many at most.
    """
    service = tools()[tool_name].facts.service
    given = dict(fixed or {})
    arguments = [a for a in arguments_of(tool_name) if a.name not in given]
    required = [a for a in arguments if a.required]
    turns = 0
    named = _with_record(arguments, service, tables)
    for wanted in (required, named) if named else (required,):
        options = {a.name: offered_values(a, service, tables, most=most) for a in wanted}
        for turn in range(max((len(values) for values in options.values()), default=1)):
            if turns >= most:
                return
            turns += 1
            yield {
                **{name: values[min(turn, len(values) - 1)] for name, values in options.items()},
                **given,
            }


def _with_record(arguments: Sequence[Argument], service: str, tables: Tables) -> list[Argument]:
    """Return the required arguments and the first optional one that names a record; for tools that
    take one of several names of it. Nothing where a record is required anyway.
    """
    if any(a.kind == "id" for a in arguments if a.required):
        return []
    for argument in arguments:
        if argument.kind == "id" and tables.get(
            collection_for(argument.name, service, tables) or ""
        ):
            return [a for a in arguments if a.required or a is argument]
    return []


def id_field(collection: str) -> str:
    """Return the name of a collection's id field."""
    facts = collections().get(collection)
    return facts.id_field if facts is not None else "id"
