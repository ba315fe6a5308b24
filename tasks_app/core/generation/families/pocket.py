"""Four pocket families: small enough that a tiny model learns them, and proven like any other task.

At most five tools and eight records a service, a policy of two sentences, one deciding key in each
listing; a comparison is a tool's, the decision the policy's. The tag `held_out_names` marks tasks
whose names come from the pool that no demonstration of the other pool contains.
"""

import random
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.pocket_draft import Draft, PocketFamily
from tasks_app.core.generation.forms import (
    Json,
    added,
    match,
    ref,
    step,
)


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


class Reschedule(PocketFamily):
    """The meeting by its attendee, labelled free slots, move, confirm."""

    name = "pocket_reschedule"
    title = "Pocket: reschedule"
    purpose = (
        "Find a meeting by its attendee, take the first free slot of a part of the day, move it."
    )
    subtypes = ("to_morning", "to_midday", "to_afternoon")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        d = Draft("reschedule", subtype, Cast(rng))
        part = subtype.removeprefix("to_")
        names = d.cast.sample(d.people, 4)  # a short listing: it is read whole
        who = names[0]
        day = d.clock.day + timedelta(days=rng.randrange(1, 6))
        hours = {"morning": (9, 10), "midday": (11, 12, 13), "afternoon": (14, 15, 16, 17)}
        wanted = hours[part]
        first_free = rng.randrange(0, min(2, len(wanted)))
        # never the first of the day: the first of the list is then somebody else's
        start_hour = rng.choice([h for p, hs in hours.items() if p != part for h in hs if h > 10])
        desk = "desk@lanternyard.example"
        number = rng.randrange(100, 800)
        rows: list[Json] = []

        def book(hour: int, name: str, *attendees: str) -> None:
            begins = d.clock.at(day, hour * 60)
            rows.append(
                {
                    "id": "",
                    "title": f"Meeting with {name}",
                    "start": begins,
                    "end": d.clock.at(day, hour * 60 + 60),
                    "attendees": list(attendees),
                    "status": "confirmed",
                }
            )

        book(start_hour, who, desk, _address(who))
        taken = [wanted[i] for i in range(first_free)]
        others = [
            h
            for hs in hours.values()
            for h in hs
            if h not in (start_hour, wanted[first_free]) and h not in taken
        ]
        early = (
            [h for h in others if h < start_hour][:1]
            if not any(h < start_hour for h in taken)
            else []
        )
        rest = [h for h in others if h not in early]
        busy = [*taken, *early, *d.cast.sample(rest, 3 - len(taken) - len(early))]
        for hour, name in zip(busy, names[1:], strict=True):
            book(hour, name, desk, _address(name))
        rows.sort(key=lambda e: str(e["start"]))
        for row in rows:
            number += rng.randrange(1, 9)
            row["id"] = f"EV-{number}"
        event = next(row for row in rows if row["title"] == f"Meeting with {who}")
        target = d.clock.at(day, wanted[first_free] * 60)
        d.services = {"calendar": {"events": rows}}
        d.tools = ["calendar_list_events", "calendar_find_slots", "calendar_move_event"]
        d.rule(
            "Move the meeting, never cancel it or book a second one.",
            "Look for free slots first and take the first of the part asked for.",
        )
        d.tools.append("calendar_cancel_event")

        def own(field: str) -> Json:
            return ref("found", "events", where={"title": f"Meeting with {who}"}, field=field)

        d.steps = [
            step("found", "calendar_list_events"),
            step(
                "slots",
                "calendar_find_slots",
                event_id=own("id"),
                day={"fn": "date", "args": [own("start")]},
                part=part,
            ),
            step(
                "done",
                "calendar_move_event",
                event_id=own("id"),
                start=ref("slots", "slots", take="first", field="start"),
            ),
        ]
        where = {"id": event["id"]}
        d.checks = [
            (
                1,
                match(
                    "o_moved",
                    f"{event['id']} is in the {part}",
                    "calendar/events",
                    where,
                    {
                        "start": {
                            "between": [
                                d.clock.at(day, wanted[0] * 60),
                                d.clock.at(day, wanted[-1] * 60),
                            ]
                        }
                    },
                ),
            ),
            (
                1,
                match(
                    "o_slot",
                    "It is in the first free slot",
                    "calendar/events",
                    where,
                    {"start": target, "end": d.clock.at(day, wanted[first_free] * 60 + 60)},
                    requires=["o_moved"],
                ),
            ),
        ]
        d.write_set = [f"calendar/events/{event['id']}#start,end,updated_at"]
        d.forbid("never cancel it", "calendar_cancel_event")
        d.constraints.append(
            {
                "id": "k_look",
                "kind": "require_before",
                "policy": "rule",
                "sentence": "Look for free slots first",
                "severity": "gate",
                "write": {"tool": "calendar_move_event"},
                "needs": {"tool": "calendar_find_slots", "same": {"event_id": "event_id"}},
            }
        )
        hour = wanted[first_free]
        clock = [f"{hour:02d}:00", f"{hour}:00", f"{hour}.00"]
        d.answer(
            "Moved {event} to {start}.",
            [[event["id"]], [target, *clock]],
            event=ref("done", "id"),
            start=ref("done", "start"),
        )
        d.capabilities = ["C1", "C7", "C8", "C9", "C19"]
        return d.written(
            f"New slot for {who}",
            d.request(who, part=part),
            "Reply with the meeting's id and its new start.",
        )


