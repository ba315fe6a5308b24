"""Dates and timestamps: only what exists counts, and arithmetic keeps the form."""

import pytest

from tasks_app.core import instants


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2031-03-20", True),
        ("2031-02-29", False),
        ("2032-02-29", True),
        ("2031-3-20", False),
        ("2031-03-20T09:10:00+01:00", False),
        ("", False),
    ],
)
def test_a_date_is_a_day_that_exists(text: str, expected: bool) -> None:
    assert instants.is_date(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2031-03-20T09:10:00+01:00", True),
        ("2031-03-20T09:10Z", True),
        ("2031-03-20T09:10:00.5+01:00", True),
        ("2031-03-20T09:10:00", False),
        ("2031-13-20T09:10:00Z", False),
        ("2031-03-20 09:10:00Z", False),
    ],
)
def test_an_instant_needs_an_offset(text: str, expected: bool) -> None:
    assert instants.is_instant(text) is expected


def test_the_same_moment_under_two_offsets_is_one_instant() -> None:
    assert instants.parse_instant("2031-03-20T09:10:00+01:00") == instants.parse_instant(
        "2031-03-20T08:10:00Z"
    )


def test_the_day_of_a_timestamp_is_read_under_its_own_offset() -> None:
    assert instants.day_of("2031-03-20T00:30:00+11:00") == "2031-03-20"
    assert instants.day_of("2031-03-20") == "2031-03-20"
    assert instants.day_of("yesterday") is None


def test_adding_crosses_months_and_keeps_the_offset() -> None:
    assert instants.add_days("2031-02-27", 3) == "2031-03-02"
    assert instants.add_minutes("2031-03-20T23:50:00+01:00", 20) == "2031-03-21T00:10:00+01:00"


def test_the_wall_clock_is_read_where_it_hangs() -> None:
    assert instants.wall_clock("2031-11-24T12:15:00+01:00").isoformat() == "2031-11-24T12:15:00"
