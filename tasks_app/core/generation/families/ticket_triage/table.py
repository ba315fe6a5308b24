"""What the tables of ticket_triage share: lines that name tickets, rules of the desk, articles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tasks_app.core.generation.families.ticket_triage.facts import (
    MERGE,
    NAMED,
    OUTAGE,
    SLA,
    TriageFacts,
)
from tasks_app.core.generation.forms import Json, fn, match, ref
from tasks_app.core.generation.paper import Paper

TABLE: Final = "table"
ARTICLES: Final[Mapping[str, str]] = {
    SLA: "Overdue tickets: who takes them",
    OUTAGE: "Outages: who takes them",
    NAMED: "Cover for account managers",
    MERGE: "Merged tickets: who answers them",
}
NAME: Final = r"([A-Z]\w+ [A-Z]\w+)"
"""A person's name in an article."""
TICKETS: Final[Json] = {
    "service": "helpdesk",
    "collection": "tickets",
    "id_argument": "ticket_id",
}


@dataclass
class Lines:
    """What a table leaves behind for the report."""

    touched: list[Json]
    reported: list[Any]
    """Bindings of the numbers that the reply names; a list is shown by commas."""
    deciding: str
    """The tool whose write matters most."""
    verb: str = "changed"
    may_be_named: Sequence[str] = field(default_factory=tuple)
    """Tickets that a truthful reply may name beside them."""


def article_texts(facts: TriageFacts) -> tuple[str, str]:
    """Return the current article and the one that it replaced."""
    match facts.subtype:
        case "sla_breach":
            text = (
                "Overdue tickets of {tier} customers are handed to the queue {queue}. All others "
                "stay where they are. It has been so since spring."
            )
            values = {"tier": facts.tiers[0]}
            return (
                text.format(queue=facts.operations, **values),
                text.format(queue=facts.old_operations, **values),
            )
        case "outage_cluster":
            text = (
                "Reports of an outage or a fault are handed to the queue {queue}, day and night. "
                "It has been so since spring."
            )
            return text.format(queue=facts.operations), text.format(queue=facts.old_operations)
        case "named_accounts":
            text = "{away} is away until further notice; {cover} covers. It is so since spring."
            return (
                text.format(away=facts.owners[0].name, cover=facts.cover.name),
                text.format(away=facts.owners[1].name, cover=facts.old_cover.name),
            )
        case _:
            text = (
                "A ticket into which another was merged is answered by {team}. It has been so "
                "since spring."
            )
            return text.format(team=facts.team), text.format(team=facts.old_team)


def minutes_ago(minutes: int) -> Json:
    """The moment so many minutes ago."""
    return fn("add_minutes", ref("clock", "now"), -minutes)


def _ids(rows: Sequence[Json]) -> list[str]:
    return sorted(str(row["id"]) for row in rows)


def expect_of(
    paper: Paper,
    check: str,
    explain: str,
    rows: Sequence[Json],
    expect: Mapping[str, Any],
    *,
    weight: float = 3,
    because: Mapping[str, str] | None = None,
) -> None:
    """Expect the same of several tickets, and let these fields of them change."""
    ids = _ids(rows)
    where: Json = {"id": ids[0]} if len(ids) == 1 else {"id": {"in": ids}}
    paper.check(
        weight,
        match(
            check,
            explain,
            "helpdesk/tickets",
            where,
            expect,
            count=None if len(ids) == 1 else {"eq": len(ids)},
            because=because,
        ),
    )
    fields = ",".join((*expect, "updated_at"))
    paper.write_set += [f"helpdesk/tickets/{i}#{fields}" for i in ids]


def own_queue(facts: TriageFacts, paper: Paper, *tools: str) -> None:
    """Let only open tickets of the queue be touched."""
    paper.bind(
        "k_own",
        "only_when",
        "desk",
        f"Touch only open tickets of the queue {facts.queue}.",
        0.3,
        tool=list(tools),
        record=TICKETS,
        where={"queue": facts.queue, "status": "open"},
    )


def once(paper: Paper, *tools: str) -> None:
    """Let each ticket be changed once."""
    paper.bind(
        "k_once",
        "at_most",
        "desk",
        "Each ticket is changed once at most: the first line that fits counts.",
        0.2,
        tool=list(tools),
        per="ticket_id",
        n=1,
    )


def list_queue(facts: TriageFacts, paper: Paper) -> None:
    """List what lies open in the queue."""
    paper.do("tickets", "helpdesk_list_tickets", queue=facts.queue, status="open")


def read_first(paper: Paper, tool: str) -> None:
    """Let nothing be handed on before the article was read."""
    paper.bind(
        "k_read",
        "require_before",
        "desk",
        "Read the current article before you hand a ticket to anybody.",
        write={"tool": tool},
        needs={"tool": "kb_get_article"},
    )
    paper.say("desk", "Of articles, only published ones count.")
    paper.claimed |= {"C2", "C14"}


def of_customers(customers: str) -> Json:
    """A choice by the customers of an earlier list."""
    return {"in": ref(customers, "customers", take="all", field="id")}
