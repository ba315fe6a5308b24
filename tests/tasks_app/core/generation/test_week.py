"""The paper of several days keeps what is checked, written and told with the day it belongs to."""

import random
from datetime import date

from tasks_app.core.generation.cast import ZONES, Cast, Clock, Firm, Person
from tasks_app.core.generation.forms import Json, ref, step
from tasks_app.core.generation.paper import Kind, Office
from tasks_app.core.generation.week import WeekPaper, as_remembered, working_days

OFFICE = Office(
    Firm("Otterwick Print", "otterwick.example"),
    "a print shop",
    Person("Maren", "Quist", "maren.quist@otterwick.example"),
    "head of the desk",
    "desk assistant",
    "desk@otterwick.example",
)
FIRST = Clock(date(2031, 3, 10), 9 * 60, ZONES[0])
SECOND = Clock(date(2031, 3, 11), 9 * 60, ZONES[0])


def paper() -> WeekPaper:
    kind = Kind("some_family", "clawmark", "some_subtype", 2)
    written = WeekPaper(kind, Cast(random.Random(1)), FIRST, OFFICE)
    written.do("seen", "helpdesk_list_tickets")
    written.do("closed", "helpdesk_close_ticket", ticket_id="TK-1")
    written.check(1, {"id": "o_closed", "component": "outcome", "requires": []})
    written.may("helpdesk/tickets/TK-1#status")
    written.closes("It says so", [["TK-1"]], "TK-1 is closed.", {})
    return written


def spec(written: WeekPaper) -> Json:
    return written.spec(
        slug=("task",), title="t", tags=(), request="r", distractors=3, parameters={}
    )


def test_a_check_belongs_to_its_day_and_hangs_on_the_first_one_of_that_day() -> None:
    written = paper()
    written.morning(SECOND, "And TK-2, please.")
    written.check(1, {"id": "o_second", "component": "outcome", "requires": []})
    written.closes("It says so", [["TK-2"]], "TK-2 is closed.", {})

    checks = {check["id"]: check for check in spec(written)["checks"]}

    assert {name: (c.get("stage"), c["requires"]) for name, c in checks.items()} == {
        "o_closed": ("day1", []),
        "r_day1": ("day1", ["o_closed"]),
        "o_second": ("day2", []),
        "r_day2": ("day2", ["o_second"]),
        "c_only": (None, ["o_second"]),
    }


def test_what_may_be_written_ends_with_the_day() -> None:
    written = paper()
    written.morning(SECOND, "And TK-2, please.")
    written.check(1, {"id": "o_second", "component": "outcome", "requires": []})
    written.sends("note", "told", ["a@otterwick.example"], "s", "b", {}, [["b"]])

    assert spec(written)["write_set"] == [
        {"address": "helpdesk/tickets/TK-1#status", "stages": ["day1"]},
        {
            "address": "mail/outbox/*",
            "change": "add",
            "max": 1,
            "stages": ["day2"],
            "where": {"to": {"contains_all": ["a@otterwick.example"]}, "cc": []},
        },
    ]


def test_a_day_begins_with_its_message_and_what_moved_before_it() -> None:
    written = paper()
    written.morning(SECOND, "And TK-2, please.")
    written.moves("helpdesk/tickets", "TK-2", {"severity": "high"})
    written.arrives("mail/messages", {"id": "M-1"})
    written.check(1, {"id": "o_second", "component": "outcome", "requires": []})

    made = spec(written)

    assert made["timeline"] == [
        {"id": "day1", "at": FIRST.now},
        {
            "id": "day2",
            "at": SECOND.now,
            "notification": "And TK-2, please.",
            "mutations": [
                {
                    "service": "helpdesk",
                    "collection": "tickets",
                    "op": "update",
                    "where": {"id": "TK-2"},
                    "values": {"severity": "high"},
                    "silent": True,
                },
                {
                    "service": "mail",
                    "collection": "messages",
                    "op": "add",
                    "values": {"id": "M-1"},
                    "silent": False,
                },
            ],
        },
    ]
    assert made["difficulty"]["features"]["stages"] == 2
    assert made["limits"] == {"turns": 80, "tool_calls": 80, "seconds": 1200}


def test_looking_again_is_the_same_call_under_another_name_and_can_be_forgotten() -> None:
    written = paper()
    written.morning(SECOND, "And TK-2, please.")
    written.again("seen_again", "seen")
    written.do("other", "helpdesk_close_ticket", ticket_id=ref("seen_again", "tickets.0.id"))

    assert written.steps[-2:] == [
        step("seen_again", "helpdesk_list_tickets"),
        step("other", "helpdesk_close_ticket", ticket_id=ref("seen_again", "tickets.0.id")),
    ]
    assert as_remembered(written.steps, {"seen_again": "seen"})[-2:] == [
        written.steps[2],
        step("other", "helpdesk_close_ticket", ticket_id=ref("seen", "tickets.0.id")),
    ]


def test_working_days_leave_weekends_out() -> None:
    assert [day.isoformat() for day in working_days(date(2031, 3, 13), 3)] == [
        "2031-03-13",
        "2031-03-14",
        "2031-03-17",
    ]
