"""Pairs: two tickets of one customer on one matter become one."""

from collections.abc import Sequence
from typing import Any

from tasks_app.core.generation.families.ticket_triage.facts import MERGE, TriageFacts
from tasks_app.core.generation.families.ticket_triage.table import (
    ARTICLES,
    TABLE,
    TICKETS,
    Lines,
    expect_of,
    minutes_ago,
    read_first,
)
from tasks_app.core.generation.forms import Json, fn, match, ref
from tasks_app.core.generation.paper import Paper


def pairs(facts: TriageFacts, paper: Paper) -> Lines:
    """Two tickets of one customer on one matter become one."""
    paper.claimed.add("C1")
    merge, area = "helpdesk_merge_ticket", facts.area.key
    if facts.level == 1:
        firm = facts.customers[0].firm.name
        paper.say(
            TABLE,
            "Two open tickets of one customer in one area are one matter: merge the later into the "
            "earlier.",
        )
        paper.do("tickets", "helpdesk_search_tickets", query=firm, status="open")
        both: Json = {"where": {"category": area}, "sort": "created_at", "field": "id"}
        paper.do(
            "merged",
            merge,
            ticket_id=ref("tickets", "tickets", take="last", **both),
            target_ticket_id=ref("tickets", "tickets", take="first", **both),
        )
        paper.bind(
            "k_waits",
            "only_when",
            "desk",
            "What waits for the customer is left alone.",
            tool=merge,
            record=TICKETS,
            where={"status": "open"},
        )
    else:
        mail, form = facts.mail_queue, facts.form_queue
        paper.say(
            TABLE,
            f"A ticket in the queue {mail} and one in the queue {form}, both open, of one customer "
            f"in one area are one matter: merge the one in {mail} into the one in {form}.",
        )
        paper.do("mails", "helpdesk_list_tickets", queue=mail, status="open")
        paper.do("forms", "helpdesk_list_tickets", queue=form, status="open")
        same: Json = {
            "in": ref("forms", "tickets", where={"category": area}, take="all", field="customer_id")
        }
        chosen: Json = {"category": area, "customer_id": same}
        if facts.crm:
            tier = facts.tiers[0]
            paper.do("kept", "crm_list_customers", segment=tier)
            kept = sorted(
                str(c.record["id"]) for c in facts.customers if c.record["segment"] == tier
            )
            same["not_in"] = ref("kept", "customers", take="all", field="id")
            chosen["created_at"] = {"ge": minutes_ago(facts.window)}
            paper.say(
                TABLE,
                f"That holds if the one in {mail} came in the last {facts.window} minutes; older "
                "ones stay.",
            )
            paper.bind(
                "k_kept",
                "only_when",
                TABLE,
                f"Tickets of {tier} customers are never merged, their account manager reads each.",
                tool=merge,
                record=TICKETS,
                where={"customer_id": {"not_in": kept}},
            )
            paper.claimed.add("C20")
        paper.do(
            "merged",
            merge,
            ref("mails", "tickets", where=chosen, take="all"),
            ticket_id=ref("item", "id"),
            target_ticket_id=ref(
                "forms",
                "tickets",
                where={"category": area, "customer_id": ref("item", "customer_id")},
                field="id",
            ),
        )
        paper.bind(
            "k_mail",
            "only_when",
            "desk",
            f"Only tickets of the queue {mail} end in a merge.",
            0.3,
            tool=merge,
            record=TICKETS,
            where={"queue": mail},
        )
    targets = dict(zip(_pairs_by(facts.first), _pairs_by(facts.second), strict=True))
    if facts.level > 1:
        paper.check(
            3,
            match(
                "o_all",
                f"Exactly the {len(targets)} later tickets of the pairs are merged",
                "helpdesk/tickets",
                {"status": "merged"},
                {"id": {"in": sorted(targets)}},
                count={"eq": len(targets)},
                because={"status": TABLE},
            ),
        )
    for number, (later, earlier) in enumerate(targets.items(), start=1):
        paper.check(
            1,
            match(
                f"o_pair_{number}",
                f"{later} is merged into {earlier}",
                "helpdesk/tickets",
                {"id": later},
                {"status": "merged", "reference": earlier},
                because={"status": TABLE},
            ),
        )
        paper.write_set.append(f"helpdesk/tickets/{later}#status,reference,updated_at")
    single = facts.level == 1
    reported: list[Any] = [
        ref("merged", "id") if single else ref("merged", take="all", field="id"),
    ]
    if facts.article:
        paper.do(
            "given",
            "helpdesk_assign_ticket",
            ref("merged", take="all", field="reference"),
            ticket_id=ref("item"),
            assignee=fn("regex", ref("article", "body"), r"answered by (Team \w+)"),
        )
        paper.say(
            TABLE, f"Assign each ticket that stays to the team that “{ARTICLES[MERGE]}” names."
        )
        read_first(paper, "helpdesk_assign_ticket")
        expect_of(
            paper, "o_given", f"What stays is with {facts.team}", facts.second,
            {"assignee": facts.team},
        )  # fmt: skip
        reported.append(ref("given", take="all", field="id"))
        return Lines([*facts.first, *facts.second], reported, merge, "merged away or assigned")
    return Lines(facts.first, reported, merge, "merged away", tuple(targets.values()))


def _pairs_by(rows: Sequence[Json]) -> list[str]:
    return [str(row["id"]) for row in rows]
