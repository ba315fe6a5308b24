"""The rules of a draft, as its document says them, and the constraints that stand for them."""

from typing import Final

from tasks_app.core.generation.families.customer_merge import words
from tasks_app.core.generation.families.customer_merge.facts import (
    HOUSEHOLD,
    PERSON,
    CustomerFacts,
)
from tasks_app.core.generation.paper import Paper

RULES: Final = "records"
MERGE: Final = "crm_merge_customers"
UPDATE: Final = "crm_update_customer"
ASK: Final = "message_user"


def write_rules(facts: CustomerFacts, paper: Paper) -> None:
    """Write the document on customer records, in the order in which one works."""
    said, lead = words.RULES, facts.lead.given
    paper.document(RULES, "Customer records", said["letter"], said["closed"])
    if facts.subtype == HOUSEHOLD:
        paper.say(RULES, said["household"])
    _bind_merges(facts, paper)
    if facts.subtype != HOUSEHOLD:
        paper.say(RULES, said["orders" if facts.ordered else "older"])
    if facts.updates:
        paper.say(RULES, said["address" if facts.subtype == PERSON else "company"])
    if facts.confirms:
        paper.bind(
            "k_yes",
            "confirm_with_user",
            RULES,
            said["yes"].format(lead=lead),
            write={"tool": MERGE},
            states=["customer_id", "duplicate_customer_id"],
            answer=["yes"],
        )
        count = len(facts.pairs) + 1
        sentence = said["bother"].format(lead=lead, n=count)
        paper.bind("k_bother", "at_most", RULES, sentence, 0.15, tool=ASK, n=count)
    paper.bind("k_export", "forbid_tool", RULES, said["export"], tool="crm_export_customers")
    if facts.level >= 5:
        paper.say(RULES, said["note"])


def _bind_merges(facts: CustomerFacts, paper: Paper) -> None:
    """Which records may end in a merge."""
    gone = [pair.gone for pair in facts.pairs]
    sentence, where = "keys", {
        "card": {"in": [row["card"] for row in gone]},
        "phone": {"in": [row["phone"] for row in gone]},
    }  # fmt: skip
    if facts.subtype == HOUSEHOLD:
        sentence = "double" if gone else "apart"
    if not gone:
        where = {"phone": {"not_in": [facts.phone]}}
    paper.bind(
        "k_keys",
        "only_when",
        RULES,
        words.RULES[sentence],
        tool=[MERGE],
        record={
            "service": "crm",
            "collection": "customers",
            "id_argument": "duplicate_customer_id",
        },
        where=where,
    )
