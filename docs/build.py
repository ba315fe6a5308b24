"""Builds the pages that say what the code says: `python -m docs.build`.

A page of docs/sources/ is prose with blocks; each block becomes a table made from the code. So
names, types, defaults and limits cannot go stale; what they are for is written by people, beside
the field in the code or in the block, and a field that nobody describes ends the build.

Blocks, each between `<!-- NAME ARGUMENT` and `-->`, hold lines `key: what it means`:

- `model NAME`: the fields of a model; lines describe what the code does not.
- `kinds checks` or `kinds constraints`: every kind with its fields.
- `functions`, `capabilities`, `services`, `families`: made from the code alone.
- `operators`, `errors`, `gates`, `variables`: the code says which there are, the lines what for.

`{{module:NAME}}` inside the prose is the value of a constant.
"""

import ast
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, get_args

from pydantic import BaseModel

from docs.schema_words import default_words, type_words
from docs.variables import variables
from tasks_app.core import spec, writes
from tasks_app.core.calls import ErrorCode, ToolFacts
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.catalog import CHECKS
from tasks_app.core.checks.number_close import FieldPlace
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.constraints.catalog import CONSTRAINTS
from tasks_app.core.constraints.only_when import RecordOf
from tasks_app.core.constraints.require_before import Needs
from tasks_app.core.functions import FUNCTIONS
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.patterns import CallPattern
from tasks_app.core.predicates import OPERATORS
from tasks_app.core.services.base import Service
from tasks_app.core.services.catalog import SERVICES
from tasks_app.core.validation.notes import TITLES
from tasks_app.core.validation.proof import STATIC

PAGES: Final = Path(__file__).resolve().parent
SOURCES: Final = PAGES / "sources"
_BLOCK: Final = re.compile(r"<!-- (\w+) ?([\w ]*?)\n?(?:\n(.*?))?-->\n", re.DOTALL)
_VALUE: Final = re.compile(r"\{\{([\w.]+):(\w+)\}\}")
_OUTSIDE: Final = {
    "WriteRule": writes.WriteRule,
    "BaseCheck": BaseCheck,
    "BaseConstraint": BaseConstraint,
    "CallPattern": CallPattern,
    "Needs": Needs,
    "RecordOf": RecordOf,
    "FieldPlace": FieldPlace,
}
_HOMES: Final[Mapping[str, tuple[Mapping[str, type[BaseModel]], type[BaseModel]]]] = {
    "checks": (CHECKS, BaseCheck),
    "constraints": (CONSTRAINTS, BaseConstraint),
}
Lines = Mapping[str, str]


class Undescribed(ValueError):
    """The code has something that no page describes, or a page something that the code lacks."""


def build(source: Path) -> str:
    """Return the text of the page that a source describes."""
    text = source.read_text(encoding="utf-8")
    text = _BLOCK.sub(lambda found: _block(found[1], found[2].strip(), found[3] or ""), text)
    text = _VALUE.sub(lambda found: _constant(found[1], found[2]), text)
    notice = f"<!-- Made from docs/sources/{source.name} by `python -m docs.build`. -->\n\n"
    return notice + text


def pages() -> dict[Path, str]:
    """Return every page that is built, with its text."""
    return {PAGES / source.name: build(source) for source in sorted(SOURCES.glob("*.md"))}


def _block(name: str, argument: str, body: str) -> str:
    described = dict(_lines(body))
    makers: Mapping[str, Callable[[], str]] = {
        "model": lambda: _model(model(argument), described),
        "kinds": lambda: _kinds(argument, described),
        "functions": _functions,
        "capabilities": _capabilities,
        "services": _services,
        "families": _families,
        "operators": lambda: _listed("operator", sorted(OPERATORS), described),
        "errors": lambda: _listed("code", get_args(ErrorCode), described),
        "gates": lambda: _gates(described),
        "variables": lambda: _variables(described),
    }
    return makers[name]()


def _lines(body: str) -> Iterator[tuple[str, str]]:
    for line in body.splitlines():
        key, colon, said = line.partition(": ")
        if line.strip():
            if not colon:
                raise Undescribed(f"{line!r} is no `key: what it means`")
            yield key.strip(), said.strip()


def _constant(module: str, name: str) -> str:
    value = getattr(importlib.import_module(module), name)
    if isinstance(value, float):
        return f"{value:g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [" | ".join(head), " | ".join("---" for _ in head), *(" | ".join(r) for r in rows)]
    return "".join(f"| {line} |\n" for line in lines)


def _take(described: Lines, wanted: list[str], what: str) -> None:
    surplus = [key for key in described if key not in wanted]
    if surplus:
        raise Undescribed(f"{what} has no {', '.join(surplus)}: take the lines out of its source")


def _listed(what: str, names: Iterable[str], described: Lines) -> str:
    names = list(names)
    _take(described, names, f"the list of {what}s")
    missing = [name for name in names if name not in described]
    if missing:
        raise Undescribed(f"say in docs/sources what the {what} {', '.join(missing)} means")
    return _table((what, "meaning"), [(f"`{name}`", described[name]) for name in described])


# Models


def model(name: str) -> type[BaseModel]:
    """Return a model of the task format by its name."""
    found = _OUTSIDE.get(name) or getattr(spec, name)
    if not (inspect.isclass(found) and issubclass(found, BaseModel)):
        raise Undescribed(f"{name} is no model")
    return found


def docstrings(found: type[BaseModel]) -> dict[str, str]:
    """Return field → the text right under it in the code, of the class and those it builds on."""
    texts: dict[str, str] = {}
    for owner in reversed(found.__mro__):
        if not issubclass(owner, BaseModel) or owner.__module__.startswith("pydantic"):
            continue
        body = ast.parse(inspect.getsource(owner)).body[0]
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for field, text in itertools.pairwise(statements):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                texts[field.target.id] = " ".join(str(text.value.value).split())
    return texts


