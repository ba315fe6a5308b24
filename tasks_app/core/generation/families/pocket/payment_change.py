"""Pocket: an invoice by mail, decided by the account on file."""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.pocket.draft import Draft, PocketFamily
from tasks_app.core.generation.forms import Json, match, ref, step


class PaymentChange(PocketFamily):
    """Read the mail, a tool compares the number with the master record, hold or approve, report."""

    name = "pocket_payment_change"
    title = "Pocket: payment change"
    purpose = "Read a mail, let a tool compare the account with the one on file, hold or approve."
    subtypes = ("same_account", "other_account")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        d = Draft("payment_change", subtype, Cast(rng))
        names = d.cast.sample(d.suppliers, 5)
        who = names[0]
        payees, invoices, mails = [], [], []
        number, bill, mail_number = (
            rng.randrange(10, 80),
            rng.randrange(100, 900),
            rng.randrange(20, 90),
        )
        for position, name in enumerate(d.cast.in_the_middle(who, names[1:])):
            number, bill = number + rng.randrange(1, 5), bill + rng.randrange(1, 9)
            mail_number += rng.randrange(1, 5)
            on_file = _account(rng)
            same = subtype == "same_account" if name == who else rng.random() < 0.5
            written = on_file if same else _account(rng)
            payees.append({"id": f"PY-{number}", "name": name, "iban": on_file, "status": "active"})
            invoices.append(
                {
                    "id": f"IN-{bill}",
                    "payee_id": f"PY-{number}",
                    "amount": d.cast.price(50, 900),
                    "currency": "EUR",
                    "due_on": d.clock.date(rng.randrange(2, 20)),
                    "status": "received",
                    "hold_reason": None,
                }
            )
            slug = name.lower().replace(" ", "-")
            mails.append(
                {
                    "id": f"M-{mail_number}",
                    "from": f"office@{slug}.example",
                    "to": ["desk@lanternyard.example"],
                    "subject": f"Invoice of {name}",
                    "date": d.clock.ago(6 - position, 600),
                    "body": f"Invoice IN-{bill} of payee PY-{number}, account {written}.",
                }
            )
        own = next(i for i, p in enumerate(payees) if p["name"] == who)
        invoice = invoices[own]
        d.services = {
            "mail": {"messages": mails, "drafts": [], "outbox": []},
            "finance": {"payees": payees, "invoices": invoices},
        }
        d.tools = [
            "mail_list_messages",
            "mail_get_message",
            "finance_compare_account",
            "finance_approve_invoice",
            "finance_hold_invoice",
        ]
        never = "Approve the invoice if the account is the same as on file"
        d.rule(
            f"{never}; if it is different, hold it, reason fraud_suspected.",
            "Compare the account before you act.",
        )
        d.steps = [
            step("found", "mail_list_messages"),
            step(
                "mail",
                "mail_get_message",
                message_id=ref(
                    "found", "messages", where={"subject": f"Invoice of {who}"}, field="id"
                ),
            ),
            step(
                "compared",
                "finance_compare_account",
                payee_id=_in_mail(r"(PY-\d+)"),
                iban=_in_mail(r"account ([\d ]+\d)"),
            ),
        ]
        d.constraints.append(
            {
                "id": "k_compare",
                "kind": "require_before",
                "policy": "rule",
                "sentence": "Compare the account before you act.",
                "severity": "gate",
                "write": {"tool": ["finance_approve_invoice", "finance_hold_invoice"]},
                "needs": {"tool": "finance_compare_account"},
            }
        )
        where = {"id": invoice["id"]}
        if subtype == "same_account":
            d.steps.append(
                step("done", "finance_approve_invoice", invoice_id=_in_mail(r"(IN-\d+)"))
            )
            d.checks = [
                (
                    1,
                    match(
                        "o_invoice",
                        f"{invoice['id']} is approved",
                        "finance/invoices",
                        where,
                        {"status": "approved"},
                    ),
                )
            ]
            d.write_set = [f"finance/invoices/{invoice['id']}#status"]
            d.forbid("if it is different, hold it", "finance_hold_invoice")
            word = ["approved", "approve"]
        else:
            d.steps.append(
                step(
                    "done",
                    "finance_hold_invoice",
                    invoice_id=_in_mail(r"(IN-\d+)"),
                    reason="fraud_suspected",
                )
            )
            d.checks = [
                (
                    1,
                    match(
                        "o_invoice",
                        f"{invoice['id']} is on hold",
                        "finance/invoices",
                        where,
                        {"status": "on_hold"},
                    ),
                ),
                (
                    1,
                    match(
                        "o_reason",
                        "Its reason is fraud_suspected",
                        "finance/invoices",
                        where,
                        {"hold_reason": "fraud_suspected"},
                        requires=["o_invoice"],
                    ),
                ),
            ]
            d.write_set = [f"finance/invoices/{invoice['id']}#status,hold_reason"]
            d.forbid(never, "finance_approve_invoice")
            word = ["held", "hold", "on hold"]
        d.looked(
            "The mail was opened before the comparison",
            {"tool": "mail_get_message", "arguments": {"message_id": mails[own]["id"]}},
            {"tool": "finance_compare_account"},
        )
        d.answer(f"{{invoice}} is {word[0]}.", [[invoice["id"]], word], invoice=ref("done", "id"))
        return d.written(
            f"Account of {who}",
            d.request(who),
            "Reply with the invoice and whether it is approved or held.",
        )


def _account(rng: random.Random) -> str:
    return f"{rng.randrange(1000, 10_000)} {rng.randrange(1000, 10_000)}"


def _in_mail(expression: str) -> Json:
    return {"fn": "regex", "args": [ref("mail", "body"), expression]}
