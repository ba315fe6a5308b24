"""Defects of Claw-Eval's own tasks: one small planted example of each, found and put right."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tasks_app.core.importers.claw.defects import TITLES
from tasks_app.core.world.world import World
from tests.tasks_app.core.importers.claw_folders import (
    TICKETS,
    address,
    folder,
    imported,
    office,
    tool,
)

Change = Callable[[dict[str, Any]], object]


def schema(data: dict[str, Any], number: int) -> dict[str, Any]:
    found: dict[str, Any] = data["tools"][number]["input_schema"]["properties"]
    return found


PLANTED: Mapping[str, tuple[Change, str]] = {
    "D02": (
        lambda d: d["tool_endpoints"].append(
            d["tool_endpoints"].pop() | address("helpdesk_close_ticket", "helpdesk/tickets/shut")
        ),
        "no such address for helpdesk_close_ticket (helpdesk/tickets/shut); here the tool works",
    ),
    "D03": (
        lambda d: d["services"][0].pop("env"),
        (
            "no variable for the records of helpdesk (fixtures/helpdesk/tickets.json); upstream "
            "would load its default (Chinese) ones"
        ),
    ),
    "D05": (
        lambda d: d["expected_actions"].append({"service": "gmail", "action_key": "sent"}),
        "expected: gmail.sent, which is sent_messages there",
    ),
    "D06": (
        lambda d: d["safety_checks"].append({"type": "tool_not_called", "tool_name": "mail_send"}),
        "a safety declaration is about mail_send, which is not offered",
    ),
    "D07": (
        lambda d: d.update(sandbox_files=["fixtures/helpdesk/tickets.json"]),
        (
            "fixtures/helpdesk/tickets.json also lay among the agent's own files; here only "
            "tools show it"
        ),
    ),
    "D08": (
        lambda d: schema(d, 1).update(assigned_to={"type": "string"}),
        "upstream ignores helpdesk_update_ticket.assigned_to (not advertised here)",
    ),
    "D09": (
        lambda d: schema(d, 2).pop("resolution"),
        (
            "upstream requires helpdesk_close_ticket.resolution, which the schema lacks; not "
            "needed here"
        ),
    ),
    "D10": (
        lambda d: d["scoring_components"].pop(),
        "the weights sum to 0.8; here they are scaled",
    ),
}


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_found_alone_and_recorded(tmp_path: Path, defect: str) -> None:
    change, told = PLANTED[defect]
    found = imported(folder(tmp_path, change))
    assert found.defects == {defect: told}
    assert found.spec.provenance["upstream_defects"] == found.defects


def test_a_sound_task_has_no_defect(tmp_path: Path) -> None:
    assert imported(folder(tmp_path)).defects == {}


def test_an_address_that_no_tool_declares_is_a_defect(tmp_path: Path) -> None:
    found = imported(folder(tmp_path, lambda d: d["tool_endpoints"].pop()))
    assert found.defects == {
        "D02": "no such address for helpdesk_close_ticket (none declared); here the tool works"
    }


def test_an_expected_action_gets_the_name_that_the_service_keeps(tmp_path: Path) -> None:
    found = imported(folder(tmp_path, PLANTED["D05"][0]))
    assert found.spec.provenance["expected_actions"] == [
        {"service": "gmail", "action_key": "sent_messages"}
    ]


def test_an_argument_that_the_service_ignores_is_not_advertised(tmp_path: Path) -> None:
    found = imported(folder(tmp_path, PLANTED["D08"][0]))
    shown = found.spec.tool_aliases["helpdesk_update_ticket"].parameters["properties"]
    assert sorted(shown) == ["priority", "ticket_id"]


def test_weights_that_do_not_sum_to_one_are_scaled(tmp_path: Path) -> None:
    found = imported(folder(tmp_path, PLANTED["D10"][0]))
    assert [(c.id, c.weight) for c in found.spec.checks] == [
        ("reading", 0.625),
        ("words_1", 0.1875),
        ("words_2", 0.1875),
    ]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            "Who is free on 2026-03-04?",
            (
                "the request names 2026-03-04 (upstream moves the records of that day; here they "
                "keep it)"
            ),
        ),
        (
            "Who is free on March 4th?",
            "the request names 03-04 (upstream moves the records of that day; here they keep it)",
        ),
        (
            "2026年3月9日谁有空？",
            "the request names 2026-03-09 (no record is of that day, here neither)",
        ),
        ("Who is free in March 2026?", ""),
    ],
)
def test_a_day_of_the_request_is_held_against_the_records_as_upstream_loads_them(
    tmp_path: Path, asked: str, told: str
) -> None:
    def change(data: dict[str, Any]) -> None:
        data["prompt"]["text"] = asked

    found = imported(calendar(tmp_path, tool("calendar_list_events", date="string"), change))
    assert found.defects == ({"D04": told} if told else {})


def test_a_day_that_a_record_of_another_service_holds_is_no_defect(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data["prompt"]["text"] = f"What was reported on {TICKETS[0]['created_at'][:10]}?"

    assert imported(folder(tmp_path, change)).defects == {}


def calendar(root: Path, listing: dict[str, Any], change: Change = lambda _: None) -> Path:
    event = {
        "event_id": "E1",
        "title": "Weekly",
        "start_time": "2026-03-04T09:00:00Z",
        "end_time": "2026-03-04T10:00:00Z",
    }
    return office(root, "calendar", "calendar/events.json", [event], listing, change=change)


def test_a_calendar_asked_by_a_span_is_a_defect_that_works_here(tmp_path: Path) -> None:
    listing = tool("calendar_list_events", start_date="string", end_date="string")
    found = imported(calendar(tmp_path, listing))
    assert found.defects == {
        "D01": "calendar_list_events asks for end_date, start_date where the service wants a date; "
        "here the span works"
    }
    span = {"start_date": "2026-03-01", "end_date": "2026-03-04"}
    listed = World(found.spec).call("calendar_list_events", span).outcome
    assert [event["id"] for event in listed["events"]] == ["E1"]


def test_every_defect_has_a_title() -> None:
    assert sorted(TITLES) == sorted({*PLANTED, "D01", "D04"})
