"""The rules of a draft, as its document says them, and the constraints that stand for them."""

from typing import Final

from tasks_app.core.generation.families.inbox_to_todo import words
from tasks_app.core.generation.families.inbox_to_todo.facts import (
    ANSWERED,
    CANCELLED,
    DATED,
    DELEGATED,
    WEEKDAY,
)
from tasks_app.core.generation.families.inbox_to_todo.letters import Inbox
from tasks_app.core.generation.paper import Paper
from tasks_app.core.generation.talk import listed

CREATE: Final = "todo_create_item"
RULES: Final = "inbox"


def write_rules(facts: Inbox, paper: Paper) -> None:
    """Write the document on the inbox, in the order in which one works."""
    said, level = words.RULES, facts.level
    paper.document(RULES, "The inbox and the to-do list", said["asks"])
    if facts.aged:
        paper.say(RULES, said["old"].format(days=facts.oldest))
    if WEEKDAY in facts.forms:
        paper.say(RULES, said["weekday"])
    own = {DATED: "dated", ANSWERED: "answered", CANCELLED: "cancelled"}
    if facts.subtype in own:
        paper.say(RULES, said[own[facts.subtype]])
    if facts.listed:
        paper.say(RULES, said["existing"])
    if facts.count:
        paper.say(RULES, said["title"])
        paper.say(RULES, _owners(facts))
        paper.say(RULES, said["priority"].format(priority=facts.priority))
    if facts.described:
        paper.say(RULES, said["described"])
    if facts.dropped:
        paper.say(RULES, said["dropped"])
    if facts.filed:
        paper.say(RULES, said["filed"].format(label=facts.label))
    paper.bind(
        "k_silent",
        "forbid_tool",
        RULES,
        said["silent"],
        tool=["mail_reply_message", "mail_send_message"] if level >= 3 else "mail_reply_message",
    )
    if facts.count and level >= 2:
        paper.bind("k_once", "at_most", RULES, said["once"], 0.3, tool=CREATE, per="title", n=1)
    if level >= 2:
        paper.bind("k_delete", "forbid_tool", RULES, said["delete"], tool="todo_delete_item")
    if facts.count and level >= 4:
        paper.bind(
            "k_house",
            "argument_policy",
            RULES,
            said["house"],
            tool=[CREATE],
            argument="owner",
            own_domain=[facts.house.domain],
        )
    if level >= 5:
        paper.say(RULES, said["orders"])


def _owners(facts: Inbox) -> str:
    said = words.RULES
    lead = f"{facts.lead.given} ({facts.lead.email})"
    if facts.subtype == DELEGATED:
        return said["delegated"].format(lead=lead)
    if not facts.by_firm:
        return said["lead"].format(lead=lead)
    names = {person.email: person.name for person in facts.colleagues}
    parts = [
        f"{names[facts.keepers[firm.domain]]} for {firm.name} ({firm.domain})"
        for firm in facts.firms
    ]
    return said["firms"].format(table=listed(parts))
