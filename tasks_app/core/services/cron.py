"""When a job runs next: five cron fields, read as the clock on the wall reads them.

minute hour day month weekday; `*`, numbers, ranges `1-5`, steps `*/15`, lists `1,15`, and names of
months and weekdays. As in cron, where both day and weekday are restricted, either suffices.
"""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

_RANGES: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_MONTHS: Final = (
    *("jan", "feb", "mar", "apr", "may", "jun"),
    *("jul", "aug", "sep", "oct", "nov", "dec"),
)
_DAYS: Final = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_NAMES: Final[tuple[dict[str, int], ...]] = (
    {},
    {},
    {},
    {name: number for number, name in enumerate(_MONTHS, start=1)},
    {name: number for number, name in enumerate(_DAYS)},
)
_NICKNAMES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
}
_PART: Final = re.compile(r"(\*|[0-9]{1,2}|[a-z]{3})(?:-([0-9]{1,2}|[a-z]{3}))?(?:/([0-9]{1,2}))?")
LONGEST_WAIT: Final = timedelta(days=8 * 366)
"""The 29th of February comes every eight years at worst."""


class CronError(ValueError):
    """A text that is no cron expression; the message names the field."""


class Cron(NamedTuple):
    """The values that each field admits."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 is Sunday."""
    any_day: bool
    any_weekday: bool

    def on(self, moment: datetime) -> bool:
        """Whether it runs on the moment's day."""
        if moment.month not in self.months:
            return False
        by_day = moment.day in self.days
        by_weekday = moment.isoweekday() % 7 in self.weekdays
        if self.any_day or self.any_weekday:
            return by_day and by_weekday
        return by_day or by_weekday


def parse_cron(text: str) -> Cron:
    """Read an expression. Raises CronError."""
    parts = _NICKNAMES.get(text.strip().lower(), text).lower().split()
    if len(parts) != len(_RANGES):
        raise CronError("a schedule has five fields: minute hour day month weekday")
    fields = [_field(part, place) for place, part in enumerate(parts)]
    weekdays = frozenset(day % 7 for day in fields[4])
    return Cron(
        fields[0], fields[1], fields[2], fields[3], weekdays, parts[2] == "*", parts[4] == "*"
    )


def next_run(cron: Cron, after: str) -> str | None:
    """Return the first moment after a timestamp, in its offset; None where there is none.

    Raises ValueError where the timestamp is none.
    """
    start = datetime.fromisoformat(after)
    moment = (start + timedelta(minutes=1)).replace(second=0, microsecond=0)
    try:
        limit = moment + LONGEST_WAIT
        while moment <= limit:
            if not cron.on(moment):
                moment = (moment + timedelta(days=1)).replace(hour=0, minute=0)
                continue
            for hour in sorted(h for h in cron.hours if h >= moment.hour):
                first = moment.minute if hour == moment.hour else 0
                minute = min((m for m in cron.minutes if m >= first), default=None)
                if minute is not None:
                    return moment.replace(hour=hour, minute=minute).isoformat()
            moment = (moment + timedelta(days=1)).replace(hour=0, minute=0)
    except OverflowError:
        return None
    return None


def _field(text: str, place: int) -> frozenset[int]:
    low, high = _RANGES[place]
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise CronError(f"{part[:40]!r} cannot be read")
        first, last, step = match[1], match[2], int(match[3] or 1)
        if step == 0 or (first == "*" and last is not None):
            raise CronError(f"{part[:40]!r} cannot be read")
        begin = low if first == "*" else _value(first, place)
        if last is not None:
            end = _value(last, place)
        else:
            end = high if first == "*" or match[3] else begin
        if begin > end:
            raise CronError(f"{part[:40]!r} ends before it begins")
        found.update(range(begin, end + 1, step))
    return frozenset(found)


def _value(text: str, place: int) -> int:
    number = int(text) if text.isdigit() else _NAMES[place].get(text)
    low, high = _RANGES[place]
    if number is None or not low <= number <= high:
        raise CronError(f"{text!r} is not within {low}-{high}")
    return number
