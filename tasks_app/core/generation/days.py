"""Days as people write them, in words that do not hang on a locale."""

from datetime import date
from typing import Any

from tasks_app.core.instants import MONTHS, WEEKDAYS


def month_of(day: date) -> str:
    """The name of a day's month."""
    return MONTHS[day.month - 1]


def weekday_of(day: date) -> str:
    """The name of a day's weekday."""
    return WEEKDAYS[day.weekday()]


def short_day(day: date) -> str:
    """Such as `14 March`."""
    return f"{day.day} {month_of(day)}"


def long_day(day: date) -> str:
    """Such as `Friday 14 March`."""
    return f"{weekday_of(day)} {short_day(day)}"


def spellings(day: date) -> list[Any]:
    """The ways in which a report may write a day: text pieces of which one is enough."""
    month = month_of(day)
    return [
        day.isoformat(),
        f"{day.day} {month}",
        f"{month} {day.day}",
        f"{day.day} {month[:3]}",
        f"{day.day:02d} {month[:3]}",
        f"{day.day:02d}.{day.month:02d}.",
        f"{day.day:02d}/{day.month:02d}/{day.year}",
        {"regex": rf"\b{day.day}(st|nd|rd|th) (of )?{month}\b"},
    ]
