"""recruitment_round: the list, slot or pay of yesterday loses, and so does who only nearly fits."""

from collections.abc import Callable

import pytest

from tests.tasks_app.core.generation.wrong_turns import (
    Steps,
    assert_loses,
    drafted,
    forgetful,
    remembered,
)

FAMILY = "recruitment_round"
MOVED = {
    "shortlist": {"o_day2_out", "r_list", "r_day2"},
    "interview_panel": {"r_time2", "r_day2"},
    "offer": {"o_day2_offer", "r_day2"},
}


@pytest.mark.parametrize("subtype", MOVED)
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_who_forgets_what_moved_without_a_word_keeps_the_first_day(
    subtype: str, level: int
) -> None:
    grade = forgetful(drafted(FAMILY, subtype, level))
    lost = {check.id for check in grade.checks if check.score == 0}
    first = {check.id: check.score for check in grade.checks if "day1" in check.id}
    assert lost >= MOVED[subtype]
    assert set(first.values()) == {1.0}
    assert (grade.passed, grade.total < 0.75) == (False, True)


@pytest.mark.parametrize(
    ("subtype", "read_again"),
    [
        ("shortlist", {"apps2": "apps1"}),
        ("interview_panel", {"now2": "busy0"}),
        ("offer", {"pay2": "pay1"}),
    ],
)
def test_who_takes_the_look_of_the_first_day_loses(
    subtype: str, read_again: dict[str, str]
) -> None:
    grade = remembered(drafted(FAMILY, subtype, 1), read_again)
    assert (grade.passed, grade.total < 0.75) == (False, True)


def _without_certificate_too(steps: Steps) -> None:
    del steps["short"]["each"]["where"]["certificate"]


def _whoever_only_asks(steps: Steps) -> None:
    steps["letter"]["arguments"]["message_id"]["where"]["subject"] = "A question"


def _no_longer_free(steps: Steps) -> None:
    steps["move0_day2"]["arguments"]["start"] = {"from": "book0", "path": "start"}


def _more_than_the_post_pays(steps: Steps) -> None:
    del steps["offer"]["arguments"]["values"]["application"]["where"]["expects"]


def _who_had_withdrawn_too(steps: Steps) -> None:
    steps["refused"]["each"]["from"] = "apps2"


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("shortlist", 1, _without_certificate_too),
        ("shortlist", 4, _whoever_only_asks),
        ("interview_panel", 1, _no_longer_free),
        ("interview_panel", 3, _whoever_only_asks),
        ("offer", 1, _more_than_the_post_pays),
        ("offer", 2, _whoever_only_asks),
        ("offer", 5, _who_had_withdrawn_too),
    ],
)
def test_a_wrong_turn_loses(subtype: str, level: int, turn: Callable[[Steps], None]) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn, below=0.95)


@pytest.mark.parametrize("seed", range(6))
def test_an_offer_goes_to_the_best_of_those_who_are_left_and_within_the_pay(seed: int) -> None:
    spec = drafted(FAMILY, "offer", 4, seed)
    stage = spec.stages[1]
    (pay,) = (m.values["pay"] for m in stage.mutations if m.silent)
    check = next(check for check in spec.written()["checks"] if check["id"] == "o_day2_offer")
    gone = next(check for check in spec.written()["checks"] if check["id"] == "o_day2_withdrawn")
    post = check["where"]["post"]
    left = [
        row
        for row in spec.services["tables"]["rows"]
        if row.get("post") == post
        and row.get("status") == "interviewed"
        and row["expects"] <= pay
        and row["id"] not in gone["expect"]["id"]["in"]
    ]
    best = max(left, key=lambda row: int(row["score"]))
    assert check["expect"] == {"application": best["id"], "pay": pay, "status": "sent"}
