"""Overdue tickets: one limit, two by severity, or two by the contract."""

from tasks_app.core.generation.families.ticket_triage.facts import SLA, TriageFacts
from tasks_app.core.generation.families.ticket_triage.table import (
    ARTICLES,
    TABLE,
    Lines,
    expect_of,
    list_queue,
    minutes_ago,
    of_customers,
    once,
    own_queue,
    read_first,
)
from tasks_app.core.generation.forms import Json, fn, ref
from tasks_app.core.generation.paper import Paper


def overdue(facts: TriageFacts, paper: Paper) -> Lines:
    """Raise what is past its time: one limit, two by severity, or two by the contract."""
    paper.claimed |= {"C1", "C20"}
    fast, slow = facts.fast, facts.slow
    paper.say(TABLE, "The age of a ticket counts from the moment it came in.")
    late: Json = {"lt": minutes_ago(slow)}
    urgent: Json = {"severity": "urgent"}
    update = "helpdesk_update_ticket"
    if facts.level == 1:
        paper.say(
            TABLE,
            f"A ticket of severity normal that is older than {slow} minutes is overdue: set its "
            "severity to urgent.",
            "Severity low stays, however old.",
        )
        list_queue(facts, paper)
        where = {"created_at": late, "severity": "normal"}
        paper.do(
            "raised",
            update,
            ticket_id=ref("tickets", "tickets", where=where, field="id"),
            severity="urgent",
        )
        own_queue(facts, paper, update)
        expect_of(paper, "o_raised", f"{facts.first[0]['id']} is urgent", facts.first, urgent)
        return Lines(facts.first, [ref("raised", "id")], update, "raised")
    first: Json = {"created_at": {"lt": minutes_ago(fast)}}
    second: Json = {"created_at": late}
    more: Json = {}
    if facts.level == 2:
        paper.say(
            TABLE,
            f"First line: severity high and older than {fast} minutes becomes urgent.",
            f"Second line: severity normal and older than {slow} minutes becomes high.",
            "Severity low stays, however old.",
        )
        first["severity"], second["severity"] = "high", "normal"
    else:
        top, middle, low = facts.tiers
        due = "" if facts.article else " and is due today"
        paper.say(
            TABLE,
            f"First line: a {top} customer's ticket older than {fast} minutes becomes urgent{due}.",
            f"Second line: a {middle} customer's ticket older than {slow} minutes becomes high "
            "and is due tomorrow.",
            f"What {low} customers write stays, and so do tickets of customers who have left; the "
            "customer record says who is what.",
        )
        paper.do("best", "crm_list_customers", segment=top, status="active")
        paper.do("next", "crm_list_customers", segment=middle, status="active")
        first["customer_id"], second["customer_id"] = of_customers("best"), of_customers("next")
        more = {} if facts.article else {"due_on": ref("clock", "today")}
    list_queue(facts, paper)
    tool = update
    if facts.article:
        tool = "helpdesk_escalate_ticket"
        paper.say(TABLE, f"Escalate what becomes urgent to the queue that “{ARTICLES[SLA]}” names.")
        more = {"queue": fn("regex", ref("article", "body"), r"the queue (\w+)")}
        read_first(paper, tool)
    paper.do(
        "raised",
        tool,
        ref("tickets", "tickets", where=first, take="all", field="id"),
        ticket_id=ref("item"),
        severity="urgent",
        **more,
    )
    tomorrow: Json = {"due_on": fn("add_days", ref("clock", "today"), 1)} if facts.crm else {}
    paper.do(
        "marked",
        update,
        ref("tickets", "tickets", where=second, take="all", field="id"),
        ticket_id=ref("item"),
        severity="high",
        **tomorrow,
    )
    own_queue(facts, paper, update, "helpdesk_escalate_ticket")
    once(paper, update, "helpdesk_escalate_ticket")
    expect = dict(urgent)
    if facts.article:
        expect |= {"status": "escalated", "queue": facts.operations}
    elif facts.crm:
        expect |= {"due_on": facts.clock.date()}
    expect_of(
        paper,
        "o_first",
        "What the first line takes is urgent",
        facts.first,
        expect,
        because={"queue": TABLE, "status": TABLE} if facts.article else None,
    )
    low_expect: Json = {"severity": "high"}
    if facts.crm:
        low_expect["due_on"] = facts.clock.date(1)
    expect_of(paper, "o_second", "What the second line takes is high", facts.second, low_expect)
    reported = [ref("raised", take="all", field="id"), ref("marked", take="all", field="id")]
    return Lines([*facts.first, *facts.second], reported, tool, "raised")
