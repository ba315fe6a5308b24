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
from tasks_app.core.generation.sheet import Sheet


def named(facts: TriageFacts, sheet: Sheet) -> Lines:
    """Named accounts have their own desk; what is about security goes before."""
    sheet.claimed.add("C1")
    update, assign = "helpdesk_update_ticket", "helpdesk_assign_ticket"
    tier = facts.tiers[0]
    if facts.level == 1:
        account = facts.customers[0].firm.name
        names = facts.cast.shuffled(
            [account, facts.cast.firm("Mills").name, facts.cast.firm().name]
        )
        sheet.say(
            TABLE,
            f"Named accounts are {names[0]}, {names[1]} and {names[2]}.",
            f"Their tickets get severity high and go to the queue {facts.account_queue}.",
            "All others stay.",
        )
        sheet.do("tickets", "helpdesk_search_tickets", query=account)
        sheet.do(
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
        own_queue(facts, sheet, update)
        expect_of(
            sheet,
            "o_moved",
            f"{facts.first[0]['id']} is with {facts.account_queue}",
            facts.first,
            {"queue": facts.account_queue, "severity": "high"},
        )
        return Lines(facts.first, [ref("moved", "id")], update, "moved")
    sheet.say(
        TABLE,
        "First line: what is about security, whoever writes, becomes urgent and goes to the queue "
        f"{facts.security_queue}.",
    )
    sheet.do("key", "crm_list_customers", segment=tier, status="active")
    list_queue(facts, sheet)
    sheet.do(
        "alarms",
        update,
        ref("tickets", "tickets", where={"category": "security"}, take="all", field="id"),
        ticket_id=ref("item"),
        severity="urgent",
        queue=facts.security_queue,
    )
    own_queue(facts, sheet, update, assign)
    once(sheet, update, assign)
    expect_of(
        sheet,
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
        sheet.say(
            TABLE,
            f"Second line: {who} becomes high and goes to the queue {facts.account_queue}.",
            left,
        )
        sheet.do(
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
            sheet,
            "o_moved",
            f"The other tickets of {tier} customers are with {facts.account_queue}",
            facts.second,
            {"severity": "high", "queue": facts.account_queue},
        )
        reported = [alarms, ref("moved", take="all", field="id")]
        return Lines([*facts.first, *facts.second], reported, update, "moved")
    sheet.say(
        TABLE,
        f"Second line: {who} is assigned to the owner in the customer record and goes to the queue "
        f"{facts.account_queue}.",
    )
    sheet.claimed |= {"C2", "C14"}
    sheet.do(
        "records",
        "crm_get_customer",
        ref("key", "customers", take="all", field="id"),
        customer_id=ref("item"),
    )
    away: Any = None
    if facts.article:
        away = fn("regex", ref("article", "body"), rf"{NAME} is away")
        sheet.say(
            TABLE,
            f"If that owner is away, it is assigned to the cover that “{ARTICLES[NAMED]}” names.",
        )
        read_first(sheet, assign)
    sheet.say(TABLE, left)
    there: Json = {"where": {"owner": {"ne": away}}} if facts.article else {}
    sheet.do(
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
        sheet.do(
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
            sheet,
            f"o_owner_{number}",
            f"{owner} has what falls to them",
            rows,
            {"assignee": owner, "queue": facts.account_queue},
            weight=2,
        )
    return Lines([*facts.first, *facts.second], reported, assign, "moved or assigned")
