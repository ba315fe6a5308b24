"""The records and tools of a support_resolution draft."""

from datetime import date

from tasks_app.core.generation.families.support_resolution.case import Case
from tasks_app.core.generation.families.support_resolution.matter import LATE
from tasks_app.core.generation.forms import Json


def services_and_tools(case: Case) -> tuple[Json, list[str]]:
    """What is offered, and the records behind it."""
    services: Json = {}
    tools: list[str] = []
    if case.desk:
        services["helpdesk"] = {"tickets": case.tickets, "comments": case.comments}
        tools += [
            "helpdesk_search_tickets",
            "helpdesk_get_ticket",
            "helpdesk_close_ticket",
            "helpdesk_update_ticket",
        ]
        if case.level >= 3:
            tools.append("helpdesk_add_comment")
    if case.letters:
        services["crm"] = {"customers": sorted(case.people, key=lambda p: str(p["id"]))}
        services["mail"] = {"messages": [], "drafts": [], "outbox": []}
        tools += ["crm_search_customers", "crm_get_customer", "mail_send_message"]
    if case.shop_floor:
        services["orders"] = {"orders": case.rows, "shipments": case.shipments, "returns": []}
        services["finance"] = {"refunds": _earlier_refunds(case)}
        tools += [
            "orders_search_orders",
            "orders_get_order",
            "orders_reship_line",
            "orders_create_return",
            "finance_create_refund",
        ]
        if case.subtype == LATE:
            tools.append("orders_list_shipments")
        if case.level >= 3:
            tools.append("finance_list_refunds")
    if case.stock_kept:
        services["inventory"] = {"products": _products(case)}
        tools += ["inventory_list_products", "inventory_get_product"]
    return services, tools


def _products(case: Case) -> list[Json]:
    rng = case.rng
    number = rng.randrange(10, 700)
    rows = []
    for ware in case.cast.in_the_middle(case.ware, [case.sibling, *case.other_wares]):
        number += rng.randrange(1, 7)
        reserved = rng.randrange(0, 6)
        if ware is case.ware:
            spare = 0 if case.action == "refund" else rng.randrange(1, 9)
            reserved = rng.randrange(2, 6)
        else:
            spare = rng.randrange(2, 40)
        if ware is case.sibling and case.action == "reship":
            spare = 0
        rows.append(
            {
                "id": f"PR-{number:03d}",
                "sku": ware.sku,
                "name": ware.name,
                "on_hand": reserved + spare,
                "reserved": reserved,
                "price": ware.price,
            }
        )
    return rows


def _earlier_refunds(case: Case) -> list[Json]:
    rng, rows = case.rng, []
    number = rng.randrange(1000, 8000)
    for order in case.cast.sample(
        [o for o in case.rows if o is not case.right and o["delivered_on"]], 2
    ):
        number += rng.randrange(2, 20)
        rows.append(
            {
                "id": f"RF-{number}",
                "order_id": order["id"],
                "line": 1,
                "amount": round(order["lines"][0]["unit_price"] / 4, 2),
                "currency": "EUR",
                "reason": "goodwill",
                "created_at": case.clock.at(date.fromisoformat(order["delivered_on"]), 1000),
            }
        )
    return rows
