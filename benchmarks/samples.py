"""The tasks that are measured: drafts of both families of the first release, always the same."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import orjson

from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import draft, plans
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec, load_spec

MEASURED = ("support_resolution", "payment_change_investigation")


def drafts(count: int, seed: int, level: int | None = None) -> list[TaskSpec]:
    """Return so many drafts of each measured family, of one difficulty or of all in turn."""
    return [
        draft(FAMILIES[name], plan)
        for name in MEASURED
        for plan in plans(FAMILIES[name], count, seed, level)
    ]


def office(records: int = 200) -> TaskSpec:
    """Return a support task with all tools, its records copied under new ids until there are
    enough.
    """
    written = drafts(1, 7, 5)[0].written()
    written["tools"] = list(tools())
    written["reference"], written["faults"] = [], []
    tables = [rows for place in written["services"].values() for rows in place.values() if rows]
    originals = [list(rows) for rows in tables]
    copies = _numbers()
    while sum(map(len, tables)) < records:
        number = next(copies)
        for rows, own in zip(tables, originals, strict=True):
            for row in own:
                name = next((key for key in ("id", "sku") if key in row), None)
                if name is not None:
                    rows.append({**row, name: f"{row[name]}-{number}"})
    return load_spec(written)


def _numbers() -> Iterator[int]:
    number = 1
    while True:
        yield number
        number += 1


def largest(days: int = 5, tool_count: int = 30, records: int = 200) -> TaskSpec:
    """Return the largest task that a proof is measured on: a support task over several days, on
    each of which another letter about the same matter has come and is closed as a duplicate, among
    more tools and among the records of other customers.
    """
    written = drafts(1, 7, 5)[0].written()
    services = written["services"]
    names = {word for row in services["crm"]["customers"] for word in row["name"].split()}
    copied = {
        "helpdesk": services["helpdesk"]["tickets"],
        "crm": services["crm"]["customers"],
        "orders": services["orders"]["orders"],
    }
    originals = {name: list(rows) for name, rows in copied.items()}
    numbers = _numbers()
    while sum(len(rows) for place in services.values() for rows in place.values()) < records:
        number = next(numbers)
        for name, rows in copied.items():
            rows.extend(_of_others(row, names, number) for row in originals[name])
    offered = [name for name, tool in tools().items() if tool.facts.service in services]
    more = [name for name in offered if name not in written["tools"]]
    written["tools"] += more[: tool_count - len(written["tools"])]
    _over_days(written, days)
    return load_spec(written)


def _of_others(row: dict[str, Any], names: set[str], number: int) -> dict[str, Any]:
    """Return a record as another customer has it: other ids, other names."""
    text = orjson.dumps(row).decode()
    text = re.sub(
        r"\b(TK|CU|OR)-(\d+)", lambda found: f"{found[1]}-{int(found[2]) + 100_000 * number}", text
    )
    for name in names:
        # No search for the first of them finds the others: letters change, none is added.
        other = f"{'QXZUYO'[number % 6]}{name[1:-1]}{'qxzuyo'[number // 6]}"
        text = re.sub(rf"\b{name}\b", other, text)
        text = re.sub(rf"\b{name.lower()}\b", other.lower(), text)
    found: dict[str, Any] = orjson.loads(text)
    return found


def _over_days(written: dict[str, Any], days: int) -> None:
    start = written["clock"]["start"]
    day = date.fromisoformat(start[:10])
    first = next(
        check["where"]["id"]
        for check in written["checks"]
        if check.get("collection") == "tickets" and "id" in check.get("where", {})
    )
    ticket = next(row for row in written["services"]["helpdesk"]["tickets"] if row["id"] == first)
    written["timeline"] = [{"id": "day1", "at": start}]
    for check in written["checks"]:
        check["weight"] = round(check["weight"] * 0.6, 6)
        if check["kind"] == "answer":
            check["stage"] = "day1"
    share = round(0.4 / (days - 1), 6)
    for number in range(2, days + 1):
        at = f"{(day + timedelta(days=number - 1)).isoformat()}T09:00:00{start[19:]}"
        record_id = f"TK-{900_000 + number}"
        came = {**ticket, "id": record_id, "created_at": at, "updated_at": at}
        written["timeline"].append(
            {
                "id": f"day{number}", "at": at, "notification": "Anything new about it?",
                "mutations": [
                    {"service": "helpdesk", "collection": "tickets", "op": "add", "values": came}
                ],
            }
        )  # fmt: skip
        written["write_set"].append(
            f"helpdesk/tickets/{record_id}#status,resolution,reference,updated_at"
        )
        written["reference"] += [
            {
                "id": f"look{number}", "tool": "helpdesk_search_tickets",
                "arguments": {"query": ticket["subject"], "status": "open"},
            },
            {
                "id": f"close{number}", "tool": "helpdesk_close_ticket",
                "arguments": {
                    "ticket_id": {"from": f"look{number}", "path": "tickets", "take": "last",
                                  "sort": "created_at", "field": "id"},
                    "resolution": "duplicate", "reference": {"from": "ticket", "path": "id"},
                },
            },
            {"reply": f"{record_id} is closed as a duplicate of {first}."},
        ]  # fmt: skip
        written["checks"] += [
            {
                "id": f"o_day{number}", "component": "outcome", "weight": round(share * 0.6, 6),
                "kind": "record_match", "service": "helpdesk", "collection": "tickets",
                "where": {"id": record_id},
                "expect": {"status": "closed", "resolution": "duplicate", "reference": first},
            },
            {
                "id": f"r_day{number}", "component": "report", "weight": round(share * 0.4, 6),
                "kind": "answer", "text": [[record_id]], "requires": [f"o_day{number}"],
                "stage": f"day{number}",
            },
        ]  # fmt: skip
    rule = " Close later letters about the same matter as a duplicate of the first."
    written["workplace"]["policies"][0]["text"] += rule
    limits = written.setdefault("limits", {})
    limits["tool_calls"], limits["turns"] = 120, 60
