"""What the fields of the editor mean: a part of a form, applied to the draft."""

from collections.abc import Mapping
from typing import Final

from django.http import HttpRequest, QueryDict

from studio.web.errors import Problem
from tasks_app.core.drafting import (
    ABSENT,
    Document,
    FieldError,
    find_record,
    fresh_id,
    get,
    listed,
    number,
    parse,
    put,
)
from tasks_app.core.services.catalog import tools
from tasks_app.views.editor.record_changes import RECORD_CHANGES, Change
from tasks_app.views.editor.rule_changes import RULE_CHANGES

#: Texts of the request part: pointer → whether an empty one is taken away.
TEXTS: Final[Mapping[str, bool]] = {
    "/title": False,
    "/request/text": False,
    "/subtype": False,
    "/language": True,
    "/workplace/organisation": False,
    "/workplace/coworker/role": False,
    "/workplace/coworker/mailbox": True,
    "/workplace/requester/name": False,
    "/workplace/requester/role": True,
    "/workplace/output_contract": True,
    "/clock/start": False,
    "/clock/zone": True,
}
WHOLE_PARTS: Final[Mapping[str, str]] = {
    "reference": "/reference",
    "timeline": "/timeline",
    "user": "/user",
    "faults": "/faults",
    "write_set": "/write_set",
    "limits": "/limits",
}
"""Parts that are edited as JSON: name → pointer."""


def change(request: HttpRequest, document: Document) -> list[Problem]:
    """Apply what was posted to the document; problems name the fields that could not be."""
    data = request.POST
    act = data.get("act", "keep")
    apply = _ACTS.get(act)
    if apply is None:
        return [Problem("act", f"there is no act “{act[:40]}”")]
    try:
        return apply(data, document)
    except FieldError as error:
        return [Problem(data.get("place", ""), str(error))]


# The request and the rules


def _keep_request(data: QueryDict, document: Document) -> list[Problem]:
    problems = []
    for path, optional in TEXTS.items():
        if path in data:
            text = data.get(path, "").replace("\r\n", "\n")
            put(document, path, ABSENT if optional and not text.strip() else text)
    if "/difficulty/level" in data:
        try:
            put(document, "/difficulty/level", number(data.get("/difficulty/level", "")))
        except FieldError as error:
            problems.append(Problem("/difficulty/level", str(error)))
    if "/tags" in data:
        tags = [tag.strip() for tag in data.get("/tags", "").split(",") if tag.strip()]
        put(document, "/tags", tags or ABSENT)
    for index, policy in enumerate(listed(document.get("workplace"), "policies")):
        for field in ("title", "text"):
            path = f"/workplace/policies/{index}/{field}"
            if path in data and isinstance(policy, dict):
                policy[field] = data.get(path, "").replace("\r\n", "\n")
    return problems


def _add_policy(_: QueryDict, document: Document) -> list[Problem]:
    policies = get(document, "/workplace/policies")
    if not isinstance(policies, list):
        put(document, "/workplace/policies", [])
        policies = get(document, "/workplace/policies")
    policies.append({"id": fresh_id(policies, "rule"), "title": "New rule", "text": ""})
    return []


def _delete_entry(data: QueryDict, document: Document) -> list[Problem]:
    """Take an entry of a list away: a policy, a check, a constraint, by its id."""
    place = data.get("place", "")
    if place not in ("/workplace/policies", "/checks", "/constraints"):
        raise FieldError(f"nothing can be deleted from {place or 'there'}")
    entries = get(document, place)
    if not isinstance(entries, list):
        raise FieldError(f"there is nothing at {place}")
    del entries[find_record(entries, "id", data.get("key", ""))]
    return []


# Tools


def _keep_tools(data: QueryDict, document: Document) -> list[Problem]:
    """Tick and untick; tools this release does not know stay, in their place."""
    wanted = set(data.getlist("tool"))
    known = tools()
    old = [name for name in document.get("tools", []) if name in wanted or name not in known]
    new = [name for name in known if name in wanted and name not in old]
    document["tools"] = [*old, *new]
    return []


# Parts that are JSON, and the whole


def _keep_part_json(data: QueryDict, document: Document) -> list[Problem]:
    path = WHOLE_PARTS.get(data.get("place", ""))
    if path is None:
        raise FieldError("there is no such part")
    text = data.get("json", "")
    put(document, path, parse(text) if text.strip() else ABSENT)
    return []


def _keep_json(data: QueryDict, document: Document) -> list[Problem]:
    value = parse(data.get("json", ""))
    if not isinstance(value, dict):
        raise FieldError("a task spec is a JSON object")
    document.clear()
    document.update(value)
    return []


_ACTS: Final[Mapping[str, Change]] = {
    "keep": _keep_request,
    "add_policy": _add_policy,
    "delete_entry": _delete_entry,
    "keep_tools": _keep_tools,
    "keep_part_json": _keep_part_json,
    "keep_json": _keep_json,
    **RECORD_CHANGES,
    **RULE_CHANGES,
}
