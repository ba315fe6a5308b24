"""A payment_change draft put together: its parts, faults, request, capabilities."""

from collections.abc import Mapping
from typing import Final

from tasks_app.core.generation.cast import MANNERS
from tasks_app.core.generation.families.payment_change import words
from tasks_app.core.generation.families.payment_change.decision import change, hold
from tasks_app.core.generation.families.payment_change.inquiry import VERDICT, Inquiry
from tasks_app.core.generation.families.payment_change.papers import follow_case, report
from tasks_app.core.generation.families.payment_change.parties import (
    DENIED,
    GENUINE,
    MISSING,
    SECOND,
)
from tasks_app.core.generation.families.payment_change.telling import (
    answer,
    colleague,
    write_letter,
)
from tasks_app.core.generation.families.payment_change.way import investigate, looked
from tasks_app.core.generation.forms import Json, collateral, weighted
from tasks_app.core.generation.paper import Kind, features
from tasks_app.core.generation.talk import capital, marked


def written(inquiry: Inquiry, kind: Kind) -> Json:
    """Return the spec."""
    investigate(inquiry)
    if inquiry.holds:
        hold(inquiry)
        looked(inquiry)
    else:
        change(inquiry)
    if inquiry.level >= 2:
        report(inquiry)
    if inquiry.level >= 4:
        follow_case(inquiry)
    if inquiry.level >= 3:
        write_letter(inquiry)
    faults = _faults(inquiry)
    answer(inquiry)
    inquiry.checks.append((1, collateral(inquiry.checks[0][1]["id"])))
    services: Json = {
        "mail": {"messages": inquiry.mails, "drafts": [], "outbox": []},
        "finance": {"payees": inquiry.payees, "invoices": inquiry.invoices, "reports": []},
    }
    tools = [
        "mail_search_messages",
        "mail_get_message",
        "finance_search_payees",
        "finance_get_payee",
        "finance_list_invoices",
        "finance_compare_account",
        "finance_hold_invoice",
        "finance_change_payee_bank",
    ]
    if inquiry.level >= 2:
        tools.append("finance_submit_report")
    if inquiry.level >= 3:
        tools += ["mail_send_message", "message_user"]
    if inquiry.level >= 4:
        services["helpdesk"] = {"tickets": inquiry.tickets, "comments": []}
        tools += [
            "helpdesk_search_tickets",
            "helpdesk_get_ticket",
            "helpdesk_escalate_ticket",
            "helpdesk_close_ticket",
            "helpdesk_update_ticket",
        ]
    policies = [
        {"id": "payee", "title": "Changes of bank details", "text": " ".join(inquiry.rules)}
    ]
    if inquiry.letter_rules:
        policies.append(
            {
                "id": "writing",
                "title": "Writing to suppliers",
                "text": " ".join(inquiry.letter_rules),
            }
        )
    requester = {
        "name": inquiry.lead.name,
        "role": inquiry.lead_role,
        "mailbox": inquiry.lead.email,
        "manner": inquiry.rng.choice(MANNERS),
    }
    spec: Json = {
        "format": "coworker-task/1",
        "slug": "-".join(
            (
                "payment-change",
                inquiry.subtype.replace("_", "-"),
                inquiry.named["id"],
                inquiry.payee["id"],
            )
        ).lower(),
        "title": f"{inquiry.supplier_name}: {_TITLES[inquiry.subtype]}",
        "language": "en",
        "tags": ["finance", "fraud"],
        "track": kind.track,
        "family": kind.family,
        "subtype": inquiry.subtype,
        "difficulty": {
            "level": inquiry.level,
            "features": features(
                inquiry.steps,
                distractors=len(inquiry.invoices) + len(inquiry.mails) + len(inquiry.payees) - 3,
                faults=len(faults),
                hidden_facts=int(inquiry.asks),
            ),
        },
        "capabilities": [{"id": c} for c in _capabilities(inquiry, faults)],
        "clock": {"start": inquiry.clock.now, "zone": inquiry.clock.zone.name},
        "seed": inquiry.rng.randrange(1, 1_000_000),
        "workplace": {
            "organisation": f"{inquiry.house.name}, {inquiry.trade}",
            "coworker": {"role": inquiry.own_role, "mailbox": inquiry.mailbox},
            "requester": requester,
            "people": [{k: requester[k] for k in ("name", "role", "mailbox")}],
            "policies": policies,
            "output_contract": inquiry.contract,
        },
        "request": {"text": _request(inquiry)},
        "services": services,
        "tools": tools,
        "faults": faults,
        "constraints": inquiry.constraints,
        "checks": weighted(inquiry.checks),
        "write_set": inquiry.write_set,
        "free": _free(inquiry),
        "limits": {"turns": 30, "tool_calls": 45, "seconds": 600},
        "reference": inquiry.steps,
        "provenance": {
            "origin": "built-in family",
            "family_parameters": {
                "verdict": VERDICT[inquiry.subtype],
                "held": len(inquiry.held),
                "level": inquiry.level,
            },
        },
    }
    if inquiry.level >= 3:
        spec["user"] = colleague(inquiry)
    return spec


