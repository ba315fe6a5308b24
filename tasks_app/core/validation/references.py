"""Gates R1 and R2: records point to records, and everything that is named exists; the table of the
gates R.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.constraints.no_disclosure import NoDisclosure
from tasks_app.core.functions import FUNCTIONS
from tasks_app.core.predicates import fold, literal_of
from tasks_app.core.program import is_binding
from tasks_app.core.services.catalog import collections, tools
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.validation.card import Finding, Suggestion
from tasks_app.core.validation.domains import domain_values
from tasks_app.core.validation.gate import Gate, finding, operation, pointer
from tasks_app.core.validation.grounding import grounding, readable_text
from tasks_app.core.validation.known import (
    arguments_of,
    nearest,
    noun_homes,
    record_fields,
    record_ids,
)
from tasks_app.core.values import LEAVES, LISTS, MISSING, OBJECTS, pattern
from tasks_app.core.world.world import World, seed_problem

MAILBOX: Final = "mail/outbox"
_PUT_BACK: Final = "put the record back; where the last edit took it away, undo that edit"


# --- R1 ------------------------------------------------------------------------------------------


def foreign_keys(spec: TaskSpec) -> Iterator[Finding]:
    """R1: a `<noun>_id` field of a record, or one called by the part that a record plays
    (`deputy_id`), points to a record, where that collection is in the task.
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
    asked = Counter(
        value
        for named in spec.services.values()
        for records in named.values()
        for record in records
        for field, value in record.items()
        if field in nouns and isinstance(value, str)
    )
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
                    # One record may be wrong by a slip of the pen; where several point to the
                    # same, that one is missing.
                    slip = asked[value] == 1
                    close = nearest(value, {i for p in homes for i in held[p]}) if slip else None
                    place = pointer("services", service, name, i, field)
                    yield finding(
                        "R1",
                        place,
                        f"{field} is {value}, but {homes[0]} has no such record",
                        hint=f"did you mean {close}?" if close else f"add {value} to {homes[0]}",
                        rule="relink_nearest" if close else "add_stub",
                        title=f"point it to {close}" if close else f"add {value} to {homes[0]}",
                        patch=[operation("replace", place, close)]
                        if close
                        else [operation("add", f"/services/{homes[0]}/-", {"id": value})],
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
    place: str, what: str, name: str, options: Sequence[str], *, gate: str = "R2", only: str = ""
) -> Finding:
    close = only or nearest(name, options)
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
            yield _step_not_offered(spec, step, f"{place}/tool", names)
        elif step.tool in tools():
            known_arguments = arguments_of(step.tool)
            for argument in step.arguments:
                if argument not in known_arguments:
                    free = [name for name in known_arguments if name not in step.arguments]
                    close = nearest(argument, free)
                    written = step.model_dump(mode="json")["arguments"]
                    yield finding(
                        "R2",
                        f"{place}/arguments/{argument}",
                        f"{step.tool} takes no argument {argument}",
                        hint=f"did you mean {close}?"
                        if close
                        else f"it takes {', '.join(known_arguments) or 'none'}",
                        rule="relink_nearest",
                        title=f"call it {close}",
                        patch=_renamed(f"{place}/arguments", argument, close, written),
                    )
        yield from _bindings(step.each, f"{place}/each", known, inside_each=False)
        yield from _bindings(
            step.arguments, f"{place}/arguments", known, inside_each=step.each is not None
        )
        if step.id is not None:
            known.append(step.id)