def _model(found: type[BaseModel], described: Lines, skip: frozenset[str] = frozenset()) -> str:
    schema = found.model_json_schema(mode="validation")
    fields = {name: body for name, body in schema.get("properties", {}).items() if name not in skip}
    texts = {**docstrings(found), **described}
    _take(described, list(fields), found.__name__)
    missing = [name for name in fields if name not in texts]
    if missing:
        raise Undescribed(
            f"{found.__name__}.{missing[0]} is not described: write a line under the field, "
            f"or in its block in docs/sources"
        )
    needed = schema.get("required", ())
    return _table(
        ("field", "type", "left out", "meaning"),
        [
            (
                f"`{name}`",
                type_words(body, _LINKED),
                default_words(body, required=name in needed),
                texts[name].replace("|", r"\|"),
            )
            for name, body in fields.items()
        ],
    )


_LINKED: Final = frozenset(
    re.findall(r"<!-- model (\w+)", (SOURCES / "task-format.md").read_text(encoding="utf-8"))
)


def _kinds(which: str, described: Lines) -> str:
    catalog, base = _HOMES[which]
    common = frozenset(base.model_fields) | {"kind"}
    used: set[str] = set()
    parts = []
    for kind, found in catalog.items():
        own = {}
        for key, said in described.items():
            name, _, field = key.partition(".")
            if name == kind:
                own[field] = said
                used.add(key)
        about = " ".join(inspect.cleandoc(found.__doc__ or "").split())
        table = _model(found, own, common)
        parts.append(
            f"#### {kind}\n\n{about}\n\n{table}" if "| `" in table else f"#### {kind}\n\n{about}\n"
        )
    _take(described, sorted(used), which)
    return "\n".join(parts)


# Other tables


def _functions() -> str:
    rows = []
    for name, (function, _) in FUNCTIONS.items():
        arguments = ", ".join(p.rstrip("_") for p in inspect.signature(function).parameters)
        about = " ".join(inspect.cleandoc(function.__doc__ or "").split())
        rows.append((f"`{name}({arguments})`", about))
    return _table(("function", "result"), rows)


def _capabilities() -> str:
    return _table(("id", "capability"), [(key, text) for key, text in spec.CAPABILITIES.items()])


def _gates(described: Lines) -> str:
    titles = {**{gate.id: gate.title for gate in STATIC}, **TITLES}
    wanted = [f"{gate}.{part}" for gate in titles for part in ("checks", "why", "repair")]
    _take(described, wanted, "the proof")
    missing = [key for key in wanted if key not in described]
    if missing:
        raise Undescribed(f"say in docs/sources/gates.md what {missing[0]} is")
    parts = []
    for gate, title in titles.items():
        parts.append(
            f"### {gate}: {title}\n\n{described[f'{gate}.checks']}\n\n"
            f"*Why:* {described[f'{gate}.why']}\n\n*Repair:* {described[f'{gate}.repair']}\n"
        )
    return "\n".join(parts)


def _services() -> str:
    return "\n".join(_service(service) for service in SERVICES)


def _service(service: type[Service]) -> str:
    lines = [f"## {service.name}\n", f"{service.purpose} ({service.function})\n"]
    if service.collections():
        rows = [
            (
                f"`{facts.address}`",
                f"`{facts.prefix}-…`" if facts.prefix else "",
                f"`{facts.id_field}`",
            )
            for facts in service.collections().values()
        ]
        lines.append(_table(("collection", "new ids", "id field"), rows))
    lines.extend(_tool(tool.facts) for tool in service.tools().values())
    return "\n".join(lines)


def _tool(facts: ToolFacts) -> str:
    schema = facts.parameters or {}
    needed = schema.get("required", ())
    rows = [
        (
            f"`{name}`",
            type_words(body),
            default_words(body, required=name in needed),
            str(body.get("description", "")).replace("|", r"\|"),
        )
        for name, body in schema.get("properties", {}).items()
    ]
    head = f"### {facts.name}\n\n{facts.description} *({facts.kind})*\n"
    notes = []
    if facts.recipients:
        names = ", ".join(f"`{name}`" for name in facts.recipients)
        notes.append(f"Who reads its text: {names}.")
    if isinstance(facts.inside, str) and facts.inside:
        notes.append(f"Its text stays in the house where `{facts.inside}` is true.")
    elif facts.inside is True:
        notes.append("Its text stays in the house.")
    note = f"\n{' '.join(notes)}\n" if notes else ""
    table = _table(("argument", "type", "left out", "meaning"), rows) if rows else "No arguments.\n"
    return f"{head}\n{table}{note}"


def _families() -> str:
    return "\n".join(
        f"## {family.title}\n\n`{family.name}` · track `{family.track}`\n\n{family.purpose}\n\n"
        f"- Subtypes: {', '.join(f'`{name}`' for name in family.subtypes)}\n"
        f"- May claim: {', '.join(family.capabilities)}\n"
        for family in FAMILIES.values()
    )


# Environment variables


def _variables(described: Lines) -> str:
    found = variables()
    _take(described, list(found), "the environment")
    missing = [name for name in found if name not in described]
    if missing:
        raise Undescribed(f"say in docs/sources/operations.md what {', '.join(missing)} is for")
    rows = [
        (f"`{name}`", f"`{found[name]}`" if found[name] else "not set", described[name])
        for name in described
    ]
    return _table(("variable", "default", "what it does"), rows)


def main() -> int:
    """Write the pages; say what nobody describes."""
    try:
        built = pages()
    except Undescribed as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    for path, text in built.items():
        path.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(PAGES.parent)}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
