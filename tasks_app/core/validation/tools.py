"""Gates T: the offered tools are well described, total, and survive every form they are exported
in.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson

from tasks_app.core.calls import SCHEMA_ERRORS, ToolFacts, encode_arguments
from tasks_app.core.samples import likely
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec
from tasks_app.core.tool_schemas import declared, to_function, to_mcp
from tasks_app.core.validation.card import Finding, Suggestion
from tasks_app.core.validation.gate import Gate, finding, operation, pointer
from tasks_app.core.validation.references import offered
from tasks_app.core.values import LEAVES, LISTS, OBJECTS
from tasks_app.core.world.world import World, seed_problem

_NAME: Final = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
_SHADOWS: Final = frozenset({"json", "copy", "schema", "dict", "construct", "model_config"})
_WRONG: Final[Mapping[str, Any]] = {
    "string": 7,
    "integer": "seven",
    "number": "seven",
    "boolean": "perhaps",
    "array": 7,
    "object": 7,
}


def _places(spec: TaskSpec) -> list[tuple[str, ToolFacts]]:
    known = tools()
    return [
        (f"/tools/{i}", known[name].facts) for i, name in enumerate(spec.tools) if name in known
    ] + [
        (f"/tool_aliases/{alias}", known[target.tool].facts)
        for alias, target in spec.tool_aliases.items()
        if target.tool in known
    ]


@functools.cache
def lint(facts_name: str) -> tuple[str, ...]:
    """Return what is wrong with a tool's declaration; the same for every task that offers it."""
    facts = tools()[facts_name].facts
    schema = facts.parameters or {}
    properties = schema.get("properties", {})
    problems = []
    if schema.get("type") != "object":
        problems.append("it has no schema of its arguments")
    definitions = schema.get("$defs", {})
    problems.extend(
        f"argument {name} refers to a definition that is not there"
        for name, body in properties.items()
        if "$ref" in body and str(body["$ref"]).rpartition("/")[2] not in definitions
    )
    if _NAME.fullmatch(facts.name) is None:
        problems.append("its name is not <service>_<verb>_<noun>")
    if len(facts.description) < 10:
        problems.append("it has no description")
    for name, body in properties.items():
        if not body.get("description"):
            problems.append(f"argument {name} has no description")
        if not {"type", "anyOf", "$ref", "enum", "const", "allOf"} & body.keys():
            problems.append(f"argument {name} has no type")
        if name in _SHADOWS:
            problems.append(f"argument {name} shadows a name of the arguments model")
    missing = [name for name in schema.get("required", ()) if name not in properties]
    problems.extend(f"required argument {name} is not declared" for name in missing)
    undeclared = {*facts.text, *facts.recipients} - set(properties)
    problems.extend(f"declares {name}, which is no argument" for name in sorted(undeclared))
    return tuple(problems)


def declarations(spec: TaskSpec) -> Iterator[Finding]:
    """T1: names, descriptions, typed and described arguments."""
    for place, facts in _places(spec):
        for problem in lint(facts.name):
            yield finding("T1", place, f"{facts.name}: {problem}", hint="mend the service's tool")
    for alias in spec.tool_aliases:
        if alias in spec.tools:
            yield finding(
                "T1",
                pointer("tool_aliases", alias),
                f"two tools are offered under the name {alias}",
                hint="give the imported one another name",
            )


def example(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> Any:
    """Return the plainest value that a JSON Schema admits."""
    definitions = definitions if definitions is not None else schema.get("$defs", {})
    if "$ref" in schema:
        return example(definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), definitions)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for union in ("anyOf", "oneOf", "allOf"):
        if union in schema:
            return example(schema[union][0], definitions)
    match schema.get("type"):
        case "string":
            return _example_text(schema)
        case "integer":
            return int(schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1))
        case "number":
            return max(1.0, float(schema.get("minimum", 1.0)))
        case "boolean":
            return False
        case "array":
            return [example(schema.get("items", {}), definitions)] * int(schema.get("minItems", 0))
        case "object":
            named = schema.get("properties", {})
            needed = [n for n in schema.get("required", ()) if n in named]
            return {n: example(named[n], definitions) for n in needed}
    return None


def _example_text(schema: Mapping[str, Any]) -> str:
    if "@" in str(schema.get("pattern", "")):
        return "nobody@nowhere.example"
    for text in ("zz-none", "2031-01-01T00:00:00+00:00", "2031-01-01"):
        expression = schema.get("pattern")
        if expression is None or re.search(str(expression), text):
            return text[: int(schema.get("maxLength", 200))]
    return "zz-none"


