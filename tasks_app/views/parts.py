"""What each tab of the task page shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from django.http import HttpRequest
from django.urls import reverse

from studio.web.token_counts import Counting, counting_of
from tasks_app import queries
from tasks_app.core.briefing import offered_names, request_text, system_prompt, tool_schemas
from tasks_app.core.calls import ToolFacts
from tasks_app.core.instants import wall_clock
from tasks_app.core.presenting.places import ChangedPlace, changes
from tasks_app.core.presenting.records import Table, tables
from tasks_app.core.presenting.reference import reference_view
from tasks_app.core.presenting.results import Standing, Standings, reference_and_null
from tasks_app.core.presenting.rules import CheckRow, check_rows, constraint_rows, write_rows
from tasks_app.core.presenting.words import plain, pretty, shown, where
from tasks_app.core.services.catalog import services, tools
from tasks_app.core.spec import CAPABILITIES, Mutation, TaskSpec
from tasks_app.core.values import InvalidValueError
from tasks_app.core.world.world import Seed
from tasks_app.enums import Origin
from tasks_app.models import Task, TaskVersion

ROWS_SHOWN: Final = 200
VERSIONS_SHOWN: Final = 50


@dataclass(frozen=True)
class CollectionLink:
    """A collection among the others."""

    place: str
    size: int
    may_change: bool
    named: bool
    url: str
    current: bool


@dataclass(frozen=True)
class ToolView:
    """A tool that is offered."""

    name: str
    kind: str
    description: str
    parameters: tuple["ParameterView", ...]
    used: int
    """How many steps of the reference use it."""
    ruled: tuple[str, ...]
    """Constraints that speak of it."""
    known: bool
    index: int | None
    """Its place in the spec's list; None: another name of one that is shown already."""


@dataclass(frozen=True)
class ParameterView:
    """An argument of a tool."""

    name: str
    type: str
    required: bool
    words: str


@dataclass(frozen=True)
class GradedCheck:
    """A check, and how it stands after the reference and after nothing was done."""

    row: CheckRow
    reference: Standing | None
    """None where there is no reference, or no world to run it in."""
    null: Standing | None


@dataclass(frozen=True)
class WrittenStep:
    """A step of the program as it is written."""

    index: int
    json: str
    ran: bool
    """Whether it is shown as it ran, too: then what speaks of it leads there."""


@dataclass(frozen=True)
class MutationView:
    """A change between two stages."""

    words: str
    values: str
    silent: bool


@dataclass(frozen=True)
class StageView:
    """One day."""

    id: str
    at: str
    notification: str
    mutations: tuple[MutationView, ...]


@dataclass(frozen=True)
class VersionView:
    """A version in the history, with what it changed."""

    version: TaskVersion
    changes: tuple[ChangedPlace, ...]


def part(
    request: HttpRequest, task: Task, version: TaskVersion, spec: TaskSpec, tab: str
) -> Mapping[str, Any]:
    """The context of one tab."""
    match tab:
        case "records":
            return records(request, task, version, spec)
        case "tools":
            return {"tool_groups": tool_groups(spec), "limits": spec.limits}
        case "constraints":
            return {
                "rules": constraint_rows(spec),
                "write_rules": write_rows(spec),
                "free": spec.free,
            }
        case "checks":
            return checks(spec)
        case "reference":
            return reference(spec)
        case "timeline":
            return {"stages": stages(spec), "colleague": spec.user, "faults": spec.faults}
        case "model":
            return model(spec, counting_of(request))
        case "history":
            return history(task)
        case _:
            return {
                "begins": wall_clock(spec.clock.start),
                "claims": [(c.id, CAPABILITIES[c.id], c.witness) for c in spec.capabilities],
                "features": [(k.replace("_", " "), v) for k, v in spec.difficulty.features.items()],
            }


