"""What is true in one month-end close: days, people, the checklist of the month."""

import calendar
from datetime import date, timedelta

from tasks_app.core.generation.cast import ZONES, Cast, Clock, is_working_day
from tasks_app.core.generation.days import month_of
from tasks_app.core.generation.families.month_end_close import words
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.week import working_days

DAYS = {1: 2, 2: 2, 3: 3, 4: 3, 5: 4}
"""Difficulty → working days."""


class CloseFacts:
    """One month, the people who close it, and what is left to do in it."""

    def __init__(self, subtype: str, level: int, cast: Cast):
        self.subtype = subtype
        self.level = level
        self.cast = cast
        self.rng = cast.rng
        self._draw_days()
        self._draw_people()
        self._draw_checklist()

    @property
    def settles(self) -> bool:
        """Whether a letter settles a row on the second day."""
        return self.level >= 2

    @property
    def hands_over(self) -> bool:
        """Whether a third day hands the open items over."""
        return self.level >= 3

    @property
    def files(self) -> bool:
        """Whether the handover needs a file, and the sheet has a confidential row."""
        return self.level >= 4

    def _draw_days(self) -> None:
        rng = self.rng
        month = rng.randrange(1, 12)
        last = calendar.monthrange(2031, month)[1]
        self.last = date(2031, month, last)
        self.month = month_of(self.last)
        self.period = f"2031-{month:02d}"
        first = self.last + timedelta(days=1)
        while not is_working_day(first):
            first += timedelta(days=1)
        minute, zone = rng.randrange(8 * 60, 10 * 60, 5), rng.choice(ZONES)
        days = working_days(first, DAYS[self.level] + rng.randrange(2))[-DAYS[self.level] :]
        self.mornings = [Clock(day, minute, zone) for day in days]
        self.clock = self.mornings[0]

    def day_of_month(self, day: int) -> str:
        """A day of the closing month; below 1 it lies in the month before, above in the next."""
        return (self.last.replace(day=1) + timedelta(days=day - 1)).isoformat()

    def _draw_people(self) -> None:
        cast, rng = self.cast, self.rng
        suffix, self.trade = rng.choice(words.HOUSES)
        self.house = cast.firm(suffix)
        self.lead = cast.person(self.house.domain)
        self.deputy = cast.person(self.house.domain)
        self.reader = cast.person(self.house.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.reader_role = rng.choice(words.READERS)
        self.mailbox = f"close.desk@{self.house.domain}"

    def _draw_checklist(self) -> None:
        """Open items of the lead in this month, and items that miss one criterion each."""
        cast, rng = self.cast, self.rng
        mine, other = self.lead.given.lower(), self.reader.given.lower()
        names = cast.sample(words.ITEMS, 8)
        following = (self.last + timedelta(days=1)).isoformat()[:7]
        drawn = [(name, self.period, mine, "open") for name in names[:3]]
        drawn += [
            (names[3], self.period, mine, "done"),
            (names[4], self.period, mine, "waived"),
            (names[5], self.period, other, "open"),
            (names[6], self.period, other, "open"),
            (names[0], following, mine, "open"),
            (names[7], following, mine, "open"),
        ]
        if rng.random() < 0.5:
            drawn.insert(0, (names[7], self.period, mine, "open"))
        number = rng.randrange(11, 60)
        self.items: list[Json] = []
        for name, period, owner, status in cast.shuffled(drawn):
            number += rng.randrange(1, 4)
            due = self.mornings[-1].day + timedelta(days=rng.randrange(2, 12))
            if period != self.period:
                due += timedelta(days=30)
            self.items.append(
                {
                    "id": f"CL-{number}",
                    "item": name,
                    "period": period,
                    "owner": owner,
                    "status": status,
                    "due_on": due.isoformat(),
                }
            )
        self.handed = [
            item
            for item in self.items
            if (item["period"], item["owner"], item["status"]) == (self.period, mine, "open")
        ]
