"""reach_the_right_person: the way to the person decides, and each subtype's wrong turn loses."""

from collections.abc import Callable
from typing import Any

import pytest

from tasks_app.core.spec import TaskSpec
from tests.tasks_app.core.generation.wrong_turns import Steps, drafted, played

FAMILY = "reach_the_right_person"
MESSAGE = "contacts_send_message"


def _to_the_holder(steps: Steps) -> None:
    held = {"from": "people", "path": "people", "field": "id"}
    told = steps["told"]["arguments"]
    if "person0" in steps:
        told["person_id"] = {"from": "person0", "path": "id"}
    elif "holder" in steps:
        told["person_id"] = {"from": "holder", "path": "id"}
    else:
        where = steps["team"]["arguments"]["team"]["where"]
        told["person_id"] = {**held, "where": where}


def _to_the_deputy_of_the_directory(steps: Steps) -> None:
    steps["told"]["arguments"]["person_id"] = {"from": "person0", "path": "deputy_id"}


def _meetings_are_absence(steps: Steps) -> None:
    where = steps["told"]["arguments"]["person_id"]["where"]
    del where["email"]["not_in"]["where"]


def _the_role_at_another_site(steps: Steps) -> None:
    del steps["people"]["arguments"]["site"]
    steps["told"]["arguments"]["person_id"]["take"] = "first"


def _another_of_that_name(steps: Steps) -> None:
    choice = steps["told"]["arguments"]["person_id"]
    choice["where"]["team"] = {"ne": choice["where"]["team"]}
    choice["take"] = "first"


def _another_shift(steps: Steps) -> None:
    choice = steps["told"]["arguments"]["person_id"]
    choice["where"]["shift"] = {"ne": choice["where"]["shift"]}
    choice["take"] = "first"


def _by_the_plan_alone(steps: Steps) -> None:
    steps["found"]["arguments"]["query"] = {"from": "duty", "path": "attendees.0"}


def _swap_of_another_day(steps: Steps) -> None:
    chosen = steps["found"]["arguments"]["query"]["args"][0]
    day = chosen["where"]["text"]["contains_all"][0]
    chosen["where"]["text"] = {
        "contains_all": ["takes my shift"],
        "regex": f"^(?:[^{day[-1]}]|.)*$",
    }
    chosen["take"] = "last"


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("deputy_on_leave", 1, _to_the_holder),
        ("deputy_on_leave", 2, _to_the_holder),
        ("deputy_on_leave", 3, _meetings_are_absence),
        ("deputy_on_leave", 4, _to_the_deputy_of_the_directory),
        ("deputy_on_leave", 5, _to_the_deputy_of_the_directory),
        ("role_not_name", 1, _the_role_at_another_site),
        ("role_not_name", 3, _to_the_holder),
        ("role_not_name", 5, _meetings_are_absence),
        ("same_name", 1, _another_of_that_name),
        ("same_name", 4, _to_the_holder),
        ("site_and_shift", 1, _another_shift),
        ("site_and_shift", 3, _by_the_plan_alone),
        ("site_and_shift", 5, _swap_of_another_day),
    ],
)
def test_the_wrong_turn_of_a_subtype_loses(
    subtype: str, level: int, turn: Callable[[Steps], None]
) -> None:
    spec = drafted(FAMILY, subtype, level)
    right, wrong = played(spec, lambda _: None), played(spec, turn)
    assert (right.total, right.passed, wrong.total) == (1.0, True, 0.0)


def _records(spec: TaskSpec, service: str, collection: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = spec.written()["services"][service][collection]
    return rows


@pytest.mark.parametrize("seed", range(12))
def test_who_is_told_is_there_whatever_the_directory_says(seed: int) -> None:
    spec = drafted(FAMILY, "role_not_name", 4, seed)
    told = spec.checks[0].plain["where"]["person_id"]
    person = next(p for p in _records(spec, "contacts", "people") if p["id"] == told)
    own = [e for e in _records(spec, "calendar", "events") if person["email"] in e["attendees"]]
    now = spec.clock.start
    going_on = [e["title"] for e in own if e["start"] <= now < e["end"]]
    leaves = {"Annual leave", "Sick leave", "Parental leave", "Business trip"}
    assert person["status"] == "on_leave"
    assert going_on
    assert not leaves & set(going_on)
    assert leaves & {e["title"] for e in own}


@pytest.mark.parametrize("seed", range(12))
def test_no_two_people_of_a_directory_share_an_address_and_deputies_exist(seed: int) -> None:
    people = _records(drafted(FAMILY, "same_name", 5, seed), "contacts", "people")
    ids = {p["id"] for p in people}
    assert len({p["email"] for p in people}) == len(people)
    assert {p["deputy_id"] for p in people} <= ids
    assert all(p["deputy_id"] != p["id"] for p in people)


def test_a_second_message_and_a_post_in_the_channel_are_possible_and_cost_everything() -> None:
    spec = drafted(FAMILY, "deputy_on_leave", 4)
    kinds = {c.id: (c.plain["kind"], c.gate) for c in spec.constraints}
    assert kinds["k_one"] == ("at_most", True)
    assert kinds["k_channel"] == ("forbid_tool", True)
    assert {MESSAGE, "chat_create_post"} <= set(spec.tools)
