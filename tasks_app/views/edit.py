"""The editor of a task, and new tasks.

What somebody changes goes into their draft at once: half-typed work is kept, on reload and after
a crash. Saving makes the draft the next version; where somebody else was faster it answers 409
with both versions, merges what does not clash, and loses nothing.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from studio.web.acts import Act
from studio.web.auth import principal, require
from studio.web.errors import BadRequest, Invalid, Problem, StaleBase
from studio.web.htmx import is_fragment, render_page, see_other
from studio.web.models import Draft
from tasks_app import queries
from tasks_app.core.drafting import parse
from tasks_app.core.editing import difference
from tasks_app.core.merging import Merge, merge
from tasks_app.core.presenting.lines import line_of, lines
from tasks_app.core.presenting.places import ChangedPlace, Place, changes, place_of
from tasks_app.core.presenting.records import Column, Table, columns_of, tables
from tasks_app.core.presenting.rules import details
from tasks_app.core.presenting.words import plain, pretty, shown
from tasks_app.core.services.catalog import collections, services, tools
from tasks_app.core.spec import SpecError, TaskSpec, load_spec
from tasks_app.core.validation.proof import STATIC
from tasks_app.enums import Origin
from tasks_app.forms import DraftedForm, JsonForm, NewTaskForm
from tasks_app.jobs import outcomes, prove_now
from tasks_app.models import Task
from tasks_app.operations.drafts import discard_draft, keep_draft
from tasks_app.operations.tasks import create_task, read_spec, save_version
from tasks_app.views.changing import CONDITIONS, NEW_CHECKS, NEW_CONSTRAINTS, WHOLE_PARTS, change
from tasks_app.views.posted import words
from tasks_app.views.proof import place_url

PARTS: Final = (
    ("request", "Request and rules"),
    ("records", "Records"),
    ("tools", "Tools"),
    ("constraints", "Constraints"),
    ("checks", "Checks"),
    ("reference", "Reference"),
    ("timeline", "Timeline"),
    ("json", "JSON"),
)
ROWS_SHOWN: Final = 100
COMPONENTS: Final = ("outcome", "process", "report", "collateral")
_SAVES: Final = ("save", "save_prove")
_LONGEST_REASON: Final = 1000
_SHOWN_AS_FIELDS: Final = ("where", "expect")
_FIRST_MOMENT: Final = "2031-03-20T09:10:00+01:00"


@dataclass(frozen=True)
class Fault:
    """Something the live check found, and where it leads."""

    gate: str
    message: str
    hint: str
    place: Place
    url: str
    blocks: bool
    pointer: str


@dataclass(frozen=True)
class PartJson:
    """A part that is edited as JSON."""

    name: str
    label: str
    hint: str
    text: str
    rows: int


@dataclass
class Desk:
    """One person's work on one task: the draft, what it began with, what it is now."""

    task: Task
    base: int
    began: dict[str, Any]
    """The version it was begun on, as written."""
    document: dict[str, Any]
    draft: Draft | None

    @property
    def stale(self) -> bool:
        """Whether somebody saved since."""
        return self.base != self.task.current_number


def desk_of(request: HttpRequest, code: str) -> Desk:
    """Open somebody's draft of a task, or begin one on the current version."""
    task = queries.get_task(code)
    draft = queries.find_draft(principal(request).user, task)
    base = int(draft.base) if draft is not None and draft.base.isdigit() else task.current_number
    began = copy.deepcopy(queries.get_version(task, base).spec)
    return Desk(task, base, began, _document(draft) or copy.deepcopy(began), draft)


