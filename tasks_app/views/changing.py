"""What the fields of the editor mean: a part of a form, applied to the draft."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.http import HttpRequest, QueryDict

from studio.web.errors import Problem
from tasks_app.core.drafting import (
    ABSENT,
    FieldError,
    blank_record,
    find_record,
    fresh_id,
    get,
    number,
    parse,
    put,
    records,
    typed,
)
from tasks_app.core.presenting.records import columns_of
from tasks_app.core.services.catalog import collections, tools

Document = dict[str, Any]

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
CONDITIONS: Final = ("where", "expect")
"""Parts of a check that are conditions on fields, each of which gets a field of its own."""
NEW_CHECKS: Final = (
    "record_match", "unchanged", "answer", "message_match", "text_match", "tool_called",
    "number_close", "rubric",
)  # fmt: skip
"""Kinds of check that can be begun with a form; the others are written as JSON."""
NEW_CONSTRAINTS: Final = (
    "forbid_tool", "at_most", "argument_policy", "require_before", "no_disclosure",
)  # fmt: skip
"""Kinds of constraint that can be begun with a form."""
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
    policies = get(document, "/workplace/policies")
    for index, policy in enumerate(policies if isinstance(policies, list) else []):
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


# Records


def _keep_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    row = rows[find_record(rows, id_field, data.get("key", ""))]
    kinds = {column.name: column.kind for column in columns_of(rows, id_field)}
    problems = []
    for key in data:
        field = key.removeprefix("cell:")
        if field == key:
            continue
        was = row.get(field, ABSENT)
        kind = kinds.get(field, "text")
        if was is not ABSENT and was is not None:
            kind = columns_of([row], id_field)[_position(row, field, id_field)].kind
        try:
            value = typed(data.get(key, ""), kind, was)
        except FieldError as error:
            problems.append(Problem(key, str(error)))
            continue
        if field == id_field and not _free(rows, id_field, row, value):
            problems.append(Problem(key, f"{value or 'an empty id'} cannot be its id"))
        elif value is not ABSENT:
            row[field] = value
    return problems


def _position(row: Mapping[str, Any], field: str, id_field: str) -> int:
    return list(dict.fromkeys([id_field, *row])).index(field)


def _free(rows: list[Any], id_field: str, row: Any, value: Any) -> bool:
    others = (other.get(id_field) for other in rows if other is not row)
    return isinstance(value, str) and bool(value.strip()) and value not in others


def _keep_record_json(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    value = parse(data.get("json", ""))
    if not isinstance(value, dict):
        raise FieldError("a record is a JSON object")
    rows[find_record(rows, id_field, data.get("key", ""))] = value
    return []


def _add_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    declared = collections().get(f"{service}/{name}")
    rows.append(blank_record(rows, id_field, declared.prefix if declared is not None else ""))
    return []


def _copy_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    index = find_record(rows, id_field, data.get("key", ""))
    declared = collections().get(f"{service}/{name}")
    fresh = blank_record(rows, id_field, declared.prefix if declared is not None else "")
    rows.insert(index + 1, {**rows[index], id_field: fresh[id_field]})
    return []


def _delete_record(data: QueryDict, document: Document) -> list[Problem]:
    service, name, id_field = _collection(data)
    rows = records(document, service, name)
    del rows[find_record(rows, id_field, data.get("key", ""))]
    return []


def _collection(data: QueryDict) -> tuple[str, str, str]:
    service, _, name = data.get("collection", "").partition("/")
    if not service or not name:
        raise FieldError("which collection?")
    declared = collections().get(f"{service}/{name}")
    return service, name, declared.id_field if declared is not None else "id"


# Tools


def _keep_tools(data: QueryDict, document: Document) -> list[Problem]:
    """Tick and untick; tools this release does not know stay, in their place."""
    wanted = set(data.getlist("tool"))
    known = tools()
    old = [name for name in document.get("tools", []) if name in wanted or name not in known]
    new = [name for name in known if name in wanted and name not in old]
    document["tools"] = [*old, *new]
    return []


# Checks and constraints


def _keep_check(data: QueryDict, document: Document) -> list[Problem]:
    check = _entry(data, document, "/checks")
    check["explain"] = data.get("explain", "").strip()
    if not check["explain"]:
        del check["explain"]
    check["component"] = data.get("component", check.get("component", "outcome"))
    requires = [item.strip() for item in data.get("requires", "").split(",") if item.strip()]
    if requires:
        check["requires"] = requires
    else:
        check.pop("requires", None)
    for key in data:
        head, _, rest = key.partition(":")
        part, _, path = rest.partition(":")
        holder = check.get(part)
        if head == "in" and part in CONDITIONS and isinstance(holder, dict) and path in holder:
            holder[path] = condition(data.get(key, ""), holder[path])
    try:
        check["weight"] = number(data.get("weight", ""))
    except FieldError as error:
        return [Problem("weight", str(error))]
    return []


def condition(text: str, was: Any) -> Any:
    """A predicate as somebody types it: what was a text stays one unless JSON is meant."""
    if isinstance(was, str) and not text.lstrip().startswith(("{", "[", '"')):
        return text
    return parse(text)


def _keep_constraint(data: QueryDict, document: Document) -> list[Problem]:
    rule = _entry(data, document, "/constraints")
    rule["sentence"] = data.get("sentence", "").strip()
    rule["policy"] = data.get("policy", rule.get("policy", ""))
    if data.get("gate") == "gate":
        rule["severity"] = "gate"
        return []
    try:
        rule["severity"] = {"deduct": number(data.get("deduct", "") or "0.2")}
    except FieldError as error:
        return [Problem("deduct", str(error))]
    return []


def _keep_entry_json(data: QueryDict, document: Document) -> list[Problem]:
    place = data.get("place", "")
    if place not in ("/checks", "/constraints"):
        raise FieldError(f"there is nothing at {place or 'that place'}")
    entries = get(document, place)
    value = parse(data.get("json", ""))
    if not isinstance(value, dict) or not isinstance(entries, list):
        raise FieldError("a rule is a JSON object")
    entries[find_record(entries, "id", data.get("key", ""))] = value
    return []


def _add_check(data: QueryDict, document: Document) -> list[Problem]:
    entries = document.setdefault("checks", [])
    kind = data.get("kind", "answer")
    if kind not in NEW_CHECKS:
        raise FieldError(f"there is no kind of check called {kind}")
    entries.append(_blank_check(kind, fresh_id(entries, "check"), document))
    return []


def _blank_check(kind: str, entry_id: str, document: Document) -> dict[str, Any]:
    service, name = next(
        ((s, n) for s, held in document.get("services", {}).items() for n in held),
        ("helpdesk", "tickets"),
    )
    own: dict[str, dict[str, Any]] = {
        "record_match": {"service": service, "collection": name, "where": {}, "expect": {}},
        "unchanged": {"outside": "write_set"},
        "answer": {"text": [["done"]]},
        "message_match": {"to": [], "text": [["hello"]]},
        "text_match": {"text": [["done"]]},
        "tool_called": {"tool": next(iter(document.get("tools", [])), "message_user")},
        "number_close": {"target": 0},
        "rubric": {"question": "Does it read well?"},
    }
    head = {"id": entry_id, "kind": kind, "component": "outcome", "weight": 0.1}
    return {**head, **own[kind]}


def _add_constraint(data: QueryDict, document: Document) -> list[Problem]:
    entries = document.setdefault("constraints", [])
    kind = data.get("kind", "forbid_tool")
    if kind not in NEW_CONSTRAINTS:
        raise FieldError(f"there is no kind of constraint called {kind}")
    policies = get(document, "/workplace/policies")
    policy = policies[0].get("id", "") if isinstance(policies, list) and policies else ""
    offered = next(iter(document.get("tools", [])), "message_user")
    own: dict[str, dict[str, Any]] = {
        "forbid_tool": {"tool": offered},
        "at_most": {"tool": offered, "n": 1},
        "argument_policy": {"tool": offered, "argument": "id", "allow": []},
        "require_before": {"write": {"tool": offered}, "needs": {"tool": offered}},
        "no_disclosure": {"values": ["secret"]},
    }
    entries.append(
        {
            "id": fresh_id(entries, "k"),
            "kind": kind,
            "policy": policy,
            "sentence": "Say the rule here, and in the policy.",
            "severity": "gate",
            **own[kind],
        }
    )
    return []


def _entry(data: QueryDict, document: Document, place: str) -> dict[str, Any]:
    entries = get(document, place)
    if not isinstance(entries, list):
        raise FieldError(f"there is nothing at {place}")
    entry = entries[find_record(entries, "id", data.get("key", ""))]
    if not isinstance(entry, dict):
        raise FieldError(f"there is nothing at {place}")
    return entry


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


_ACTS: Final[Mapping[str, Callable[[QueryDict, Document], list[Problem]]]] = {
    "keep": _keep_request,
    "add_policy": _add_policy,
    "delete_entry": _delete_entry,
    "keep_record": _keep_record,
    "keep_record_json": _keep_record_json,
    "add_record": _add_record,
    "copy_record": _copy_record,
    "delete_record": _delete_record,
    "keep_tools": _keep_tools,
    "keep_check": _keep_check,
    "add_check": _add_check,
    "keep_constraint": _keep_constraint,
    "add_constraint": _add_constraint,
    "keep_entry_json": _keep_entry_json,
    "keep_part_json": _keep_part_json,
    "keep_json": _keep_json,
}
