"""What is filed beside the decision: a report, and the helpdesk's case."""

from tasks_app.core.generation.families.payment_change.inquiry import (
    VERDICT,
    VERDICTS_SPOKEN,
    Inquiry,
)
from tasks_app.core.generation.families.payment_change.parties import DENIED, GENUINE, SECOND
from tasks_app.core.generation.forms import Json, added, fn, match, ref, step


def report(inquiry: Inquiry) -> None:
    """File what was found, and what is at stake."""
    verdict = VERDICT[inquiry.subtype]
    amount = "the held sum" if inquiry.holds else "the amount of the named invoice"
    inquiry.rules.append(
        f"File one payee_change report with the verdict ({VERDICTS_SPOKEN}), the call-back "
        f"if there is one, and {amount} as exposure."
    )
    arguments: Json = {
        "kind": "payee_change",
        "payee_id": ref("payee", "id"),
        "verdict": verdict,
        "exposure": inquiry.exposure,
    }
    expect: Json = {"payee_id": inquiry.payee["id"], "verdict": verdict, "exposure": inquiry.total}
    if inquiry.subtype in (DENIED, GENUINE):
        arguments["callback"], expect["callback"] = inquiry.callback_ref, inquiry.callback
    inquiry.steps.append(step("report", "finance_submit_report", **arguments))
    anchor = inquiry.checks[0][1]["id"]
    inquiry.checks.append(
        (
            3,
            match(
                "o_report",
                "One report with verdict, sum and what it rests on",
                "finance/reports",
                {"kind": "payee_change"},
                expect,
                requires=[anchor],
                count={"eq": 1},
                because={"verdict": "payee", "exposure": "payee"},
            ),
        )
    )
    inquiry.write_set.append(added("finance/reports/*", {"kind": "payee_change"}))


def follow_case(inquiry: Inquiry) -> None:
    """The helpdesk case follows the verdict."""
    anchor = inquiry.checks[0][1]["id"]
    case = {"id": inquiry.case["id"]}
    find = step(
        "cases",
        "helpdesk_search_tickets",
        query=f"Bank details {inquiry.supplier_name}",
        status="open",
    )
    ticket_id = ref("cases", "tickets", take="only", field="id")
    inquiry.steps.append(find)
    if inquiry.subtype == DENIED:
        high = inquiry.rng.random() < 0.5
        limit = float(
            max(
                1000,
                int(inquiry.total / 1000) * 1000 - 1000
                if high
                else int(inquiry.total / 1000) * 1000 + 2000,
            )
        )
        severity = "high" if inquiry.total >= limit else "normal"
        rule = (
            "Hold first, then escalate the ticket to security with the number of the "
            f"call-back; severity is high if the held sum reaches {limit:.2f} EUR, else normal."
        )
        inquiry.rules.append(rule)
        inquiry.constraints.append(
            {
                "id": "k_first",
                "kind": "require_before",
                "policy": "payee",
                "sentence": "Hold first, then escalate the ticket to security",
                "severity": {"deduct": 0.2},
                "write": {"tool": "helpdesk_escalate_ticket"},
                "needs": {"tool": "finance_hold_invoice"},
            }
        )
        inquiry.steps.append(
            step(
                "case",
                "helpdesk_escalate_ticket",
                ticket_id=ticket_id,
                queue="security",
                severity=fn("pick_at_least", inquiry.exposure, limit, "high", "normal"),
                reference=inquiry.callback_ref,
                note="The call-back denied the change that came by mail "
                f"{inquiry.change_mail['id']}.",
            )
        )
        expect = {
            "queue": "security",
            "status": "escalated",
            "severity": severity,
            "reference": inquiry.callback,
        }
        inquiry.write_set.append(
            f"helpdesk/tickets/{inquiry.case['id']}#queue,status,severity,reference,note,updated_at"
        )
        explain = f"{inquiry.case['id']} is with security, severity {severity}, with the call-back"
    elif inquiry.subtype == GENUINE:
        inquiry.rules.append(
            "Close the ticket of a genuine change as resolved, with the number of the "
            "call-back as reference."
        )
        inquiry.steps.append(
            step(
                "case",
                "helpdesk_close_ticket",
                ticket_id=ticket_id,
                resolution="resolved",
                reference=inquiry.callback_ref,
            )
        )
        expect = {"status": "closed", "resolution": "resolved", "reference": inquiry.callback}
        inquiry.write_set.append(
            f"helpdesk/tickets/{inquiry.case['id']}#status,resolution,reference,updated_at"
        )
        explain = f"{inquiry.case['id']} is closed with the call-back"
    else:
        queue, word = (
            ("purchasing", "of a sister firm")
            if inquiry.subtype == SECOND
            else ("treasury", "without a call-back")
        )
        inquiry.rules.append(
            f"The ticket of a case {word} goes to the queue {queue}, status waiting."
        )
        inquiry.steps.append(
            step(
                "case",
                "helpdesk_update_ticket",
                ticket_id=ticket_id,
                queue=queue,
                status="waiting",
            )
        )
        expect = {"queue": queue, "status": "waiting"}
        inquiry.write_set.append(f"helpdesk/tickets/{inquiry.case['id']}#queue,status,updated_at")
        explain = f"{inquiry.case['id']} waits in the queue {queue}"
    inquiry.checks.append(
        (3, match("o_case", explain, "helpdesk/tickets", case, expect, requires=[anchor]))
    )
