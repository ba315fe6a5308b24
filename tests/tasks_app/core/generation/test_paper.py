"""The paper of a draft keeps rules and constraints together and shows what was said, once."""

import random
from datetime import date

from tasks_app.core.generation.cast import ZONES, Cast, Clock, Firm, Person
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.paper import Kind, Office, Paper

OFFICE = Office(
    Firm("Otterwick Print", "otterwick.example"),
    "a print shop",
    Person("Maren", "Quist", "maren.quist@otterwick.example"),
    "head of the desk",
    "desk assistant",
    "desk@otterwick.example",
)


def paper() -> Paper:
    kind = Kind("some_family", "claw_eval", "some_subtype", 2)
    cast = Cast(random.Random(1))
    return Paper(kind, cast, Clock(date(2031, 3, 10), 9 * 60, ZONES[0]), OFFICE)


def spec(written: Paper) -> Json:
    written.do("seen", "helpdesk_list_tickets")
    written.do("closed", "helpdesk_close_ticket", ticket_id="TK-1")
    written.check(1, {"id": "o_done", "component": "outcome"})
    return written.spec(
        slug=("Some Task", "TK-1"), title="t", tags=(), request="r", distractors=3, parameters={}
    )


def test_a_rule_is_said_once_in_its_document_and_a_document_without_rules_is_not_shown() -> None:
    written = paper()
    written.document("desk", "At the desk")
    written.document("letters", "Letters")
    written.say("desk", "Read first.")
    written.bind("k_close", "forbid_tool", "desk", "Close nothing.", 0.3, tool="x")
    written.bind("k_merge", "forbid_tool", "desk", "Merge nothing.", tool="y")
    written.say("desk", "Read first.")

    made = spec(written)

    assert made["workplace"]["policies"] == [
        {"id": "desk", "title": "At the desk", "text": "Read first. Close nothing. Merge nothing."}
    ]
    assert [(c["id"], c["severity"]) for c in made["constraints"]] == [
        ("k_close", {"deduct": 0.3}),
        ("k_merge", "gate"),
    ]


def test_the_difficulty_counts_what_the_steps_do() -> None:
    written = paper()
    written.document("desk", "At the desk")
    written.fails_once("helpdesk_close_ticket", "desk", "An error is no change.")

    made = spec(written)

    assert made["slug"] == "some-task-tk-1"
    assert made["difficulty"] == {
        "level": 2,
        "features": {
            "reads_before_first_write": 1,
            "services": 1,
            "writes": 1,
            "distractors": 3,
            "faults": 1,
            "stages": 1,
            "hidden_facts": 0,
        },
    }
    assert [claim["id"] for claim in made["capabilities"]] == ["C7", "C8", "C9", "C10", "C19"]


def test_the_one_who_asks_is_among_the_people_before_those_who_are_named() -> None:
    written = paper()
    larch = {"name": "Larch", "role": "room for 6", "mailbox": "larch@otterwick.example"}
    written.people.append(larch)

    workplace = spec(written)["workplace"]

    asks = {
        "name": "Maren Quist",
        "role": "head of the desk",
        "mailbox": "maren.quist@otterwick.example",
    }
    assert workplace["organisation"] == "Otterwick Print, a print shop"
    assert workplace["people"] == [asks, larch]
    assert {key: workplace["requester"][key] for key in asks} == asks
