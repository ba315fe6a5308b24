"""The facts of a draft: the threads with partners, and which of them end as an item of whom."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person, is_working_day
from tasks_app.core.generation.families.inbox_to_todo import words
from tasks_app.core.generation.families.inbox_to_todo.words import Trade
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.talk import capital

DATED: Final = "asked_and_dated"
ANSWERED: Final = "answered_already"
CANCELLED: Final = "cancelled_later"
DELEGATED: Final = "delegated"
WEEKDAY, DAY = "weekday", "day"
"""How a letter names a day: as `Friday`, or as `14 March`."""


@dataclass
class Thread:
    """Letters in one matter."""

    partner: Person
    thing: str
    occasion: str
    letters: list[Json] = field(default_factory=list)
    form: str = WEEKDAY
    due: date | None = None
    """When it has to be delivered, where an item has to be made of it."""
    owner: str = ""
    deciding: Json = field(default_factory=dict)
    """The letter whose day counts."""

    @property
    def subject(self) -> str:
        """The subject of its first letter, and the title of its item."""
        return f"{capital(self.thing)} for {self.occasion}"


@dataclass
class InboxFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    threads: list[Thread] = field(default_factory=list)
    letters: list[Json] = field(default_factory=list)
    sent: list[Json] = field(default_factory=list)
    items: list[Json] = field(default_factory=list)
    dropped: list[Json] = field(default_factory=list)
    """Items of what was taken back."""

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_habits()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many items have to be made."""
        count = (1, 2, 3, 3, 4)[self.level - 1]
        return count - 1 if self.subtype == CANCELLED and self.level < 4 else count

    def _draw_habits(self) -> None:
        """What the house does beside it: the higher the level, the more of it."""
        level, chance = self.level, self.rng.random
        self.forms = [WEEKDAY, DAY] if level >= 3 else [self.rng.choice((WEEKDAY, DAY))]
        often = self.subtype == CANCELLED or level >= 4 or (level >= 2 and chance() < 0.4)
        self.listed = self.count > 0 and often
        """Something stands on the list already."""
        self.filed = self.count > 0 and (level >= 5 or (level >= 2 and chance() < 0.5))
        """Letters are moved once they are on the list."""
        self.described = self.count > 0 and chance() < 0.5
        self.aged = level >= 4 or (level == 3 and chance() < 0.5)
        """Old letters are not taken up again."""
        self.by_firm = level >= 2 and self.subtype != DELEGATED
        self.label = self.rng.choice(words.LABELS)
        self.priority = self.rng.choice(("high", "low"))
        self.oldest = self.rng.choice((14, 21, 28))

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        self.trade: Trade = rng.choice(words.TRADES)
        self.house: Firm = cast.firm(self.trade.suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.mailbox = f"{rng.choice(words.DESKS)}@{self.house.domain}"
        self.colleagues = [cast.person(self.house.domain) for _ in range(3)]
        self.posts = cast.sample(words.POSTS, 3)
        self.firms = [cast.firm(trade) for trade in cast.sample(words.PARTNERS, 5)]
        self.partners = [cast.person(firm.domain) for firm in self.firms]
        things = cast.shuffled(self.trade.things)
        occasions = cast.shuffled(self.trade.occasions)
        self.matters = iter(
            [
                (thing, occasions[(place + turn) % len(occasions)])
                for turn in range(2)
                for place, thing in enumerate(things)
            ]
        )
        """What is wanted and for which occasion, each pair once."""
        self.keepers = {
            firm.domain: self.colleagues[place % 3].email for place, firm in enumerate(self.firms)
        }
        """Domain of a partner → who looks after it."""

    def firm_of(self, partner: Person) -> Firm:
        """The house that somebody writes for."""
        return self.firms[self.partners.index(partner)]

    def owner_of(self, thread: Thread) -> str:
        """Who gets the item of a thread, apart from what the thread itself says."""
        if self.by_firm:
            return self.keepers[self.firm_of(thread.partner).domain]
        return self.lead.email

    def thread(self, form: str | None = None) -> Thread:
        """A thread without letters, in a matter of its own."""
        made = Thread(self.rng.choice(self.partners), *next(self.matters))
        made.form = form or self.rng.choice(self.forms)
        self.threads.append(made)
        return made

    def working_day(self, days: int) -> date:
        """The working day some days from today, or the next one before it."""
        day = self.clock.day + timedelta(days=days)
        while not is_working_day(day):
            day -= timedelta(days=1)
        return day

    def moment(self, form: str) -> tuple[date, int]:
        """A day on which something is wanted, and how many days ago the letter was written that
        names it: less than a week before, if it names the weekday.
        """
        least, most = (-4, 4) if form == WEEKDAY else (-3, 14)
        due = self.working_day(self.rng.randrange(least, most))
        earliest = due - timedelta(days=6) if form == WEEKDAY else self.working_day(-8)
        days = [earliest + timedelta(days=n) for n in range((self.clock.day - earliest).days)]
        written = self.rng.choice([d for d in days if is_working_day(d) and d < due])
        return due, (self.clock.day - written).days