def _document(draft: Draft | None) -> dict[str, Any] | None:
    """What a draft holds. It is kept as text: the column would sort the fields of records."""
    text = draft.content.get("text") if draft is not None else None
    if not isinstance(text, str):
        return None
    document = parse(text)
    return document if isinstance(document, dict) else None


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.EDIT)
def task_edit(request: HttpRequest, code: str) -> HttpResponse:
    """The editor; POST keeps a change in the draft, saves it, merges or discards it."""
    desk = desk_of(request, code)
    if request.method != "POST":
        return _page(request, desk)
    act = request.POST.get("act", "keep")
    if act == "discard":
        discard_draft(task=desk.task, by=principal(request).user)
        messages.success(request, "Your unsaved changes are thrown away.")
        return see_other(request, reverse("task", args=[desk.task.code]))
    if act in _SAVES:
        return _save(request, desk, and_prove=act == "save_prove")
    if act == "merge":
        return _merge(request, desk)
    before = copy.deepcopy(desk.document)
    problems = _change(request, desk)
    if desk.document != before or desk.stale:
        _keep(request, desk)
    if is_fragment(request):
        return _rail(request, desk, problems)
    if problems:
        return _page(request, desk, problems=problems, status=422)
    return see_other(request, _here(request))


def _change(request: HttpRequest, desk: Desk) -> list[Problem]:
    """Apply what was posted, where another tab or browser of this person's went on as well.

    A page knows the version it shows. Where that was saved over meanwhile, a draft is begun on the
    page's version, so that saving compares; where a draft of its own stands on another version,
    only what was changed on the page goes into it.
    """
    text = request.POST.get("base", "")
    shown_base = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else desk.base
    if shown_base == desk.base:
        return change(request, desk.document)
    began = queries.get_version(desk.task, shown_base).spec
    if desk.draft is None:
        desk.base, desk.began = shown_base, copy.deepcopy(began)
        desk.document = copy.deepcopy(began)
        return change(request, desk.document)
    mine = copy.deepcopy(began)
    problems = change(request, mine)
    desk.document = merge(began, mine, desk.document).document
    return problems


def _here(request: HttpRequest) -> str:
    """The page the form stood on, at the entry it was about."""
    names = ("part", "collection", "record", "raw")
    pairs = {name: request.GET[name] for name in names if request.GET.get(name)}
    if request.POST.get("act") == "add_record" and request.POST.get("collection"):
        pairs["collection"] = request.POST["collection"]
    renamed = request.POST.get("cell:id")
    if renamed and "record" in pairs:
        pairs["record"] = renamed
    if request.POST.get("act", "").startswith(("delete", "keep_entry_json", "keep_record_json")):
        pairs.pop("record", None)
        pairs.pop("raw", None)
    anchor = request.POST.get("anchor", "")
    return f"{request.path}?{urlencode(pairs)}" + (f"#{anchor}" if anchor else "")


def _keep(request: HttpRequest, desk: Desk) -> None:
    desk.draft = keep_draft(
        task=desk.task,
        base=desk.base,
        content={"text": plain(desk.document)},
        by=principal(request).user,
    )


# Saving


def _save(request: HttpRequest, desk: Desk, *, and_prove: bool) -> HttpResponse:
    reason = words(request, "reason").strip()[:_LONGEST_REASON]
    approved = desk.task.approved
    void = f" The approval of v{approved.number} is void." if approved is not None else ""
    try:
        spec = read_spec(desk.document)
        saved = save_version(
            task=desk.task, base=desk.base, spec=spec, by=principal(request), reason=reason
        )
    except StaleBase:
        desk.task = queries.get_task(desk.task.code)
        return _page(request, desk, reason=reason, status=409)
    except Invalid as error:
        return _page(request, desk, reason=reason, problems=list(error.problems), status=422)
    if not and_prove:
        messages.success(request, f"Saved as v{saved.current_number}; it is not proven yet.{void}")
        return see_other(request, reverse("task", args=[saved.code]))
    proof = prove_now(task=saved, by=principal(request), after_edit=True)
    if proof.read().proven:
        messages.success(request, f"Saved as v{saved.current_number} and proven.{void}")
    else:
        messages.error(request, f"Saved as v{saved.current_number}; the proof does not hold.{void}")
    return see_other(request, f"{reverse('task', args=[saved.code])}#proof")


def _merged(desk: Desk, *, take_theirs: list[str] | None = None) -> Merge:
    current = queries.get_version(desk.task).spec
    return merge(desk.began, desk.document, current, take_theirs=take_theirs or [])