def _address(name: str) -> str:
    return f"{name.lower().replace(' ', '.')}@guests.example"


class TicketTriage(PocketFamily):
    """The customer's ticket by severity, opened, on-call by its area, assign, answer."""

    name = "pocket_ticket_triage"
    title = "Pocket: ticket triage"
    purpose = "Find a customer's ticket by severity, the person on call for its area, assign it."
    subtypes = ("login", "billing", "printing", "network")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        d = Draft("ticket_triage", subtype, Cast(rng))
        names = d.cast.sample(d.people, 8)
        who, others, staff = names[0], names[1:4], names[4:8]
        severity, other = d.cast.sample(("high", "low", "normal"), 2)
        areas = list(self.subtypes)
        number = rng.randrange(100, 800)
        rows: list[Json] = []
        wrong = rng.choice([a for a in areas if a != subtype])
        # two others wait with the same severity, and the oldest of these tickets is somebody else's
        right = (who, severity, subtype)
        first = (others[0], severity, rng.choice(areas))
        rest = [
            (who, other, wrong),
            (others[1], severity, rng.choice(areas)),
            (others[2], other, rng.choice(areas)),
        ]
        queue = [first, *d.cast.in_the_middle(right, d.cast.shuffled(rest))]
        for moment, (name, level_, area) in enumerate(queue, start=1):
            number += rng.randrange(1, 9)
            created = d.clock.ago(6 - moment, 600)
            rows.append(
                {
                    "id": f"TK-{number}",
                    "reporter": name,
                    "subject": f"{area} question",
                    "description": f"{name} needs help with {area}.",
                    "severity": level_,
                    "category": area,
                    "status": "open",
                    "assignee": None,
                    "created_at": created,
                    "updated_at": created,
                }
            )
        ticket = next(r for r in rows if r["reporter"] == who and r["severity"] == severity)
        people = [
            {
                "id": f"PE-{rng.randrange(10, 99)}{n}",
                "name": name,
                "role": f"on call {area}",
                "team": area,
            }
            for n, (name, area) in enumerate(zip(staff, d.cast.shuffled(areas), strict=True))
        ]
        person = next(p for p in people if p["team"] == subtype)
        d.services = {
            "helpdesk": {"tickets": rows, "comments": []},
            "contacts": {"people": sorted(people, key=lambda p: p["id"])},
        }
        d.tools = [
            "helpdesk_list_tickets",
            "helpdesk_get_ticket",
            "contacts_search",
            "helpdesk_assign_ticket",
            "helpdesk_close_ticket",
        ]
        d.rule(
            "Assign the ticket to the person on call for its category, once.",
            "Never close a ticket.",
        )

        def mine(field: str) -> Json:
            return ref("found", "tickets", where={"reporter": who}, field=field)

        # One key is looked up in a listing, the ticket's number; what it is about is read off the
        # opened ticket: two values of one listed record at once were the last thing learnt.
        d.steps = [
            step("found", "helpdesk_list_tickets", severity=severity),
            step("ticket", "helpdesk_get_ticket", ticket_id=mine("id")),
            step(
                "oncall",
                "contacts_search",
                query={"text": "on call {area}", "with": {"area": ref("ticket", "category")}},
            ),
            step(
                "done",
                "helpdesk_assign_ticket",
                ticket_id=ref("ticket", "id"),
                assignee=ref("oncall", "people", field="name"),
            ),
        ]
        where = {"id": ticket["id"]}
        d.checks = [
            (
                1,
                match(
                    "o_assigned",
                    f"{ticket['id']} has an owner",
                    "helpdesk/tickets",
                    where,
                    {"assignee": {"in": [p["name"] for p in people]}},
                ),
            ),
            (
                1,
                match(
                    "o_person",
                    f"It is {person['name']}",
                    "helpdesk/tickets",
                    where,
                    {"assignee": person["name"]},
                    requires=["o_assigned"],
                ),
            ),
        ]
        d.write_set = [f"helpdesk/tickets/{ticket['id']}#assignee,updated_at"]
        d.forbid("Never close a ticket.", "helpdesk_close_ticket")
        d.once(
            "Assign the ticket to the person on call for its category, once.",
            "helpdesk_assign_ticket",
        )
        d.looked(
            "The person on call was looked up first",
            {"tool": "contacts_search"},
            {"tool": "helpdesk_assign_ticket"},
        )
        d.answer(
            "{ticket} is with {name}.",
            [[ticket["id"]], [person["name"]]],
            ticket=ref("done", "id"),
            name=ref("done", "assignee"),
        )
        d.capabilities.append("C2")
        return d.written(
            f"Owner for {ticket['id']}",
            d.request(who, severity=severity),
            "Reply with the ticket and the person's name.",
        )


POCKET_FAMILIES: Final = (RefundOrDecline(), PaymentChange(), Reschedule(), TicketTriage())
