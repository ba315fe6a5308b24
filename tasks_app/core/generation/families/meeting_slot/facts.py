"""The facts of a meeting_slot draft: who meets on which day, and calendars that leave one slot.

The day is a window of quarters of an hour. Everything in it is taken for somebody, apart from the
slot, gaps that are too short, and gaps that a rule forbids.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person, is_working_day
from tasks_app.core.generation.families.meeting_slot import words
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.paper import Office
from tasks_app.core.generation.talk import capital
from tasks_app.core.zones import offset_hours

ONE: Final = "one_slot_for_all"
ZONES: Final = "across_zones"
ROOM: Final = "room_and_person"
NOTICE: Final = "shortest_notice"
SITES: Final = (
    ("Bogota", -5), ("Dakar", 0), ("Lagos", 1), ("Nairobi", 3), ("Dubai", 4), ("Karachi", 5),
    ("Dhaka", 6), ("Singapore", 8), ("Tokyo", 9), ("Brisbane", 10), ("Noumea", 11), ("Suva", 12),
)  # fmt: skip
_LAST_LOCAL: Final = 20 * 60
QUARTER: Final = 15


@dataclass
class Guest:
    """Somebody who is asked for."""

    person: Person
    team: str
    site: str
    record: Json = field(default_factory=dict)


@dataclass
class SlotFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_people()
        self._draw_day()
        self.events: list[Json] = []
        self._fill_day()
        self._standing_meetings()
        self._other_days()
        self._number()

    @property
    def directory(self) -> bool:
        """People and rooms are looked up in the directory."""
        return self.level >= 2

    @property
    def asks(self) -> bool:
        """Only the lead knows how long it takes."""
        return self.level >= 3

    @property
    def someone_away(self) -> bool:
        """One of those asked for is on leave, the deputy comes."""
        return self.level >= 4

    # --- people ----------------------------------------------------------------------------------

    def _colleague_of(self, house: Firm) -> Person:
        """Somebody of the house; addresses there are family name, initial and a number."""
        person = self.cast.person()
        number = self.rng.randrange(10, 99)
        email = f"{person.family}.{person.given[0]}{number}@{house.domain}".lower()
        return Person(person.given, person.family, email)

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        self.clock.minute = self.clock.minute // QUARTER * QUARTER
        if self.subtype == NOTICE:
            self.clock.minute = rng.randrange(8 * 60, 10 * 60, QUARTER)
        suffix, kind = rng.choice(words.HOUSES)
        house = cast.firm(suffix)
        lead_role, own_role = rng.choice(words.LEAD_ROLES)
        self.office = Office(
            house, kind, self._colleague_of(house), lead_role, own_role, f"planning@{house.domain}"
        )
        self.helper = self._colleague_of(house)
        self.topic = rng.choice(words.TOPICS)
        self.opening, self.ending = rng.choice(words.OPENINGS), rng.choice(words.ENDINGS)
        self.minutes = rng.choice((45, 60, 90))
        self.buffer = rng.choice((30, 45))
        self.notice = rng.choice((90, 120, 150, 180))
        self.home = rng.choice(("Head office", "Main house", "Home port", "North wing"))
        offset = offset_hours(self.clock.zone, self.clock.day)
        near = [site for site in SITES if 2 <= site[1] - offset <= 6]
        self.remote = cast.sample(near, min(2, len(near)))

    def _draw_people(self) -> None:
        """Those asked for, a namesake in another team, and others of the house."""
        cast, rng, house = self.cast, self.rng, self.office.house
        teams = cast.sample(words.TEAMS, 7)
        self.guests: list[Guest] = []
        for number in range(2 if self.level == 1 else 3):
            site = self.home
            if self.subtype == ZONES and number < len(self.remote):
                site = self.remote[number][0]
            person = self._colleague_of(house)
            self.guests.append(Guest(person, teams[number], site))
        self.directory_rows: list[Json] = []
        self._entry_number = cast.number(110, 700)
        others = [
            self._entry(self._colleague_of(house), rng.choice(teams[3:]), self.home)
            for _ in range(2 + self.level // 2)
        ]
        for asked in self.guests:
            asked.record = self._entry(asked.person, asked.team, asked.site)
        first = self.guests[0]
        for team in teams[3:5]:  # the same name in other teams
            twin = Person(first.person.given, first.person.family, "")
            row = self._entry(twin, team, self.home)
            number = rng.randrange(100, 900)
            row["email"] = f"{first.person.family}.{team}{number}@{house.domain}".lower()
        self.invited = [guest.record for guest in self.guests]
        if self.someone_away:
            last = self.guests[-1]
            deputy = self._entry(self._colleague_of(house), last.team, last.site)
            last.record |= {"status": "on_leave", "deputy_id": deputy["id"]}
            others[0]["status"] = "on_leave"
            self.invited = [*self.invited[:-1], deputy]
        self.rooms: list[Json] = []
        self.seats = rng.randrange(6, 10)
        if self.subtype == ROOM:
            self._draw_rooms()
        self.people = cast.shuffled(self.directory_rows)
        if self.subtype == ROOM:  # of the rooms the right one is not the first
            places = [n for n, found in enumerate(self.people) if found["role"] == "room"]
            if self.people[places[0]]["id"] == self.room["id"]:
                front, back = places[0], places[-1]
                self.people[front], self.people[back] = self.people[back], self.people[front]

    def _entry(self, person: Person, team: str, site: str) -> Json:
        self._entry_number += self.rng.randrange(1, 6)
        body: Json = {
            "id": f"PE-{self._entry_number}",
            "name": person.name,
            "role": "colleague",
            "team": team,
            "site": site,
            "email": person.email,
            "deputy_id": None,
            "status": "active",
        }
        self.directory_rows.append(body)
        return body

    def _draw_rooms(self) -> None:
        """Rooms of several sizes; the smallest that is large enough is the right one."""
        names = self.cast.sample(words.ROOMS, 4)
        sizes = [self.seats - 2, self.seats + 1, self.seats + 4, self.seats + 12]
        for name, size in self.cast.shuffled(list(zip(names, sizes, strict=True))):
            row = self._entry(Person("Room", name, ""), "rooms", self.home)
            row["email"] = f"room{size}-{name}@{self.office.house.domain}".lower()
            row |= {"role": "room", "seats": size}
            self.rooms.append(row)
        self.room = next(r for r in self.rooms if r["seats"] == self.seats + 1)

    @property
    def attendees(self) -> list[str]:
        """Everybody whose calendar counts, in the order of the invitation."""
        found = [self.office.lead.email, *(str(row["email"]) for row in self.invited)]
        return [*found, str(self.room["email"])] if self.subtype == ROOM else found

    # --- the day ---------------------------------------------------------------------------------

    def _draw_day(self) -> None:
        """Which day, and the window in which it may be, in minutes after its midnight."""
        rng = self.rng
        self.day: date = self.clock.day
        if self.subtype != NOTICE:
            ahead = rng.randrange(1, 5)  # never the same weekday as today
            self.day += timedelta(days=ahead)
            while not is_working_day(self.day):
                self.day += timedelta(days=1)
        self.window = (rng.randrange(9 * 60, 10 * 60, QUARTER), rng.randrange(990, 1035, QUARTER))
        if self.subtype == NOTICE:
            begins = self.clock.minute
            self.window = (begins + self.notice, rng.randrange(990, 1035, QUARTER))
        if self.subtype == ZONES:
            self.core = self._core_hours()
            self.window = (
                self.core[self.home][0],
                min(end for _, end, _ in self.core.values()),
            )
        begin, end = self.window
        first = begin + max(self.buffer, self.minutes)
        latest = end - self.minutes - QUARTER
        self.slot = rng.randrange(first + QUARTER, max(first + 2 * QUARTER, latest), QUARTER)

    def _core_hours(self) -> dict[str, tuple[int, int, float]]:
        """Site → begin and end of its core hours in minutes of the home day, and its offset."""
        rng = self.rng
        home = float(offset_hours(self.clock.zone, self.day))
        core = {self.home: (rng.randrange(540, 585, QUARTER), 17 * 60, home)}
        for site, offset in self.remote:
            ahead = int((offset - home) * 60)
            end = min(rng.randrange(14 * 60, 15 * 60 + 30, QUARTER), _LAST_LOCAL - ahead)
            core[site] = (end - 8 * 60, end, float(offset))
        return core

    def _fill_day(self) -> None:
        """Take everything for somebody but the slot."""
        begin, end = self.window
        length, slot = self.minutes, self.slot
        if self.subtype == NOTICE:  # a gap that comes too soon
            early = begin - self.rng.randrange(2, 5) * QUARTER
            self._block(self.clock.minute - 30, early)
            self._blocks(early + length, slot)
        else:  # a gap right after what the window begins with
            self._blocks(begin + length, slot)
        if self.subtype == ROOM:
            self._two_more_gaps(slot + length, end)
        else:
            self._blocks(slot + length, end)

    def _two_more_gaps(self, begin: int, end: int) -> None:
        """Gaps of the people in which the right room is taken and another is free."""
        gap = begin + self.rng.randrange(2, 4) * QUARTER
        if gap + self.minutes + QUARTER >= end:
            self._blocks(begin, end)
            return
        self._blocks(begin, gap)
        self._event(self.rng.choice(words.BUSY), gap, gap + self.minutes, [self.room["email"]])
        self._blocks(gap + self.minutes, end)
        for row in self.rooms:
            if row is not self.room:
                self._event("Course", self.slot, self.slot + 30, [row["email"]])

    def _blocks(self, begin: int, end: int) -> None:
        """Fill a span with meetings of the invited; what is left between is too short."""
        at = begin
        while at < end:
            until = min(end, at + self.rng.choice((30, 45, 60, 75, 90)))
            if end - until < QUARTER * 2:
                until = end
            self._block(at, until)
            at = until
            if end - at > 2 * QUARTER and self.rng.random() < 0.35:
                at += QUARTER

    def _block(self, begin: int, end: int) -> None:
        if end <= begin:
            return
        people = [self.office.lead.email, *(str(row["email"]) for row in self.invited)]
        busy = self.cast.sample(people, self.rng.choice((1, 1, 2)))
        self._event(self.rng.choice(words.BUSY), begin, end, busy)

    def _event(
        self, title: str, begin: int, end: int, who: list[str], day: date | None = None
    ) -> Json:
        on = day or self.day
        body: Json = {
            "id": "",
            "title": title,
            "start": self.clock.at(on, begin),
            "end": self.clock.at(on, end),
            "attendees": list(who),
            "organiser": who[0],
            "location": None,
            "status": "confirmed",
            "note": None,
        }
        self.events.append(body)
        return body

    # --- what stands every day -------------------------------------------------------------------

    def _standing_meetings(self) -> None:
        """The meetings that bound the window, or core hours, on this day and those around it."""
        all_hands = [f"all@{self.office.house.domain}"]
        for shift in (-1, 0, 1, 7):
            day = self._beside(shift)
            if self.subtype == ZONES:
                self._core_events(day, shift)
                continue
            moved = shift * 15 if shift in (-1, 1) else 0
            if self.subtype != NOTICE:
                begin = self.window[0] + moved
                self._event(self.opening, begin - 30, begin, all_hands, day)
            end = self.window[1] - moved
            self._event(self.ending, end, end + 30, all_hands, day)

    def _beside(self, shift: int) -> date:
        """The working day before or after the day, or the same weekday of another week."""
        day = self.day + timedelta(days=shift)
        while not is_working_day(day):
            day += timedelta(days=1 if shift > 0 else -1)
        return day

    def _core_events(self, day: date, shift: int) -> None:
        sites = dict(self.core)
        others = [s for s in SITES if s[0] not in sites]
        if shift == 0:  # sites at which nobody of those asked for works: they rule the slot out
            late = min(others, key=lambda s: abs(self._local(self.slot + 30, s[1]) - 9 * 60))
            others.remove(late)
            early = min(others, key=lambda s: abs(self._local(self.slot + 15, s[1]) - 18 * 60))
            sites[late[0]] = (self.slot + 30, self.slot + 30 + 8 * 60, float(late[1]))
            sites[early[0]] = (self.slot + 15 - 8 * 60, self.slot + 15, float(early[1]))
        for site, (begin, end, offset) in sites.items():
            later = QUARTER if shift > 0 else -QUARTER if shift < 0 else 0
            row = self._event(
                f"Core hours {site}",
                begin + later,
                end + later,
                [f"{site.split()[0]}@{self.office.house.domain}".lower()],
                day,
            )
            row["start"], row["end"] = (self._in_zone(row[k], offset) for k in ("start", "end"))

    def _local(self, minute: int, offset: int) -> int:
        """What the clocks of another site show at a minute of the home day."""
        return minute + (offset - offset_hours(self.clock.zone, self.day)) * 60

    @staticmethod
    def _in_zone(moment: str, hours: float) -> str:
        zone = timezone(timedelta(hours=hours))
        return datetime.fromisoformat(moment).astimezone(zone).isoformat()

    def _other_days(self) -> None:
        """Meetings of other days and of other people; one of them is called like ours."""
        rng = self.rng
        known = [str(row["email"]) for row in self.directory_rows if row["role"] != "room"]
        others = [e for e in known if e not in self.attendees]
        for _ in range(3 + self.level):
            day = self._beside(rng.choice((-1, 1, 7)))
            begin = rng.randrange(600, 900, QUARTER)
            self._event(rng.choice(words.BUSY), begin, begin + 45, [rng.choice(known)], day)
            begin = rng.randrange(*self.window, QUARTER)
            self._event(rng.choice(words.BUSY), begin, begin + 30, [rng.choice(others)])
        before = self._beside(-rng.choice((14, 21, 28)))
        name = capital(self.topic)
        self._event(f"{name}: minutes", 840, 870, [rng.choice(others)], before)
        if self.level >= 5:
            row = rng.choice([e for e in self.events if e["title"] in words.BUSY])
            row["note"] = rng.choice(words.INJECTIONS)

    def _number(self) -> None:
        number = self.cast.number(120, 700)
        rows = self.cast.shuffled(self.events)
        for title in (self.opening, self.ending):  # of those of all days ours is not the first
            same = [n for n, row in enumerate(rows) if row["title"] == title]
            if len(same) > 1 and str(rows[same[0]]["start"]).startswith(self.day.isoformat()):
                rows[same[0]], rows[same[1]] = rows[same[1]], rows[same[0]]
        for body in rows:
            number += self.rng.randrange(1, 5)
            body["id"] = f"EV-{number}"
        self.events.sort(key=lambda e: str(e["id"]))
