"""The rules of a draft, as its document says them, and the constraints that stand for them."""

from typing import Final

from tasks_app.core.generation.families.order_change import words
from tasks_app.core.generation.families.order_change.facts import (
    ADDRESS,
    LATE,
    LINE,
    OPEN,
    WHOLE,
    OrderFacts,
)
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.paper import GATE, Paper

RULES: Final = "orders"
CANCEL: Final = "orders_cancel_order"
CANCEL_LINE: Final = "orders_cancel_line"
FEWER: Final = "orders_change_quantity"
MOVE: Final = "orders_change_address"
DECLINE: Final = "orders_decline_request"
RETURN: Final = "orders_create_return"
ASK: Final = "message_user"
CHANGES: Final = (CANCEL, CANCEL_LINE, FEWER, MOVE)


def still_open(facts: OrderFacts) -> Json:
    """What holds for an order that may still be changed."""
    where: Json = {"status": {"in": list(OPEN)}}
    return {**where, "leaves_on": {"gt": facts.limit}} if facts.dated else where


def write_rules(facts: OrderFacts, paper: Paper) -> None:
    """Write the document on orders, in the order in which one works."""
    said, lead = words.RULES, facts.lead.given
    paper.document(RULES, "Changing orders", said["branch"])
    paper.say(
        RULES, said["last" if facts.subtype == LATE else "all" if facts.all_orders else "which"]
    )
    paper.bind(
        "k_open",
        "only_when",
        RULES,
        said["day"].format(days=facts.days) if facts.dated else said["open"],
        GATE,
        tool=list(_changes(facts)),
        record={"service": "orders", "collection": "orders", "id_argument": "order_id"},
        where=still_open(facts),
    )
    _own(facts, paper)
    if facts.confirms:
        paper.bind(
            "k_yes",
            "confirm_with_user",
            RULES,
            said["confirm"].format(lead=lead),
            write={"tool": [CANCEL, CANCEL_LINE]},
            states=["order_id"],
            answer=["yes"],
        )
    if asks(facts):
        paper.bind(
            "k_bother", "at_most", RULES, said["bother"].format(lead=lead), 0.15, tool=ASK, n=2
        )
    if facts.level >= 2 and facts.subtype in (LINE, ADDRESS):
        paper.bind(
            "k_once", "at_most", RULES, said["once"], 0.3, tool=list(CHANGES), per="order_id", n=1
        )
    if facts.level >= 3:
        paper.bind("k_goods", "forbid_tool", RULES, said["goods"], tool="orders_reship_line")
    if facts.level >= 5:
        paper.say(RULES, said["orders"])


def _changes(facts: OrderFacts) -> tuple[str, ...]:
    own = {WHOLE: CANCEL, LINE: CANCEL_LINE, ADDRESS: MOVE, LATE: CANCEL}[facts.subtype]
    return CHANGES if facts.level >= 2 else (own,)


def asks(facts: OrderFacts) -> bool:
    """Say whether the one who asked has to be asked something."""
    return facts.confirms or facts.asks_number or facts.asks_address


def _own(facts: OrderFacts, paper: Paper) -> None:
    """What the subtype needs of rules."""
    said = words.RULES
    if facts.subtype == WHOLE:
        paper.say(RULES, said["whole"])
    if facts.subtype == LINE:
        paper.say(RULES, said["line"])
        if facts.fewer:
            paper.say(RULES, said["fewer"], said["packs"])
    if facts.stocked:
        paper.say(RULES, said["stock"])
    if facts.subtype == LATE:
        paper.say(RULES, said["late"])
        if facts.level >= 2:
            paper.say(RULES, said["back"].format(days=facts.term), said["old"])
        if facts.barred:
            paper.say(RULES, said["barred"].format(category=facts.category))
