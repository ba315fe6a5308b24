"""The rules of three_way_match, as the policy words them."""

from typing import Final

from tasks_app.core.generation.families.three_way_match.facts import (
    BANDED,
    OVER,
    SECOND,
    SHORT,
    MatchFacts,
)
from tasks_app.core.generation.paper import Paper

RULES: Final = "matching"


def say_rules(facts: MatchFacts, paper: Paper) -> None:
    """Say what decides about the invoice."""
    say = paper.say
    if not facts.stock:
        say(
            RULES,
            "The goods desk notes on each invoice what was ordered and what was received, "
            "ordered_value and received_value.",
        )
    measure = "line" if facts.stock else "sum"
    if facts.subtype == SHORT:
        base = "what was received" if facts.stock else "the received_value"
        say(
            RULES,
            f"A {measure} that bills more than {base} is held, reason quantity_mismatch, if it "
            f"is over by more than {facts.band} percent of {base}.",
            "Otherwise the invoice agrees and is approved.",
        )
    elif facts.subtype == OVER:
        base = "the price of the order" if facts.stock else "the ordered_value"
        say(
            RULES,
            f"A {measure} that bills more than {base} is held, reason price_mismatch, if it is "
            f"over by more than {facts.band} percent of {base}.",
            "Otherwise the invoice agrees and is approved.",
        )
    elif facts.subtype == SECOND:
        say(
            RULES,
            "Two invoices with the same order and the same sum are one bill, sent twice.",
            "If the first is paid, reject the second as a duplicate.",
            "If the first is approved and not paid yet, hold the second, reason duplicate.",
            "All other invoices stay as they are.",
        )
    else:
        base = "what was received at the order's price" if facts.stock else "the received_value"
        say(
            RULES,
            f"All invoices of one order together must not exceed {base}; rejected ones do not "
            "count.",
            "If they do, hold the new one, reason quantity_mismatch; otherwise it agrees and "
            "is approved.",
        )
    if facts.reports:
        if facts.subtype in BANDED:
            say(
                RULES,
                "If the payee record has a band of its own, band_percent, that one counts.",
            )
        if facts.subtype != SECOND:
            say(
                RULES,
                f"An invoice that agrees and comes to {facts.limit:.2f} EUR or more is held all "
                f"the same, reason over_limit, for {facts.office.lead.given} to sign.",
            )
