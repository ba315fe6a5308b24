"""The rules of a support_resolution draft: what counts, what is sent, paid or taken back, and what
has to be looked at first.
"""

from tasks_app.core.generation.families.support_resolution.case import Case
from tasks_app.core.generation.families.support_resolution.matter import DAMAGE, LATE, TWICE, WRONG
from tasks_app.core.generation.families.support_resolution.outcomes import SETTLE
from tasks_app.core.generation.families.support_resolution.tickets import close
from tasks_app.core.generation.forms import Json, added, match, ref, step


def decide(case: Case) -> None:
    """Rules, the deciding write and its checks."""
    limit = _price_limit(case)
    subject = "An article" if case.subtype != LATE else "A lost article"
    if case.subtype in (DAMAGE, TWICE):
        case.damage_rules.append(
            f"Damage counts if the first report of it came within {case.window} days of delivery."
        )
    elif case.subtype == WRONG:
        case.damage_rules.append(
            f"A mix-up counts if it is reported within {case.window} days of delivery."
        )
    else:
        case.damage_rules.append(
            f"A parcel counts as lost {case.grace} days after the day that was promised; "
            "until then we wait."
        )
    if case.stock_kept:
        case.damage_rules.append(
            "Send the same article again if it is in stock, that is on hand minus "
            "reserved; otherwise refund it."
        )
    else:
        case.damage_rules.append(
            f"{subject} of up to {limit:.2f} EUR is sent again, a dearer one is refunded."
        )
    amount = "A refund is the line price"
    if case.voucher:
        amount += " less the voucher"
    if case.subtype == LATE:
        amount += " plus the delivery charge"
    case.damage_rules.append(f"{amount}.")
    if case.subtype == TWICE:
        extra = f"Whoever had to write more than once gets {case.small:.2f} EUR on top"
        if case.level >= 4:
            extra += f", members of the {case.club} {case.large:.2f} EUR"
        case.damage_rules.append(f"{extra}.")
    SETTLE[case.action](case)
    if case.subtype == WRONG:
        _take_back(case)
    if case.desk:
        close(case)


def looked(case: Case) -> None:
    """What the rules decide by was looked at before anything was settled."""
    seen: list[Json] = []
    if case.subtype == LATE:
        seen.append({"tool": "orders_list_shipments", "arguments": {"order_id": case.order_id}})
    if case.stock_kept and case.action != "wait":
        seen.append({"tool": "inventory_get_product", "arguments": {"sku": case.ware.sku}})
    if seen:
        case.checks.append(
            (
                1,
                {
                    "id": "p_looked",
                    "component": "process",
                    "kind": "call_order",
                    "explain": "What the rules ask about was looked at before settling",
                    "requires": [case.checks[0][1]["id"]],
                    "order": [seen, {"tool": case.deciding_tool}],
                },
            )
        )


def _price_limit(case: Case) -> float:
    """A limit on which side the right price lies, and the sibling on the other where it can."""
    own, other = case.ware.price, case.sibling.price
    low, high = (
        (own, max(other, own + 4)) if case.action == "reship" else (min(other, own - 4), own)
    )
    return (
        float(round((low + high) / 2))
        if low < round((low + high) / 2) < high
        else round((low + high) / 2, 2)
    )


def _take_back(case: Case) -> None:
    """The wrong article is called back only where it is worth it."""
    worth = case.sibling.price if case.stock_kept else case.ware.price
    shift = case.rng.randrange(3, 12)
    limit = float(max(1, int(worth) - shift if case.takes_back else int(worth) + shift))
    what = "the wrong article" if case.stock_kept else "the ordered article"
    price = "its price in the product list" if case.stock_kept else "its line price"
    case.damage_rules.append(
        f"Announce a return of the line, reason wrong_article, if {what} is worth "
        f"{limit:.2f} EUR or more by {price}; below that the customer keeps it."
    )
    if case.stock_kept:  # the price that decides stands in the product list
        case.steps.append(
            step(
                "wrong",
                "inventory_get_product",
                sku=ref("articles", "products", where={"name": case.sibling.name}, field="sku"),
            )
        )
    if case.takes_back:
        case.steps.append(
            step(
                "back",
                "orders_create_return",
                order_id=case.order,
                line=case.line_field("line"),
                reason="wrong_article",
            )
        )
        where = {"order_id": case.order_id}
        anchor = case.checks[0][1]["id"]
        case.checks.append(
            (
                2,
                match(
                    "o_return",
                    "The wrong article is called back once",
                    "orders/returns",
                    where,
                    {"line": case.line, "reason": "wrong_article", "quantity": 1},
                    requires=[anchor],
                    count={"eq": 1},
                ),
            )
        )
        case.write_set.append(added("orders/returns/*", where))
    else:
        case.constraints.append(
            {
                "id": "k_keep",
                "kind": "forbid_tool",
                "policy": "settling",
                "sentence": "below that the customer keeps it.",
                "severity": {"deduct": 0.3},
                "tool": "orders_create_return",
            }
        )
