"""The facts of a draft: the people of an organisation, and who of them has to be reached."""

from dataclasses import dataclass, field
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.reach_the_right_person import words
from tasks_app.core.generation.families.reach_the_right_person.words import House, Topic
from tasks_app.core.generation.forms import Json

DEPUTY: Final = "deputy_on_leave"
ROLE: Final = "role_not_name"
NAMESAKE: Final = "same_name"
SHIFT: Final = "site_and_shift"

SHIFTS: Final = (("early", 6 * 60), ("late", 14 * 60), ("night", 22 * 60))
"""Name and first minute of the shifts, each eight hours long."""


@dataclass
class Directory:
    """Who is there and who is meant. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    people: list[Json] = field(default_factory=list)
    swapped: Json | None = None
    cover: Json | None = None

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_matter()
        self._draw_directory()
        self._draw_target()
        self._number_people()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def dated(self) -> bool:
        """The calendar says who is away and who is on shift."""
        return self.level >= 2

    @property
    def posted(self) -> bool:
        """The number of the thing stands in a channel."""
        return self.level >= 3

    @property
    def covered(self) -> bool:
        """The entry of the absence names somebody else than the directory."""
        return self.subtype == DEPUTY and self.level >= 4

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        self.house: House = rng.choice(words.HOUSES)
        self.firm: Firm = cast.firm(self.house.suffix)
        self.lead: Person = cast.person(self.firm.domain)
        self.lead_role, self.own_role = rng.choice(words.REQUESTER_ROLES)
        self.sites = cast.sample(words.SITES, 3 if self.level < 4 else 4)
        self.site = self.sites[0]
        self.topics = cast.sample(self.house.topics, len(self.house.topics))
        self.topic: Topic = self.topics[0]

    def _draw_matter(self) -> None:
        rng = self.rng
        self.number = self.cast.number(11, 99)
        self.fault = rng.choice(self.topic.faults)
        self.extension = self.cast.number(2100, 8900)
        self.author: Person | None = None

    def _person(self, site: str, role: str, team: str, who: Person | None = None) -> Json:
        person = who or self.cast.person(self.firm.domain)
        entry: Json = {
            "id": "",
            "name": person.name,
            "role": role,
            "team": team,
            "site": site,
            "email": person.email,
            "phone": f"ext. {self.cast.number(2100, 8900)}",
            "deputy_id": None,
            "status": "active",
        }
        self.people.append(entry)
        return entry

    def _draw_directory(self) -> None:
        """Every site has somebody for every topic; the right team is drawn in full."""
        rng, topic = self.rng, self.topic
        self.asks = self._person(self.site, self.lead_role, "Front Desk", self.lead)
        self.asks["phone"] = f"ext. {self.extension}"
        roles = self.cast.sample(words.OTHER_ROLES, 5)
        self.holder = self._person(self.site, topic.role, topic.team)
        self.team = [self.holder]
        for role in roles[: 2 + min(self.level, 3)]:
            self.team.append(self._person(self.site, role, topic.team))
        self.holders = [self.holder]
        for site in self.sites[1:]:
            self.holders.append(self._person(site, topic.role, topic.team))
            self._person(site, rng.choice(words.OTHER_ROLES), topic.team)
        for other in self.topics[1:]:
            self._person(self.site, other.role, other.team)
            if self.level >= 4:
                self._person(rng.choice(self.sites[1:]), other.role, other.team)

    def _draw_target(self) -> None:
        """Who has to be reached, and by which way."""
        rng = self.rng
        self.chain = [self.holder]
        self.known: Person | None = None
        self.former: Json | None = None
        self.namesakes: list[Json] = []
        if self.subtype == SHIFT:
            self._draw_shift()
            return
        steps = {DEPUTY: (1, 1, 2, 1, 1), ROLE: (0, 1, 1, 2, 2), NAMESAKE: (0, 1, 1, 1, 2)}
        length = steps[self.subtype][self.level - 1]
        if self.level >= 3 and length == 1 and self.subtype != DEPUTY and rng.random() < 0.4:
            length = 2
        self.chain = self.team[: length + 1]
        for person, deputy in zip(self.team, [*self.team[1:], self.team[0]], strict=True):
            person["deputy_id"] = deputy
        self.target = self.chain[-1]
        if self.subtype == ROLE:
            other = self.topics[1]
            self.former = self._person(self.site, "project planner", other.team)
            self.known = _as_person(self.former)
        if self.subtype == NAMESAKE:
            self.known = _as_person(self.holder)
            for number, other in enumerate(self.topics[1:3], start=2):
                twin = Person(
                    self.known.given,
                    self.known.family,
                    self.known.email.replace("@", f"{number}@"),
                )
                site = self.site if number == 2 else rng.choice(self.sites[1:])
                self.namesakes.append(
                    self._person(site, rng.choice(words.OTHER_ROLES), other.team, twin)
                )
        if self.covered:
            other = self.topics[-1]
            self.cover = self._person(self.sites[1], "regional stand-in", other.team)
            if self.level == 5:
                self.target = self._person(self.sites[2], "regional planner", other.team)
            else:
                self.target = self.cover
        self._name_deputies()
        if not self.dated and self.subtype == DEPUTY:
            self.holder["status"] = "on_leave"
        if self.dated:  # what the directory says of somebody's presence is out of date
            self.target["status"] = "on_leave"

    def _draw_shift(self) -> None:
        """Three people of one role; the hour of the clock decides."""
        minute = self.clock.minute
        self.shift = next(name for name, start in reversed(SHIFTS) if minute >= start)
        crew = {self.shift: self.holder}
        for name, _ in SHIFTS:
            if name not in crew:
                crew[name] = self._person(self.site, self.topic.role, self.topic.team)
        self.crew = crew
        if not self.dated:
            for person in self.people:
                person["shift"] = self.rng.choice(SHIFTS)[0]
            for name, person in crew.items():
                person["shift"] = name
        self.target = self.holder
        if self.posted:
            self.swapped = self.rng.choice(self.team[1:])
            self.target = self.swapped
        self._name_deputies()

    def _name_deputies(self) -> None:
        """Everybody has a deputy; nobody has the right one by chance."""
        for person in self.people:
            if person["deputy_id"] is None:
                others = [
                    p for p in self.people if p is not person and p not in (self.target, self.asks)
                ]
                near = [p for p in others if p["site"] == person["site"]]
                mates = [p for p in near if p["team"] == person["team"]]
                person["deputy_id"] = self.rng.choice(mates or near or others)

    def _number_people(self) -> None:
        """Ids follow the day somebody joined, so the right one may stand anywhere but at an end."""
        first = [self.asks, *self.cast.shuffled([*self.namesakes, *self._mates()])]
        order = self.cast.shuffled(
            [p for p in self.people if p not in first and p is not self.target]
        )
        self.people = [*first, *self.cast.in_the_middle(self.target, order)]
        number = self.rng.randrange(102, 700)
        for person in self.people:
            number += self.rng.randrange(1, 9)
            person["id"] = f"PE-{number}"
        for person in self.people:
            person["deputy_id"] = person["deputy_id"]["id"]

    def _mates(self) -> list[Json]:
        """Of the right team one who is not to be told: whoever takes the first name errs."""
        crew = list(self.crew.values()) if self.subtype == SHIFT else []
        return [p for p in (*crew, *self.team[::-1]) if p is not self.target][:1]


def _as_person(entry: Json) -> Person:
    given, family = entry["name"].split(" ", 1)
    return Person(given, family, entry["email"])
