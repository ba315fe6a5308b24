"""Short ways to write the parts of a spec that families write again and again."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks_app.core.results import COMPONENTS

Json = dict[str, Any]


def ref(source: str, path: str = "", **select: Any) -> Json:
    """A binding to an earlier step; `select` is any of where, sort, take, field."""
    return {"from": source, **({"path": path} if path else {}), **select}


def fn(name: str, *arguments: Any) -> Json:
    """A function of bindings."""
    return {"fn": name, "args": list(arguments)}


def filled(template: str, **values: Any) -> Json:
    """A text with bound places."""
    return {"text": template, "with": values}


def step(step_id: str, tool: str, each: Any = None, **arguments: Any) -> Json:
    """A step of a program."""
    body: Json = {"id": step_id, "tool": tool, "arguments": arguments}
    return body if each is None else {**body, "each": each}


def reply(template: str, **values: Any) -> Json:
    """The reply that ends a stage."""
    return {"reply": filled(template, **values) if values else template}


def record(collection: str, where: Mapping[str, Any], field: str = "id") -> Json:
    """A reference, inside a check, to a field of a record made during the run."""
    return {"record": collection, "where": dict(where), "field": field}


def match(
    check_id: str,
    explain: str,
    collection: str,
    where: Mapping[str, Any],
    expect: Mapping[str, Any],
    *,
    requires: Sequence[str] = (),
    count: Any = None,
    because: Mapping[str, str] | None = None,
) -> Json:
    """An outcome check on records; `because` cites what its fields follow from."""
    service, _, name = collection.partition("/")
    body: Json = {
        "id": check_id,
        "component": "outcome",
        "kind": "record_match",
        "explain": explain,
        "requires": list(requires),
        "service": service,
        "collection": name,
        "where": dict(where),
        "expect": dict(expect),
        **({"because": dict(because)} if because else {}),
    }
    return body if count is None else {**body, "count": count}


def collateral(requires: str) -> Json:
    """The collateral check: nothing outside the write set changed."""
    return {
        "id": "c_only",
        "component": "collateral",
        "kind": "unchanged",
        "explain": "Nothing outside the write set changed",
        "requires": [requires],
        "outside": "write_set",
    }


def added(address: str, where: Mapping[str, Any], most: int = 1) -> Json:
    """A write rule: so many new records that fit may be added."""
    return {"address": address, "change": "add", "where": dict(where), "max": most}


def weighted(checks: Sequence[tuple[float, Json]]) -> list[Json]:
    """Turn relative weights into shares that sum to 1 in steps of 0.01.

    Components get fixed shares (process 0.05, collateral 0.10, report 0.30, outcome the rest, at
    most 0.6);
    what outcome may not carry goes to collateral. Relative weights divide a component's share.
    """
    present = {c["component"] for _, c in checks}
    cents = {"process": 5, "report": 30, "collateral": 10}
    shares = {name: cents[name] for name in cents if name in present}
    shares["outcome"] = min(60, 100 - sum(shares.values()))
    shares["collateral"] = shares.get("collateral", 0) + 100 - sum(shares.values())
    given: dict[int, int] = {}
    for component in COMPONENTS:
        members = [(i, w) for i, (w, c) in enumerate(checks) if c["component"] == component]
        total = sum(w for _, w in members)
        left = shares.get(component, 0)
        for position, (i, weight) in enumerate(members):
            last = position == len(members) - 1
            given[i] = left if last else max(1, round(shares[component] * weight / total))
            left -= given[i]
    return [{**check, "weight": given[i] / 100} for i, (_, check) in enumerate(checks)]
