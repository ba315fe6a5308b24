"""Time zones by rule, so that neither this machine's table of zones nor its version decides.

Held are zones that keep one offset, and those with European summer time. Of others nothing is said.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Final, NamedTuple

_EUROPE: Final[Mapping[int, str]] = {
    0: "Dublin Lisbon London",
    1: (
        "Amsterdam Belgrade Berlin Bratislava Brussels Budapest Copenhagen Ljubljana Luxembourg "
        "Madrid Oslo Paris Prague Rome Stockholm Vienna Warsaw Zagreb Zurich"
    ),
    2: "Athens Bucharest Helsinki Riga Sofia Tallinn Vilnius",
}
"""Standard offset → cities that keep European summer time."""
_STEADY: Final[Mapping[str, int]] = {
    "Africa/Johannesburg": 2,
    "Africa/Lagos": 1,
    "Africa/Nairobi": 3,
    "America/Bogota": -5,
    "America/Lima": -5,
    "Asia/Bangkok": 7,
    "Asia/Dubai": 4,
    "Asia/Hong_Kong": 8,
    "Asia/Jakarta": 7,
    "Asia/Manila": 8,
    "Asia/Seoul": 9,
    "Asia/Shanghai": 8,
    "Asia/Singapore": 8,
    "Asia/Taipei": 8,
    "Asia/Tokyo": 9,
}
"""Zones without summer time."""


class Zone(NamedTuple):
    """A time zone by its standard offset and whether it keeps European summer time."""

    name: str
    hours: int
    summer: bool


def _known() -> dict[str, Zone]:
    kept = [
        Zone(f"Europe/{city}", hours, True)
        for hours, cities in _EUROPE.items()
        for city in cities.split()
    ]
    steady = [Zone(name, hours, False) for name, hours in _STEADY.items()]
    return {zone.name: zone for zone in (*kept, *steady)}


KNOWN: Final[Mapping[str, Zone]] = _known()
"""Name → zone."""


def last_sunday(year: int, month: int) -> date:
    """The last Sunday of a month with 31 days (March, October)."""
    end = date(year, month, 31)
    return end - timedelta(days=(end.weekday() + 1) % 7)


def offset_hours(zone: Zone, day: date) -> int:
    """Hours from UTC on a day; European summer time is from the last Sunday of March to that of
    October.
    """
    if zone.summer and last_sunday(day.year, 3) <= day < last_sunday(day.year, 10):
        return zone.hours + 1
    return zone.hours


def changes_on(zone: Zone, day: date) -> bool:
    """Say whether clocks are put forward or back on a day: then both offsets are right."""
    return zone.summer and day in (last_sunday(day.year, 3), last_sunday(day.year, 10))
