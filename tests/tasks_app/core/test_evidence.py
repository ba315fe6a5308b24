"""What graders can ask of an episode."""

from typing import Any

import pytest

from tasks_app.core.evidence import (
    EvidenceError,
    Selection,
    has_reference,
    is_reference,
    referenced,
    without_references,
)
from tests.factories.evidence import Rows, call, evidence, stages, tables

ROWS: Rows = {
    "f/r": [{"id": "R1", "order": "A", "n": [{"x": 1}]}, {"id": "R2", "order": "B", "n": []}]
}


def test_a_selection_is_in_id_order_and_a_literal_id_ignores_case() -> None:
    seen = evidence(ROWS)
    assert [row["id"] for row in seen.select("f/r", {})] == ["R1", "R2"]
    assert [row["id"] for row in seen.select("f/r", {"id": "r2"})] == ["R2"]
    assert seen.select("f/r", {"id": "R1", "order": "B"}) == []
    assert seen.select("f/none", {}) == []
    made = Selection("f/r", {"order": {"record": "f/r", "where": {"id": "R1"}, "field": "order"}})
    assert [row["id"] for row in made.of(seen)] == ["R1"]


def test_references_resolve_anywhere_inside_a_value() -> None:
    seen = evidence(ROWS)
    reference = {"record": "f/r", "where": {"order": "A"}, "field": "n.0.x"}
    assert seen.resolve({"a": [reference, 2]}) == {"a": [1, 2]}
    assert seen.resolve({"record": "f/r", "where": {"id": "R2"}}) == "R2"
    for broken, message in [
        ({"record": "f/r"}, "2 records of f/r instead of one"),
        ({"record": "f/none"}, "0 records of f/none instead of one"),
        ({"record": "f/r", "where": {"id": "R1"}, "field": "zip"}, "f/r has no field zip"),
        ({"record": "f/r", "where": {"id": "R1"}, "field": [["a"]]}, "f/r has no field"),
    ]:
        with pytest.raises(EvidenceError, match=message):
            seen.resolve(broken)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"record": "a/b"}, True),
        ({"record": "a/b", "where": {}, "field": "x"}, True),
        ({"record": "a/b", "other": 1}, False),
        ({"record": 1}, False),
        ("a/b", False),
    ],
)
def test_what_is_a_reference(*, value: Any, expected: bool) -> None:
    assert is_reference(value) is expected
    assert has_reference({"x": [value]}) is expected
    assert referenced([value]) == (("a/b",) if expected else ())
    assert without_references({"x": [value]}) == {"x": ["" if expected else value]}


def test_a_reference_reads_the_stage_of_its_check() -> None:
    one, two = tables({"f/r": [{"id": "R1", "v": 1}]}), tables({"f/r": [{"id": "R1", "v": 2}]})
    seen = stages(
        [("day1", one, one, "first"), ("day2", one, two, "second")],
        calls=[call(0, "a", stage="day1"), call(1, "b", stage="day2")],
    )
    reference = {"record": "f/r", "field": "v"}
    assert (seen.resolve(reference, "day1"), seen.resolve(reference)) == (1, 2)
    assert (seen.reply("day1"), seen.reply()) == ("first", "second")
    assert [c.tool for c in seen.calls_of("day2")] == ["b"]
    assert [c.tool for c in seen.calls_of()] == ["a", "b"]
    assert [len(changes) for _, changes in seen.changes()] == [0, 1]
    assert seen.rows("f/r", "day1")["R1"]["v"] == 1
    with pytest.raises(EvidenceError, match="stage day3 was not reached"):
        seen.tables("day3")


def test_calls_are_found_by_tool() -> None:
    seen = evidence(calls=[call(0, "a"), call(1, "b"), call(2, "a", error="timeout")])
    assert [c.index for c in seen.calls_to("a")] == [0, 2]
    assert seen.calls_to("none") == ()
