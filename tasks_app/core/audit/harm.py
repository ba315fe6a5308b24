"""Whether what was planted lets anybody do wrong.

A check that is loosened is no defect where something else holds the very same: the write set, the
selection, a tool that takes no other value or refuses a second time. That is read off the spec and
the tools, or seen by playing a few careless versions of the work; no gate is asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.audit import spots
from tasks_app.core.audit.planter import Written
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.evidence import Evidence, EvidenceError, Selection
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import Act, perform
from tasks_app.core.samples import arguments_of
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.world.world import World

_OF_EVENTS: Final = frozenset({"start", "end", "attendees"})
"""Fields of an event that an event check looks at."""


def may_end_otherwise(data: Written, check: Mapping[str, Any], name: str) -> bool:
    """Whether a field that a record check expects can end with another value, unseen by what else
    the task holds against it.
    """
    place = f"{check['service']}/{check['collection']}"
    if name in check.get("where", {}):
        return False  # what it selects has that value
    if name in _OF_EVENTS and place == "calendar/events" and spots.checks(data, "event_match"):
        return False
    if place == "sheets/rows" and _stands_in_table(data, check, name):
        return False
    start = {
        str(spot.record.get("id")): spot.record
        for spot in spots.records(data, check["service"], check["collection"])
    }
    ids = [one for one in _ids(check) if one in start]
    rules = [_as_rule(rule) for rule in data.get("write_set", [])]
    if _kept_since(data, check, name, rules):
        return False
    if not ids:
        asked = [rule for rule in rules if rule["address"] == f"{place}/*"]
        return not any(name in rule.get("where", {}) for rule in asked)
    if not any(_opens(rule, place, one, name) for rule in rules for one in ids):
        return False
    value = check.get("expect", {}).get(name)
    if any(_counts_by(other, check, name, value) for other in spots.checks(data, "record_match")):
        return False
    return _taken(data, name) or any(start[one].get(name) != value for one in ids)


def _stands_in_table(data: Written, check: Mapping[str, Any], name: str) -> bool:
    """Whether a check of the whole sheet, at the same time, expects the value in the same row."""
    where, value = check.get("where", {}), check.get("expect", {}).get(name)
    named = [one for column, one in where.items() if column != "sheet_id"]
    return any(
        table["sheet"] == where.get("sheet_id")
        and table.get("stage") == check.get("stage")
        and any(
            value in row.values() and all(one in row.values() for one in named)
            for row in table["rows"]
        )
        for table in spots.checks(data, "table_rows")
    )


def loses(data: Written, check: Mapping[str, Any]) -> bool:
    """Whether a task without a record check lets something end otherwise: what the check expects is
    neither held by another one nor the free wording of a text.
    """
    others = [other for other in spots.checks(data, "record_match") if other is not check]
    return any(
        may_end_otherwise(data, check, name)
        and not _is_wording(data, name, value)
        and not any(_expects_too(other, check, name, value) for other in others)
        for name, value in check.get("expect", {}).items()
    )


def _is_wording(data: Written, name: str, value: Any) -> bool:
    """Whether a field is a text that a tool writes, of which some words are looked for."""
    known = tools()
    texts = {n for tool in data["tools"] if tool in known for n in known[tool].facts.text}
    return name in texts and isinstance(value, dict)


def _expects_too(other: Mapping[str, Any], check: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether another check wants the same of the same records, or the whole of what a part is
    asked of here.
    """
    if not _same_records(other, check):
        return False
    expected = other.get("expect", {})
    whole = expected.get(name.split(".")[0]) if "." in name else None
    closed = whole is not None and (not isinstance(whole, dict) or whole.keys() <= {"eq", "in"})
    return closed or (name in expected and bool(expected[name] == value))


def _same_records(other: Mapping[str, Any], check: Mapping[str, Any]) -> bool:
    """Whether another check selects the records of this one, each of them there."""
    if any(other[part] != check[part] for part in ("service", "collection")):
        return False
    count = other.get("count", 1)
    if other.get("where") == check.get("where"):
        return bool(count == check.get("count", 1))
    ids, own = set(_ids(other)), set(_ids(check))
    return bool(own) and own <= ids and count in (len(ids), {"eq": len(ids)})