def _renamed(
    place: str, old: str, new: str | None, holder: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a patch that gives a key another name; none where there is no other name."""
    if new is None or new in holder:
        return []
    return [
        operation("remove", f"{place}{pointer(old)}"),
        operation("add", f"{place}{pointer(new)}", holder[old]),
    ]


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
    if isinstance(value, LISTS):
        return [(f"/{i}", v) for i, v in enumerate(value) if not isinstance(v, LEAVES)]
    if isinstance(value, OBJECTS):
        return [(pointer(k), v) for k, v in value.items() if not isinstance(v, LEAVES)]
    return []


def _patterns(value: Any, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every {"tool", "arguments"} inside a written constraint or check, with its place."""
    if not isinstance(value, LISTS) and isinstance(value, OBJECTS) and "tool" in value:
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
                yield _not_offered(spec, owner, name, at, place)
                continue
            known = arguments_of(name)
            wanted = found.get("argument", ())
            listed = (wanted,) if isinstance(wanted, str) else tuple(wanted)
            inner = found.get("arguments", {})
            for argument in (*listed, *(str(a).split(".")[0] for a in inner)):
                if argument not in known:
                    close = nearest(argument, known) if wanted == argument else None
                    drop = at == place and place.startswith("/constraints")
                    patch = [operation("remove", place)] if drop else []
                    if close is not None:
                        patch = [operation("replace", f"{at}/argument", close)]
                    yield finding(
                        "R2",
                        f"{at}/argument" if argument in listed else f"{at}/arguments",
                        f"{owner}: {name} takes no argument {argument}",
                        hint=f"it takes {', '.join(known)}",
                        rule="relink_nearest" if close else "drop_impossible_constraint",
                        title=f"bind it to {close}" if close else f"drop {owner}",
                        patch=patch,
                    )


def _step_not_offered(spec: TaskSpec, step: Step, place: str, names: Sequence[str]) -> Finding:
    """A tool that exists, and whose service is there, was forgotten; any other is misspelt."""
    name = str(step.tool)
    known = tools().get(name)
    if known is None or known.facts.service not in spec.services:
        return _unknown(place, "offered tool", name, names)
    return finding(
        "R2",
        place,
        f"step {step.id} calls {name}, which the task does not offer",
        hint="offer the tool, or let the step call another",
        rule="offer_tool",
        title=f"offer {name}",
        patch=[operation("add", "/tools/-", name)],
    )


def _not_offered(spec: TaskSpec, owner: str, name: str, at: str, place: str) -> Finding:
    """Name a tool that isn't offered: the nearest that is; else, if only a rule asks for it, the
    tool is offered where its service is there, or the rule, which nobody can break, is dropped.
    """
    found = _unknown(f"{at}/tool", f"offered tool (in {owner})", name, offered(spec))
    if not place.startswith("/constraints"):
        return found
    known = tools().get(name)
    if known is not None and known.facts.service in spec.services:
        patch, rule = [operation("add", "/tools/-", name)], "offer_tool"
        title = f"offer {name}"
    elif at == place and found.suggestion is None:
        patch, rule = [operation("remove", place)], "drop_impossible_constraint"
        title = f"drop {owner}, which nobody can break"
    else:
        return found
    return found.model_copy(
        update={"suggestion": Suggestion(rule=rule, title=title, patch=tuple(patch))}
    )


def _constraints(spec: TaskSpec) -> Iterator[Finding]:
    policies = [p.id for p in spec.workplace.policies]
    texts = {p.id: p.text for p in spec.workplace.policies}
    for i, constraint in enumerate(spec.constraints):
        place = pointer("constraints", i)
        if constraint.policy not in policies and not spec.evaluation_only:
            # The sentence says best where it stands.
            home = next((p for p, text in texts.items() if constraint.sentence in text), "")
            there = [home] if home else policies
            yield _unknown(
                f"{place}/policy", "policy document", constraint.policy, there, only=home
            )
        written = constraint.plain
        yield from _call_patterns(spec, constraint.id, written, place)
        if isinstance(constraint, NoDisclosure) and not spec.evaluation_only:
            yield from _secrets(spec, constraint, place)


def _secrets(spec: TaskSpec, rule: NoDisclosure, place: str) -> Iterator[Finding]:
    """What may not be told can be known: it stands in a record, a rule or with the colleague."""
    readable = fold(readable_text(spec))
    for value in rule.values:
        if isinstance(value, str) and fold(value) not in readable:
            yield finding(
                "R2",
                f"{place}/values",
                f"{rule.id} guards {value!r}, which stands nowhere: nobody can tell it",
                hint="guard what a record holds, or drop the rule",
                rule="drop_impossible_constraint",
                title=f"drop {rule.id}",
                patch=[operation("remove", place)],
            )
            return


def _known_collection(spec: TaskSpec, place: str) -> bool:
    service, _, name = place.partition("/")
    return place in collections() or name in spec.services.get(service, {})


def _checks(spec: TaskSpec) -> Iterator[Finding]:
    for i, check in enumerate(spec.checks):
        written = check.plain
        place = pointer("checks", i)
        yield from _call_patterns(spec, check.id, written, place)
        if isinstance(check, MessageMatch) and not _known_collection(spec, check.mailbox):
            yield _unknown(
                f"{place}/mailbox",
                f"collection of messages (in {check.id})",
                check.mailbox,
                list(collections()),
                only=_mailbox(spec),
            )
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
                rule="relink_nearest",
                title=f"read {close}",
                patch=[
                    operation("replace", f"{place}/{part}", name)
                    for part, name in zip(
                        ("service", "collection"), (close or "").split("/", 1), strict=False
                    )
                    if name and name != written[part]
                ],
            )
            continue
        yield from _literal_ids(spec, i, home, written.get("where", {}))
        yield from _fields(spec, check.id, home, written, place)


