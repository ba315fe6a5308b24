"""Gates R: everything that is named exists, holds a sensible value, and the request speaks of
it.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.functions import FUNCTIONS
from tasks_app.core.instants import is_date, is_instant, parse_date, parse_instant
from tasks_app.core.predicates import fold, literal_of
from tasks_app.core.program import is_binding
from tasks_app.core.services.catalog import collections, tools
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import Gate, finding, operation, pointer
from tasks_app.core.validation.known import (
    arguments_of,
    nearest,
    noun_homes,
    record_fields,
    record_ids,
)
from tasks_app.core.values import LEAVES, LISTS, MISSING, OBJECTS, pattern
from tasks_app.core.world.world import World, seed_problem

_EMAIL: Final = re.compile(r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+")
_EMAIL_FIELDS: Final = frozenset({"email", "reply_to"})
_PAST_FIELDS: Final = frozenset(
    {"created_at", "updated_at", "placed_on", "delivered_on", "received_on", "date"}
)


# --- R1 ------------------------------------------------------------------------------------------


def foreign_keys(spec: TaskSpec) -> Iterator[Finding]:
    """R1: a `<noun>_id` field of a record points to a record, where that collection is in the
    task.
    """
    problem = seed_problem(spec)
    if problem is not None:
        yield finding("R1", "/services", problem, hint="mend the record named")
        return
    nouns = noun_homes()
    held = {
        f"{service}/{name}": set(record_ids(spec, f"{service}/{name}"))
        for service, named in spec.services.items()
        for name in named
    }
    for service, named in spec.services.items():
        for name, records in named.items():
            for i, record in enumerate(records):
                for field, value in record.items():
                    if field not in nouns or not isinstance(value, str):
                        continue
                    homes = [p for p in nouns[field] if held.get(p)]
                    if f"{service}/{name}" in homes and field == "id":
                        continue
                    if not homes or any(value in held[p] for p in homes):
                        continue
                    close = nearest(value, {i for p in homes for i in held[p]})
                    place = pointer("services", service, name, i, field)
                    yield finding(
                        "R1",
                        place,
                        f"{field} is {value}, but {homes[0]} has no such record",
                        hint=f"did you mean {close}?" if close else f"add {value} to {homes[0]}",
                        rule="relink_nearest",
                        title=f"point it to {close}",
                        patch=[operation("replace", place, close)] if close else (),
                    )


# --- R2 ------------------------------------------------------------------------------------------


def names_exist(spec: TaskSpec) -> Iterator[Finding]:
    """R2: tools, arguments, steps, policies, collections, records and fields that are named
    exist.
    """
    yield from _tools_offered(spec)
    for program, steps in (("reference", spec.reference), *_alternatives(spec)):
        yield from _steps(spec, program, steps)
    yield from _constraints(spec)
    yield from _checks(spec)
    yield from _addresses(spec)
    yield from _timeline(spec)


def _alternatives(spec: TaskSpec) -> list[tuple[str, Sequence[Step]]]:
    return [(f"alternatives/{i}", steps) for i, steps in enumerate(spec.alternatives)]


def _unknown(
    place: str, what: str, name: str, options: Sequence[str], *, gate: str = "R2"
) -> Finding:
    close = nearest(name, options)
    return finding(
        gate,
        place,
        f"there is no {what} {name}",
        hint=f"did you mean {close}?"
        if close
        else f"known: {', '.join(sorted(options)[:8]) or 'none'}",
        rule="relink_nearest",
        title=f"use {close}",
        patch=[operation("replace", place, close)] if close else (),
    )


def _tools_offered(spec: TaskSpec) -> Iterator[Finding]:
    known = tools()
    for i, name in enumerate(spec.tools):
        if name not in known:
            yield _unknown(pointer("tools", i), "tool", name, list(known))
            continue
        service = known[name].facts.service
        if service == "user":
            if spec.user is None:
                yield finding(
                    "R2",
                    pointer("tools", i),
                    f"{name} is offered, but the task has no colleague",
                    hint="add a colleague, or take the tool off",
                    rule="drop_tool",
                    patch=[operation("remove", pointer("tools", i))],
                )
        elif service not in spec.services:
            yield finding(
                "R2",
                pointer("tools", i),
                f"{name} is offered, but the task has no records of {service}",
                hint=f"add {service} to the records (it may be empty), or take the tool off",
                rule="add_service",
                patch=[operation("add", pointer("services", service), {})],
            )
    for alias, target in spec.tool_aliases.items():
        if target.tool not in known:
            place = pointer("tool_aliases", alias, "tool")
            yield _unknown(place, "tool", target.tool, list(known))


def offered(spec: TaskSpec) -> tuple[str, ...]:
    """Return the studio's names of the tools a task offers."""
    return (*spec.tools, *(alias.tool for alias in spec.tool_aliases.values()))


