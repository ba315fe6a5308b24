"""Whether a loosened check lets anybody do wrong."""

from typing import Any

import pytest

from tasks_app.core.audit.harm import loses, may_end_otherwise, other_number_passes
from tests.factories.examples import MONTH_END, PAYMENT, written
from tests.tasks_app.core.generation.wrong_turns import drafted


def check_of(data: dict[str, Any], field: str) -> dict[str, Any]:
    return next(c for c in data["checks"] if field in c.get("expect", {}))


@pytest.mark.parametrize(
    ("family", "subtype", "field", "may"),
    [
        ("payment_allocation", "oldest_first", "paid_amount", True),
        ("payment_allocation", "oldest_first", "status", False),
        ("meeting_slot", "one_slot_for_all", "start", False),
        ("meeting_slot", "one_slot_for_all", "status", False),
        ("reach_the_right_person", "deputy_on_leave", "person_id", False),
        ("stock_replenishment", "reorder_point", "expected_on", True),
    ],
)
def test_a_field_can_end_otherwise_where_nothing_else_holds_it(
    family: str, subtype: str, field: str, may: bool
) -> None:
    data = drafted(family, subtype, 1).written()
    assert may_end_otherwise(data, check_of(data, field), field) is may


def test_a_field_that_the_write_set_closes_cannot_end_otherwise() -> None:
    data = drafted("payment_allocation", "oldest_first", 1).written()
    data["write_set"] = [rule.replace("paid_amount,", "") for rule in data["write_set"]]
    assert not may_end_otherwise(data, check_of(data, "paid_amount"), "paid_amount")


@pytest.mark.parametrize(
    ("change", "may"),
    [({}, False), ({"stage": "day1"}, True), ({"sheet": "SH-1"}, True), ({"rows": []}, True)],
)
def test_a_cell_that_a_check_of_its_sheet_holds_too_cannot_end_otherwise(
    change: dict[str, Any], may: bool
) -> None:
    data = drafted("batch_recall", "one_batch", 5).written()
    moved = next(c for c in data["checks"] if c["id"] == "o_day2_moved")
    for table in data["checks"]:
        if table["kind"] == "table_rows" and table["stage"] == "day2":
            table.update(change)
    assert may_end_otherwise(data, moved, "D") is may


def test_a_number_left_open_lets_through_who_leaves_one_out() -> None:
    data = written(MONTH_END)
    assert not other_number_passes(data)
    owners = next(c for c in data["checks"] if c["id"] == "d3_owner")
    owners["count"] = {"ge": 1}
    assert other_number_passes(data)


def test_a_number_left_open_changes_nothing_where_each_record_is_asked_for() -> None:
    data = drafted("ticket_triage", "merge_duplicates", 2).written()
    merged = next(c for c in data["checks"] if c["id"] == "o_all")
    merged["count"] = {"ge": 1}
    assert not other_number_passes(data)


def test_a_field_by_which_another_check_counts_the_records_cannot_end_otherwise() -> None:
    data = written(PAYMENT)
    quoted = next(c for c in data["checks"] if c["id"] == "o_quoted")
    assert not may_end_otherwise(data, quoted, "status")
    assert may_end_otherwise(data, quoted, "hold_reason")


@pytest.mark.parametrize(
    ("family", "subtype", "level", "check", "lost"),
    [
        # All that are held are expected to be held for that reason, this one among them.
        ("payment_change_investigation", "callback_denied", 3, "o_reason", False),
        ("payment_change_investigation", "callback_denied", 3, "o_report", True),
        # What an event is called is wording, and the write set asks for its state.
        ("meeting_slot", "shortest_notice", 1, "o_title", False),
        ("meeting_slot", "shortest_notice", 1, "o_end", False),
    ],
)
def test_a_check_is_missed_where_nothing_else_holds_what_it_expects(
    family: str, subtype: str, level: int, check: str, lost: bool
) -> None:
    data = drafted(family, subtype, level).written()
    own = next(one for one in data["checks"] if one["id"] == check)
    assert loses(data, own) is lost


def test_what_an_earlier_day_holds_and_no_rule_opens_since_cannot_end_otherwise() -> None:
    data = drafted("month_end_close", "bank_reconciliation", 1).written()
    moved = next(c for c in data["checks"] if c["id"] == "o_day2_moved")
    assert [may_end_otherwise(data, moved, name) for name in ("B", "C", "D")] == [
        False,
        True,
        True,
    ]
    data["checks"] = [c for c in data["checks"] if c["kind"] != "table_rows"]
    assert may_end_otherwise(data, moved, "B")
