"""The parts of the editor: what each shows of a draft."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpRequest
from django.urls import reverse

from studio.web.errors import Problem
from tasks_app.core.drafting import listed
from tasks_app.core.presenting.lines import line_of, lines
from tasks_app.core.presenting.rules import details
from tasks_app.core.presenting.words import plain, pretty, shown
from tasks_app.core.services.catalog import services, tools
from tasks_app.models import Task
from tasks_app.views.editor.changing import WHOLE_PARTS
from tasks_app.views.editor.desk import Desk
from tasks_app.views.editor.grid import records
from tasks_app.views.editor.look import look
from tasks_app.views.editor.rule_changes import CONDITIONS, NEW_CHECKS, NEW_CONSTRAINTS

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
COMPONENTS: Final = ("outcome", "process", "report", "collateral")
_SHOWN_AS_FIELDS: Final = ("where", "expect")


@dataclass(frozen=True)
class PartJson:
    """A part that is edited as JSON."""

    name: str
    label: str
    hint: str
    text: str
    rows: int


def part_links(task: Task, current: str) -> list[dict[str, Any]]:
    """The parts as tabs."""
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


def part_context(
    request: HttpRequest, desk: Desk, part: str, problems: list[Problem]
) -> dict[str, Any]:
    """What the template of a part is given."""
    document = desk.document
    match part:
        case "records":
            return records(request, desk)
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
                "policies": listed(document.get("workplace", {}), "policies"),
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
                "policies": listed(document.get("workplace", {}), "policies"),
                "tags": ", ".join(str(tag) for tag in listed(document, "tags")),
                "level": document.get("difficulty", {}).get("level", ""),
                "levels": range(1, 6),
            }


def _entries(document: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Checks or constraints as rows: the entry and its JSON."""
    rows = []
    for index, entry in enumerate(listed(document, key)):
        if not isinstance(entry, dict):
            continue
        severity = entry.get("severity")
        rows.append(
            {
                "index": index,
                "id": str(entry.get("id", "")),
                "entry": entry,
                "requires": ", ".join(map(str, listed(entry, "requires"))),
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
    chosen = set(map(str, listed(document, "tools")))
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
        "json_faults": [(line_of(known, fault.pointer), fault) for fault in look(desk)[1]]
        if typed is None
        else [],
    }
