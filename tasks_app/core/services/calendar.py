"""Calendars: events of people, and when all of some people are free.

Times are timestamps with an offset; two offsets of one instant are the same time. An event that is
cancelled keeps nobody busy and cannot be moved.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.instants import add_minutes, parse_instant
from tasks_app.core.services.base import (
    Day,
    Email,
    Instant,
    Limit,
    Query,
    RecordId,
    Service,
    Text,
    collection,
    tool,
)
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    by_time,
    page,
    search,
    state_of,
)

People = Annotated[Sequence[Email], Field(min_length=1, max_length=50)]
Minutes = Annotated[int, Field(ge=5, le=1440)]
PartOfDay = Literal["morning", "midday", "afternoon", "evening"]

OPENING: Final = 9 * 60
CLOSING: Final = 18 * 60
"""Working hours, in minutes after midnight."""
GRID: Final = 15
"""Minutes between the starts of offered slots."""
MOST_SLOTS: Final = 200
LONGEST_WINDOW: Final = timedelta(days=31)
_SUMMARY: Final = ("id", "title", "start", "end", "attendees", "organiser", "location", "status")
_PARTS: Final[tuple[tuple[int, PartOfDay], ...]] = (
    (11 * 60, "morning"),
    (14 * 60, "midday"),
    (18 * 60, "afternoon"),
    (24 * 60, "evening"),
)


class Event(TypedDict, total=False):
    """A meeting."""

    id: ReadOnly[str]
    title: ReadOnly[str]
    start: ReadOnly[str]
    end: ReadOnly[str]
    attendees: ReadOnly[Sequence[str]]
    organiser: ReadOnly[str | None]
    location: ReadOnly[str | None]
    status: ReadOnly[str]
    note: ReadOnly[str | None]
    updated_at: ReadOnly[str]


class Calendar(Service):
    """Events and free time."""

    name = "calendar"
    function = "scheduling"
    purpose = "See who meets when, find free time, book, move and cancel."

    events = collection(Event, prefix="EV", width=3)

    @tool()
    def list_events(
        self,
        start: Instant | None = None,
        end: Instant | None = None,
        attendee: Word | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """List events that touch a span of time, earliest first.

        Args:
            start: Only events that end after this moment.
            end: Only events that begin before this moment.
            attendee: Only events of this person: a mail address, or part of one.
            limit: How many to show at most.
        """
        rows = [event for event in self.events if _touches(event, start, end)]
        if attendee is not None:
            folded = attendee.casefold()
            rows = [e for e in rows if any(folded in who for who in _attendees(e))]
        return page("events", by_time(rows, "start"), limit, _SUMMARY)

    @tool()
    def search_events(self, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find events in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the event, such as a title or a name.
            limit: How many to show at most.
        """
        return page("events", search(self.events, query), limit, _SUMMARY)

    @tool()
    def get_event(self, event_id: RecordId) -> Event:
        """Show one event.

        Args:
            event_id: The event to show.
        """
        return self.events[event_id]

    @tool()
    def free_busy(
        self,
        attendees: People,
        start: Instant,
        end: Instant,
        minutes: Minutes = 30,
        part: PartOfDay | None = None,
        limit: Limit = DEFAULT_LIMIT,
    ) -> Mapping[str, Any]:
        """Show when people are busy, and the slots in which all of them are free.

        Args:
            attendees: The people who must all be free.
            start: Where the span begins.
            end: Where it ends.
            minutes: How long the slot must be.
            part: Only slots in this part of the day.
            limit: How many slots to show at most.
        """
        opening, closing = _moment(start), _moment(end)
        if closing <= opening:
            raise ToolError("invalid_value", "the span ends before it begins")
        if closing - opening > LONGEST_WINDOW:
            raise ToolError("invalid_value", "the span is longer than 31 days")
        wanted = {who.casefold() for who in attendees}
        busy = [
            event
            for event in by_time(self.events, "start")
            if wanted & set(_attendees(event)) and _touches(event, start, end)
        ]
        spans = [(_moment(str(e.get("start"))), _moment(str(e.get("end")))) for e in busy]
        slots: list[Mapping[str, str]] = []
        length = int((closing - opening).total_seconds()) // 60
        for offset in range(0, length - minutes + 1, GRID):
            begin = opening + timedelta(minutes=offset)
            finish = begin + timedelta(minutes=minutes)
            if any(begin < taken_end and finish > taken for taken, taken_end in spans):
                continue
            written = add_minutes(start, offset)
            label = part_of_day(written)
            if part is not None and part != label:
                continue
            slots.append(
                {"start": written, "end": add_minutes(written, minutes), "part_of_day": label}
            )
            if len(slots) >= min(limit, MOST_SLOTS):
                break
        return {
            "busy": [
                {"id": e.get("id"), "start": e.get("start"), "end": e.get("end")} for e in busy
            ],
            "free": slots,
        }

    @tool()
    def find_slots(
        self, event_id: RecordId, day: Day, part: PartOfDay | None = None
    ) -> Mapping[str, Any]:
        """Find the slots of a day to which an event could move: all who are invited are free.

        Args:
            event_id: The event that is to move.
            day: The day to look at.
            part: Only slots in this part of the day.
        """
        event = self._open(event_id)
        start = str(event.get("start"))
        minutes = _length(event)
        offset = datetime.fromisoformat(start).strftime("%z")
        zone = f"{offset[:3]}:{offset[3:5]}"
        wanted = set(_attendees(event))
        spans = [
            (_moment(str(e.get("start"))), _moment(str(e.get("end"))))
            for e in self.events
            if e.get("id") != event_id
            and wanted & set(_attendees(e))
            and state_of(e) != "cancelled"
        ]
        slots = []
        for minute in range(OPENING, CLOSING - minutes + 1, minutes):
            begins = f"{day}T{minute // 60:02d}:{minute % 60:02d}:00{zone}"
            begin, finish = _moment(begins), _moment(add_minutes(begins, minutes))
            label = part_of_day(begins)
            if part not in (None, label) or any(begin < e and finish > b for b, e in spans):
                continue
            slots.append({"start": begins, "part_of_day": label})
        return {"slots": slots}

    @tool(
        writes=True,
        text=("title", "note"),
        recipients=("attendees",),
        fills=("events#organiser", "events#updated_at", "events#status"),
    )
    def create_event(
        self,
        title: Word,
        start: Instant,
        end: Instant,
        attendees: People,
        location: Word | None = None,
        note: Text | None = None,
    ) -> Event:
        """Book an event and invite people to it.

        Args:
            title: What it is about.
            start: When it begins.
            end: When it ends.
            attendees: Everybody who is invited.
            location: Where it takes place.
            note: What the invitation says.
        """
        _ordered(start, end)
        event: dict[str, Any] = {
            "id": self.events.new_id(),
            "title": title,
            "start": start,
            "end": end,
            "attendees": list(dict.fromkeys(attendees)),
            "organiser": self.mailbox,
            "location": location,
            "note": note,
            "status": "confirmed",
            "updated_at": self.now,
        }
        return self.events.put(cast(Event, event))

    @tool(writes=True, fills=("events#updated_at",))
    def move_event(self, event_id: RecordId, start: Instant, end: Instant | None = None) -> Event:
        """Move an event to another time; everybody stays invited.

        Args:
            event_id: The event to move.
            start: When it begins now.
            end: When it ends now; left out, it stays as long as it was.
        """
        event = self._open(event_id)
        if end is None:
            end = add_minutes(start, _length(event))
        _ordered(start, end)
        return self._put(event, {"start": start, "end": end})

    @tool(writes=True, fills=("events#updated_at",))
    def cancel_event(self, event_id: RecordId) -> Event:
        """Cancel an event; it stays in the calendar as cancelled.

        Args:
            event_id: The event to cancel.
        """
        return self._put(self._open(event_id), {"status": "cancelled"})

    @tool(writes=True, fills=("events#updated_at",))
    def invite_people(self, event_id: RecordId, attendees: People) -> Event:
        """Invite more people to an event.

        Args:
            event_id: The event they are invited to.
            attendees: The people to add.
        """
        event = self._open(event_id)
        known = event.get("attendees")
        there = [str(who) for who in known] if isinstance(known, list) else []
        new = [who for who in attendees if who.casefold() not in {t.casefold() for t in there}]
        if not new:
            raise ToolError("conflict", f"they are all invited to {event_id} already")
        return self._put(event, {"attendees": [*there, *dict.fromkeys(new)]})

    def _open(self, event_id: str) -> Event:
        event = self.events[event_id]
        if state_of(event) == "cancelled":
            raise ToolError("conflict", f"{event_id} is cancelled")
        return event

    def _put(self, event: Event, values: dict[str, Any]) -> Event:
        return self.events.put(cast(Event, {**event, **values, "updated_at": self.now}))


