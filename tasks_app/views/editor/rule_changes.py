"""What the fields of a check or constraint mean: its parts, its JSON, a new one."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import QueryDict

from studio.web.errors import Problem
from tasks_app.core.drafting import Document, FieldError, find_record, fresh_id, get, number, parse
from tasks_app.views.editor.record_changes import Change

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


RULE_CHANGES: Final[Mapping[str, Change]] = {
    "keep_check": _keep_check,
    "add_check": _add_check,
    "keep_constraint": _keep_constraint,
    "add_constraint": _add_constraint,
    "keep_entry_json": _keep_entry_json,
}
