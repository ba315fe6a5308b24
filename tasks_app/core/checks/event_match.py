"""event_match: exactly one event with these attendees, in a window, at a time when they are
free.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from pydantic import Field, field_validator

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.evidence import Evidence
from tasks_app.core.instants import is_instant, parse_instant
from tasks_app.core.results import Judgement
from tasks_app.core.values import address

EVENTS = "calendar/events"
Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
WEEKDAYS: tuple[Weekday, ...] = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class EventMatch(BaseCheck):
    """Holds if one event that touches the window has exactly these attendees and fits.

    It fits if it lies inside the window, lasts `minutes`, and overlaps no other event of anybody in
    `free_for`. A second event with the same attendees in the window fails: move the first instead.
    The organiser may stand among the attendees or not.
    """

    kind: Literal["event_match"]
    attendees: tuple[str, ...] = Field(min_length=1)
    window: tuple[str, str]
    """From and to, as timestamps with offset; both ends belong to it."""
    minutes: int | None = Field(default=None, gt=0)
    free_for: tuple[str, ...] = ()
    """People whose other events must not overlap."""
    weekday: Weekday | tuple[Weekday, ...] = ()
    """Days on which it may start, as its own offset reads them; none named: any."""

    @field_validator("window")
    @classmethod
    def _instants(cls, value: tuple[str, str]) -> tuple[str, str]:
        if not all(is_instant(text) for text in value):
            raise ValueError("window takes two timestamps with offset")
        return value

    def judge(self, evidence: Evidence) -> Judgement:
        """Find the one event and see whether it fits."""
        id_field = evidence.ground.id_fields.get(EVENTS, "id")
        rows = [r for r in evidence.rows(EVENTS, self.stage).values() if not _cancelled(r)]
        low, high = parse_instant(self.window[0]), parse_instant(self.window[1])
        wanted = frozenset(name.casefold() for name in self.attendees)
        found = []
        for row in rows:
            start, end = _times(row)
            if None in (start, end, low, high) or not _overlap(start, end, low, high):
                continue
            people = people_of(row)
            if people in (wanted, wanted | {_organiser(row)}):
                found.append(row)
        cites = tuple(address(EVENTS, row[id_field]) for row in found)
        if len(found) != 1:
            return Judgement(0.0, f"{len(found)} such events in the window", cites)
        return Judgement(*self._fits(found[0], rows), cites)

    def _fits(self, event: Mapping[str, Any], rows: list[Any]) -> tuple[float, str]:
        start, end = _times(event)
        low, high = parse_instant(self.window[0]), parse_instant(self.window[1])
        if start is None or end is None or low is None or high is None:
            return 0.0, "its times cannot be read"
        if start < low or end > high:
            return 0.0, "it lies partly outside the window"
        if self.minutes is not None and (end - start).total_seconds() != self.minutes * 60:
            return 0.0, f"it does not last {self.minutes} minutes"
        days = (self.weekday,) if isinstance(self.weekday, str) else self.weekday
        if days and WEEKDAYS[datetime.fromisoformat(event["start"]).weekday()] not in days:
            return 0.0, f"it is not on {' or '.join(days)}"
        busy = frozenset(name.casefold() for name in self.free_for)
        for other in rows:
            if other is event:
                continue
            engaged = (people_of(other) | {_organiser(other)}) & busy
            if engaged and _overlap(start, end, *_times(other)):
                return 0.0, f"{min(engaged)} has another event then"
        return 1.0, ""

    def reads(self) -> tuple[str, ...]:
        """The calendar."""
        return (EVENTS,)


def people_of(event: Mapping[str, Any]) -> frozenset[str]:
    """Return an event's attendees in lower case."""
    listed = event.get("attendees")
    names = listed if isinstance(listed, list) else []
    return frozenset(
        str(name.get("email", "") if isinstance(name, Mapping) else name).casefold()
        for name in names
    )


def _organiser(event: Mapping[str, Any]) -> str:
    return str(event.get("organiser") or "").casefold()


def _cancelled(event: Mapping[str, Any]) -> bool:
    return event.get("status") in ("cancelled", "canceled")


def _times(event: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    return parse_instant(str(event.get("start", ""))), parse_instant(str(event.get("end", "")))


def _overlap(
    start: datetime | None, end: datetime | None, low: datetime | None, high: datetime | None
) -> bool:
    if start is None or end is None or low is None or high is None:
        return False
    return start < high and low < end