def _merge(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Base the draft on the present version: what does not clash merges, the rest is chosen."""
    prefix = "choose:"
    theirs = [
        key.removeprefix(prefix)
        for key in request.POST
        if key.startswith(prefix) and request.POST[key] == "theirs"
    ]
    if request.POST.get("all") == "theirs":
        theirs = [conflict.key for conflict in _merged(desk).conflicts]
    if request.POST.get("all") == "mine":
        theirs = []
    desk.document = _merged(desk, take_theirs=theirs).document
    desk.base = desk.task.current_number
    _keep(request, desk)
    messages.success(request, f"Your draft stands on v{desk.base} now; save it when it is right.")
    return see_other(request, reverse("task-edit", args=[desk.task.code]))


# The page


def _page(
    request: HttpRequest,
    desk: Desk,
    *,
    problems: list[Problem] | None = None,
    reason: str = "",
    status: int = 200,
) -> HttpResponse:
    part = request.GET.get("part") or "request"
    if part not in dict(PARTS):
        raise BadRequest(f"There is no part “{part[:40]}”.")
    context: dict[str, Any] = {
        **_rail_context(desk, problems or []),
        "part": part,
        "part_template": f"tasks/edit/{part}.html",
        "parts": _parts(desk.task, part),
        "reason": reason,
        "doc": desk.document,
        "wrong": {problem.place: problem.message for problem in problems or []},
        **_part(request, desk, part, problems or []),
    }
    return render_page(request, "tasks/edit.html", None, context, status=status)


def _rail(request: HttpRequest, desk: Desk, problems: list[Problem]) -> HttpResponse:
    context = {**_rail_context(desk, problems), "overtaken": desk.stale}
    response = render_page(request, "tasks/edit/_check.html", None, context)
    if problems:
        response.status_code = 422
    return response


def _rail_context(desk: Desk, problems: list[Problem]) -> dict[str, Any]:
    spec, faults = _look(desk)
    written = spec.written() if spec is not None else desk.document
    changed = _changes(desk.began, written)
    return {
        "task": desk.task,
        "base": desk.base,
        "draft": desk.draft,
        "stale": desk.stale,
        "conflict": _merged(desk) if desk.stale else None,
        "newest": queries.get_version(desk.task) if desk.stale else None,
        "problems": problems,
        "not_kept": [(_field_words(desk, problem.place), problem) for problem in problems],
        "faults": faults,
        "loads": spec is not None,
        "changed": changed,
    }


def _field_words(desk: Desk, field: str) -> str:
    """What a person calls a field that was posted: a place of the task, or a cell of its record."""
    if field.startswith("/"):
        return place_of(desk.document, field).words if field != "/" else ""
    return field.removeprefix("cell:").replace("_", " ")


def _changes(began: dict[str, Any], written: Mapping[str, Any]) -> tuple[ChangedPlace, ...]:
    return changes(began, written) if difference(began, written) else ()


def _look(desk: Desk) -> tuple[TaskSpec | None, list[Fault]]:
    """The live check: the form of the spec, then every gate that needs no run."""
    try:
        spec = load_spec(desk.document)
    except SpecError as error:
        return None, [
            _fault(desk, "S1", problem.path, problem.message, "") for problem in error.problems
        ]
    return spec, [
        _fault(
            desk,
            found.gate,
            found.path,
            found.message,
            found.hint,
            blocks=found.severity == "block",
        )
        for gate in STATIC
        for found in gate.look(spec)
    ]


def _fault(
    desk: Desk, gate: str, path: str, message: str, hint: str, *, blocks: bool = True
) -> Fault:
    place = place_of(desk.document, path)
    url = place_url(desk.task, place, edit=True)
    return Fault(gate, message, hint, place, url, blocks, path)


def _parts(task: Task, current: str) -> list[dict[str, Any]]:
    base = reverse("task-edit", args=[task.code])
    return [
        {
            "label": label,
            "url": f"{base}?part={name}",
            "current": name == current,
            "count": None,
            "key": "",
        }
        for name, label in PARTS
    ]


def _part(request: HttpRequest, desk: Desk, part: str, problems: list[Problem]) -> dict[str, Any]:
    document = desk.document
    match part:
        case "records":
            return _records(request, desk)
        case "tools":
            return _tools(document)
        case "checks":
            return {
                "entries": _entries(document, "checks"),
                "components": COMPONENTS,
                "kinds": NEW_CHECKS,
                "raw": request.GET.get("raw", ""),
            }
        case "constraints":
            return {
                "entries": _entries(document, "constraints"),
                "policies": _list(document.get("workplace", {}), "policies"),
                "kinds": NEW_CONSTRAINTS,
                "raw": request.GET.get("raw", ""),
                "json_parts": _json_parts(document, "write_set"),
            }
        case "reference":
            return {"json_parts": _json_parts(document, "reference", "limits")}
        case "timeline":
            return {
                "json_parts": _json_parts(document, "timeline", "user", "faults"),
                "clock": document.get("clock", {}),
            }
        case "json":
            return _json(request, desk, problems)
        case _:
            return {
                "policies": _list(document.get("workplace", {}), "policies"),
                "tags": ", ".join(str(tag) for tag in _list(document, "tags")),
                "level": document.get("difficulty", {}).get("level", ""),
                "levels": range(1, 6),
            }


def _list(holder: Any, key: str) -> list[Any]:
    found = holder.get(key) if isinstance(holder, Mapping) else None
    return found if isinstance(found, list) else []


def _entries(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Checks or constraints as rows: the entry and its JSON."""
    rows = []
    for index, entry in enumerate(_list(document, key)):
        if not isinstance(entry, dict):
            continue
        severity = entry.get("severity")
        rows.append(
            {
                "index": index,
                "id": str(entry.get("id", "")),
                "entry": entry,
                "requires": ", ".join(map(str, _list(entry, "requires"))),
                "gate": severity == "gate",
                "deduct": severity.get("deduct", "") if isinstance(severity, Mapping) else "",
                "json": pretty(entry),
                "conditions": [
                    (part, path, value if isinstance(value, str) else plain(value))
                    for part in CONDITIONS
                    if isinstance(entry.get(part), Mapping)
                    for path, value in entry[part].items()
                ],
                "details": [
                    detail for detail in details(entry) if detail.key not in _SHOWN_AS_FIELDS
                ],
            }
        )
    return rows


def _json_parts(document: Mapping[str, Any], *names: str) -> list[PartJson]:
    about = {
        "reference": ("Reference program", "Steps: tool, arguments and bindings; then a reply."),
        "limits": ("Limits", "Turns, calls and seconds of an episode; empty for the usual ones."),
        "timeline": ("Timeline", "Stages with a moment, a notification and mutations."),
        "user": ("The colleague", "Name, patience, facts and how they are asked for."),
        "faults": ("Faults", "Tools that fail on purpose, on which calls, with which error."),
        "write_set": ("Write set", "Addresses that may change: service/collection/id#fields."),
    }
    parts = []
    for name in names:
        value = document.get(WHOLE_PARTS[name].lstrip("/"))
        text = pretty(value) if value is not None else ""
        label, hint = about[name]
        parts.append(PartJson(name, label, hint, text, min(30, max(4, text.count("\n") + 2))))
    return parts


def _tools(document: Mapping[str, Any]) -> dict[str, Any]:
    chosen = set(map(str, _list(document, "tools")))
    groups: dict[str, list[tuple[str, str, str, bool]]] = {}
    for name, tool in tools().items():
        facts = tool.facts
        groups.setdefault(facts.service, []).append(
            (name, facts.kind, shown(facts.description, 90), name in chosen)
        )
    held = document.get("services", {})
    ordered = sorted(groups.items(), key=lambda item: (item[0] not in held, item[0]))
    purposes = {name: kind.purpose for name, kind in services().items()}
    return {
        "tool_groups": [
            (service, purposes.get(service, ""), rows, sum(row[3] for row in rows))
            for service, rows in ordered
        ],
        "unknown": sorted(chosen - set(tools())),
    }


def _json(request: HttpRequest, desk: Desk, problems: list[Problem]) -> dict[str, Any]:
    typed = request.POST.get("json") if request.POST.get("act") == "keep_json" else None
    text = typed if typed is not None else pretty(desk.document)
    known = lines(text)
    return {
        "json": text,
        "json_problems": [problem for problem in problems if typed is not None],
        "json_faults": [(line_of(known, fault.pointer), fault) for fault in _look(desk)[1]]
        if typed is None
        else [],
    }


def _records(request: HttpRequest, desk: Desk) -> dict[str, Any]:
    """The chosen collection as a grid of typed cells; a record opened below it."""
    document = desk.document
    held = document.get("services", {})
    offered = [
        f"{service}/{name}"
        for service, rows in (held.items() if isinstance(held, Mapping) else ())
        for name in (rows if isinstance(rows, Mapping) else ())
    ]
    roles = _roles(document)
    wanted = request.GET.get("collection", "")
    place = wanted if wanted in offered else _first_place(offered, roles, held)
    service, _, name = place.partition("/")
    rows = _list(held.get(service, {}), name) if place else []
    declared = collections().get(place)
    id_field = declared.id_field if declared is not None else "id"
    columns = columns_of([row for row in rows if isinstance(row, Mapping)], id_field)
    opened = request.GET.get("record", "")
    grid = [
        _grid_row(index, row, columns, id_field, roles.get(place))
        for index, row in enumerate(rows)
        if isinstance(row, Mapping)
    ]
    chosen = next((row for row in grid if row["id"] == opened), None) if opened else None
    page = _page_of(request, grid, chosen)
    base = reverse("task-edit", args=[desk.task.code])
    other = [address for address in collections() if address not in offered]
    return {
        "places": [
            (
                address,
                len(_list(held.get(address.partition("/")[0], {}), address.partition("/")[2])),
                f"{base}?{urlencode({'part': 'records', 'collection': address})}",
                address == place,
            )
            for address in offered
        ],
        "other_places": other,
        "place": place,
        "columns": [column for column in columns if not column.long or column.name == id_field],
        "grid": grid[page : page + ROWS_SHOWN],
        "grid_total": len(grid),
        "grid_from": page,
        "grid_to": min(len(grid), page + ROWS_SHOWN),
        "next_from": page + ROWS_SHOWN if page + ROWS_SHOWN < len(grid) else None,
        "previous_from": max(0, page - ROWS_SHOWN) if page else None,
        "chosen": chosen,
        "raw": request.GET.get("raw", ""),
        "place_base": f"{base}?{urlencode({'part': 'records', 'collection': place})}",
    }


def _page_of(request: HttpRequest, grid: list[dict[str, Any]], chosen: Any) -> int:
    text = request.GET.get("from", "")
    if text.isdigit() and len(text) < 7:
        return min(int(text), max(0, len(grid) - 1))
    position = grid.index(chosen) if chosen is not None else 0
    return position - position % ROWS_SHOWN


def _roles(document: Mapping[str, Any]) -> dict[str, Table]:
    try:
        return {table.place: table for table in tables(load_spec(document))}
    except SpecError:
        return {}


def _first_place(offered: list[str], roles: Mapping[str, Table], held: Any) -> str:
    for place in offered:
        table = roles.get(place)
        if table is not None and any(row.role == "target" for row in table.rows):
            return place
    for place in offered:
        service, _, name = place.partition("/")
        if _list(held.get(service, {}), name):
            return place
    return offered[0] if offered else ""


def _grid_row(
    index: int,
    row: Mapping[str, Any],
    columns: tuple[Column, ...],
    id_field: str,
    table: Table | None,
) -> dict[str, Any]:
    record_id = str(row.get(id_field, ""))
    seen = table.row(record_id) if table is not None else None
    cells = []
    for column in columns:
        value = row.get(column.name)
        kind = column.kind if value is None else _kind_of(value)
        text = "" if value is None else plain(value)
        cells.append(
            {
                "name": column.name,
                "kind": kind,
                "text": text,
                "nested": _counted(value) if isinstance(value, list | Mapping) else "–",
                "absent": column.name not in row,
                "null": column.name in row and value is None,
                "long": column.long or kind == "nested",
                "hidden": column.long and column.name != id_field,
                "key": column.name == id_field,
                "rows": min(12, max(2, text.count("\n") + len(text) // 90 + 1)),
            }
        )
    return {
        "index": index,
        "id": record_id,
        "role": seen.role if seen is not None else "",
        "named_by": seen.named_by if seen is not None else (),
        "cells": cells,
        "json": pretty(dict(row)),
    }


def _counted(value: Any) -> str:
    """A list or an object in a cell, in words: the record's own form shows it whole."""
    if isinstance(value, Mapping):
        return shown(", ".join(f"{key} {plain(held)}" for key, held in value.items()), 40)
    if all(not isinstance(item, list | Mapping) for item in value):
        return shown(", ".join(map(str, value)), 40) or "none"
    return f"{len(value)} entries" if len(value) != 1 else "1 entry"


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "yes_no"
    if isinstance(value, int | float):
        return "number"
    return "nested" if isinstance(value, list | Mapping) else "text"


# New tasks


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.EDIT)
def task_new(request: HttpRequest) -> HttpResponse:
    """Begin a task: a few words, a drafted one to change, or a spec as JSON."""
    kind = request.POST.get("kind", "")
    forms = {
        "words": NewTaskForm(request.POST if kind == "words" else None),
        "drafted": DraftedForm(request.POST if kind == "drafted" else None),
        "json": JsonForm(request.POST if kind == "json" else None),
    }
    if request.method != "POST":
        return render_page(request, "tasks/new.html", None, {"forms": forms})
    form = forms.get(kind)
    if form is None:
        raise BadRequest("Say how the task begins.")
    problems: list[tuple[int | None, str, str]] = []
    if form.is_valid():
        try:
            spec = _new_spec(kind, form)
        except Invalid as error:
            known = lines(request.POST.get("spec", ""))
            for problem in error.problems:
                at = "" if problem.place == "/" else problem.place
                problems.append((line_of(known, at), problem.place, problem.message))
            form.add_error(None, "Nothing was made: this is not a task spec yet.")
        else:
            origin = Origin.GENERATED if kind == "drafted" else Origin.WRITTEN
            made = create_task(spec=spec, by=principal(request), origin=origin)
            messages.success(request, f"{made.code} is made: a draft, not proven yet.")
            return see_other(request, reverse("task-edit", args=[made.code]))
    context = {"forms": forms, "kind": kind, "json_problems": problems}
    return render_page(request, "tasks/new.html", None, context, status=422)


def _new_spec(kind: str, form: Any) -> TaskSpec:
    data = form.cleaned_data
    if kind == "json":
        return read_spec(data["spec"])
    if kind == "drafted":
        made = next(
            iter(outcomes([data["family"]], 1, data["seed"], [int(data["level"])], library=False))
        ).made
        if made.spec is None:
            raise Invalid(made.reason, [Problem("/", made.reason)])
        return made.spec
    return read_spec(_skeleton(data))


def _skeleton(data: Mapping[str, Any]) -> dict[str, Any]:
    """The least spec: it loads, and its proof says what is missing."""
    chosen = data["services"]
    known = collections()
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in data["title"].lower())
    return {
        "format": "coworker-task/1",
        "slug": "-".join(part for part in slug.split("-") if part)[:90] or "task",
        "title": data["title"],
        "track": "claw_eval",
        "family": data["family"],
        "subtype": data["subtype"],
        "difficulty": {"level": int(data["level"])},
        "clock": {"start": _FIRST_MOMENT, "zone": "Europe/Berlin"},
        "seed": 1,
        "workplace": {
            "organisation": data["organisation"],
            "coworker": {"role": "office assistant"},
            "requester": {"name": data["requester"]},
        },
        "request": {"text": data["request"].replace("\r\n", "\n")},
        "services": {
            service: {
                place.partition("/")[2]: [] for place in known if place.partition("/")[0] == service
            }
            for service in chosen
        },
        "tools": [name for name, tool in tools().items() if tool.facts.service in chosen],
    }
