"""The facts of a draft: records that look alike, and which of them are of one customer."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tasks_app.core.generation.cast import CITIES, Cast, Clock, Firm, Person
from tasks_app.core.generation.families.customer_merge import words
from tasks_app.core.generation.forms import Json

PERSON: Final = "same_person"
HOUSEHOLD: Final = "household"
MOVED: Final = "moved_company"
MAILBOX: Final = "shared_mailbox"


class Pair(NamedTuple):
    """Two records of one customer."""

    kept: Json
    gone: Json


@dataclass
class CustomerFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    customers: list[Json] = field(default_factory=list)
    notes: list[Json] = field(default_factory=list)
    orders: list[Json] = field(default_factory=list)
    letters: list[Json] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    members: list[Json] = field(default_factory=list)
    """Records of a household that stay."""

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_records()
        self._draw_lookalikes()
        self._draw_orders()
        self._draw_notes()
        self._number()
        self._draw_letters()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def confirms(self) -> bool:
        """A yes is needed before a merge."""
        return self.level >= 2 and bool(self.pairs)

    @property
    def updates(self) -> bool:
        """The record that stays changes too."""
        return self.subtype == MOVED or (self.subtype == PERSON and self.level >= 2)

    @property
    def ordered(self) -> bool:
        """An order on its way decides which record stays."""
        return self.subtype in (PERSON, MOVED) and self.level >= 3

    def is_meant(self, row: Json) -> bool:
        """Whether something has to be done about a record."""
        meant = [*self.members, *(one for pair in self.pairs for one in pair)]
        return any(row is one for one in meant)

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        suffix, self.trade = rng.choice(words.HOUSES)
        self.house: Firm = cast.firm(suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.who: Person = cast.customer()
        self.city = rng.choice(CITIES)
        first, second, third = cast.sample(words.COMPANIES, 3)
        self.firm, self.old_firm, self.other_firm = (
            cast.firm(first), cast.firm(second), cast.firm(third),
        )  # fmt: skip
        self.mail = f"office@{self.firm.domain}"
        """The mailbox that all people of a firm share."""
        self.new_address = self.street()
        self.phone, self.card = self._phone(), self._card()

    def street(self) -> str:
        """An address in one line."""
        name = self.cast.firm().name
        return f"{name} {self.rng.choice(words.STREETS)} {self.rng.randrange(2, 90)}, {self.city}"

    def _phone(self) -> str:
        digits = f"{self.cast.number(100_000, 999_999)}"
        return f"0{self.rng.randrange(21, 99)} {digits[:2]} {digits[2:4]} {digits[4:]}"

    def _card(self) -> str:
        return f"{self.cast.number(1000, 9999)}-{self.cast.number(1000, 9999)}"

    def _record(self, who: Person, age: int, **fields: object) -> Json:
        """A record that has been there for so many months."""
        customer: Json = {
            "id": "",
            "name": who.name,
            "company": None,
            "city": self.city,
            "address": self.street(),
            "email": who.email,
            "phone": self._phone(),
            "card": self._card(),
            "segment": self.rng.choice(words.SEGMENTS),
            "status": "active",
            "since": self.clock.date(-age),
            **fields,
        }
        self.customers.append(customer)
        return customer

    def _age(self, low: int, high: int) -> int:
        """Days, none of them twice."""
        return self.cast.number(low, high)

    def _pair(self, who: Person, phone: str, card: str, **fields: object) -> Pair:
        """Two records of one customer: the older one first."""
        keys = {"phone": phone, "card": card, **fields}
        older = self._record(who, self._age(1200, 1900), **keys)
        younger = self._record(who, self._age(300, 900), **keys)
        return Pair(older, younger)

    def _draw_records(self) -> None:
        cast = self.cast
        if self.subtype == MAILBOX:
            shared = {"company": self.firm.name, "email": self.mail, "address": self.street()}
            for _ in range(1 + (self.level >= 2) + (self.level >= 4)):
                who = cast.customer()
                pair = self._pair(who, self._phone(), self._card(), **shared)
                self.pairs.append(pair)
                # Somebody else of that name, and one whose card was typed wrongly.
                self._record(who, self._age(2000, 2400), phone=pair.kept["phone"], **shared)
                self._record(who, self._age(20, 200), card=pair.kept["card"], **shared)
            return
        if self.subtype == HOUSEHOLD:
            self.home = self.street()
            count = 2 + (self.level >= 2) + (self.level >= 4)
            people = [self.who, *(cast.customer(family=self.who.family) for _ in range(count - 1))]
            for who in people:
                low = 1500 if who is self.who else 1000
                keys = {"phone": self.phone, "address": self.home}
                self.members.append(self._record(who, self._age(low, low + 400), **keys))
            if self.level >= 3:
                self._double(people[1])
            return
        pair = self._pair(self.who, self.phone, self.card)
        pair.gone["email"] = self.cast.customer(family=self.who.family, given=self.who.given).email
        if self.subtype == MOVED:
            pair.kept["company"] = pair.gone["company"] = self.old_firm.name
            pair.kept["email"] = self._at(self.old_firm)
        self.pairs.append(pair)

    def _double(self, who: Person) -> None:
        """One of the household was entered twice; the record that stays is a member."""
        kept = next(row for row in self.members if row["name"] == who.name)
        keys = {"phone": self.phone, "card": kept["card"], "address": self.home}
        gone = self._record(who, self._age(300, 900), **keys)
        self.pairs.append(Pair(kept, gone))

    def _at(self, firm: Firm) -> str:
        return f"{self.who.given}.{self.who.family}@{firm.domain}".lower()

    def _draw_lookalikes(self) -> None:
        """Records that agree in all but one thing."""
        cast, who = self.cast, self.who
        if self.subtype == MAILBOX:
            pair = self.pairs[0]
            same = {k: pair.kept[k] for k in ("company", "email", "address", "phone", "card")}
            for _ in range(2):
                self._record(self._named(pair), self._age(2500, 2900), status="closed", **same)
            self._record(cast.customer(), self._age(300, 900), company=self.other_firm.name)
            return
        keys = {"phone": self.phone, "card": self.card}
        for _ in range(2):
            self._record(who, self._age(2500, 2900), status="closed", **keys)
        if self.subtype == HOUSEHOLD:
            self._record(who, self._age(300, 900), address=self.home)
            if self.pairs:  # the card of the one who is there twice, at another telephone
                self._record(
                    cast.customer(family=who.family),
                    self._age(20, 200),
                    card=self.pairs[0].kept["card"],
                )
        else:
            other = cast.customer(family=who.family)
            self._record(other, self._age(2000, 2400), phone=self.phone)
            self._record(who, self._age(20, 200), card=self.card)
        for _ in range(self.level // 2):
            self._record(cast.customer(family=who.family), self._age(300, 1900))

    def _named(self, pair: Pair) -> Person:
        given, _, family = str(pair.kept["name"]).partition(" ")
        return Person(given, family, str(pair.kept["email"]))

    def _draw_orders(self) -> None:
        """The order on its way may belong to the younger record: then that one stays."""
        if not self.ordered:
            return
        pair = self.pairs[0]
        if self.rng.random() < 0.7:
            pair = self.pairs[0] = Pair(pair.gone, pair.kept)
        rows = [(pair.kept, "confirmed"), (pair.gone, "delivered")]
        others = [row for row in self.customers if row not in pair and row["status"] == "active"]
        rows += [(row, "confirmed") for row in others[:3]]
        for row, status in self.cast.shuffled(rows):
            self.orders.append(
                {
                    "id": f"OR-{self.cast.number(20_000, 60_000)}",
                    "customer_id": row,  # its id, once it has one
                    "customer_name": row["name"],
                    "placed_on": self.clock.date(-self.rng.randrange(2, 9)),
                    "status": status,
                    "currency": "EUR",
                }
            )
        self.orders.sort(key=lambda order: str(order["id"]))

    def _draw_notes(self) -> None:
        for row in self.customers:
            if row["status"] == "active" and self.rng.random() < 0.4:
                self.notes.append(
                    {
                        "id": f"NO-{self.cast.number(100, 900)}",
                        "customer_id": row,
                        "author": self.lead.email,
                        "body": self.rng.choice(words.NOTES),
                        "created_at": self.clock.ago(self.rng.randrange(20, 200), 700),
                    }
                )
        self.notes.sort(key=lambda note: str(note["id"]))

    def _number(self) -> None:
        """Numbers tell nothing of the age: the list came from two older ones."""
        ids = self.cast.sample(range(2100, 7900), len(self.customers))
        self.customers = self.cast.shuffled(self.customers)
        # The first one that is read is not one that is meant.
        first = next(
            row for row in self.customers if row["status"] == "active" and not self.is_meant(row)
        )
        self.customers.remove(first)
        self.customers.insert(0, first)
        for row, number in zip(self.customers, sorted(ids), strict=True):
            row["id"] = f"CU-{number}"
        for other in (*self.orders, *self.notes):
            other["customer_id"] = other["customer_id"]["id"]

    # --- letters ---------------------------------------------------------------------------------

    def _draw_letters(self) -> None:
        rng, who = self.rng, self.who
        sender = {MAILBOX: self.mail, MOVED: self._at(self.firm)}.get(self.subtype, who.email)
        more = ""
        if self.subtype == PERSON and self.updates:
            more = rng.choice(words.ADDRESS).format(address=self.new_address)
        elif self.subtype == HOUSEHOLD and self.pairs:
            kept = self.pairs[0].kept
            more = rng.choice(words.PAIR).format(name=kept["name"], card=kept["card"])
        people = [
            words.ONE.format(name=p.kept["name"], card=p.kept["card"], phone=p.kept["phone"])
            for p in self.pairs
        ]
        text = rng.choice(words.LETTERS[self.subtype]).format(
            card=self.card,
            phone=self.phone,
            company=self.firm.name,
            people=", ".join(people),
            more=more,
        )
        name = self.firm.name if self.subtype == MAILBOX else who.name
        self.name = name
        self.letters_sender = sender
        self.letter = self._letter(sender, name, text, 2)
        for days in (4, 6, 7)[: 1 + self.level // 2]:
            other = rng.choice(words.OTHERS).format(phone=self._phone(), card=self._card())
            namesake = self.mail if self.subtype == MAILBOX else self.cast.customer().email
            self._letter(namesake, name, other, days)
        stranger = self.cast.customer()
        other = rng.choice(words.OTHERS).format(phone=self._phone(), card=self._card())
        self._letter(stranger.email, stranger.name, other, 1)
        self.letters.sort(key=lambda letter: str(letter["date"]))
        number = rng.randrange(300, 800)
        for letter in self.letters:
            number += rng.randrange(1, 9)
            letter["id"] = f"M-{number}"

    def _letter(self, sender: str, name: str, text: str, days: int) -> Json:
        letter: Json = {
            "id": "",
            "from": sender,
            "to": [f"service@{self.house.domain}"],
            "cc": [],
            "subject": self.rng.choice(words.SUBJECTS),
            "date": self.clock.ago(days, self.cast.number(500, 1000)),
            "body": f"Dear team, {text} Kind regards, {name}",
            "labels": ["inbox"],
            "is_read": True,
        }
        self.letters.append(letter)
        return letter
