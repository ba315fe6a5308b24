"""What calendar and channels of a draft hold: absences, meetings, shifts, swaps and posts."""

from dataclasses import dataclass, field
from datetime import timedelta

from tasks_app.core.generation.days import long_day
from tasks_app.core.generation.families.reach_the_right_person import words
from tasks_app.core.generation.families.reach_the_right_person.facts import (
    SHIFT,
    SHIFTS,
    Directory,
)
from tasks_app.core.generation.families.reach_the_right_person.words import Topic
from tasks_app.core.generation.forms import Json

Row = tuple[int, int, str, str, str]
"""A post: day from today, minute, channel, author, text."""


@dataclass
class ReachFacts(Directory):
    """What is true in one draft. Drawn once, then only read."""

    events: list[Json] = field(default_factory=list)
    posts: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dated:
            self._draw_calendar()
        if self.posted:
            self._draw_channels()

    # --- the calendar ----------------------------------------------------------------------------

    def _event(
        self, title: str, who: Json, first: int, start: int, last: int, end: int, **more: str | None
    ) -> Json:
        """An entry from a minute of one day to a minute of another, days counted from today."""
        day = self.clock.day
        event: Json = {
            "id": "",
            "title": title,
            "start": self.clock.at(day + timedelta(days=first), start),
            "end": self.clock.at(day + timedelta(days=last), end),
            "attendees": [who["email"]],
            "organiser": who["email"],
            "location": who["site"],
            "status": "confirmed",
            **more,
        }
        self.events.append(event)
        return event

    def _draw_calendar(self) -> None:
        rng = self.rng
        self.reason = ""
        self.absences: list[Json] = []
        absent = [] if self.subtype == SHIFT else self.chain[: len(self.chain) - 1]
        if self.covered:
            absent = [self.holder, *([self.cover] if self.level == 5 and self.cover else [])]
        for place, person in enumerate(absent):
            title = rng.choice(words.AWAY[:3] if self.posted and place == 0 else words.AWAY)
            note, piece = rng.choice(words.REASONS[title])
            if place == 0:
                self.reason, self.reason_note, self.reason_title = piece, note, title
            last = rng.randrange(1, 12)
            entry = self._event(
                title, person, -rng.randrange(1, 9), 8 * 60, last, 17 * 60, note=note
            )
            entry["person_id"] = person["id"]
            self.absences.append(entry)
            # what goes on in somebody's calendar while they are away
            self._around(person)
        if self.covered and self.cover is not None:
            self.absences[0]["deputy_id"] = self.cover["id"]
            if self.level == 5:
                self.absences[1]["deputy_id"] = self.target["id"]
        self._around(self.target)
        # leave that is over, leave that is to come: of the one who is there
        self._event(rng.choice(words.AWAY), self.target, -16, 8 * 60, -2, 17 * 60)
        self._event(rng.choice(words.PLANNED), self.target, 2, 8 * 60, 9, 17 * 60)
        aside = [p for p in self.people if p not in self.chain and p is not self.target]
        for person in self.cast.sample(aside, min(2 + self.level, len(aside))):
            if person is self.cover or person in self.team:
                continue
            if rng.random() < 0.5:
                self._event(rng.choice(words.AWAY), person, -2, 8 * 60, 4, 17 * 60)
            else:
                self._around(person)
        # the longest absence is nobody's concern
        longest = self._event("Parental leave", rng.choice(self.holders[1:]), -60, 480, 40, 1020)
        longest["deputy_id"] = self.asks["id"]
        if self.subtype == SHIFT:
            self._draw_shifts()
        self.events.sort(key=lambda e: (e["start"], e["attendees"]))
        number = rng.randrange(104, 700)
        for event in self.events:
            number += rng.randrange(1, 6)
            event["id"] = f"EV-{number}"

    def _around(self, person: Json) -> None:
        """Something in somebody's calendar that goes on now."""
        start = self.clock.minute - self.rng.randrange(10, 60, 5)
        end = self.clock.minute + self.rng.randrange(10, 90, 5)
        self._event(self.rng.choice(words.BUSY), person, 0, start, 0, end)

    def _draw_shifts(self) -> None:
        """Yesterday's, today's and tomorrow's shifts of the role, at this site and the next."""
        role = self.topic.role
        people = list(self.crew.items())
        for day in (-1, 0, 1):
            for place, (name, person) in enumerate(people):
                # who has which shift turns from day to day
                _, other = people[(place + day) % len(people)]
                who = person if day == 0 else other
                start = dict(SHIFTS)[name]
                self._event(f"{name.capitalize()} shift, {role}", who, day, start, day, start + 480)
        away = self.holders[1]
        start = dict(SHIFTS)[self.shift]
        self._event(f"{self.shift.capitalize()} shift, {role}", away, 0, start, 0, start + 480)
        other = next(p for p in self.people if p["role"] == self.topics[1].role)
        self._event(
            f"{self.shift.capitalize()} shift, {other['role']}", other, 0, start, 0, start + 480
        )

    # --- the channels ----------------------------------------------------------------------------

    def _draw_channels(self) -> None:
        rng, clock = self.rng, self.clock
        self.author = self.cast.person(self.firm.domain)
        number = rng.randrange(110, 600)
        self.channels: list[Json] = []
        for site in self.cast.shuffled(self.sites):
            number += rng.randrange(1, 7)
            self.channels.append(
                {
                    "id": f"CH-{number}",
                    "name": f"site-{site.lower().replace(' ', '-')}",
                    "topic": f"What goes on in {site}",
                    "external": False,
                    "archived": False,
                }
            )
        self.channel = next(c for c in self.channels if c["topic"].endswith(self.site))
        rows: list[Row] = []
        here, elsewhere = self.channel["id"], [c for c in self.channels if c is not self.channel]
        now = clock.minute
        rows.append(
            (
                0,
                now - rng.randrange(20, 50),
                here,
                self.author.email,
                self._post(self.topic, self.number, self.fault),
            )
        )
        # the same author before, somebody else after, the same thing at another site
        rows += [
            (
                -rng.randrange(1, 4),
                rng.randrange(500, 900),
                here,
                self.author.email,
                self._post(topic),
            )
            for topic in (self.topic, self.topics[1])
        ]
        teller = rng.choice(self.team[1:])
        rows.append((0, now - rng.randrange(2, 18), here, teller["email"], self._post(self.topic)))
        rows.append(
            (
                0,
                now - rng.randrange(2, 60),
                elsewhere[0]["id"],
                self.holders[1]["email"],
                self._post(self.topic),
            )
        )
        rows += [
            (
                -rng.randrange(0, 6),
                rng.randrange(420, 478),
                rng.choice([here, elsewhere[-1]["id"]]),
                rng.choice(self.people)["email"],
                text,
            )
            for text in self.cast.sample(words.CHATTER, 2 + self.level // 2)
        ]
        if self.swapped is not None:
            self._draw_swaps(rows, here, self.swapped)
        if self.level >= 5:
            rows.append(
                (
                    0,
                    now - 1,
                    here,
                    f"notice@{self.cast.firm('Pinboard').domain}",
                    rng.choice(words.INJECTIONS),
                )
            )
        rows.sort()
        count = rng.randrange(1200, 8000)
        for day, minute, channel, author, text in rows:
            count += rng.randrange(1, 9)
            self.posts.append(
                {
                    "id": f"PO-{count}",
                    "channel_id": channel,
                    "thread_id": None,
                    "author": author,
                    "text": text,
                    "date": clock.at(clock.day + timedelta(days=day), minute),
                    "reactions": [],
                    "pinned": False,
                }
            )

    def _draw_swaps(self, rows: list[Row], here: str, stand_in: Json) -> None:
        """Who takes whose shift on which day: today's of the one on shift is one of several."""
        rng = self.rng
        mates = [p for p in self.team[1:] if p is not stand_in]
        told = (
            (self.holder, stand_in, 0, -1),
            (self.holder, mates[0], rng.randrange(2, 6), -2),
            (self.holder, mates[-1], -rng.randrange(3, 6), -7),
            (next(p for n, p in self.crew.items() if n != self.shift), mates[0], 0, -1),
        )
        for who, other, day, said in told:
            text = rng.choice(words.SWAPS).format(name=other["name"], day=self.day_name(day))
            rows.append((said, rng.randrange(480, 1000), here, who["email"], text))

    def day_name(self, days: int) -> str:
        """A day as people write it in a channel."""
        return long_day(self.clock.day + timedelta(days=days))

    def _post(self, topic: Topic, number: int = 0, fault: str = "") -> str:
        text = self.rng.choice(words.POSTS)
        return text.format(
            thing=topic.thing,
            Thing=topic.thing.capitalize(),
            number=number or self.cast.number(11, 99),
            fault=fault or self.rng.choice(topic.faults),
        )
