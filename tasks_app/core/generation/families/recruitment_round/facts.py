"""What is true in one recruitment round: the house, the post, who applied, who is when busy."""

from datetime import date, timedelta
from typing import Any, Final

from tasks_app.core.functions import free_slot
from tasks_app.core.generation.cast import Cast, Clock, Person, is_working_day
from tasks_app.core.generation.families.recruitment_round import words
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.week import working_days

SHORTLIST: Final = "shortlist"
PANEL: Final = "interview_panel"
OFFER: Final = "offer"
_DAYS: Final = {
    SHORTLIST: {1: 2, 2: 2, 3: 3, 4: 4, 5: 4},
    PANEL: {1: 2, 2: 2, 3: 3, 4: 3, 5: 3},
    OFFER: {1: 2, 2: 2, 3: 3, 4: 3, 5: 3},
}
"""Subtype → difficulty → working days."""
OPENS: Final = 9 * 60
CLOSES: Final = 17 * 60
"""The window of interviews, in minutes after midnight."""


class RoundFacts:
    """A post, applications for it and for others, and calendars."""

    def __init__(self, subtype: str, level: int, cast: Cast):
        self.subtype = subtype
        self.level = level
        self.cast = cast
        rng = self.rng = cast.rng
        start = cast.clock()
        days = _DAYS[subtype][level]
        week = working_days(start.day, days + 2)
        minute = rng.randrange(8 * 60, 10 * 60, 5)
        self.mornings = [Clock(day, minute, start.zone) for day in week[:days]]
        self.clock = self.mornings[0]
        self.interview_day: date = week[-1]
        suffix, self.trade = rng.choice(words.HOUSES)
        self.house = cast.firm(suffix)
        host = self.house.domain
        self.lead, self.head, self.second = (cast.person(host) for _ in range(3))
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.post, self.head_role = rng.choice(words.POSTS)
        self.other_posts = cast.sample([p for p, _ in words.POSTS if p != self.post], 2)
        self.mailbox = f"jobs@{host}"
        self.need = rng.randrange(3, 7)
        self.start_by = self.clock.day + timedelta(days=rng.randrange(40, 80))
        self.minutes = rng.choice((30, 45))
        self.table_id = f"TB-{rng.randrange(11, 40)}"
        self.rows: list[Json] = []
        self.events: list[Json] = []

    @property
    def withdraws(self) -> bool:
        """Whether somebody withdraws by letter on the second day."""
        return self.level >= 2

    @property
    def guards(self) -> bool:
        """Whether what applicants expect to earn must not be told."""
        return self.level >= 4

    # --- applications ----------------------------------------------------------------------------

    def applies(self, **changed: Any) -> Json:
        """Add somebody who meets every requirement, or misses what is changed."""
        rng = self.rng
        person = self.cast.customer()
        row: Json = {
            "id": "",
            "table_id": self.table_id,
            "name": person.name,
            "mailbox": person.email,
            "post": self.post,
            "certificate": "yes",
            "years": self.need + rng.randrange(0, 9),
            "available_from": (self.start_by - timedelta(days=rng.randrange(0, 35))).isoformat(),
            "expects": rng.randrange(2600, 5200, 10),
            "score": rng.randrange(50, 80),
            "status": "new",
        }
        self.rows.append({**row, **changed})
        return self.rows[-1]

    @property
    def too_late(self) -> str:
        """A day after the last one on which the post may be filled."""
        return (self.start_by + timedelta(days=self.rng.randrange(5, 40))).isoformat()

    def number(self, fixed: int = 1) -> None:
        """Mix the applications and give them numbers; the first ones keep their place, and never
        decide anything.
        """
        self.rows = [*self.rows[:fixed], *self.cast.shuffled(self.rows[fixed:])]
        number = self.rng.randrange(100, 800)
        for row in self.rows:
            number += self.rng.randrange(1, 7)
            row["id"] = f"AP-{number}"

    # --- calendars -------------------------------------------------------------------------------

    def at(self, minute: int) -> str:
        """A moment of the interview day."""
        return self.clock.at(self.interview_day, minute)

    @property
    def panel(self) -> list[str]:
        """The addresses of those who hold interviews."""
        return [self.head.email, self.second.email]

    def busy(self, who: Person, begins: int, minutes: int, title: str, day: int = 0) -> Json:
        """Add an event of a colleague on the interview day, or some days beside it."""
        when = self.interview_day + timedelta(days=day)
        event = {
            "id": f"EV-{self.rng.randrange(3, 9) + 10 * len(self.events) + 200}",
            "title": title,
            "start": self.clock.at(when, begins),
            "end": self.clock.at(when, begins + minutes),
            "attendees": [who.email],
            "organiser": who.email,
            "status": "confirmed",
        }
        self.events.append(event)
        return event

    def fill_calendar(self) -> None:
        """Let the panel be busy at the beginning of the window, and others at other times."""
        rng = self.rng
        titles = self.cast.shuffled(words.MEETINGS)
        self.busy(self.head, OPENS, 15 * rng.randrange(1, 4), titles[0])
        self.busy(self.second, OPENS + 15 * rng.randrange(0, 3), 30, titles[1])
        outsider = self.cast.person(self.house.domain)
        self.busy(outsider, OPENS + 60, 150, titles[2])
        self.busy(self.lead, OPENS + 30, 120, titles[3])
        self.busy(self.second, CLOSES + 15 * rng.randrange(1, 4), 45, titles[5])
        before = -1
        while not is_working_day(self.interview_day + timedelta(days=before)):
            before -= 1
        self.busy(self.head, OPENS + 45, 90, titles[4], day=before)

    def slot(self, events: list[Json]) -> str:
        """The earliest moment at which the panel is free, events as given."""
        found = free_slot(events, self.panel, self.at(OPENS), self.at(CLOSES), self.minutes)
        return str(found)