def part_of_day(instant: str) -> PartOfDay:
    """Return the part of the day in which a moment lies, as its own offset reads it."""
    moment = datetime.fromisoformat(instant)
    minute = moment.hour * 60 + moment.minute
    return next(name for until, name in _PARTS if minute < until)


def _moment(text: str) -> datetime:
    found = parse_instant(text)
    if found is None:
        raise ToolError("conflict", f"an event has no readable time: {text[:60]}")
    return found


def _ordered(start: str, end: str) -> None:
    if _moment(end) <= _moment(start):
        raise ToolError("invalid_value", "it ends before it begins")


def _length(event: Event) -> int:
    begins, ends = str(event.get("start")), str(event.get("end"))
    return max(5, int((_moment(ends) - _moment(begins)).total_seconds()) // 60)


def _attendees(event: Event) -> list[str]:
    listed = event.get("attendees")
    return [str(who).casefold() for who in listed] if isinstance(listed, list) else []


def _touches(event: Event, start: str | None, end: str | None) -> bool:
    if state_of(event) == "cancelled":
        return start is None and end is None
    begins, ends = parse_instant(str(event.get("start"))), parse_instant(str(event.get("end")))
    if begins is None or ends is None:
        return start is None and end is None
    opening = parse_instant(start) if start is not None else None
    closing = parse_instant(end) if end is not None else None
    return (opening is None or ends > opening) and (closing is None or begins < closing)
