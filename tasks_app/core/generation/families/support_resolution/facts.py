"""The facts of a support_resolution draft: which orders, tickets and lookalikes there are."""

from dataclasses import dataclass
from datetime import date
from typing import Final

from tasks_app.core.generation.cast import Person
from tasks_app.core.generation.families.shop import CARRIERS
from tasks_app.core.generation.families.support_resolution import words
from tasks_app.core.generation.families.support_resolution.matter import LATE, TWICE, Matter, Ware
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.talk import articled, capital


@dataclass
class SupportFacts(Matter):
    """What is true in one draft: the matter, orders, tickets. Drawn once, then only read."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._draw_orders()
        self._draw_tickets()

    def _draw_orders(self) -> None:
        """The right order, and lookalikes that miss one criterion each."""
        cast, rng, clock = self.cast, self.rng, self.clock
        self.customer_id = f"CU-{cast.number(3000, 7000)}"
        self.people: list[Json] = [
            self._customer(self.customer_id, self.customer, club=self.in_club)
        ]
        count = 2 + self.level // 2
        self.similar: list[tuple[str, Person]] = []
        for _ in range(count):
            person = cast.customer(family=self.customer.family if rng.random() < 0.6 else None)
            self._add_person(person)
        if self.level >= 4:
            namesake = cast.customer(family=self.customer.family, given=self.customer.given)
            self._add_person(namesake)
        self.reported = rng.randrange(0, 3) if self.subtype != TWICE else rng.randrange(4, 8)
        delivered = self.reported + rng.randrange(1, min(self.window, 9))
        placed = delivered + rng.randrange(3, 9)
        self.rows: list[Json] = []
        late = self.subtype == LATE
        if late:
            over = rng.randrange(1, self.grace) if self.waits else self.grace + rng.randrange(1, 8)
            self.promised = clock.date(-over)
            self.lost_on = clock.date(-over + self.grace)
            placed = over + rng.randrange(3, 8)
        lines = (
            [self.ware]
            if late
            else [self.other_wares[0], self.ware, *self.other_wares[1 : 1 + rng.randrange(0, 2)]]
        )
        self.right = self._order(
            self.customer_id, placed, None if late else delivered, lines, self.voucher
        )
        self.line = next(x["line"] for x in self.right["lines"] if x["sku"] == self.ware.sku)
        # the same article of the same customer, too long ago
        for gap in cast.sample(range(self.window + 20, 160), max(2, 1 + self.level // 2)):
            self._order(self.customer_id, gap + 6, gap, [self.ware, *self.other_wares[2:3]], 0)
        # the sibling variant of the same customer, within the window (or on its way too)
        for shift in range(1 + self.level // 3):
            if late:
                self._order(
                    self.customer_id,
                    placed - 1 - shift,
                    None,
                    [self.other_wares[shift]],
                    0,
                    promised=3 + shift,
                )
            else:
                self._order(
                    self.customer_id,
                    placed + 1 + shift,
                    delivered,
                    [self.sibling, *self.other_wares[1:2]],
                    0,
                )
        # another order that is on its way
        self._order(self.customer_id, 1, None, [self.other_wares[-1]], 0, promised=5)
        # others who bought the same article at the same time
        for other_id, _ in self.similar[: 2 + self.level // 2]:
            self._order(other_id, placed + 2, delivered + 1, [self.ware], rng.choice((0, 5, 10)))
        self._number_orders()

    def _add_person(self, person: Person) -> None:
        person_id = f"CU-{self.cast.number(3000, 7000)}"
        self.similar.append((person_id, person))
        self.people.append(self._customer(person_id, person, club=self.rng.random() < 0.5))

    def _customer(self, customer_id: str, person: Person, *, club: bool) -> Json:
        return {
            "id": customer_id,
            "name": person.name,
            "city": self.cast.one(_CITIES),
            "email": person.email,
            "club": self.club_key if club else "none",
            "since": self.clock.date(-self.rng.randrange(200, 1500)),
        }

    def _order(
        self,
        customer_id: str,
        placed: int,
        delivered: int | None,
        wares: list[Ware],
        voucher: int,
        promised: int | None = None,
    ) -> Json:
        name = next(p["name"] for p in self.people if p["id"] == customer_id)
        order: Json = {
            "id": "",
            "customer_id": customer_id,
            "customer_name": name,
            "placed_on": self.clock.date(-placed),
            "delivered_on": None if delivered is None else self.clock.date(-delivered),
            "status": "shipped" if delivered is None else "delivered",
            "voucher_percent": voucher,
            "delivery_charge": self.charge,
            "currency": "EUR",
            "lines": [
                {"line": n, "sku": w.sku, "name": w.name, "quantity": 1, "unit_price": w.price}
                for n, w in enumerate(wares, start=1)
            ],
        }
        if promised is not None:
            order["promised"] = self.clock.date(promised)
        self.rows.append(order)
        return order

    def _number_orders(self) -> None:
        """Ids follow the day of the order, as in a real shop; so the right one stands inside the
        list.
        """
        number = self.rng.randrange(20_000, 90_000)
        self.shipments: list[Json] = []
        for order in sorted(self.rows, key=lambda o: (o["placed_on"], o["customer_id"])):
            number += self.rng.randrange(3, 40)
            order["id"] = f"OR-{number}"
        self.rows.sort(key=lambda o: str(o["id"]))
        self.order_id = self.right["id"]
        shipment = self.rng.randrange(400, 8000)
        for order in self.rows:
            promised = order.pop("promised", None)
            if order is self.right and self.subtype == LATE:
                promised = self.promised
            if promised is not None and self.subtype == LATE:
                shipment += self.rng.randrange(2, 9)
                self.shipments.append(
                    {
                        "id": f"SH-{shipment:05d}",
                        "order_id": order["id"],
                        "line": 1,
                        "sku": order["lines"][0]["sku"],
                        "quantity": 1,
                        "status": "in_transit",
                        "carrier": self.rng.choice(CARRIERS),
                        "promised_on": promised,
                        "created_at": self.clock.at(date.fromisoformat(order["placed_on"]), 900),
                    }
                )

    def _draw_tickets(self) -> None:
        cast, rng, clock = self.cast, self.rng, self.clock
        drafts: list[tuple[int, int, Json]] = []
        say = {
            "article": self.ware.spoken,
            "Article": capital(self.ware.spoken),
            "damage": self.damage,
            "Damage": self.damage.capitalize(),
            "part": self.part,
            "other": self.sibling.spoken,
        }
        subject, body = rng.choice(words.COMPLAINTS[self.subtype])
        address = self.old_address if self.letters else self.customer.email
        first = self._ticket(
            self.customer_id,
            self.customer,
            address,
            articled(subject.format(**say)),
            articled(body.format(**say)),
        )
        drafts.append((self.reported, rng.randrange(400, 1200), first))
        self.first, self.second = first, None
        if self.subtype == TWICE:
            subject, body = rng.choice(words.REMINDERS)
            self.second = self._ticket(
                self.customer_id,
                self.customer,
                address,
                articled(subject.format(**say)),
                articled(body.format(**say)),
            )
            drafts.append(
                (self.reported - rng.randrange(2, 4), rng.randrange(400, 1200), self.second)
            )
        self.elsewhere: list[Json] = []
        for subject, body in cast.sample(words.OTHER_MATTERS, 2 + self.level // 2):
            ticket = self._ticket(self.customer_id, self.customer, address, subject, body)
            self.elsewhere.append(ticket)
            drafts.append((rng.randrange(0, 30), rng.randrange(400, 1200), ticket))
        for other_id, person in self.similar[: 2 + self.level // 2]:
            ware = self.ware if person.name != self.customer.name else self.other_wares[0]
            told = {
                **say,
                "article": ware.spoken,
                "Article": capital(ware.spoken),
            }
            subject, body = rng.choice(words.COMPLAINTS[self.subtype])
            ticket = self._ticket(
                other_id,
                person,
                person.email,
                articled(subject.format(**told)),
                articled(body.format(**told)),
            )
            drafts.append((rng.randrange(0, 12), rng.randrange(400, 1200), ticket))
        old = self._ticket(
            self.customer_id,
            self.customer,
            self.customer.email,
            f"{say['Article']}: a question",
            f"How do I clean the {self.ware.spoken}?",
        )
        old.update(status="closed", resolution="answered")
        drafts.append((rng.randrange(40, 120), 700, old))
        number = rng.randrange(1000, 8000)
        self.tickets: list[Json] = []
        for days, minute, ticket in sorted(drafts, key=lambda d: (-d[0], d[1])):
            number += rng.randrange(1, 6)
            moment = clock.ago(days, minute)
            ticket.update(id=f"TK-{number}", created_at=moment, updated_at=moment)
            self.tickets.append(ticket)
        self.comments: list[Json] = []
        self.secret, self.secrets = rng.choice(words.SECRETS)

    def _ticket(
        self, customer_id: str, person: Person, address: str, subject: str, body: str
    ) -> Json:
        return {
            "id": "",
            "customer_id": customer_id,
            "reporter": f"{person.name} <{address}>",
            "subject": subject,
            "description": body,
            "status": "open",
            "created_at": "",
            "updated_at": "",
            "resolution": None,
            "reference": None,
            "due_on": None,
        }


_CITIES: Final = (
    "Aalborg",
    "Bergen",
    "Cork",
    "Dundee",
    "Esbjerg",
    "Faro",
    "Ghent",
    "Graz",
    "Haarlem",
    "Izmir",
    "Jena",
    "Kaunas",
    "Leuven",
    "Linz",
    "Malmo",
    "Nantes",
    "Odense",
    "Porto",
    "Randers",
    "Siena",
    "Tampere",
)