def _steps(spec: TaskSpec, program: str, steps: Sequence[Step]) -> Iterator[Finding]:
    known: list[str] = []
    names = offered(spec)
    base = pointer(*program.split("/"))
    for i, step in enumerate(steps):
        place = f"{base}/{i}"
        if step.tool is None:
            yield from _bindings(step.reply, f"{place}/reply", known, inside_each=False)
            continue
        if step.tool not in names:
            yield _unknown(f"{place}/tool", "offered tool", step.tool, names)
        elif step.tool in tools():
            known_arguments = arguments_of(step.tool)
            for argument in step.arguments:
                if argument not in known_arguments:
                    close = nearest(argument, known_arguments)
                    yield finding(
                        "R2",
                        f"{place}/arguments/{argument}",
                        f"{step.tool} takes no argument {argument}",
                        hint=f"did you mean {close}?"
                        if close
                        else f"it takes {', '.join(known_arguments) or 'none'}",
                    )
        yield from _bindings(step.each, f"{place}/each", known, inside_each=False)
        yield from _bindings(
            step.arguments, f"{place}/arguments", known, inside_each=step.each is not None
        )
        if step.id is not None:
            known.append(step.id)


def _bindings(
    value: Any, place: str, known: Sequence[str], *, inside_each: bool
) -> Iterator[Finding]:
    if is_binding(value):
        if "from" in value:
            source = value["from"]
            reserved = ("clock", "item") if inside_each else ("clock",)
            if source not in known and source not in reserved:
                yield _unknown(f"{place}/from", "earlier step", source, [*known, *reserved])
            yield from _bindings(
                value.get("where"), f"{place}/where", known, inside_each=inside_each
            )
            return
        if "fn" in value and str(value["fn"]) not in FUNCTIONS:
            yield _unknown(f"{place}/fn", "function", str(value["fn"]), list(FUNCTIONS))
    for inner, item in _within(value):
        yield from _bindings(item, f"{place}{inner}", known, inside_each=inside_each)


def _within(value: Any) -> list[tuple[str, Any]]:
    """Return the objects and lists inside an object or list, with their places."""
    if isinstance(value, LEAVES):
        return []
    if isinstance(value, OBJECTS):
        return [(pointer(k), v) for k, v in value.items() if not isinstance(v, LEAVES)]
    if isinstance(value, LISTS):
        return [(f"/{i}", v) for i, v in enumerate(value) if not isinstance(v, LEAVES)]
    return []