def _ids(check: Mapping[str, Any]) -> list[str]:
    """The ids that a check selects or expects, where it names them."""
    found: list[str] = []
    for wanted in (check.get("where", {}).get("id"), check.get("expect", {}).get("id")):
        held = wanted.get("in", []) if isinstance(wanted, dict) else [wanted]
        found += [one for one in held if isinstance(one, str)]
    return found


def _counts_by(other: Mapping[str, Any], check: Mapping[str, Any], name: str, value: Any) -> bool:
    """Whether another check wants exactly the records that have the value, this one among them."""
    place = ("service", "collection")
    count = other.get("count", 1)
    exact = isinstance(count, int) or list(count) == ["eq"]
    alike = [other[part] for part in place] == [check[part] for part in place]
    own = set(_ids(check))
    return alike and exact and other.get("where", {}).get(name) == value and own <= set(_ids(other))


def _kept_since(
    data: Written, check: Mapping[str, Any], name: str, rules: Sequence[Mapping[str, Any]]
) -> bool:
    """Whether the rows of the table are checked on an earlier day, this one with the value, and no
    rule has let it be changed since.
    """
    days = [stage["id"] for stage in data.get("timeline", [])]
    where, value = check.get("where", {}), check.get("expect", {}).get(name)
    table = where.get("sheet_id") or where.get("table_id")
    if check.get("stage") not in days or table is None:
        return False
    place = f"{check['service']}/{check['collection']}"
    until = days.index(check["stage"]) + 1
    for other in spots.checks(data, "table_rows"):
        since = days[days.index(other["stage"]) + 1 : until] if other.get("stage") in days else []
        if not since or table not in (other.get("sheet"), other.get("table")):
            continue
        own = [row for row in other["rows"] if row.get(other["key"]) in where.values()]
        opened = any(
            _opens(rule, place, "*", name)
            and not {*rule.get("stages", since)}.isdisjoint(since)
            and all(
                where.get(key, wanted) == wanted for key, wanted in rule.get("where", {}).items()
            )
            for rule in rules
        )
        if any(value in row.values() for row in own) and not opened:
            return True
    return False


def _as_rule(rule: Any) -> dict[str, Any]:
    return dict(rule) if isinstance(rule, dict) else {"address": rule}


def _opens(rule: Mapping[str, Any], place: str, record_id: str, name: str) -> bool:
    """Whether a rule of the write set lets a field of a record be changed."""
    home, _, fields = rule["address"].partition("#")
    if home not in (f"{place}/*", f"{place}/{record_id}") or rule.get("change") == "add":
        return False
    return not fields or name in fields.split(",")


def _taken(data: Written, name: str) -> bool:
    """Whether a tool on offer that writes takes a value for a field, alone or in an object."""
    known = tools()
    return any(
        argument.name == name or argument.kind == "object"
        for tool in data["tools"]
        if tool in known and known[tool].facts.writes
        for argument in arguments_of(tool)
    )


def other_number_passes(data: Written) -> bool:
    """Whether a version of the work with a write left out, or made twice, selects another number
    of records by some check, and passes all the same.
    """
    try:
        spec = load_spec(data)
    except SpecError:
        return True
    acts = spots.acts(data)
    right = _counts(spec, _end(spec, acts))
    for careless in _careless(acts):
        evidence = _end(spec, careless)
        passed = grade(spec.checks, spec.constraints, evidence).passed
        if passed and _counts(spec, evidence) != right:
            return True
    return False


def _careless(acts: Sequence[Act]) -> Iterator[list[Act]]:
    """The work with each write left out, and made twice."""
    known = tools()
    for i, act in enumerate(acts):
        if act.tool is not None and known[act.tool].facts.writes:
            yield [*acts[:i], *acts[i + 1 :]]
            yield [*acts[: i + 1], *acts[i:]]


def _end(spec: TaskSpec, acts: Sequence[Act]) -> Evidence:
    world = World(spec)
    perform(world, acts)
    return world.evidence()


def _counts(spec: TaskSpec, evidence: Evidence) -> list[int]:
    """How many records each record check selects."""
    found: list[int] = []
    for check in spec.checks:
        if isinstance(check, RecordMatch):
            try:
                found.append(len(Selection(check.place, check.where).of(evidence, check.stage)))
            except EvidenceError:
                found.append(-1)
    return found
