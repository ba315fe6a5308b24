"""Pocket: an order, decided by delivery and age."""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.pocket.draft import Draft, PocketFamily
from tasks_app.core.generation.forms import added, match, ref, step


class RefundOrDecline(PocketFamily):
    """Look the order up, decide by delivery and age, refund or decline, tell the amount."""

    name = "pocket_refund_or_decline"
    title = "Pocket: refund or decline"
    purpose = "Look an order up, decide by delivery and age, refund or decline."
    subtypes = ("recent_delivery", "old_delivery", "not_delivered")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        d = Draft("refund_or_decline", subtype, Cast(rng))
        names = d.cast.sample(d.people, 5)
        who, rows, number = names[0], [], rng.randrange(100, 900)
        states = [("yes", "recent"), ("yes", "old"), ("no", "recent")]
        own = {"recent_delivery": 0, "old_delivery": 1, "not_delivered": 2}[subtype]
        for name in d.cast.in_the_middle(who, names[1:]):
            number += rng.randrange(1, 20)
            delivered, age = states[own] if name == who else rng.choice(states)
            rows.append(
                {
                    "id": f"OR-{number}",
                    "customer_name": name,
                    "delivered": delivered,
                    "age": age,
                    "total": d.cast.price(11, 99),
                    "request": None,
                    "decline_reason": None,
                }
            )
        order = next(row for row in rows if row["customer_name"] == who)
        d.services = {"orders": {"orders": rows}, "finance": {"refunds": []}}
        d.tools = [
            "orders_search_orders",
            "orders_get_order",
            "finance_create_refund",
            "orders_decline_request",
        ]
        once = "Act once."
        d.rule(
            "Refund the total, reason returned, if the order was delivered and is recent; else "
            "decline it, reason too_old or not_delivered.",
            once,
        )
        d.steps = [
            step("found", "orders_search_orders"),
            step(
                "order",
                "orders_get_order",
                order_id=ref("found", "orders", where={"customer_name": who}, field="id"),
            ),
        ]
        where = {"order_id": order["id"]}
        seen = {"tool": "orders_get_order", "arguments": where}
        if subtype == "recent_delivery":
            d.steps.append(
                step(
                    "done",
                    "finance_create_refund",
                    order_id=ref("order", "id"),
                    amount=ref("order", "total"),
                    reason="returned",
                )
            )
            d.checks = [
                (
                    1,
                    match(
                        "o_order",
                        f"{order['id']} is refunded once",
                        "finance/refunds",
                        where,
                        {"reason": "returned"},
                        count={"eq": 1},
                    ),
                ),
                (
                    1,
                    match(
                        "o_amount",
                        f"It comes to {order['total']:.2f}",
                        "finance/refunds",
                        where,
                        {"amount": order["total"]},
                        requires=["o_order"],
                        count={"eq": 1},
                    ),
                ),
            ]
            d.write_set = [added("finance/refunds/*", where)]
            d.looked(
                "The order was opened before the refund", seen, {"tool": "finance_create_refund"}
            )
            d.once(once, "finance_create_refund")
            d.forbid("else decline it", "orders_decline_request")
            d.answer(
                "Refunded {total} on {order}.",
                [[order["id"]], [{"number": order["total"]}]],
                total=ref("order", "total"),
                order=ref("order", "id"),
            )
        else:
            reason = "too_old" if subtype == "old_delivery" else "not_delivered"
            d.steps.append(
                step("done", "orders_decline_request", order_id=ref("order", "id"), reason=reason)
            )
            own_order = {"id": order["id"]}
            d.checks = [
                (
                    1,
                    match(
                        "o_order",
                        f"{order['id']} is declined",
                        "orders/orders",
                        own_order,
                        {"request": "declined"},
                    ),
                ),
                (
                    1,
                    match(
                        "o_reason",
                        f"Its reason is {reason}",
                        "orders/orders",
                        own_order,
                        {"decline_reason": reason},
                        requires=["o_order"],
                    ),
                ),
            ]
            d.write_set = [f"orders/orders/{order['id']}#request,decline_reason,updated_at"]
            d.looked(
                "The order was opened before it was declined",
                seen,
                {"tool": "orders_decline_request"},
            )
            d.once(once, "orders_decline_request")
            d.forbid("if the order was delivered and is recent", "finance_create_refund")
            d.answer(
                "Declined {order}: " + reason + ".",
                [[order["id"]], [reason, reason.replace("_", " ")]],
                order=ref("order", "id"),
            )
        return d.written(
            f"Refund or decline for {who}",
            d.request(who),
            "Reply with the order and the amount, or with the order and the reason.",
        )
