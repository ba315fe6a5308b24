"""Cheap policies: what earns nothing on a good task. Each gives plain acts; none looks at the
reference,
save `first_record`, which is the reference that takes the first candidate in place of the right
one.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.program import Act, run_program
from tasks_app.core.samples import (
    DUMMY_ADDRESS,
    Argument,
    arguments_of,
    collection_for,
    dummy,
    likely,
)
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.values import LEAVES, LISTS, NUMBERS, OBJECTS
from tasks_app.core.world.world import Seed, World

MOST_READS_A_TOOL: Final = 40
REFUSAL: Final = "I am sorry, but I can't help with that."


def null(_spec: TaskSpec) -> list[Act]:
    """Do nothing and say nothing."""
    return []


def crawl(spec: TaskSpec) -> list[Act]:
    """Read everything that list and get tools show, change nothing, say nothing."""
    tables = Seed.of(spec).ground.start
    acts: list[Act] = []
    for name, tool in _offers(spec, kind="read"):
        arguments = arguments_of(tool)
        required = [a for a in arguments if a.required]
        named = next((a for a in required if a.kind == "id"), None) or next(
            (a for a in arguments if a.kind == "id" and len(arguments) <= 2 and not required), None
        )
        if named is None:
            plain = {a.name: "" if a.kind == "text" else a.sample for a in required}
            acts.append(_act(spec, name, plain))
            continue
        place = collection_for(named.name, tools()[tool].facts.service, tables)
        ids = list(tables[place])[:MOST_READS_A_TOOL] if place is not None else []
        rest = {a.name: a.sample for a in required if a is not named}
        acts.extend(_act(spec, name, {named.name: record_id, **rest}) for record_id in ids)
    return acts


def spam(spec: TaskSpec) -> list[Act]:
    """Call every tool once with schema-valid dummies, then once on the first record of its kind."""
    tables = Seed.of(spec).ground.start
    acts = [_act(spec, name, dummy(tool)) for name, tool in _offers(spec)]
    for name, tool in _offers(spec):
        acts.extend(_act(spec, name, arguments) for arguments in likely(tool, tables, most=1))
    return [*acts, *_replies(spec, "Done.")]


def echo(spec: TaskSpec) -> list[Act]:
    """Give the request back as the answer."""
    return [Act(None, {}, stage.notification or spec.request.text) for stage in spec.stages]


def paste(spec: TaskSpec) -> list[Act]:
    """Answer with every text and number that the checks name, the forbidden ones apart."""
    pieces: dict[str, None] = {}
    for check in spec.checks:
        body = {k: v for k, v in check.plain.items() if k not in _NOT_PASTED}
        for leaf in _leaves(body):
            if isinstance(leaf, bool) or leaf is None:
                continue
            pieces.setdefault(f"{leaf:.2f}" if isinstance(leaf, float) else str(leaf))
    return _replies(spec, " ; ".join(pieces))


_NOT_PASTED: Final = frozenset({"forbidden", "because", "requires", "id"})


def errors_only(spec: TaskSpec) -> list[Act]:
    """Make only calls that fail: no argument, an argument that isn't one, records that aren't
    there.
    """
    acts: list[Act] = []
    for name, tool in _offers(spec):
        arguments = arguments_of(tool)
        acts.append(Act(name, {"no_such_argument": 1}))
        if any(a.required and a.kind == "id" for a in arguments):
            unknown = {a.name: "NO-SUCH-0" for a in arguments if a.required and a.kind == "id"}
            acts.append(_act(spec, name, {**dummy(tool), **unknown}))
        elif any(a.required for a in arguments):
            acts.append(Act(name, {}))
    return [*acts, *_replies(spec, "Nothing worked.")]


def refuse(spec: TaskSpec) -> list[Act]:
    """Say that one can't help."""
    return _replies(spec, REFUSAL)


_FOUND: Final[Mapping[str, re.Pattern[str]]] = {
    "id": re.compile(r"\b[A-Z]{1,5}-\d[\w-]*|\b\d{4,}\b"),
    "day": re.compile(r"\b\d{4}-\d{2}-\d{2}\b"),
    "number": re.compile(r"\d+(?:[.,]\d+)*"),
    "email": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "text": re.compile(r"\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*"),
}


def regex(spec: TaskSpec) -> list[Act]:
    """Take every id, number, date, address and name that the request shows; write and answer with
    them.
    """
    text = " ".join(stage.notification or spec.request.text for stage in spec.stages)
    found: dict[str, list[Any]] = {
        kind: list(dict.fromkeys(pattern.findall(text))) for kind, pattern in _FOUND.items()
    }
    found["number"] = [float(n.replace(",", "")) for n in found["number"] if n.count(".") < 2]
    acts: list[Act] = []
    for name, tool in _offers(spec, kind="write"):
        wanted = [a for a in arguments_of(tool) if a.required]
        turns = max((len(found.get(_kind(a), ())) for a in wanted), default=0)
        acts.extend(
            _act(spec, name, {a.name: _taken(a, found, turn) for a in wanted})
            for turn in range(min(max(turns, 1), 6))
        )
    everything = " ".join(str(v) for values in found.values() for v in values)
    return [*acts, *_replies(spec, everything)]


