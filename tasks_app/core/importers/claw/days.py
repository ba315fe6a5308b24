"""Days that Claw-Eval's texts name, and the one frozen day of an imported task."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.importers.claw.folder import Folder, ImportProblemError
from tasks_app.core.importers.claw.homes import HOMES
from tasks_app.core.importers.claw.upstream import MOVED
from tasks_app.core.instants import add_days, day_of, parse_instant

PERIOD: Final = "2026-02-28"
"""The day before the task's where nothing in it says one: the time the benchmark is set in."""
_PAST: Final = (
    "date",
    "created_at",
    "last_updated",
    "last_contact_date",
    "published_at",
    "last_run",
    "last_verified",
)
"""Fields whose dates lie behind the task's day."""
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december"),
)
_NUMBERED: Final = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(?!\d)")
_CHINESE: Final = re.compile(r"(?<![\d年])(\d{1,2})月(\d{1,2})[日号]")
_ENGLISH: Final = re.compile(
    rf"\b({'|'.join(_MONTHS)})\s+(\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(\d{{4}}))?",
    re.IGNORECASE,
)

Services = Mapping[str, Mapping[str, Sequence[Mapping[str, Any]]]]


class Day(NamedTuple):
    """A day that a text names, perhaps without its year."""

    year: int | None
    month: int
    day: int

    def __str__(self) -> str:
        year = "" if self.year is None else f"{self.year}-"
        return f"{year}{self.month:02}-{self.day:02}"


def days_in(text: str) -> Iterator[Day]:
    """Yield the days that a text names, in Chinese, English or numbers."""
    for found in _NUMBERED.finditer(text):
        yield Day(int(found[1]), int(found[2]), int(found[3]))
    for found in _CHINESE.finditer(text):
        yield Day(None, int(found[1]), int(found[2]))
    for found in _ENGLISH.finditer(text):
        year = int(found[3]) if found[3] else None
        yield Day(year, _MONTHS.index(found[1].lower()) + 1, int(found[2]))


def unmatched_days(folder: Folder, services: Services) -> list[str]:
    """Return the days of the request that no record matches as upstream loads them (D04), each with
    what becomes of it here.

    Upstream moves the dates of mail and calendar to the present day, so that none of their records
    stands on a day that the request names; here all dates stay as written.
    """
    moved = {home.service for name in MOVED for home in HOMES[name]}
    still: set[Day] = set()
    written: set[Day] = set()
    for service, collections in services.items():
        for rows in collections.values():
            days = {day for row in rows for text in _texts(row) for day in days_in(text)}
            written |= days
            if service not in moved:
                still |= days
    found: list[str] = []
    for day in dict.fromkeys(days_in(folder.text("text", "prompt"))):
        if any(_same(day, other) for other in still):
            continue
        if any(_same(day, other) for other in written):
            found.append(f"{day} (upstream moves the records of that day; here they keep it)")
        elif moved & set(services):
            found.append(f"{day} (no record is of that day, here neither)")
    return found


def _same(one: Day, other: Day) -> bool:
    years = one.year is None or other.year is None or one.year == other.year
    return years and (one.month, one.day) == (other.month, other.day)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def clock_of(services: Services) -> str:
    """Return nine o'clock on the day after the newest date that a record holds about its past.

    Where no record has a past, it is the day before the first event of the calendar.
    """
    past = (
        day
        for collections in services.values()
        for rows in collections.values()
        for row in rows
        for field in _PAST
        if (day := _day(row.get(field))) is not None
    )
    newest = max(past, default="")
    if not newest:
        events = services.get("calendar", {}).get("events", ())
        days = [day_of(str(event.get("start"))) for event in events]
        first = min((day for day in days if day is not None), default=None)
        newest = PERIOD if first is None else add_days(first, -2)
    start = f"{newest}T09:00:00+00:00"
    if parse_instant(start) is None:
        raise ImportProblemError(f"{newest} is no day of the calendar")
    try:
        return f"{add_days(newest, 1)}T09:00:00+00:00"
    except OverflowError as problem:
        raise ImportProblemError(f"no day follows {newest}") from problem


def _day(value: Any) -> str | None:
    if not isinstance(value, str):
        return None
    day = day_of(value)
    if day is None and re.match(r"\d{4}-\d{2}-\d{2}[ T]", value):
        return value[:10]
    return day
