"""A support_resolution draft put together: the way to the case, its parts, the request."""

from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.generation.cast import MANNERS
from tasks_app.core.generation.families.support_resolution import words
from tasks_app.core.generation.families.support_resolution.answer import answer, inside_comments
from tasks_app.core.generation.families.support_resolution.case import Case
from tasks_app.core.generation.families.support_resolution.matter import DAMAGE, LATE, TWICE, WRONG
from tasks_app.core.generation.families.support_resolution.records import services_and_tools
from tasks_app.core.generation.families.support_resolution.rules import decide, looked
from tasks_app.core.generation.families.support_resolution.tickets import file_second_letter
from tasks_app.core.generation.forms import Json, collateral, fn, ref, step, weighted
from tasks_app.core.generation.paper import Kind, features
from tasks_app.core.generation.talk import articled, capital, marked


def written(case: Case, kind: Kind) -> Json:
    """Return the spec."""
    if case.shop_floor:
        _find_case(case)
        decide(case)
        looked(case)
    else:
        file_second_letter(case)
    answer(case)
    if case.level >= 4:
        inside_comments(case)
    requester = {
        "name": case.lead.name,
        "role": case.lead_role,
        "mailbox": case.lead.email,
        "manner": case.rng.choice(MANNERS),
    }
    anchor = case.checks[0][1]["id"]
    case.checks.append((1, collateral(anchor)))
    services, tools = services_and_tools(case)
    policies = [
        {"id": "settling", "title": "Settling complaints", "text": " ".join(case.damage_rules)}
    ]
    if case.letter_rules:
        policies.append(
            {
                "id": "writing",
                "title": "Tickets and letters",
                "text": " ".join(case.letter_rules),
            }
        )
    faults = []
    if case.level >= 5:
        code = case.rng.choice(("rate_limited", "unavailable", "timeout"))
        faults = [
            {
                "tool": case.deciding_tool,
                "calls": [1],
                "code": code,
                "retry_after": case.rng.choice((5, 10, 20, 30)),
                "moment": "before",
            }
        ]
        case.damage_rules.append("An act that is answered with an error has not happened.")
        policies[0]["text"] = " ".join(case.damage_rules)
    return {
        "format": "coworker-task/1",
        "slug": "-".join(
            ("support", case.subtype.replace("_", "-"), case.first["id"], case.ware.sku)
        ).lower(),
        "title": f"{capital(case.ware.spoken)}: {_TITLES[case.subtype]}",
        "language": "en",
        "tags": ["customers", "after_sales"],
        "track": kind.track,
        "family": kind.family,
        "subtype": case.subtype,
        "difficulty": {
            "level": case.level,
            "features": features(
                case.steps,
                distractors=len(case.rows) + len(case.tickets) - 2,
                faults=len(faults),
                hidden_facts=0,
            ),
        },
        "capabilities": _capabilities(case, faults),
        "clock": {"start": case.clock.now, "zone": case.clock.zone.name},
        "seed": case.rng.randrange(1, 1_000_000),
        "workplace": {
            "organisation": f"{case.shop.name}, {case.trade.kind}",
            "coworker": {"role": case.own_role, "mailbox": f"desk@{case.shop.domain}"},
            "requester": requester,
            "people": [{k: requester[k] for k in ("name", "role", "mailbox")}],
            "policies": policies,
            "output_contract": case.contract,
        },
        "request": {"text": _request(case)},
        "services": services,
        "tools": tools,
        "faults": faults,
        "constraints": case.constraints,
        "checks": weighted(case.checks),
        "write_set": case.write_set,
        "free": [{"address": "mail/outbox/*#subject", "reason": "wording"}] if case.letters else [],
        "limits": {"turns": 30, "tool_calls": 40, "seconds": 600},
        "reference": case.steps,
        "provenance": {
            "origin": "built-in family",
            "family_parameters": {
                "action": case.action,
                "level": case.level,
                "goodwill": case.goodwill,
            },
        },
    }


