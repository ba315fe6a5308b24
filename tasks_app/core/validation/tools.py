"""Gates T: the offered tools are well described, total, and survive every form they are exported
in.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import orjson

from tasks_app.core.calls import SCHEMA_ERRORS, ToolFacts
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec
from tasks_app.core.tool_schemas import declared, to_function, to_mcp
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import Gate, finding
from tasks_app.core.validation.references import offered
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


def example(schema: Mapping[str, Any], definitions: Mapping[str, Any] | None = None) -> Any:
    """Return the plainest value that a JSON Schema admits."""
    definitions = definitions if definitions is not None else schema.get("$defs", {})
    if "$ref" in schema:
        return example(definitions[str(schema["$ref"]).rpartition("/")[2]], definitions)
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
            return {n: example(named[n], definitions) for n in schema.get("required", ())}
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
    an error or a read writes nothing."""
    if seed_problem(spec) is not None:
        return
    world = World(spec)
    start = world.snapshot()
    for place, facts in _places(spec):
        aliased = place.startswith("/tool_aliases")
        name = place.rpartition("/")[2] if aliased else facts.name
        # The schema refuses before faults and records are looked at: the same in every task, so
        # what it refused once is not tried again. An alias has a schema of its own.
        refused = set[bytes]() if aliased else _refusals(name, tools()[name].parse)
        for arguments in _trials_of(facts.name):
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
            if call.changes and (call.error is not None or not facts.writes):
                what = "an error" if call.error is not None else "a read"
                yield finding(
                    "T2", place, f"{facts.name}: {what} changed records", hint="mend the service"
                )
    world.restore(start)


@functools.cache
def _trials_of(name: str) -> tuple[bytes, ...]:
    schema = tools()[name].facts.parameters or {}
    valid = example(schema)
    trials = [valid, {}, {**valid, "surprise": 1}]
    definitions = schema.get("$defs", {})
    for argument, body in schema.get("properties", {}).items():
        target = definitions.get(str(body.get("$ref", "")).rpartition("/")[2], body)
        wrong = _WRONG.get(str(target.get("type")), [[]])
        trials.append({**valid, argument: wrong})
    return (*(orjson.dumps(trial) for trial in trials), b"", b"[]", b"null", b'{"a":')


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


GATES: tuple[Gate, ...] = (
    Gate("T1", "tools are well described", True, declarations),
    Gate("T2", "tools are total", True, totality),
    Gate("T3", "tools export and read back", True, schema_export),
)
__all__ = ["GATES", "declarations", "example", "offered", "schema_export", "totality"]