def first_record(spec: TaskSpec) -> list[Act]:
    """Run the reference with the first candidate in place of every chosen record."""
    return run_program(World(Seed.of(spec)), first_program(spec)).acts


def first_program(spec: TaskSpec) -> list[Step]:
    """Return the reference with the first candidate in place of every chosen record."""
    return [first_candidates(step) for step in spec.reference]


CHEAP: Final[Mapping[str, Callable[[TaskSpec], list[Act]]]] = {
    "null": null,
    "crawl": crawl,
    "spam": spam,
    "echo": echo,
    "paste": paste,
    "first_record": first_record,
    "errors_only": errors_only,
    "refuse": refuse,
    "regex": regex,
}
"""Name → policy; the names that `manage.py probe` and rollouts use."""


def cheap_acts(name: str, spec: TaskSpec) -> list[Act]:
    """Return what a cheap policy does on a spec. Raises KeyError for a name that isn't one."""
    return CHEAP[name](spec)


def offered(spec: TaskSpec, *, kind: str | None = None) -> list[str]:
    """Return the offered tools that exist, perhaps of one kind (read, write, channel)."""
    known = tools()
    return [n for n in spec.tools if n in known and kind in (None, known[n].facts.kind)]


def _offers(spec: TaskSpec, *, kind: str | None = None) -> list[tuple[str, str]]:
    """Return the name that the policy uses and the studio's name of every offered tool; an
    imported task's own names come last.
    """
    known = tools()
    own = [
        (name, alias.tool)
        for name, alias in spec.tool_aliases.items()
        if alias.tool in known and kind in (None, known[alias.tool].facts.kind)
    ]
    return [*((name, name) for name in offered(spec, kind=kind)), *own]


def _act(spec: TaskSpec, name: str, arguments: Mapping[str, Any]) -> Act:
    """Return a call; under an imported task's own tool name, with its own argument names."""
    alias = spec.tool_aliases.get(name) if name not in spec.tools else None
    if alias is None:
        return Act(name, arguments)
    properties = alias.parameters.get("properties", {})
    theirs: dict[str, Any] = {}
    for ours, form in alias.arguments.items():
        own = str(form.get("arg")) if isinstance(form, Mapping) else ""
        if own in properties and ours in arguments:
            theirs[own] = _typed(properties[own].get("type"), arguments[ours])
    for own in alias.parameters.get("required", ()):
        theirs.setdefault(own, _typed(properties.get(own, {}).get("type"), 1))
    return Act(name, theirs)


def _typed(kind: Any, value: Any) -> Any:
    """Return a value in the type that a foreign schema asks for."""
    match kind:
        case "string":
            items = value if isinstance(value, list) else [value]
            return ", ".join(str(item) for item in items)
        case "array":
            return value if isinstance(value, list) else [value]
        case "integer" | "number":
            return value if isinstance(value, NUMBERS) else 1
        case "boolean":
            return bool(value)
        case "object":
            return value if isinstance(value, Mapping) else {}
        case _:
            return value


def first_candidates(step: Step) -> Step:
    """Return a step whose bindings drop their `where` and take the first; the very step if none
    chooses.
    """
    if not _chooses([step.arguments, step.each, step.reply]):
        return step
    return step.model_copy(
        update={
            "arguments": _first(step.arguments),
            "each": _first(step.each),
            "reply": _first(step.reply),
        }
    )


def _chooses(value: Any) -> bool:
    if isinstance(value, LEAVES):
        return False
    if isinstance(value, LISTS):
        return any(map(_chooses, value))
    if isinstance(value, OBJECTS):
        return ("from" in value and "where" in value) or any(map(_chooses, value.values()))
    return False


def _first(value: Any) -> Any:
    if isinstance(value, LEAVES):
        return value
    if isinstance(value, OBJECTS):
        if "from" in value and "where" in value:
            kept = {k: v for k, v in value.items() if k not in ("where", "sort", "take")}
            first = {**kept, "take": "first"}
            return [first] if value.get("take") == "all" else first
        return {key: _first(item) for key, item in value.items()}
    if isinstance(value, LISTS):
        return [_first(item) for item in value]
    return value


def _replies(spec: TaskSpec, text: str) -> list[Act]:
    return [Act(None, {}, text) for _ in spec.stages]


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, LEAVES):
        yield value
    elif isinstance(value, OBJECTS):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, LISTS):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _kind(argument: Argument) -> str:
    if argument.kind == "list" and argument.item is not None:
        return _kind(argument.item)
    return argument.kind


def _taken(argument: Argument, found: Mapping[str, Sequence[Any]], turn: int) -> Any:
    if argument.kind == "list" and argument.item is not None:
        return [_taken(argument.item, found, turn)]
    values = found.get(argument.kind, ())
    if values:
        value = values[turn % len(values)]
        return int(value) if argument.integer else value
    return DUMMY_ADDRESS if argument.kind == "email" else argument.sample