def _find_case(case: Case) -> None:
    """Steps from the request to the order, its line and the stock."""
    late = case.subtype == LATE
    if not case.desk:
        case.steps.append(step("orders", "orders_search_orders", query=case.customer.name))
        until: Any = ref("clock", "today")
    else:
        case.steps += [
            step(
                "tickets",
                "helpdesk_search_tickets",
                query=f"{case.customer.name} {case.ware.spoken}",
                status="open",
            ),
            step(
                "ticket",
                "helpdesk_get_ticket",
                ticket_id=ref("tickets", "tickets", sort="created_at", take="first", field="id"),
            ),
        ]
        if case.letters:
            case.steps.append(
                step("customer", "crm_get_customer", customer_id=ref("ticket", "customer_id"))
            )
        case.steps.append(
            step("orders", "orders_search_orders", customer_id=ref("ticket", "customer_id"))
        )
        until = fn("date", ref("ticket", "created_at"))
    chosen = (
        {"status": "shipped"}
        if late
        else {"delivered_on": {"between": [fn("add_days", until, -case.window), until]}}
    )
    case.steps.append(
        step(
            "opened",
            "orders_get_order",
            each=ref("orders", "orders", where=chosen, take="all", field="id"),
            order_id=ref("item"),
        )
    )
    case.has_article = {"lines.*.name": {"contains_any": [case.ware.name]}}
    case.order = ref("opened", where=case.has_article, field="id")
    if late:
        case.steps.append(step("parcel", "orders_list_shipments", order_id=case.order))
    if case.stock_kept and case.action != "wait":  # who waits sends nothing
        case.steps += [
            step(
                "articles",
                "inventory_list_products",
                query=case.ware.article.name,
            ),
            step(
                "stock",
                "inventory_get_product",
                sku=ref("articles", "products", where={"name": case.ware.name}, field="sku"),
            ),
        ]


def _request(case: Case) -> str:
    rng = case.rng
    matter = articled(
        rng.choice(words.MATTERS[case.subtype]).format(
            who=case.customer.name,
            article=case.ware.spoken,
            other=case.sibling.spoken,
            damage=case.damage,
            part=case.part,
        )
    )
    greeting = rng.choice(words.GREETINGS)
    if not greeting or greeting.endswith("."):
        matter = capital(matter)
    if case.action == "file":
        ask = rng.choice(words.FILING)
    else:
        ask = rng.choice(words.ASKS)
        if case.letters:
            ask += " " + rng.choice(words.LETTERS)
    closing = rng.choice(words.CLOSINGS).format(lead=case.lead.given)
    return " ".join(
        part
        for part in (greeting, f"{matter}.", marked(ask), rng.choice(words.REPORTS), closing)
        if part
    )


def _capabilities(case: Case, faults: list[Json]) -> list[Json]:
    claimed = ["C7", "C8", "C9", "C19"]
    if case.shop_floor or case.level > 1:  # at level 1 a second letter has one lookalike
        claimed.append("C1")
    if case.desk and case.shop_floor and (case.action == "refund" or case.letters):
        claimed.append("C2")
    if case.action == "refund" and case.goodwill:  # the order's price and the rule's sum
        prices = {line["unit_price"] for order in case.rows for line in order["lines"]}
        if case.amount > 20 and case.amount not in prices:  # small sums recur by chance
            claimed.append("C4")
    if case.letters:
        claimed.append("C17")
    if faults:
        claimed.append("C10")
    if case.level >= 5:
        claimed.append("C18")
    if case.shop_floor and not case.desk and case.subtype != LATE:  # days count from today
        claimed.append("C20")
    return [{"id": c} for c in sorted(claimed, key=lambda c: int(c[1:]))]


_TITLES: Final[Mapping[str, str]] = {
    DAMAGE: "damaged on arrival",
    LATE: "a parcel that does not come",
    WRONG: "the wrong one in the box",
    TWICE: "two letters, one matter",
}
