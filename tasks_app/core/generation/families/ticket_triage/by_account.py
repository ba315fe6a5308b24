"""Named accounts: their own desk, their own people; security goes before."""

from typing import Any

from tasks_app.core.generation.families.ticket_triage.facts import NAMED, TriageFacts
from tasks_app.core.generation.families.ticket_triage.table import (
    ARTICLES,
    NAME,
    TABLE,
    Lines,
    expect_of,
    list_queue,
    of_customers,
    once,
    own_queue,
    read_first,
)
from tasks_app.core.generation.forms import Json, fn, ref
from tasks_app.core.generation.paper import Paper


def named(facts: TriageFacts, paper: Paper) -> Lines:
    """Named accounts have their own desk; what is about security goes before."""
    paper.claimed.add("C1")
    update, assign = "helpdesk_update_ticket", "helpdesk_assign_ticket"
    tier = facts.tiers[0]
    if facts.level == 1:
        account = facts.customers[0].firm.name
        names = facts.cast.shuffled(
            [account, facts.cast.firm("Mills").name, facts.cast.firm().name]
        )
        paper.say(
            TABLE,
            f"Named accounts are {names[0]}, {names[1]} and {names[2]}.",
            f"Their tickets get severity high and go to the queue {facts.account_queue}.",
            "All others stay.",
        )
        paper.do("tickets", "helpdesk_search_tickets", query=account)
        paper.do(
            "moved",
            update,
            ticket_id=ref(
                "tickets",
                "tickets",
                where={"queue": facts.queue, "status": "open"},
                field="id",
            ),
            severity="high",
            queue=facts.account_queue,
        )
        own_queue(facts, paper, update)
        expect_of(
            paper,
            "o_moved",
            f"{facts.first[0]['id']} is with {facts.account_queue}",
            facts.first,
            {"queue": facts.account_queue, "severity": "high"},
        )
        return Lines(facts.first, [ref("moved", "id")], update, "moved")
    paper.say(
        TABLE,
        "First line: what is about security, whoever writes, becomes urgent and goes to the queue "
        f"{facts.security_queue}.",
    )
    paper.do("key", "crm_list_customers", segment=tier, status="active")
    list_queue(facts, paper)
    paper.do(
        "alarms",
        update,
        ref("tickets", "tickets", where={"category": "security"}, take="all", field="id"),
        ticket_id=ref("item"),
        severity="urgent",
        queue=facts.security_queue,
    )
    own_queue(facts, paper, update, assign)
    once(paper, update, assign)
    expect_of(
        paper,
        "o_alarms",
        f"What is about security is urgent and with {facts.security_queue}",
        facts.first,
        {"severity": "urgent", "queue": facts.security_queue},
        weight=2,
    )
    plain: Json = {"category": {"ne": "security"}}
    who = f"a {tier} customer's ticket"
    left = "Customers who have left count as others; all others stay."
    alarms = ref("alarms", take="all", field="id")
    if facts.level == 2:
        paper.say(
            TABLE,
            f"Second line: {who} becomes high and goes to the queue {facts.account_queue}.",
            left,
        )
        paper.do(
            "moved",
            update,
            ref(
                "tickets",
                "tickets",
                where={**plain, "customer_id": of_customers("key")},
                take="all",
                field="id",
            ),
            ticket_id=ref("item"),
            severity="high",
            queue=facts.account_queue,
        )
        expect_of(
            paper,
            "o_moved",
            f"The other tickets of {tier} customers are with {facts.account_queue}",
            facts.second,
            {"severity": "high", "queue": facts.account_queue},
        )
        reported = [alarms, ref("moved", take="all", field="id")]
        return Lines([*facts.first, *facts.second], reported, update, "moved")
    paper.say(
        TABLE,
        f"Second line: {who} is assigned to the owner in the customer record and goes to the queue "
        f"{facts.account_queue}.",
    )
    paper.claimed |= {"C2", "C14"}
    paper.do(
        "records",
        "crm_get_customer",
        ref("key", "customers", take="all", field="id"),
        customer_id=ref("item"),
    )
    away: Any = None
    if facts.article:
        away = fn("regex", ref("article", "body"), rf"{NAME} is away")
        paper.say(
            TABLE,
            f"If that owner is away, it is assigned to the cover that “{ARTICLES[NAMED]}” names.",
        )
        read_first(paper, assign)
    paper.say(TABLE, left)
    there: Json = {"where": {"owner": {"ne": away}}} if facts.article else {}
    paper.do(
        "given",
        assign,
        ref(
            "tickets",
            "tickets",
            where={**plain, "customer_id": {"in": ref("records", **there, take="all", field="id")}},
            take="all",
        ),
        ticket_id=ref("item", "id"),
        assignee=ref("records", where={"id": ref("item", "customer_id")}, field="owner"),
        queue=facts.account_queue,
    )
    reported = [alarms, ref("given", take="all", field="id")]
    if facts.article:
        paper.do(
            "covered",
            assign,
            ref(
                "tickets",
                "tickets",
                where={
                    **plain,
                    "customer_id": {
                        "in": ref("records", where={"owner": away}, take="all", field="id")
                    },
                },
                take="all",
                field="id",
            ),
            ticket_id=ref("item"),
            assignee=fn("regex", ref("article", "body"), rf"{NAME} covers"),
            queue=facts.account_queue,
        )
        reported.append(ref("covered", take="all", field="id"))
    owners = {c.record["id"]: c.record["owner"] for c in facts.customers}
    groups: dict[str, list[Json]] = {}
    for body in facts.second:
        owner = owners[body["customer_id"]]
        is_away = facts.article and owner == facts.owners[0].name
        groups.setdefault(facts.cover.name if is_away else owner, []).append(body)
    for number, (owner, rows) in enumerate(groups.items(), start=1):
        expect_of(
            paper,
            f"o_owner_{number}",
            f"{owner} has what falls to them",
            rows,
            {"assignee": owner, "queue": facts.account_queue},
            weight=2,
        )
    return Lines([*facts.first, *facts.second], reported, assign, "moved or assigned")
