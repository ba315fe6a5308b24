"""Time zones by rule."""

from datetime import date

import pytest

from tasks_app.core.zones import KNOWN, changes_on, offset_hours


@pytest.mark.parametrize(
    ("name", "day", "hours"),
    [
        ("Europe/Berlin", date(2031, 1, 15), 1),
        ("Europe/Berlin", date(2031, 7, 15), 2),
        ("Europe/Lisbon", date(2031, 3, 29), 0),
        ("Europe/Lisbon", date(2031, 3, 31), 1),
        ("Europe/Helsinki", date(2031, 10, 25), 3),
        ("Europe/Helsinki", date(2031, 10, 27), 2),
        ("Asia/Shanghai", date(2031, 7, 15), 8),
        ("America/Bogota", date(2031, 7, 15), -5),
    ],
)
def test_a_zone_has_its_offset_on_a_day(name: str, day: date, hours: int) -> None:
    assert offset_hours(KNOWN[name], day) == hours


def test_clocks_change_on_two_sundays_where_there_is_summer_time() -> None:
    days = [date(2031, 3, 30), date(2031, 10, 26), date(2031, 6, 1)]
    assert [changes_on(KNOWN["Europe/Berlin"], day) for day in days] == [True, True, False]
    assert [changes_on(KNOWN["Asia/Tokyo"], day) for day in days] == [False, False, False]