def records(
    request: HttpRequest, task: Task, version: TaskVersion, spec: TaskSpec
) -> Mapping[str, Any]:
    """The chosen collection, and the chosen record of it."""
    found = tables(spec)
    chosen = chosen_table(request, found)
    record = chosen.row(request.GET.get("record", "")) if chosen is not None else None
    if chosen is not None and record is None:
        # The one that most checks name: what the task is about.
        record = max(
            (row for row in chosen.rows if row.role == "target"),
            key=lambda row: len(row.named_by),
            default=None,
        )
    older = {} if version.pk == task.current_id else {"v": str(version.number)}
    base = reverse("task", args=[task.code])
    return {
        "collections": [
            CollectionLink(
                table.place,
                table.size,
                table.may_change,
                any(row.role == "target" for row in table.rows),
                f"{base}?{urlencode({**older, 'tab': 'records', 'collection': table.place})}",
                table is chosen,
            )
            for table in found
        ],
        "table": chosen,
        "rows": chosen.rows[:ROWS_SHOWN] if chosen is not None else (),
        "record": record,
        "record_base": f"{base}?"
        + urlencode(
            {**older, "tab": "records", "collection": chosen.place if chosen is not None else ""}
        ),
        "write_rules": [
            rule
            for rule in write_rows(spec)
            if chosen is not None and rule.address.startswith(f"{chosen.place}/")
        ],
    }


def chosen_table(request: HttpRequest, found: tuple[Table, ...]) -> Table | None:
    """The collection asked for; else the first with a target, else the first with records."""
    wanted = request.GET.get("collection", "")
    for table in found:
        if table.place == wanted:
            return table
    for table in found:
        if any(row.role == "target" for row in table.rows):
            return table
    return next((table for table in found if table.rows), found[0] if found else None)


def tool_groups(spec: TaskSpec) -> list[tuple[str, str, list[ToolView]]]:
    """Tools by service: its name, what it is for, and the tools the task offers, those of an
    imported task under its own names.
    """
    facts = {name: tool.facts for name, tool in tools().items()}
    purposes = {name: kind.purpose for name, kind in services().items()}
    groups: dict[str, list[ToolView]] = {}
    places: dict[str, list[int]] = {}
    for index, own in enumerate(spec.tools):
        places.setdefault(own, []).append(index)
    for name in offered_names(spec):
        alias = spec.tool_aliases.get(name)
        target = alias.tool if alias is not None else name
        known = facts.get(target)
        place = places[target].pop(0) if places.get(target) else None
        service = known.service if known is not None else "unknown"
        groups.setdefault(service, []).append(_tool(spec, name, known, place))
    return [(service, purposes.get(service, ""), views) for service, views in groups.items()]


def _tool(spec: TaskSpec, name: str, facts: ToolFacts | None, index: int | None) -> ToolView:
    alias = spec.tool_aliases.get(name)
    schema: Mapping[str, Any] = (facts.parameters if facts is not None else None) or {}
    description = facts.description if facts is not None else ""
    if alias is not None:
        schema, description = alias.parameters or schema, alias.description or description
    required = schema.get("required", ())
    ruled = [
        rule.id
        for rule in spec.constraints
        if name in plain(rule.model_dump(mode="json", exclude_defaults=True))
    ]
    return ToolView(
        name=name,
        kind=facts.kind if facts is not None else "read",
        description=description,
        parameters=tuple(
            ParameterView(key, _type(value), key in required, str(value.get("description", "")))
            for key, value in schema.get("properties", {}).items()
        ),
        used=sum(step.tool == name for step in spec.reference),
        ruled=tuple(ruled),
        known=facts is not None,
        index=index,
    )


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(plain(option) for option in schema["enum"])
    if "const" in schema:
        return plain(schema["const"])
    if "anyOf" in schema:
        return " | ".join(_type(option) for option in schema["anyOf"])
    kind = str(schema.get("type", "any"))
    if kind == "array" and isinstance(schema.get("items"), Mapping):
        return f"list of {_type(schema['items'])}"
    return str(schema.get("format", kind))


