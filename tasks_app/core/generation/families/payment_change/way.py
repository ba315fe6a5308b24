"""From the request to the mail, the invoice it names, the payee, and the call-back."""

from tasks_app.core.generation.families.payment_change import words
from tasks_app.core.generation.families.payment_change.inquiry import IBAN, Inquiry
from tasks_app.core.generation.families.payment_change.parties import MISSING, SECOND
from tasks_app.core.generation.forms import fn, ref, step


def investigate(inquiry: Inquiry) -> None:
    """From the request to the mail, the invoice it names, the payee, and the call-back."""
    inquiry.steps += [
        step("found", "mail_search_messages", query=f"{inquiry.supplier_name}"),
        step(
            "mail",
            "mail_get_message",
            message_id=ref(
                "found", "messages", where={"subject": inquiry.change_mail["subject"]}, field="id"
            ),
        ),
        step(
            "named",
            "finance_list_invoices",
            supplier_ref=fn("regex", ref("mail", "body"), r"invoice (\S*\d)"),
        ),
    ]
    if inquiry.level >= 2 or not inquiry.holds:
        inquiry.steps.append(
            step(
                "payee",
                "finance_get_payee",
                payee_id=ref("named", "invoices", take="only", field="payee_id"),
            )
        )
    inquiry.rules.append(
        "Bank details never change on the strength of a message; a call-back on the "
        "number in the payee record decides."
    )
    if inquiry.subtype == SECOND:
        inquiry.steps += [
            step("sisters", "finance_search_payees", query=inquiry.supplier_name, status="active"),
            step(
                "same",
                "finance_compare_account",
                each=ref("sisters", "payees", take="all", field="id"),
                payee_id=ref("item"),
                iban=fn("regex", ref("mail", "body"), IBAN),
            ),
        ]
    elif not inquiry.asks:
        inquiry.steps += [
            step(
                "notes",
                "mail_search_messages",
                query=f"Call-back {inquiry.supplier_name}",
            ),
            step(
                "note",
                "mail_get_message",
                message_id=ref("notes", "messages", take="only", field="id"),
            ),
        ]
    else:
        question = inquiry.rng.choice(words.QUESTIONS).format(supplier=inquiry.supplier_name)
        inquiry.steps.append(step("asked", "message_user", text=question))
        number = 2
        sentence = (
            f"{inquiry.lead.given} is in meetings: message {inquiry.lead.given} no more than twice."
        )
        inquiry.letter_rules.append(sentence)
        inquiry.constraints.append(
            {
                "id": "k_bother",
                "kind": "at_most",
                "policy": "writing",
                "sentence": sentence,
                "severity": {"deduct": 0.15},
                "tool": "message_user",
                "n": number,
            }
        )


def looked(inquiry: Inquiry) -> None:
    """What tells a hold from none was asked for or compared before it."""
    if inquiry.subtype == SECOND:
        seen = {"tool": "finance_compare_account", "arguments": {"payee_id": inquiry.sister["id"]}}
    elif inquiry.subtype == MISSING and inquiry.asks:
        seen = {"tool": "message_user"}
    else:
        return
    inquiry.checks.append(
        (
            1,
            {
                "id": "p_looked",
                "component": "process",
                "kind": "call_order",
                "explain": "What decides was asked for or compared before the hold",
                "requires": [inquiry.checks[0][1]["id"]],
                "order": [seen, {"tool": "finance_hold_invoice"}],
            },
        )
    )
