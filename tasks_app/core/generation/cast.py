"""Invented people, firms, places and days, drawn from a seed. No name here is meant to be
anybody's.

Every draw comes from the `random.Random` passed in: the same seed gives the same cast in any
process.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from typing import Final, TypeVar

from tasks_app.core.zones import KNOWN, Zone, offset_hours

T = TypeVar("T")

GIVEN_NAMES: Final = (
    "Aino", "Amara", "Anouk", "Bastian", "Beatriz", "Bram", "Cato", "Celeste", "Dagny", "Darius",
    "Edda", "Elif", "Emeka", "Esme", "Fenna", "Florian", "Freya", "Gideon", "Greta", "Hadiza",
    "Halvor", "Hana", "Idris", "Ilse", "Imre", "Ines", "Isolde", "Ivo", "Jarek", "Joana",
    "Jonas", "Kadri", "Kaveh", "Keiko", "Lazlo", "Leila", "Linnea", "Lucian", "Maren", "Mateus",
    "Mila", "Nadia", "Naoki", "Nerys", "Niamh", "Odile", "Olamide", "Oskar", "Paloma", "Petra",
    "Quentin", "Rafael", "Rasmus", "Renske", "Rhea", "Rosalind", "Samir", "Saskia", "Selma",
    "Signe", "Soren", "Tadeo", "Talia", "Tarek", "Tess", "Tobias", "Ulla", "Vera", "Viktor",
    "Wanda", "Wim", "Xenia", "Yara", "Yusuf", "Zelda", "Zoltan",
)  # fmt: skip
FAMILY_NAMES: Final = (
    "Achterberg", "Adeyemo", "Alsgaard", "Amadi", "Arkwright", "Balogun", "Barsoum", "Bellweather",
    "Bjornstad", "Brandvik", "Calloway", "Castellan", "Dahlgren", "Delacroix", "Dorrance",
    "Eikeland", "Elverum", "Esterhaz", "Falkenrath", "Ferreira", "Fjeldsted", "Garrick", "Ghorbani",
    "Grimaldi", "Haldane", "Harrowgate", "Hollander", "Ibsenholt", "Ilunga", "Jankovic", "Jorstad",
    "Kaminski", "Kestrel", "Kjellgren", "Kowalik", "Lindqvist", "Lockhart", "Lorimer", "Madaki",
    "Marchetti", "Mbeki", "Merriweather", "Montrose", "Nakagawa", "Norrby", "Okonkwo", "Oosterling",
    "Orlando", "Pellegrin", "Penhallow", "Quillfeather", "Quist", "Ravnsborg", "Rietveld", "Rosen",
    "Sandoval", "Skarsgard", "Solheim", "Stavros", "Tamsin", "Thorvald", "Tolvik", "Underwood",
    "Valdstein", "Vandermeer", "Vosloo", "Wexford", "Whitlock", "Yamato", "Ystad", "Zandstra",
    "Zielinski",
)  # fmt: skip
_FIRM_FIRST: Final = (
    "Alder", "Amber", "Birch", "Bramble", "Cinder", "Clover", "Copper", "Cormorant", "Dapple",
    "Ember", "Fallow", "Fern", "Flint", "Gannet", "Gorse", "Harbour", "Hazel", "Heron", "Hollow",
    "Juniper", "Kestrel", "Lantern", "Larch", "Lichen", "Marl", "Meadow", "Moor", "Nettle", "Otter",
    "Pebble", "Quarry", "Quill", "Raven", "Rowan", "Saffron", "Sedge", "Slate", "Sparrow",
    "Thistle",
    "Timber", "Umber", "Vale", "Walnut", "Willow", "Wren", "Yarrow",
)  # fmt: skip
_FIRM_SECOND: Final = (
    "bank", "brook", "croft", "dale", "field", "ford", "gate", "haven", "holt", "hurst", "lea",
    "march", "mere", "mill", "moor", "ridge", "rook", "shore", "side", "stead", "stone", "thorpe",
    "water", "wick", "wood", "worth",
)  # fmt: skip
CITIES: Final = (
    "Aalborg", "Bergen", "Cork", "Dundee", "Esbjerg", "Faro", "Ghent", "Graz", "Haarlem", "Izmir",
    "Jena", "Kaunas", "Leuven", "Linz", "Malmo", "Nantes", "Odense", "Porto", "Randers", "Siena",
    "Tampere", "Turku", "Uppsala", "Vejle", "Wroclaw", "York", "Zadar",
)  # fmt: skip
MAIL_HOSTS: Final = (
    "mailbarn", "inkpot", "tallpine", "fernhook", "millrace", "postcrate", "bluekite", "oakletter",
    "quickpost", "paperboat", "lanternmail", "redwren",
)  # fmt: skip
MANNERS: Final = (
    "brief and friendly", "hurried, precise", "calm, exact", "warm, a little wordy",
    "dry, to the point",
    "polite, formal", "cheerful, informal", "tired but kind",
)  # fmt: skip


ZONES: Final = tuple(
    KNOWN[name]
    for name in (
        "Europe/Copenhagen",
        "Europe/Helsinki",
        "Europe/Amsterdam",
        "Europe/Lisbon",
        "Europe/Dublin",
        "Europe/Warsaw",
        "Africa/Nairobi",
        "Africa/Lagos",
        "Asia/Singapore",
        "Asia/Dubai",
        "America/Bogota",
    )
)


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody invented."""

    given: str
    family: str
    email: str = ""

    @property
    def name(self) -> str:
        """Given name and family name."""
        return f"{self.given} {self.family}"


