"""The calendar: free time under several offsets, booking, moving, cancelling."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office

ADA, BEN, CY = "ada@firm.example", "ben@firm.example", "cy@firm.example"


def event(number: int, start: str, end: str, *who: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"EV-{number:03d}",
        "title": f"Meeting {number}",
        "start": start,
        "end": end,
        "attendees": list(who),
        **more,
    }


EVENTS = [
    event(1, "2031-06-03T09:00:00+02:00", "2031-06-03T09:45:00+02:00", ADA),
    event(2, "2031-06-03T08:00:00Z", "2031-06-03T08:15:00Z", BEN),
    event(3, "2031-06-03T10:45:00+02:00", "2031-06-03T12:00:00+02:00", "Cy@Firm.example"),
    event(4, "2031-06-03T09:45:00+02:00", "2031-06-03T10:45:00+02:00", CY, status="cancelled"),
    event(5, "2031-06-04T09:00:00+02:00", "2031-06-04T10:00:00+02:00", ADA, BEN),
]
WINDOW = {"start": "2031-06-03T09:00:00+02:00", "end": "2031-06-03T12:00:00+02:00"}


@pytest.fixture
def office() -> Office:
    return Office({"calendar": {"events": EVENTS}})


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["events"]]


def test_the_events_of_a_span_come_earliest_first_whatever_their_offset(office: Office) -> None:
    assert ids(office.call("calendar_list_events", **WINDOW)) == ["EV-001", "EV-002", "EV-003"]
    assert ids(office.call("calendar_list_events", attendee="ada")) == ["EV-001", "EV-005"]


def test_the_only_slot_that_is_free_for_all_is_found(office: Office) -> None:
    found = office.call("calendar_free_busy", attendees=[ADA, BEN, CY], minutes=30, **WINDOW)
    assert found == {
        "busy": [
            {
                "id": "EV-001",
                "start": "2031-06-03T09:00:00+02:00",
                "end": "2031-06-03T09:45:00+02:00",
            },
            {"id": "EV-002", "start": "2031-06-03T08:00:00Z", "end": "2031-06-03T08:15:00Z"},
            {
                "id": "EV-003",
                "start": "2031-06-03T10:45:00+02:00",
                "end": "2031-06-03T12:00:00+02:00",
            },
        ],
        "free": [
            {
                "start": "2031-06-03T10:15:00+02:00",
                "end": "2031-06-03T10:45:00+02:00",
                "part_of_day": "morning",
            }
        ],
    }


def test_slots_carry_their_part_of_the_day_and_can_be_asked_by_it(office: Office) -> None:
    day = {"start": "2031-06-04T09:00:00+02:00", "end": "2031-06-04T20:00:00+02:00"}
    found = office.call("calendar_free_busy", attendees=[ADA], minutes=60, part="midday", **day)
    assert {slot["part_of_day"] for slot in found["free"]} == {"midday"}
    assert found["free"][0]["start"] == "2031-06-04T11:00:00+02:00"
    assert found["free"][-1]["start"] == "2031-06-04T13:45:00+02:00"


def test_an_event_is_booked_for_everybody_once(office: Office) -> None:
    made = office.call(
        "calendar_create_event",
        title="Review",
        start="2031-06-03T10:15:00+02:00",
        end="2031-06-03T10:45:00+02:00",
        attendees=[ADA, BEN, ADA],
    )
    assert made["id"] == "EV-006"
    assert (made["attendees"], made["status"], made["updated_at"]) == ([ADA, BEN], "confirmed", NOW)


def test_a_moved_event_keeps_its_length_unless_an_end_is_given(office: Office) -> None:
    moved = office.call("calendar_move_event", event_id="EV-001", start="2031-06-05T14:00:00+02:00")
    assert (moved["start"], moved["end"]) == (
        "2031-06-05T14:00:00+02:00",
        "2031-06-05T14:45:00+02:00",
    )


def test_more_people_are_invited_but_nobody_twice(office: Office) -> None:
    invited = office.call("calendar_invite_people", event_id="EV-001", attendees=[BEN, ADA])
    assert invited["attendees"] == [ADA, BEN]
    refused = office.refusal("calendar_invite_people", event_id="EV-001", attendees=[ADA])
    assert refused == "conflict"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("calendar_get_event", {"event_id": "EV-9"}, "not_found"),
        ("calendar_move_event", {"event_id": "EV-004", "start": NOW}, "conflict"),
        ("calendar_cancel_event", {"event_id": "EV-004"}, "conflict"),
        (
            "calendar_create_event",
            {"title": "x", "start": NOW, "end": NOW, "attendees": [ADA]},
            "invalid_value",
        ),
        ("calendar_list_events", {"start": "tomorrow"}, "invalid_value"),
        (
            "calendar_free_busy",
            {
                "attendees": [ADA],
                "start": "2031-06-03T09:00:00Z",
                "end": "2031-09-03T09:00:00Z",
            },
            "invalid_value",
        ),
        ("calendar_free_busy", {"attendees": [], **WINDOW}, "invalid_value"),
    ],
)
def test_what_cannot_be_done_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(name, **arguments) == code


def test_a_cancelled_event_keeps_nobody_busy(office: Office) -> None:
    office.call("calendar_cancel_event", event_id="EV-003")
    found = office.call("calendar_free_busy", attendees=[CY], minutes=180, **WINDOW)
    assert [slot["start"] for slot in found["free"]] == ["2031-06-03T09:00:00+02:00"]
