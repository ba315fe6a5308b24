"""Reports of one area: how many there are decides what they are."""

from typing import Any

from tasks_app.core.generation.families.ticket_triage.facts import OUTAGE, TriageFacts
from tasks_app.core.generation.families.ticket_triage.table import (
    ARTICLES,
    TABLE,
    Lines,
    expect_of,
    minutes_ago,
    of_customers,
    once,
    read_first,
)
from tasks_app.core.generation.forms import Json, fn, ref
from tasks_app.core.generation.paper import Paper


def outage(facts: TriageFacts, paper: Paper) -> Lines:
    """Gather the reports of one area; how many there are decides what they are."""
    paper.claimed |= {"C1", "C20"}
    window, count = facts.window, facts.threshold
    escalate, update = "helpdesk_escalate_ticket", "helpdesk_update_ticket"
    paper.say(TABLE, f"Open tickets of one area from the last {window} minutes belong together.")
    chosen: Json = {
        "category": facts.area.key,
        "created_at": {"ge": minutes_ago(window)},
    }
    if facts.crm:
        paper.say(
            TABLE,
            "Only customers in the city that is spoken of count, and none who have left; the "
            "customer record says where they are.",
        )
        paper.do("near", "crm_list_customers", city=facts.city, status="active")
        chosen["customer_id"] = of_customers("near")
    paper.do("tickets", "helpdesk_list_tickets", status="open")
    if facts.level == 1:
        paper.say(
            TABLE,
            f"Escalate the first of them to the queue {facts.operations}, severity urgent; leave "
            "the others.",
        )
        first = min(facts.first, key=lambda t: str(t["created_at"]))
        paper.do(
            "handed",
            escalate,
            ticket_id=ref(
                "tickets", "tickets", where=chosen, sort="created_at", take="first", field="id"
            ),
            queue=facts.operations,
            severity="urgent",
        )
        paper.bind(
            "k_one",
            "at_most",
            "desk",
            "One matter is handed on once.",
            0.4,
            tool=escalate,
            n=1,
        )
        expect_of(
            paper,
            "o_handed",
            f"{first['id']} is with {facts.operations}",
            [first],
            {"status": "escalated", "queue": facts.operations, "severity": "urgent"},
            because={"status": TABLE},
        )
        return Lines([first], [ref("handed", "id")], escalate, "handed on")
    reports = ref("tickets", "tickets", where=chosen, take="all", field="id")
    many = fn("count", reports)
    is_outage = len(facts.first) >= count
    severity = fn("pick_at_least", many, count, "urgent", "high")
    expect: Json = {"severity": "urgent" if is_outage else "high"}
    once(paper, update, escalate)
    if not facts.crm:
        paper.say(
            TABLE,
            f"From {count} reports on it is an outage: each gets severity urgent and the category "
            "outage.",
            "Fewer are a fault: each gets severity high and the category fault.",
        )
        paper.do(
            "marked",
            update,
            reports,
            ticket_id=ref("item"),
            severity=severity,
            category=fn("pick_at_least", many, count, "outage", "fault"),
        )
        expect["category"] = "outage" if is_outage else "fault"
        tool = update
    else:
        queue: Any = facts.operations
        where = f"to the queue {facts.operations}"
        if facts.article:
            where = f"to the queue that “{ARTICLES[OUTAGE]}” names"
            queue = fn("regex", ref("article", "body"), r"the queue (\w+)")
            read_first(paper, escalate)
        paper.say(
            TABLE,
            f"From {count} reports on it is an outage, severity urgent; fewer are a fault, "
            "severity high.",
            f"Either way escalate each of them {where}, with the number of the earliest as the "
            "reference of all.",
        )
        earliest = ref(
            "tickets", "tickets", where=chosen, sort="created_at", take="first", field="id"
        )
        paper.do(
            "handed",
            escalate,
            reports,
            ticket_id=ref("item"),
            queue=queue,
            severity=severity,
            reference=earliest,
        )
        first = min(facts.first, key=lambda t: str(t["created_at"]))
        expect |= {"status": "escalated", "queue": facts.operations, "reference": first["id"]}
        tool = escalate
    because = {"severity": TABLE, **({"status": TABLE, "reference": TABLE} if facts.crm else {})}
    if facts.crm:
        del because["severity"]
    first_ticket = min(facts.first, key=lambda t: str(t["created_at"]))
    rest = [t for t in facts.first if t is not first_ticket]
    expect_of(
        paper,
        "o_earliest",
        f"The earliest report, {first_ticket['id']}, is marked by how many there are",
        [first_ticket],
        expect,
        weight=1,
        because={k: TABLE for k in because if k in expect},
    )
    expect_of(
        paper,
        "o_rest",
        f"So are the other {len(rest)}",
        rest,
        expect,
        because={k: TABLE for k in because if k in expect},
    )
    name = "handed" if facts.crm else "marked"
    verb = "handed on" if facts.crm else "marked"
    return Lines(facts.first, [ref(name, take="all", field="id")], tool, verb)