def checks(spec: TaskSpec) -> Mapping[str, Any]:
    """Each check with what it expects, and what it gives the reference and doing nothing."""
    rows = check_rows(spec)
    worked: Standings | None = None
    idle: Standings | None = None
    no_world = ""
    try:
        worked, idle = reference_and_null(spec)
    except InvalidValueError as error:
        no_world = str(error)
    return {
        "checks": [
            GradedCheck(
                row,
                worked.checks[row.id] if worked is not None else None,
                idle.checks[row.id] if idle is not None else None,
            )
            for row in rows
        ],
        "components": _components(rows),
        "worked": worked,
        "idle": idle,
        "no_world": no_world,
    }


def _components(rows: tuple[CheckRow, ...]) -> list[tuple[str, float, int]]:
    found: dict[str, tuple[float, int]] = {}
    for row in rows:
        weight, count = found.get(row.component, (0.0, 0))
        found[row.component] = (weight + row.weight, count + 1)
    return [(name, round(weight, 4), count) for name, (weight, count) in found.items()]


def reference(spec: TaskSpec) -> Mapping[str, Any]:
    """The reference as it ran and as it is written, and the other solutions; without one, or with
    records no world can hold, words in place of the run.
    """
    run, no_world = None, ""
    if spec.reference:
        try:
            run = reference_view(spec)
        except InvalidValueError as error:
            no_world = str(error)
    ran = {step.begins for step in run.steps} if run is not None else set()
    written = spec.written()
    return {
        "run": run,
        "no_world": no_world,
        "program": [
            WrittenStep(index, pretty(step), index in ran)
            for index, step in enumerate(written.get("reference", []))
        ],
        "others": [pretty(other) for other in written.get("alternatives", [])],
    }


def stages(spec: TaskSpec) -> tuple[StageView, ...]:
    """The days of a task, each with what changed before it."""
    return tuple(
        StageView(
            stage.id,
            stage.at,
            stage.notification or "",
            tuple(_mutation(mutation) for mutation in stage.mutations),
        )
        for stage in spec.timeline
    )


def _mutation(mutation: Mutation) -> MutationView:
    verb = {"add": "adds to", "update": "updates in", "delete": "deletes from"}.get(
        mutation.op, f"{mutation.op} in"
    )
    condition = f" where {where(mutation.where)}" if mutation.where else ""
    values = ", ".join(f"{name} = {shown(value)}" for name, value in mutation.values.items())
    return MutationView(
        f"{verb} {mutation.service}/{mutation.collection}{condition}", values, mutation.silent
    )


def model(spec: TaskSpec, counting: Counting) -> Mapping[str, Any]:
    """The system prompt, the request and the tools, as a model is given them, and their lengths."""
    prompt, asked = system_prompt(spec), request_text(spec)
    try:
        schemas = tool_schemas(spec, Seed.of(spec).ground.tools)
    except InvalidValueError:
        schemas = ()
    written = orjson.dumps(list(schemas)).decode() if schemas else ""
    count = counting.counter.count
    sizes = [
        (name, anchor, len(text), count(text))
        for name, anchor, text in (
            ("system prompt", "m-sys", prompt),
            ("request", "m-user", asked),
            ("tools", "m-tools", written),
        )
    ]
    return {
        "prompt": prompt,
        "asked": asked,
        "schemas": [
            (s["function"]["name"], s["function"]["description"], pretty(s)) for s in schemas
        ],
        "sizes": sizes,
        "characters": sum(size for _, _, size, _ in sizes),
        "tokens": sum(tokens for _, _, _, tokens in sizes),
        "counting": counting,
    }


def last_changes(version: TaskVersion) -> tuple[ChangedPlace, ...]:
    """What a version changed, where a person's edit made it."""
    if version.parent is None or version.origin not in (Origin.EDITED, Origin.REPAIRED):
        return ()
    return changes(version.parent.spec, version.spec, longest=80)


def history(task: Task) -> Mapping[str, Any]:
    """Versions, newest first, each with what it changed; verdicts."""
    rows = task.versions.select_related("author", "parent").order_by("-number")
    views = [
        VersionView(
            version,
            changes(version.parent.spec, version.spec) if version.parent is not None else (),
        )
        for version in rows[:VERSIONS_SHOWN]
    ]
    return {"history": views, "verdicts": queries.reviews_of(task)}
