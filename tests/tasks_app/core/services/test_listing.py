import copy
import sys
from typing import Any

import pytest

from tasks_app.core.calls import ToolError
from tasks_app.core.services.listing import (
    by_time,
    given,
    in_days,
    moment,
    number,
    objects,
    page,
    search,
    select,
    state_of,
    summary_of,
    text_of,
)
from tasks_app.core.values import freeze

ROWS: list[dict[str, Any]] = [
    {"id": "A", "name": "Grüße aus Århus", "n": {"deep": ["x", 85.1]}, "on": "2031-03-02"},
    {"id": "B", "name": "grüsse", "flag": True, "on": "2031-03-01T23:30:00-05:00"},
    {"id": "C", "name": None, "on": "2031-03-01"},
    {"id": "D", "tags": ["Red", "blue"], "on": 5},
]


def ids(rows: list[dict[str, Any]]) -> list[str]:
    return [row["id"] for row in rows]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["A", "B", "C", "D"]),
        (None, ["A", "B", "C", "D"]),
        ("  ", ["A", "B", "C", "D"]),
        ("GRÜSSE", ["A", "B"]),
        ("århus 85.1", ["A"]),
        ("x århus", ["A"]),
        ("true", []),
        ("none", []),
        ("name", []),
        ("red blue", ["D"]),
    ],
)
def test_search_reads_values_at_any_depth_but_no_names_of_fields(
    query: str | None, found: list[str]
) -> None:
    assert ids(search(ROWS, query)) == found


def test_text_of_a_record_is_remembered_for_that_record_alone() -> None:
    first, second = freeze({"id": "A"}), freeze({"id": "B"})
    assert (text_of(first), text_of(first), text_of(second)) == ("a", "a", "b")


def test_select_compares_texts_without_case_and_looks_into_lists() -> None:
    assert ids(select(ROWS, tags="RED")) == ["D"]
    assert ids(select(ROWS, id="a", name=None)) == ["A"]
    assert ids(select(ROWS, on="5")) == ["D"]
    assert ids(select(ROWS, flag="true")) == []


def test_days_are_read_in_the_offset_that_is_written() -> None:
    assert ids(in_days(ROWS, "on", "2031-03-01", "2031-03-01")) == ["B", "C"]
    assert ids(in_days(ROWS, "on", None, None)) == ["A", "B", "C", "D"]
    assert ids(in_days(ROWS, "on", "2031-03-02", None)) == ["A"]


def test_by_time_orders_by_instant_then_id() -> None:
    assert ids(by_time(ROWS, "on")) == ["D", "C", "A", "B"]
    same = [
        {"id": "Z", "on": "2031-03-01T10:00:00+01:00"},
        {"id": "Y", "on": "2031-03-01T09:00:00Z"},
    ]
    assert ids(by_time(same, "on")) == ["Y", "Z"]
    assert moment("soon") == "soon"


def test_page_caps_and_summarises() -> None:
    assert page("rows", ROWS, 1, ("name", "id", "none")) == {
        "rows": [{"name": "Grüße aus Århus", "id": "A"}],
        "total": 4,
    }
    assert page("rows", ROWS[2:3], 5) == {"rows": [ROWS[2]], "total": 1}


def test_odd_values_count_as_nothing() -> None:
    odd: list[Any] = [2, 2.5, True, "2", None, []]
    assert [number(value) for value in odd] == [2, 2.5, 0, 0, 0, 0]
    assert objects([{"a": 1}, 5, None]) == [{"a": 1}]
    assert objects("text") == []
    assert [state_of(row) for row in ({"status": "Open"}, {"status": 5}, {})] == ["open", "", ""]


def test_given_drops_none_and_wants_something() -> None:
    assert given(a=1, b=None, c=False) == {"a": 1, "c": False}
    with pytest.raises(ToolError, match="give at least one of a, b"):
        given(a=None, b=None)


def test_what_is_read_out_of_a_record_is_kept_with_it_and_goes_when_it_goes() -> None:
    record = freeze({"id": "TK-1", "subject": "Late Parcel", "priority": 2})

    text, summary = text_of(record), summary_of(record, ("id",))

    assert text_of(record) is text
    assert summary_of(record, ("id",)) is summary
    assert summary_of(record, ("subject", "id")) == {"subject": "Late Parcel", "id": "TK-1"}
    assert [hasattr(copy.copy(record), kept) for kept in ("text", "summaries")] == [False, False]


def test_no_record_outlives_its_world_because_it_was_searched() -> None:
    lines = freeze(["one line", "another"])
    before = sys.getrefcount(lines)
    record = freeze({"id": "TK-1", "lines": lines})

    found = search([record], "another"), summary_of(record, ("id", "lines"))
    assert found == ([record], record)

    del record, found
    assert sys.getrefcount(lines) == before
