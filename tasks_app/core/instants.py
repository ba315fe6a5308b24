"""Dates and timestamps as the text that records hold: ISO 8601, timestamps with an offset."""

import functools
import re
from datetime import UTC, date, datetime, timedelta
from typing import Final

MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
WEEKDAYS: Final = (
    "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
)  # fmt: skip
ISO_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?![\d-])")
"""A day that a text begins with, whether the calendar has it or not."""
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT: Final = re.compile(
    r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})"
)

_YEARS_TO_A_LEAP_DAY: Final = 9
"""29 February comes within so many years, both counted: 1896 was followed by 1904."""


def is_date(text: str) -> bool:
    """Say whether a text is an existing day such as 2031-03-20."""
    return _DATE.fullmatch(text) is not None and parse_date(text) is not None


def is_instant(text: str) -> bool:
    """Say whether a text is a timestamp with offset."""
    return _INSTANT.fullmatch(text) is not None and parse_instant(text) is not None


@functools.lru_cache(maxsize=1024)
def parse_date(text: str) -> date | None:
    """Return the day, None if the text is none."""
    if _DATE.fullmatch(text) is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@functools.lru_cache(maxsize=1024)
def parse_instant(text: str) -> datetime | None:
    """Return the instant in UTC, None if the text is no timestamp with offset."""
    if _INSTANT.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def day_of(text: str) -> str | None:
    """Return the day of a date or timestamp as its own offset reads it."""
    if parse_date(text) is not None:
        return text
    return text[:10] if parse_instant(text) is not None else None


def wall_clock(text: str) -> datetime:
    """Return a timestamp as the clock on the wall there reads it, without offset. Raises
    ValueError.
    """
    return datetime.fromisoformat(text).replace(tzinfo=None)


def add_days(day: str, count: int) -> str:
    """Return the date `count` days after a date. Raises ValueError for what is no date."""
    return (date.fromisoformat(day) + timedelta(days=count)).isoformat()


def add_minutes(instant: str, count: int) -> str:
    """Return the timestamp `count` minutes later, in the same offset. Raises ValueError."""
    return (datetime.fromisoformat(instant) + timedelta(minutes=count)).isoformat()


def named_day(text: str, earliest: str) -> str | None:
    """Return the first day from a date on that is called so, such as “Friday” or “14 March”; None
    for what is no such name.
    """
    first = parse_date(earliest)
    if first is None:
        return None
    if text.capitalize() in WEEKDAYS:
        ahead = (WEEKDAYS.index(text.capitalize()) - first.weekday()) % 7
        return (first + timedelta(days=ahead)).isoformat()
    number, _, month = text.partition(" ")
    if not number.isdecimal() or month.capitalize() not in MONTHS:
        return None
    place = MONTHS.index(month.capitalize()) + 1
    for year in range(first.year, first.year + _YEARS_TO_A_LEAP_DAY):
        found = parse_date(f"{year:04d}-{place:02d}-{int(number):02d}")
        if found is not None and found >= first:
            return found.isoformat()
    return None
