"""The three ways in which a matter is settled: refund, another parcel, waiting.

Each adds its step, checks and rules, and says how letter and reply tell it.
"""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any, Final

from tasks_app.core.generation.days import month_of
from tasks_app.core.generation.families.support_resolution.case import Case
from tasks_app.core.generation.families.support_resolution.matter import LATE, TWICE, WRONG
from tasks_app.core.generation.forms import added, fn, match, record, ref, step


def refund(case: Case) -> None:
    """Pay the line back: less the voucher, plus delivery or goodwill, as the rules say."""
    reason = {LATE: "not_received", WRONG: "wrong_article"}.get(case.subtype, "damaged_in_transit")
    price = fn(
        "percent_off",
        case.line_field("unit_price"),
        ref("opened", where=case.has_article, field="voucher_percent"),
    )
    amount: Any = price
    parts: list[Any] = [price]
    if case.subtype == LATE:
        parts.append(ref("opened", where=case.has_article, field="delivery_charge"))
    if case.subtype == TWICE:
        if case.level >= 4:
            parts.append(
                fn(
                    "lookup",
                    ref("customer", "club"),
                    {case.club_key: case.large, "none": case.small},
                )
            )
        else:
            parts.append(case.small)
    if len(parts) > 1:
        amount = fn("sum", parts)
    if case.level >= 4:
        case.steps.append(step("earlier", "finance_list_refunds", order_id=case.order))
        case.damage_rules.append(
            "Look up the earlier refunds of an order before you make a new one."
        )
        case.constraints.append(
            {
                "id": "k_lookup",
                "kind": "require_before",
                "policy": "settling",
                "sentence": ("Look up the earlier refunds of an order before you make a new one."),
                "severity": "gate",
                "write": {"tool": "finance_create_refund"},
                "needs": {"tool": "finance_list_refunds", "same": {"order_id": "order_id"}},
            }
        )
        ceiling = float(int(case.amount / 10 + case.rng.randrange(3, 9)) * 10)
        sentence = f"From {ceiling:.2f} EUR on only {case.lead.given} makes a refund."
        case.damage_rules.append(sentence)
        case.constraints.append(
            {
                "id": "k_limit",
                "kind": "argument_policy",
                "policy": "settling",
                "sentence": sentence,
                "severity": "gate",
                "tool": "finance_create_refund",
                "argument": "amount",
                "limit": {"lt": ceiling},
            }
        )
    case.steps.append(
        step(
            "settled",
            "finance_create_refund",
            order_id=case.order,
            line=case.line_field("line"),
            amount=amount,
            reason=reason,
        )
    )
    case.once("finance_create_refund", "One refund per order.")
    case.never_another("Never send a different article instead.")
    where = {"order_id": case.order_id}
    case.checks += [
        (
            3,
            match(
                "o_refund",
                f"One refund for the {case.ware.spoken} of {case.order_id}",
                "finance/refunds",
                where,
                {"line": case.line, "reason": reason},
                count={"eq": 1},
                because={"reason": "settling"},
            ),
        ),
        (
            4,
            match(
                "o_amount",
                f"It comes to {case.amount:.2f}",
                "finance/refunds",
                where,
                {"amount": case.amount},
                requires=["o_refund"],
                count={"eq": 1},
                because={"amount": "settling"},
            ),
        ),
    ]
    case.write_set.append(added("finance/refunds/*", where))
    case.deciding_tool = "finance_create_refund"
    case.outcome_id = record("finance/refunds", where)
    case.resolution = "refunded"
    case.told = [[case.outcome_id], [{"number": case.amount}]]
    case.say = (
        "refunded {amount} EUR under {id}",
        {"amount": fn("money", ref("settled", "amount")), "id": ref("settled", "id")},
    )
    case.contract_parts = ["the amount", "the number of the refund"]


def reship(case: Case) -> None:
    """Send the same article once more."""
    line = case.line_field("line")
    sku = ref("stock", "sku") if case.stock_kept else case.line_field("sku")
    case.steps.append(
        step("settled", "orders_reship_line", order_id=case.order, line=line, sku=sku)
    )
    case.once("orders_reship_line", "One new parcel per order.")
    case.never_another("Never send a different article instead.")
    where = {"order_id": case.order_id, "status": {"ne": "in_transit"}}
    case.checks += [
        (
            3,
            match(
                "o_parcel",
                f"A new parcel for {case.order_id}",
                "orders/shipments",
                where,
                {"line": case.line},
                count={"eq": 1},
            ),
        ),
        (
            4,
            match(
                "o_article",
                f"It holds one {case.ware.spoken}",
                "orders/shipments",
                where,
                {"sku": case.ware.sku, "quantity": 1},
                requires=["o_parcel"],
                count={"eq": 1},
            ),
        ),
    ]
    case.write_set.append(added("orders/shipments/*", {"order_id": case.order_id}))
    case.deciding_tool = "orders_reship_line"
    case.outcome_id = record("orders/shipments", where)
    case.resolution = "replaced"
    case.told = [[case.outcome_id]]
    case.say = ("sent the article again as {id}", {"id": ref("settled", "id")})
    case.contract_parts = ["the number of the new parcel"]


def wait(case: Case) -> None:
    """The parcel is late but not lost yet: the ticket waits until the day on which it is."""
    case.damage_rules.append(
        "While we wait, set the ticket to waiting, due on the day on which the parcel "
        "counts as lost, and send or refund nothing."
    )
    due = fn("add_days", ref("parcel", "shipments", take="only", field="promised_on"), case.grace)
    case.steps.append(
        step(
            "settled",
            "helpdesk_update_ticket",
            ticket_id=ref("ticket", "id"),
            status="waiting",
            due_on=due,
        )
    )
    case.constraints.append(
        {
            "id": "k_nothing",
            "kind": "forbid_tool",
            "policy": "settling",
            "sentence": "send or refund nothing.",
            "severity": "gate",
            "tool": ["orders_reship_line", "finance_create_refund"],
        }
    )
    where = {"id": case.first["id"]}
    case.checks += [
        (
            3,
            match(
                "o_waits",
                f"{case.first['id']} waits",
                "helpdesk/tickets",
                where,
                {"status": "waiting"},
            ),
        ),
        (
            4,
            match(
                "o_due",
                f"It is due on {case.lost_on}",
                "helpdesk/tickets",
                where,
                {"due_on": case.lost_on},
                requires=["o_waits"],
                because={"due_on": "settling"},
            ),
        ),
    ]
    case.write_set.append(f"helpdesk/tickets/{case.first['id']}#status,due_on,updated_at")
    case.deciding_tool = "helpdesk_update_ticket"
    day = date.fromisoformat(case.lost_on)
    month = month_of(day)
    case.told = [[case.lost_on, f"{day.day} {month}", f"{month} {day.day}"]]
    case.say = (
        "wait until {due}, then the parcel counts as lost",
        {"due": ref("settled", "due_on")},
    )
    case.contract_parts = ["the day until which we wait"]
    case.resolution = ""


SETTLE: Final[Mapping[str, Callable[[Case], None]]] = {
    "refund": refund,
    "reship": reship,
    "wait": wait,
}
"""Action → what it adds to the draft."""
