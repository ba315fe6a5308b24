"""The rules of a draft, as its documents say them, and the constraints that stand for them."""

from tasks_app.core.generation.families.reach_the_right_person import words
from tasks_app.core.generation.families.reach_the_right_person.facts import (
    DEPUTY,
    NAMESAKE,
    ROLE,
    SHIFT,
)
from tasks_app.core.generation.families.reach_the_right_person.records import ReachFacts
from tasks_app.core.generation.paper import Paper
from tasks_app.core.generation.talk import listed, sentence

MESSAGE = "contacts_send_message"
LOOKING = ("calendar_list_events", "calendar_search_events", "calendar_free_busy")
WHO, PASSING = "who", "passing_on"


def write_rules(facts: ReachFacts, paper: Paper) -> None:
    """Write both documents: who answers for what, and how things are passed on."""
    said = words.RULES
    paper.document(WHO, "Who answers for what", _topics(facts))
    paper.document(PASSING, "Passing things on")
    if facts.subtype == ROLE:
        paper.say(WHO, said["role"])
    if facts.subtype == NAMESAKE:
        paper.say(WHO, said["namesake"])
    if facts.subtype == SHIFT:
        paper.say(WHO, said["plan" if facts.dated else "hours"])
        if facts.posted:
            paper.say(WHO, said["swap"])
    elif facts.dated:
        away = listed([title.lower() for title in words.AWAY], "or")
        paper.say(WHO, said["away"].format(away=away))
        paper.say(WHO, said["cover" if facts.covered else "deputies"])
    elif facts.subtype == DEPUTY:
        paper.say(WHO, said["on_leave"])
    if facts.dated:
        paper.bind(
            "k_calendar",
            "require_before",
            PASSING,
            said["look"],
            0.3,
            write={"tool": MESSAGE},
            needs={"tool": list(LOOKING)},
        )
    paper.say(PASSING, said["content"])
    severity = "gate" if facts.level >= 2 else 0.4
    paper.bind("k_one", "at_most", PASSING, said["one"], severity, tool=MESSAGE, n=1)
    if facts.posted:
        _keep_inside(facts, paper)


def _topics(facts: ReachFacts) -> str:
    topics = facts.cast.shuffled(facts.house.topics)
    parts = [f"{t.name} the {t.role} of team {t.team}" for t in topics]
    return sentence(f"at every site there is somebody for each matter: for {listed(parts)}")


def _keep_inside(facts: ReachFacts, paper: Paper) -> None:
    if facts.subtype != SHIFT:
        paper.bind(
            "k_reason",
            "no_disclosure",
            PASSING,
            words.RULES["reason"],
            0.5,
            values=[facts.reason, facts.reason_title.lower()],
            tools=[MESSAGE, "chat_create_post"],
        )
    paper.bind(
        "k_channel", "forbid_tool", PASSING, words.RULES["channel"], tool=["chat_create_post"]
    )