def _mailbox(spec: TaskSpec) -> str:
    """Return where the letters of a task lie: the outbox, else a collection of what is sent."""
    own = [
        place
        for place, fields in record_fields().items()
        if place.partition("/")[0] in spec.services and "to" in fields
    ]
    return MAILBOX if MAILBOX in own or not own else own[0]


def _or_dropped(spec: TaskSpec, i: int, found: Finding) -> Finding:
    """Suggest to drop a check of a record that isn't there, where the outcome stays covered."""
    own = spec.checks[i]
    others = [c for c in spec.checks if c is not own]
    covered = any(c.component == "outcome" and not c.requires for c in others)
    if found.suggestion is not None or not covered or any(own.id in c.requires for c in others):
        return found
    drop = Suggestion(
        rule="drop_check",
        title=f"drop {own.id}",
        patch=(operation("remove", pointer("checks", i)),),
    )
    return found.model_copy(update={"suggestion": drop})


def _literal_ids(spec: TaskSpec, i: int, home: str, where: Mapping[str, Any]) -> Iterator[Finding]:
    owner = spec.checks[i].id
    facts = collections().get(home)
    id_field = facts.id_field if facts is not None else "id"
    wanted = literal_of(where.get(id_field, MISSING))
    ids = record_ids(spec, home)
    if not (isinstance(wanted, str) and ids and wanted not in ids):
        return
    at = pointer("checks", i, "where", id_field)
    if _allowed_to_change(spec, home, wanted):
        # The check and the write set agree about it: no slip of the pen, the record is missing.
        yield finding(
            "R2",
            at,
            f"{owner} and the write set name {wanted}, and {home} holds no such record",
            hint=_PUT_BACK,
        )
    else:
        found = _unknown(at, f"record in {home} for {owner}:", wanted, ids)
        yield _or_dropped(spec, i, found)


def _checked(spec: TaskSpec, home: str, wanted: str) -> bool:
    """Whether a check looks for this very record."""
    written = (check.plain for check in spec.checks)
    return any(
        f"{body.get('service')}/{body.get('collection')}" == home
        and wanted in body.get("where", {}).values()
        for body in written
    )


def _allowed_to_change(spec: TaskSpec, home: str, wanted: str) -> bool:
    """Whether the write set names this very record."""
    compiled = (pattern(rule.address) for rule in spec.write_set)
    return any(p.collection == home and p.exact_id == wanted for p in compiled)


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
                found = _unknown(
                    f"{place}/{part}{pointer(path)}",
                    f"field of {home} for {owner}:",
                    top,
                    sorted(known),
                )
                close = nearest(top, known)
                patch = _renamed(f"{place}/{part}", path, close, written[part])
                suggestion = found.suggestion
                if suggestion is not None:
                    suggestion = suggestion.model_copy(update={"patch": tuple(patch)})
                yield found.model_copy(update={"suggestion": suggestion if patch else None})
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
            # What has to be allowed is then seen from what the reference changes.
            yield finding(
                "R2",
                place,
                f"{text} lies in {compiled.collection}, which does not exist",
                hint="collections: "
                f"{', '.join(p for p in collections() if p.partition('/')[0] in spec.services)}",
                rule="drop_address",
                title=f"take {text} out",
                patch=[operation("remove", place.removesuffix("/address"))],
            )
            continue
        ids = record_ids(spec, compiled.collection)
        if compiled.exact_id is not None and ids and compiled.exact_id not in ids:
            close = nearest(compiled.exact_id, ids)
            hint = f"did you mean {close}?" if close else "name an existing record"
            if _checked(spec, compiled.collection, compiled.exact_id):
                hint = _PUT_BACK
            yield finding("R2", place, f"{text} names a record that does not exist", hint=hint)


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


GATES: tuple[Gate, ...] = (
    Gate("R1", "records point to records", True, foreign_keys),
    Gate("R2", "everything named exists", True, names_exist),
    Gate("R3", "values make sense", True, domain_values),
    Gate("R4", "the request is grounded", True, grounding),
)