def _patterns(value: Any, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every {"tool", "arguments"} inside a written constraint or check, with its place."""
    if isinstance(value, OBJECTS) and "tool" in value:
        yield place, value
    for inner, item in _within(value):
        yield from _patterns(item, f"{place}{inner}")


def _call_patterns(
    spec: TaskSpec, owner: str, written: Mapping[str, Any], place: str
) -> Iterator[Finding]:
    names = offered(spec)
    for at, found in _patterns(written, place):
        tool = found["tool"]
        for name in (tool,) if isinstance(tool, str) else tool:
            if name not in names:
                yield _unknown(f"{at}/tool", f"offered tool (in {owner})", name, names)
                continue
            known = arguments_of(name)
            wanted = found.get("argument", ())
            listed = (wanted,) if isinstance(wanted, str) else tuple(wanted)
            inner = found.get("arguments", {})
            for argument in (*listed, *(str(a).split(".")[0] for a in inner)):
                if argument not in known:
                    yield finding(
                        "R2",
                        f"{at}/argument" if argument in listed else f"{at}/arguments",
                        f"{owner}: {name} takes no argument {argument}",
                        hint=f"it takes {', '.join(known)}",
                    )


def _constraints(spec: TaskSpec) -> Iterator[Finding]:
    policies = [p.id for p in spec.workplace.policies]
    for i, constraint in enumerate(spec.constraints):
        place = pointer("constraints", i)
        if constraint.policy not in policies and not spec.evaluation_only:
            yield _unknown(f"{place}/policy", "policy document", constraint.policy, policies)
        written = constraint.plain
        yield from _call_patterns(spec, constraint.id, written, place)


def _known_collection(spec: TaskSpec, place: str) -> bool:
    service, _, name = place.partition("/")
    return place in collections() or name in spec.services.get(service, {})


def _checks(spec: TaskSpec) -> Iterator[Finding]:
    for i, check in enumerate(spec.checks):
        written = check.plain
        place = pointer("checks", i)
        yield from _call_patterns(spec, check.id, written, place)
        if "service" not in written or "collection" not in written:
            continue
        home = f"{written['service']}/{written['collection']}"
        if not _known_collection(spec, home):
            known = [p for p in collections() if p.partition("/")[0] in spec.services]
            close = nearest(home, known)
            yield finding(
                "R2",
                f"{place}/collection",
                f"{check.id} reads {home}, which does not exist",
                hint=f"did you mean {close}?" if close else "name an existing collection",
            )
            continue
        yield from _literal_ids(spec, check.id, home, written.get("where", {}), place)
        yield from _fields(spec, check.id, home, written, place)


def _literal_ids(
    spec: TaskSpec, owner: str, home: str, where: Mapping[str, Any], place: str
) -> Iterator[Finding]:
    facts = collections().get(home)
    id_field = facts.id_field if facts is not None else "id"
    wanted = literal_of(where.get(id_field, MISSING))
    ids = record_ids(spec, home)
    if isinstance(wanted, str) and ids and wanted not in ids:
        yield _unknown(f"{place}/where/{id_field}", f"record in {home} for {owner}:", wanted, ids)


def _fields(
    spec: TaskSpec, owner: str, home: str, written: Mapping[str, Any], place: str
) -> Iterator[Finding]:
    service, _, name = home.partition("/")
    known = set(record_fields().get(home, {}))
    for record in spec.services.get(service, {}).get(name, ()):
        known.update(record)
    if not known:
        return
    for part in ("where", "expect"):
        for path, predicate in written.get(part, {}).items():
            top = path.split(".")[0]
            if top not in known:
                yield _unknown(
                    f"{place}/{part}/{path}", f"field of {home} for {owner}:", top, sorted(known)
                )
                continue
            allowed = record_fields().get(home, {}).get(top, ())
            value = literal_of(predicate)
            if allowed and isinstance(value, str) and value not in allowed:
                yield _unknown(f"{place}/{part}/{path}", f"value of {home}#{top}", value, allowed)


def _addresses(spec: TaskSpec) -> Iterator[Finding]:
    named = [
        *((pointer("write_set", i), rule.address) for i, rule in enumerate(spec.write_set)),
        *((pointer("free", i, "address"), free.address) for i, free in enumerate(spec.free)),
    ]
    for place, text in named:
        compiled = pattern(text)
        if not _known_collection(spec, compiled.collection):
            yield finding(
                "R2",
                place,
                f"{text} lies in {compiled.collection}, which does not exist",
                hint="collections: "
                f"{', '.join(p for p in collections() if p.partition('/')[0] in spec.services)}",
            )
            continue
        ids = record_ids(spec, compiled.collection)
        if compiled.exact_id is not None and ids and compiled.exact_id not in ids:
            close = nearest(compiled.exact_id, ids)
            yield finding(
                "R2",
                place,
                f"{text} names a record that does not exist",
                hint=f"did you mean {close}?" if close else "name an existing record",
            )


def _timeline(spec: TaskSpec) -> Iterator[Finding]:
    stages = [s.id for s in spec.stages]
    for i, rule in enumerate(spec.write_set):
        for stage in rule.stages:
            if stage not in stages:
                yield _unknown(pointer("write_set", i, "stages"), "stage", stage, stages)
    for i, fault in enumerate(spec.faults):
        if fault.tool not in offered(spec):
            yield _unknown(pointer("faults", i, "tool"), "offered tool", fault.tool, offered(spec))
    if spec.timeline and seed_problem(spec) is None:
        first = spec.timeline[0]
        if first.at != spec.clock.start or first.mutations or first.notification is not None:
            yield finding(
                "R2",
                "/timeline/0",
                "the first stage starts at the clock's start, without notification or mutations",
                hint="the request is its message",
            )
        world = World(spec)
        world.finish()
        for reason in world.context.missed:
            yield finding(
                "R2", "/timeline", reason, hint="under a policy that does nothing it must happen"
            )


# --- R3 ------------------------------------------------------------------------------------------


def domain_values(spec: TaskSpec) -> Iterator[Finding]:
    """R3: dates are days that exist, mail addresses look like some, created is not after updated
    or now.
    """
    now = parse_instant(spec.clock.start)
    for service, named in spec.services.items():
        for name, records in named.items():
            known = record_fields().get(f"{service}/{name}", {})
            allowed = {field: values for field, values in known.items() if values}
            home = pointer("services", service, name)
            for i, record in enumerate(records):
                place = f"{home}/{i}"
                for field, value in record.items():
                    past = field in _PAST_FIELDS
                    if value is None or not (past or field in allowed or _says_much(field)):
                        continue  # nearly always: nothing is known of such a field
                    at = f"{place}{pointer(field)}"
                    yield from _value(field, value, at, allowed.get(field, ()))
                    if past and isinstance(value, str):
                        moment, day = parse_instant(value), parse_date(value)
                        late = (moment is not None and now is not None and moment > now) or (
                            day is not None and value > spec.clock.start[:10]
                        )
                        if late:
                            yield finding(
                                "R3",
                                at,
                                f"{field} is {value}, after the task's own clock "
                                f"({spec.clock.start})",
                                hint="nothing has happened yet that the records could know",
                            )
                created, updated = record.get("created_at"), record.get("updated_at")
                if isinstance(created, str) and isinstance(updated, str):
                    first, second = parse_instant(created), parse_instant(updated)
                    if first is not None and second is not None and first > second:
                        yield finding(
                            "R3",
                            f"{place}/updated_at",
                            f"updated at {updated}, before it was created at {created}",
                            hint="set it to the creation",
                            rule="snap_to_created",
                            patch=[operation("replace", f"{place}/updated_at", created)],
                        )
    earlier = spec.clock.start
    for i, stage in enumerate(spec.timeline):
        first, second = parse_instant(earlier), parse_instant(stage.at)
        if first is not None and second is not None and second < first:
            yield finding(
                "R3", pointer("timeline", i, "at"), f"{stage.id} begins before the stage before it"
            )
        earlier = stage.at


@functools.lru_cache(maxsize=4096)
def _says_much(field: str) -> bool:
    """Say whether a field's name tells what it holds."""
    return field.endswith(("_at", "_on")) or field in _EMAIL_FIELDS


def _value(field: str, value: Any, at: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    if field.endswith("_at") and not (isinstance(value, str) and is_instant(value)):
        yield finding(
            "R3", at, f"{value!r} is no timestamp with offset", hint="2031-03-20T09:10:00+01:00"
        )
    elif field.endswith("_on") and not (
        isinstance(value, str) and (is_date(value) or is_instant(value))
    ):
        yield finding("R3", at, f"{value!r} is no day of the calendar", hint="2031-03-20")
    elif field in _EMAIL_FIELDS and not (
        isinstance(value, str) and (value == "" or _EMAIL.fullmatch(value))
    ):
        yield finding("R3", at, f"{value!r} is no mail address", hint="name@firm.example")
    elif allowed and isinstance(value, str) and value not in allowed:
        close = nearest(value, allowed)
        yield finding(
            "R3",
            at,
            f"{value!r} is none of {', '.join(allowed)}",
            hint=f"did you mean {close}?" if close else "choose one of them",
            rule="snap_to_enum",
            patch=[operation("replace", at, close)] if close else (),
        )


# --- R4 ------------------------------------------------------------------------------------------

_ID: Final = re.compile(r"\b[A-Z]{1,5}-\d{2,}\b")
_LONG_NUMBER: Final = re.compile(r"(?<![\w.,])\d{4,}(?![\w]|[.,]\d)")
_NAME: Final = re.compile(r"\b[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)+")


def grounding(spec: TaskSpec) -> Iterator[Finding]:
    """R4: ids, addresses, numbers and full names of the request occur in what the coworker can
    read.
    """
    haystack = fold(_readable(spec))
    text = spec.request.text
    for kind, expression in (("id", _ID), ("mail address", _EMAIL), ("number", _LONG_NUMBER)):
        for match in expression.finditer(text):
            entity = match.group().rstrip(".,;:!?")
            if entity.casefold() not in haystack:
                yield _ungrounded(kind, entity, spec)
    for match in _NAME.finditer(text):
        words = re.sub(r"[’']s?$", "", match.group()).split(" ")
        starts = match.start() == 0 or text[: match.start()].rstrip()[-1:] in ".!?:,\n"
        candidates = [" ".join(words)] + (
            [" ".join(words[1:])] if starts and len(words) > 1 else []
        )
        if not any(c.casefold() in haystack for c in candidates):
            yield _ungrounded("name", candidates[0], spec)


def _ungrounded(kind: str, entity: str, spec: TaskSpec) -> Finding:
    return finding(
        "R4",
        "/request/text",
        f"the request names the {kind} {entity!r}, which no record, policy or person knows",
        hint="use the name a record has, or add the record",
        severity="warn" if spec.evaluation_only else "block",
    )


def _readable(spec: TaskSpec) -> str:
    parts: list[str] = []

    def collect(value: Any) -> None:
        if isinstance(value, LEAVES) or not isinstance(value, (*OBJECTS, *LISTS)):
            if value is not None and not isinstance(value, bool):
                parts.append(str(value))
            return
        for item in value.values() if isinstance(value, OBJECTS) else value:
            if isinstance(item, str):  # nearly always: no need to call for it
                parts.append(item)
            else:
                collect(item)

    collect(spec.services)
    collect(spec.workplace.model_dump())
    if spec.user is not None:
        collect([spec.user.name, [fact.text for fact in spec.user.facts]])
    for stage in spec.timeline:
        collect([mutation.values for mutation in stage.mutations])
    for attachment in spec.request.attachments:
        collect([attachment.name, attachment.sidecar])
    return "\n".join(parts)


GATES: tuple[Gate, ...] = (
    Gate("R1", "records point to records", True, foreign_keys),
    Gate("R2", "everything named exists", True, names_exist),
    Gate("R3", "values make sense", True, domain_values),
    Gate("R4", "the request is grounded", True, grounding),
)
