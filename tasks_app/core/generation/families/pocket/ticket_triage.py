"""Pocket: a ticket, assigned to whoever is on call for its area."""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.pocket.draft import Draft, PocketFamily
from tasks_app.core.generation.forms import Json, match, ref, step


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