def totality(spec: TaskSpec) -> Iterator[Finding]:
    """T2: valid, missing and wrong arguments give a result or a structured error, never a defect;
    an error or a read writes nothing; what the schema admits is not refused as no argument or of
    a wrong type."""
    if seed_problem(spec) is not None:
        return
    world = World(spec)
    start = world.snapshot()
    tables = world.seed.ground.start
    for place, facts in _places(spec):
        aliased = place.startswith("/tool_aliases")
        name = place.rpartition("/")[2] if aliased else facts.name
        # The schema refuses before faults and records are looked at: the same in every task, so
        # what it refused once is not tried again. An alias has a schema of its own.
        refused = set[bytes]() if aliased else _refusals(name, tools()[name].parse)
        own = () if aliased else likely(facts.name, tables, most=3 if facts.writes else 1)
        written, done = False, 0
        for arguments in (*_trials_of(facts.name), *map(encode_arguments, own)):
            if arguments in refused:
                continue
            world.restore(start)
            call = world.call(name, arguments)
            if not call.valid and call.error in SCHEMA_ERRORS:
                refused.add(arguments)
            if call.error == "internal_error":
                yield finding(
                    "T2",
                    place,
                    f"{facts.name} breaks on {arguments[:200].decode()}",
                    hint="mend the service",
                )
            written |= bool(call.changes)
            done += call.error is None
            if call.error in _NOT_TAKEN and not aliased and arguments == _full(facts.name):
                yield finding(
                    "T2",
                    place,
                    f"{facts.name} refuses what its schema offers: "
                    f"{call.observation[:200].decode(errors='replace')}",
                    hint="mend the service's tool",
                )
            if call.changes and (call.error is not None or not facts.writes):
                what = "an error" if call.error is not None else "a read"
                yield finding(
                    "T2", place, f"{facts.name}: {what} changed records", hint="mend the service"
                )
        if facts.writes and done and not written:
            yield finding(
                "T1",
                place,
                f"{facts.name} says that it writes, and changes nothing when it succeeds",
                hint="declare it as a read",
            )
    world.restore(start)


@functools.cache
def _trials_of(name: str) -> tuple[bytes, ...]:
    schema = tools()[name].facts.parameters or {}
    valid = example(schema)
    if not isinstance(valid, Mapping):
        valid = {}  # no schema of arguments at all, which T1 says
    trials = [valid, {}, {**valid, "surprise": 1}, orjson.loads(_full(name))]
    definitions = schema.get("$defs", {})
    for argument, body in schema.get("properties", {}).items():
        target = definitions.get(str(body.get("$ref", "")).rpartition("/")[2], body)
        wrong = _WRONG.get(str(target.get("type")), [[]])
        trials.append({**valid, argument: wrong})
        if target.get("type") in ("integer", "number"):
            trials += [{**valid, argument: edge} for edge in (-1, 0, 1_000_000)]
    texts = {n: _LONG for n, body in schema.get("properties", {}).items() if _takes_text(body)}
    if texts:
        trials.append({**valid, **texts})
    return (*(orjson.dumps(trial) for trial in trials), b"", b"[]", b"null", b'{"a":')


_LONG: Final = "x" * 20_000
"""A text beyond what a handler may walk letter by letter."""


def _takes_text(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and schema.get("maxLength", len(_LONG)) >= len(_LONG)


_NOT_TAKEN: Final = ("unknown_argument", "wrong_type")


@functools.cache
def _full(name: str) -> bytes:
    """Return arguments of a tool with every one that its schema offers."""
    schema = tools()[name].facts.parameters or {}
    definitions = schema.get("$defs", {})
    named = schema.get("properties", {})
    return orjson.dumps({n: example(body, definitions) for n, body in named.items()})


@functools.cache
def _refusals(_name: str, _parse: Callable[[bytes], Any]) -> set[bytes]:
    """Return the trials of a tool that its schema is known to refuse, for more to be added; another
    validator under the same name begins anew.
    """
    return set()


@functools.cache
def _survives(name: str) -> bool:
    facts = tools()[name].facts
    expected = (facts.name, facts.description, dict(facts.parameters or {}))
    forms = (to_function(facts), to_mcp(facts))
    return all(declared(orjson.loads(orjson.dumps(form))) == expected for form in forms)


def schema_export(spec: TaskSpec) -> Iterator[Finding]:
    """T3: function calling and MCP schemas read back unchanged."""
    for place, facts in _places(spec):
        if not _survives(facts.name):
            yield finding(
                "T3", place, f"{facts.name} is not the same after export", hint="mend its types"
            )


def _droppable(
    look: Callable[[TaskSpec], Iterator[Finding]],
) -> Callable[[TaskSpec], Iterator[Finding]]:
    """Let what a gate finds in a tool suggest to take it off, where nothing in the task uses it."""

    def looked(spec: TaskSpec) -> Iterator[Finding]:
        for found in look(spec):
            parts = found.path.split("/")
            if parts[1] != "tools" or found.suggestion is not None:
                yield found
                continue
            name = spec.tools[int(parts[2])]
            if name in _used(spec):
                yield found
                continue
            off = Suggestion(
                rule="drop_tool",
                title=f"take {name} off, which nothing here needs",
                patch=(operation("remove", found.path),),
            )
            yield found.model_copy(update={"suggestion": off})

    return looked


def _used(spec: TaskSpec) -> set[str]:
    """Return the tools that the task needs: in its solutions, rules, checks and failures."""
    steps = [*spec.reference, *(step for steps in spec.alternatives for step in steps)]
    used = {step.tool for step in steps if step.tool is not None}
    used |= {fault.tool for fault in spec.faults}
    for body in (*spec.constraints, *spec.checks):
        _add_tools(body.plain, used)
    return used


def _add_tools(value: Any, found: set[str]) -> None:
    if isinstance(value, LEAVES):
        return
    if isinstance(value, OBJECTS):
        named = value.get("tool", ())
        found.update((named,) if isinstance(named, str) else named)
        for item in value.values():
            _add_tools(item, found)
    elif isinstance(value, LISTS):
        for item in value:
            _add_tools(item, found)


GATES: tuple[Gate, ...] = (
    Gate("T1", "tools are well described", True, _droppable(declarations)),
    Gate("T2", "tools are total", True, _droppable(totality)),
    Gate("T3", "tools export and read back", True, _droppable(schema_export)),
)
__all__ = ["GATES", "declarations", "example", "offered", "schema_export", "totality"]
