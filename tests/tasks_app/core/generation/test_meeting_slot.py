"""meeting_slot: one slot is left, and each subtype's wrong turn loses."""

from collections.abc import Callable
from datetime import date

import pytest

from tests.tasks_app.core.generation.wrong_turns import Steps, assert_loses, drafted

FAMILY = "meeting_slot"


def _no_pause(steps: Steps) -> None:
    """The gap right after what the window begins with."""
    arguments = steps["free"]["arguments"]
    arguments["start"] = arguments["start"]["args"][0]
    for name in ("start", "end"):
        steps["booked"]["arguments"][name]["take"] = "first"


def _too_soon(steps: Steps) -> None:
    for name in ("start", "end"):
        del steps["booked"]["arguments"][name]["where"]


def _largest_room(steps: Steps) -> None:
    for name in ("free", "booked"):
        steps[name]["arguments"]["attendees"][-1]["take"] = "last"
    steps["booked"]["arguments"]["location"]["take"] = "last"
    for name in ("start", "end"):
        steps["booked"]["arguments"][name]["take"] = "first"


def _whoever_is_on_leave(steps: Steps) -> None:
    for name in ("free", "booked"):
        steps[name]["arguments"]["attendees"][3] = {"from": "person_2", "path": "email"}
    for name in ("start", "end"):
        steps["booked"]["arguments"][name]["take"] = "first"


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("one_slot_for_all", 1, _no_pause),
        ("one_slot_for_all", 4, _whoever_is_on_leave),
        ("across_zones", 3, _no_pause),
        ("room_and_person", 2, _largest_room),
        ("shortest_notice", 1, _too_soon),
        ("shortest_notice", 5, _too_soon),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn)


def test_standing_meetings_and_the_day_itself_are_on_working_days() -> None:
    for subtype in ("one_slot_for_all", "across_zones", "room_and_person", "shortest_notice"):
        spec = drafted(FAMILY, subtype, 3)
        events = spec.services["calendar"]["events"]
        assert {date.fromisoformat(event["start"][:10]).weekday() for event in events} <= {
            0,
            1,
            2,
            3,
            4,
        }
