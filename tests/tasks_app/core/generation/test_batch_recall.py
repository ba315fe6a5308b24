"""batch_recall: every pallet and nobody else, as shipments and returns stand on the day."""

from collections.abc import Callable

import pytest

from tests.tasks_app.core.generation.wrong_turns import (
    Steps,
    assert_loses,
    drafted,
    forgetful,
    remembered,
)

FAMILY = "batch_recall"
SUBTYPES = ("one_batch", "mixed_pallets", "wrong_lot")


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("level", [1, 2, 3, 4, 5])
def test_who_forgets_what_moved_writes_to_yesterdays_customer(subtype: str, level: int) -> None:
    grade = forgetful(drafted(FAMILY, subtype, level))
    lost = {check.id for check in grade.checks if check.score == 0}
    first = {check.id: check.score for check in grade.checks if "day1" in check.id}
    assert {"o_day2_moved", "o_day2_log", "r_day2"} <= lost
    assert set(first.values()) == {1.0}
    assert (grade.passed, grade.total < 0.75) == (False, True)


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_who_does_not_look_at_the_shipments_again_loses(subtype: str) -> None:
    grade = remembered(drafted(FAMILY, subtype, 1), {"ships2": "ships1"})
    assert (grade.passed, grade.total < 0.75) == (False, True)


@pytest.mark.parametrize("subtype", SUBTYPES)
def test_who_reports_the_count_of_yesterday_loses(subtype: str) -> None:
    grade = remembered(drafted(FAMILY, subtype, 4), {"returns4": "returns3"})
    scores = {check.id: check.score for check in grade.checks}
    assert (scores["r_report"], scores["r_day4"], grade.passed) == (0.0, 0.0, False)


def _used_ones_too(steps: Steps) -> None:
    del steps["blocked"]["each"]["where"]["status"]


def _another_line(steps: Steps) -> None:
    del steps["blocked"]["each"]["where"]["batch"]["where"]["line"]


def _only_where_it_stands_alone(steps: Steps) -> None:
    where = steps["blocked"]["each"]["where"]
    where["batch"] = where["batch"]["regex"]


def _samples_for_a_result(steps: Steps) -> None:
    where = steps["result"]["arguments"]["message_id"]["where"]
    where["subject"] = {"regex": "^Samples"}


@pytest.mark.parametrize(
    ("subtype", "level", "turn"),
    [
        ("one_batch", 1, _used_ones_too),
        ("wrong_lot", 4, _used_ones_too),
        ("wrong_lot", 1, _another_line),
        ("mixed_pallets", 1, _only_where_it_stands_alone),
        ("mixed_pallets", 3, _samples_for_a_result),
        ("one_batch", 2, _samples_for_a_result),
    ],
)
def test_a_wrong_turn_loses(subtype: str, level: int, turn: Callable[[Steps], None]) -> None:
    assert_loses(drafted(FAMILY, subtype, level), turn, below=0.95)


@pytest.mark.parametrize("subtype", SUBTYPES)
@pytest.mark.parametrize("seed", range(4))
def test_what_is_reported_is_what_was_called_back_less_what_came_back(
    subtype: str, seed: int
) -> None:
    spec = drafted(FAMILY, subtype, 4, seed)
    last = next(c for c in spec.written()["checks"] if c["id"] == "r_report")
    pallets = {r["id"]: r for r in spec.services["tables"]["rows"] if r["id"].startswith("PL-")}
    told = [c for c in spec.written()["checks"] if c["id"].startswith("r_pl")]
    called = {f"PL-{check['id'][4:]}" for check in told}
    back = {
        m.values["pallet"]: m.values["units"]
        for m in spec.stages[2].mutations
        if m.values["pallet"] in called
    }
    (late,) = spec.stages[3].mutations
    record = next(m.values for m in spec.stages[2].mutations if m.values["id"] == late.where["id"])
    back[record["pallet"]] = late.values["units"]
    left = sum(pallets[name]["units"] for name in called) - sum(back.values())
    assert last["text"] == [[{"number": left}]]