def _faults(inquiry: Inquiry) -> list[Json]:
    if inquiry.level < 5:
        return []
    rng = inquiry.rng
    code = rng.choice(("rate_limited", "unavailable", "timeout"))
    tool = "finance_hold_invoice" if inquiry.holds else "finance_change_payee_bank"
    number = 2 if inquiry.bulk else 1
    return [
        {
            "tool": tool,
            "calls": [number],
            "code": code,
            "retry_after": rng.choice((10, 15, 20, 30)),
            "moment": "before",
        }
    ]


def _request(inquiry: Inquiry) -> str:
    rng = inquiry.rng
    greeting = rng.choice(words.GREETINGS)
    opening = rng.choice(words.OPENINGS).format(
        supplier=inquiry.supplier_name, ref=inquiry.named["supplier_ref"]
    )
    if not greeting or greeting.endswith("."):
        opening = capital(opening)
    ask = rng.choice(words.ASKS)
    available = rng.choice(words.AVAILABLE) if inquiry.level >= 3 else ""
    closing = rng.choice(words.CLOSINGS).format(lead=inquiry.lead.given)
    parts = (
        greeting,
        f"{opening}.",
        marked(ask),
        rng.choice(words.REPORTS),
        available,
        closing,
    )
    return " ".join(part for part in parts if part)


def _free(inquiry: Inquiry) -> list[Json]:
    free = []
    if inquiry.level >= 3:
        free.append({"address": "mail/outbox/*#subject", "reason": "wording"})
    if inquiry.level >= 4 and inquiry.subtype == DENIED:
        free.append({"address": f"helpdesk/tickets/{inquiry.case['id']}#note", "reason": "wording"})
    return free


def _capabilities(inquiry: Inquiry, faults: list[Json]) -> list[str]:
    claimed = ["C1", "C7", "C8", "C9", "C19"]
    if inquiry.level >= 4 and inquiry.subtype in (DENIED, GENUINE):
        claimed.append("C2")
    if inquiry.bulk:
        claimed += ["C4", "C20"]
        if len(inquiry.held) >= 3:
            claimed.append("C6")
    if faults:
        claimed.append("C10")
    if inquiry.asks and inquiry.subtype in (DENIED, GENUINE):
        claimed.append("C12")
    if inquiry.level >= 4 and inquiry.subtype == DENIED:
        claimed.append("C14")
    if inquiry.level >= 5:
        claimed.append("C18")
    return sorted(claimed, key=lambda c: int(c[1:]))


_TITLES: Final[Mapping[str, str]] = {
    DENIED: "a change of account that nobody made",
    MISSING: "a change of account without a call-back",
    GENUINE: "a change of account that is real",
    SECOND: "an account that belongs to the sister firm",
}
