"""The rules of a draft, as its document says them, and the constraints that stand for them."""

from typing import Final

from tasks_app.core.generation.families.payment_allocation import money_words as words
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
    paper.policy(RULES, "Booking money")
    if facts.subtype == NAMED:
        paper.rule(RULES, said["named"])
    if facts.subtype == CREDIT:
        paper.rule(RULES, said["credit"])
    paper.rule(RULES, said["oldest"])
    if facts.subtype == OVER:
        paper.rule(RULES, said["over"])
    paper.red_line(
        RULES,
        said["open"],
        "gate" if facts.level >= 2 else 0.4,
        "only_when",
        "k_open",
        tool=ALLOCATE,
        record={"service": "finance", "collection": "invoices", "id_argument": "invoice_id"},
        where={"status": "open"},
    )
    paper.rule(RULES, said["own"])
    if facts.subtype != CREDIT and facts.level >= 2:
        paper.red_line(
            RULES, said["once"], 0.3, "at_most", "k_once", tool=ALLOCATE, per="invoice_id", n=1
        )
    if facts.level >= 3:
        paper.red_line(
            RULES,
            said["refund"].format(lead=facts.lead.given),
            "gate",
            "forbid_tool",
            "k_refund",
            tool=["finance_create_refund"],
        )
    if facts.kept:
        paper.rule(RULES, said["sheet"].format(sheet=sheet))