@dataclass(frozen=True, slots=True)
class Firm:
    """An invented organisation with a mail domain."""

    name: str
    domain: str


@dataclass
class Clock:
    """A frozen working moment and helpers to write moments around it as records hold them."""

    day: date
    minute: int
    zone: Zone

    def at(self, day: date, minute: int) -> str:
        """A timestamp on a day, so many minutes after its midnight, with the zone's offset of that
        day.
        """
        tz = timezone(timedelta(hours=offset_hours(self.zone, day)))
        moment = datetime(day.year, day.month, day.day, tzinfo=tz) + timedelta(minutes=minute)
        return moment.isoformat()

    @property
    def now(self) -> str:
        """The frozen start."""
        return self.at(self.day, self.minute)

    def ago(self, days: int, minute: int) -> str:
        """A timestamp some days before, never after now."""
        if days <= 0:
            return self.at(self.day, min(minute, self.minute - 1))
        return self.at(self.day - timedelta(days=days), minute)

    def date(self, days: int = 0) -> str:
        """A date relative to today: negative is the past."""
        return (self.day + timedelta(days=days)).isoformat()


def is_working_day(day: date) -> bool:
    """Monday to Friday."""
    return day.weekday() < 5


@dataclass
class Cast:
    """Draws without repetition, so that no two people, firms or ids of a task are the same by
    accident.
    """

    rng: random.Random
    _used: set[str] = field(default_factory=set)

    def clock(self) -> Clock:
        """A working moment in 2031."""
        day = date(2031, 1, 6) + timedelta(days=self.rng.randrange(340))
        while not is_working_day(day):
            day += timedelta(days=1)
        return Clock(day, self.rng.randrange(8 * 60, 16 * 60, 5), self.rng.choice(ZONES))

    def one(self, options: Sequence[T]) -> T:
        """One of several, not drawn before in this task while others are left."""
        fresh = [o for o in options if repr(o) not in self._used]
        chosen = self.rng.choice(fresh or list(options))
        self._used.add(repr(chosen))
        return chosen

    def person(
        self, host: str | None = None, *, family: str | None = None, given: str | None = None
    ) -> Person:
        """A person; with a host (a domain) also a mail address."""
        first, last = given or self.one(GIVEN_NAMES), family or self.one(FAMILY_NAMES)
        email = f"{first}.{last}@{host}".lower() if host else ""
        return Person(first, last, email)

    def customer(self, *, family: str | None = None, given: str | None = None) -> Person:
        """A private person with an address at an invented mail host."""
        first, last = given or self.one(GIVEN_NAMES), family or self.one(FAMILY_NAMES)
        host = self.rng.choice(MAIL_HOSTS)
        form = self.rng.choice(
            (f"{first}.{last}", f"{first[0]}.{last}", f"{first}{self.rng.randrange(10, 99)}")
        )
        return Person(first, last, f"{form}@{host}.example".lower())

    def firm(self, trade: str = "", *, stem: str | None = None) -> Firm:
        """A firm: an invented place-like word, and its trade."""
        word = stem or (self.one(_FIRM_FIRST) + self.rng.choice(_FIRM_SECOND))
        name = f"{word} {trade}".strip()
        slug = "-".join(part for part in name.lower().replace("&", "and").split() if part.isalnum())
        return Firm(name, f"{slug}.example")

    def number(self, low: int, high: int) -> int:
        """A number not drawn before in this task."""
        for _ in range(200):
            value = self.rng.randrange(low, high)
            if f"n{value}" not in self._used:
                self._used.add(f"n{value}")
                return value
        raise ValueError(f"no number between {low} and {high} is left")

    def price(self, low: float, high: float) -> float:
        """A price that isn't round."""
        cents = self.rng.randrange(int(low * 20), int(high * 20)) * 5
        return round(cents / 100, 2)

    def sample(self, options: Sequence[T], count: int) -> list[T]:
        """Several different ones, in random order."""
        return self.rng.sample(list(options), count)

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The same items in another order."""
        return self.rng.sample(list(items), len(items))

    def in_the_middle(self, right: T, others: Sequence[T]) -> list[T]:
        """A list with the right one neither first nor last, where there are others."""
        if len(others) < 2:
            return [*others, right]
        place = self.rng.randrange(1, len(others))
        return [*others[:place], right, *others[place:]]
