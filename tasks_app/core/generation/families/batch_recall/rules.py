"""The rules of a recall, as its document says them, and the constraints that stand for them."""

from typing import Final

from tasks_app.core.generation.families.batch_recall import words
from tasks_app.core.generation.families.batch_recall.facts import MIXED, RecallFacts
from tasks_app.core.generation.paper import GATE
from tasks_app.core.generation.week import WeekPaper

RULES: Final = "recall"
LOOKING: Final = ("tables_query_rows", "tables_search_rows", "tables_get_row")


def write_rules(facts: RecallFacts, paper: WeekPaper) -> None:
    """Write the document on recalls."""
    said = words.RULES
    paper.document(RULES, "Recalls")
    paper.say(RULES, said[facts.subtype])
    paper.bind(
        "k_shipped",
        "only_when",
        RULES,
        said["shipped"],
        GATE if facts.level >= 2 else 0.4,
        tool="tables_update_row",
        arguments={"values.status": "blocked"},
        record={"service": "tables", "collection": "rows", "id_argument": "row_id"},
        where={"status": "shipped"},
    )
    paper.say(RULES, said["log"])
    if facts.writes_lab:
        paper.say(RULES, said["cleared" if facts.subtype == MIXED else "more"])
    paper.bind(
        "k_look",
        "require_before",
        RULES,
        said["again"],
        0.3,
        write={"tool": "mail_send_message", "stage": "day2"},
        needs={"tool": list(LOOKING), "stage": "day2"},
    )
    paper.say(RULES, said["letter"])
    paper.bind(
        "k_once", "at_most", RULES, said["once"], 0.3, tool="mail_send_message", per="to", n=1
    )
    if facts.counts:
        paper.say(RULES, said["returns"])
    if facts.corrects:
        paper.say(RULES, said["report"])
    told = ["The first day ends with a reply that states how many units were blocked."]
    told.append("The day of the letters ends with a reply that names each shipment rerouted.")
    if facts.counts:
        told.append("Later days end with a reply that states how many units are still out.")
    paper.contract = " ".join(told)
