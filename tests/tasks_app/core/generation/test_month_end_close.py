"""month_end_close: whoever does not look again, or takes what only nearly belongs, loses."""

from collections.abc import Callable

import pytest

from tests.tasks_app.core.generation.wrong_turns import (
    Steps,
    assert_loses,
    drafted,
    forgetful,
    remembered,
)

FAMILY = "month_end_close"
REGISTERS = {
    "accruals_and_handover": "due",
    "intercompany": "ours",
    "bank_reconciliation": "bank",
}


@pytest.mark.parametrize("subtype", REGISTERS)
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_who_forgets_what_moved_overnight_keeps_only_the_first_day(
    subtype: str, level: int
) -> None:
    grade = forgetful(drafted(FAMILY, subtype, level))
    lost = {check.id for check in grade.checks if check.score == 0}
    assert {"o_day2_moved", "r_figures2", "r_day2"} <= lost
    assert {check.score for check in grade.checks if check.id.endswith("day1")} == {1.0}
    assert (grade.passed, grade.total < 0.75) == (False, True)


@pytest.mark.parametrize(("subtype", "register"), REGISTERS.items())
def test_who_sends_the_figure_of_yesterdays_look_loses(subtype: str, register: str) -> None:
    grade = remembered(drafted(FAMILY, subtype, 1), {f"{register}2": f"{register}1"})
    scores = {check.id: check.score for check in grade.checks}
    assert (scores["o_day2_moved"], scores["r_figures2"], grade.passed) == (0.0, 0.0, False)


def _capital_goods_too(steps: Steps) -> None:
    del steps["rows"]["arguments"]["values"]["args"][0]["where"]["kind"]


def _what_came_after_the_month(steps: Steps) -> None:
    del steps["rows"]["arguments"]["values"]["args"][0]["where"]["received_on"]


def _loans_too(steps: Steps) -> None:
    del steps["rows"]["each"]["args"][0]["where"]["kind"]


def _what_is_pending_too(steps: Steps) -> None:
    del steps["rows"]["arguments"]["values"]["args"][0]["where"]["status"]


def _the_letter_that_settles_nothing(steps: Steps) -> None:
    where = steps["letter"]["arguments"]["message_id"]["where"]
    where["subject"] = {"regex": "^(Pro forma|Question|Search)"}


def _items_of_the_next_month_too(steps: Steps) -> None:
    del steps["owner"]["each"]["where"]["period"]


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("accruals_and_handover", 1, _capital_goods_too),
        ("accruals_and_handover", 4, _what_came_after_the_month),
        ("accruals_and_handover", 2, _the_letter_that_settles_nothing),
        ("accruals_and_handover", 3, _items_of_the_next_month_too),
        ("intercompany", 1, _loans_too),
        ("intercompany", 3, _the_letter_that_settles_nothing),
        ("bank_reconciliation", 1, _what_is_pending_too),
        ("bank_reconciliation", 5, _the_letter_that_settles_nothing),
        ("bank_reconciliation", 4, _items_of_the_next_month_too),
    ],
)
def test_a_wrong_turn_loses(subtype: str, level: int, turn: Callable[[Steps], None]) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn, below=0.95)


@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_days_grow_with_difficulty_and_what_moves_is_never_told(level: int) -> None:
    spec = drafted(FAMILY, "intercompany", level)
    assert len(spec.timeline) == {1: 2, 2: 2, 3: 3, 4: 3, 5: 4}[level]
    for stage in spec.timeline:
        for mutation in (m for m in stage.mutations if m.silent):
            assert str(mutation.where["id"]) not in (stage.notification or "")
