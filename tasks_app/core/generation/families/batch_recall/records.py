"""The records of a recall: registers, the log, mail."""

from typing import Any

from tasks_app.core.generation.families.batch_recall import words
from tasks_app.core.generation.families.batch_recall.facts import WRONG, RecallFacts
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.week import WeekPaper


def fill(facts: RecallFacts, paper: WeekPaper, sheet_id: str) -> None:
    """Put the records in, and offer the tools."""
    tables: list[tuple[str, str, str, list[Any]]] = [
        (
            facts.batches_id,
            "Batches",
            "BT",
            [("product", "text"), ("line", "text"), ("packed_on", "date")],
        ),
        (
            facts.pallets_id,
            "Pallets",
            "PL",
            [
                ("batch", "text"),
                ("units", "integer"),
                ("shipment", "text"),
                ("status", ("shipped", "used", "blocked", "released")),
            ],
        ),
        (
            facts.shipments_id,
            "Shipments",
            "SN",
            [("customer", "text"), ("mailbox", "text"), ("city", "text"), ("sent_on", "date")],
        ),
    ]
    if facts.counts:
        columns = [("pallet", "text"), ("shipment", "text"), ("units", "integer")]
        tables.append((facts.returns_id, "Returns", "RT", columns))
    paper.services["tables"] = {
        "tables": [
            {
                "id": table_id,
                "name": name,
                "description": words.REGISTERS[name],
                "prefix": prefix,
                "columns": [
                    {"name": column, "type": kind}
                    if isinstance(kind, str)
                    else {"name": column, "type": "choice", "options": list(kind)}
                    for column, kind in columns
                ],
            }
            for table_id, name, prefix, columns in tables
        ],
        "rows": [*facts.batches, *facts.pallets, *facts.shipments],
    }
    aside = f"SH-{int(sheet_id[3:]) + 7}"
    headings = {"A": "shipment", "B": "pallet", "C": "customer", "D": "units", "E": "state"}
    paper.services["sheets"] = {
        "sheets": [
            {"id": aside, "title": "Recall log last year"},
            {"id": sheet_id, "title": "Recall log"},
        ],
        "rows": [
            {"id": f"{name}!1", "sheet_id": name, "row": 1, **headings}
            for name in (aside, sheet_id)
        ],
    }
    paper.services["mail"] = {"messages": _mail(facts), "drafts": [], "outbox": []}
    paper.tools += [
        "tables_list_tables", "tables_query_rows", "tables_search_rows", "tables_get_row",
        "tables_update_row", "sheets_list_sheets", "sheets_read_range", "sheets_find_rows",
        "sheets_append_rows", "sheets_write_range", "mail_list_messages", "mail_search_messages",
        "mail_get_message", "mail_send_message",
    ]  # fmt: skip
    paper.people += [
        {"name": p.name, "role": role, "mailbox": p.email}
        for p, role in ((facts.officer, "safety officer"), (facts.lab, "head of the laboratory"))
    ]


def _mail(facts: RecallFacts) -> list[Json]:
    rng, cast = facts.rng, facts.cast
    if facts.subtype == WRONG:
        body = rng.choice(words.UNNUMBERED).format(
            product=facts.product, line=facts.batch["line"], day=facts.batch["packed_on"]
        )
    else:
        body = rng.choice(words.COMPLAINTS).format(product=facts.product, batch=facts.batch["id"])
    drawn = [
        (
            f"Order of {facts.product}",
            f"Please send more {facts.product}, {facts.batches[2]['id']} sold well.",
            6,
        ),
        (f"Complaint, {facts.product}", body, 1),
        (f"Complaint, {facts.other_product}", f"The {facts.other_product} came a day late.", 3),
        (
            f"Photos of {facts.product}",
            f"The photos of {facts.product} for the leaflet are ready.",
            2,
        ),
    ]
    number = rng.randrange(1000, 1400)
    found = []
    for subject, text, days in drawn:
        number += rng.randrange(1, 9)
        found.append(
            {
                "id": f"M-{number}",
                "mailbox": facts.mailbox,
                "from": cast.customer().email,
                "to": [facts.mailbox],
                "subject": subject,
                "date": facts.clock.ago(days, rng.randrange(540, 1000)),
                "body": text,
                "labels": ["inbox"],
                "is_read": days > 1,
            }
        )
    return found
