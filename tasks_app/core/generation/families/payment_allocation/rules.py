"""The rules of a draft, as its document says them, and the constraints that stand for them."""

from typing import Final

from tasks_app.core.generation.families.payment_allocation import words
from tasks_app.core.generation.families.payment_allocation.facts import (
    CREDIT,
    NAMED,
    OVER,
    MoneyFacts,
)
from tasks_app.core.generation.paper import Paper

ALLOCATE: Final = "finance_allocate_payment"
RULES: Final = "booking"


def write_rules(facts: MoneyFacts, paper: Paper, sheet: str) -> None:
    """Write the document on booking money."""
    said = words.RULES
    paper.document(RULES, "Booking money")
    if facts.subtype == NAMED:
        paper.say(RULES, said["named"])
    if facts.subtype == CREDIT:
        paper.say(RULES, said["credit"])
    paper.say(RULES, said["oldest"])
    if facts.subtype == OVER:
        paper.say(RULES, said["over"])
    paper.bind(
        "k_open",
        "only_when",
        RULES,
        said["open"],
        "gate" if facts.level >= 2 else 0.4,
        tool=ALLOCATE,
        record={"service": "finance", "collection": "invoices", "id_argument": "invoice_id"},
        where={"status": "open"},
    )
    paper.say(RULES, said["own"])
    if facts.subtype != CREDIT and facts.level >= 2:
        paper.bind(
            "k_once", "at_most", RULES, said["once"], 0.3, tool=ALLOCATE, per="invoice_id", n=1
        )
    if facts.level >= 3:
        paper.bind(
            "k_refund",
            "forbid_tool",
            RULES,
            said["refund"].format(lead=facts.lead.given),
            tool=["finance_create_refund"],
        )
    if facts.kept:
        paper.say(RULES, said["sheet"].format(sheet=sheet))
