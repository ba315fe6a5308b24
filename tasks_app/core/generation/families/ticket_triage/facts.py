"""The facts of a ticket_triage draft: the house, its customers, and the tickets that lie there.

Every ticket has a part: it fits a line of the table, or it misses one criterion of it.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from tasks_app.core.generation.cast import CITIES, Cast, Clock, Firm, Person
from tasks_app.core.generation.families.ticket_triage import words
from tasks_app.core.generation.families.ticket_triage.trades import SECURITY, TRADES, Area
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.paper import Office

SLA: Final = "sla_breach"
OUTAGE: Final = "outage_cluster"
NAMED: Final = "named_accounts"
MERGE: Final = "merge_duplicates"
_LIMITS: Final = ((90, 360), (120, 480), (150, 600), (180, 540), (240, 960), (75, 300))
_WINDOWS: Final = (90, 120, 150, 180, 240)


@dataclass
class Customer:
    """A firm that buys, and who writes for it."""

    record: Json
    firm: Firm
    writer: Person


@dataclass
class TriageFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self.customers: list[Customer] = []
        self.tickets: list[Json] = []
        self.first: list[Json] = []
        """Tickets that the first line of the table takes."""
        self.second: list[Json] = []
        """Tickets that the second line takes; for pairs, the ones that stay."""
        {SLA: self._overdue, OUTAGE: self._outage, NAMED: self._named, MERGE: self._pairs}[
            self.subtype
        ]()
        self._noise()
        self._number()

    # --- the house -------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        if self.clock.day.weekday() == 4:  # the day after it is a working day too
            self.clock.day -= timedelta(days=1)
        self.trade = rng.choice(TRADES)
        house = cast.firm(self.trade.suffix)
        lead_role, own_role = rng.choice(words.LEAD_ROLES)
        self.office = Office(
            house,
            self.trade.kind,
            cast.person(house.domain),
            lead_role,
            own_role,
            f"desk@{house.domain}",
        )
        self.colleague, self.deputy = cast.person(house.domain), cast.person(house.domain)
        self.area, self.other_area, *self.more_areas = cast.shuffled(self.trade.areas)
        self.tiers = rng.choice(words.TIERS)
        self.fast, self.slow = rng.choice(_LIMITS)
        self.window = rng.choice(_WINDOWS)
        self.threshold = rng.randrange(4, 7)
        self.queue = rng.choice(words.QUEUES)
        self.elsewhere = cast.sample(words.OTHER_QUEUES, 2)
        self.operations = rng.choice(words.OPERATIONS)
        self.old_operations = rng.choice([q for q in words.OPERATIONS if q != self.operations])
        self.security_queue = rng.choice(words.SECURITY_QUEUES)
        self.account_queue = rng.choice(words.ACCOUNT_QUEUES)
        self.mail_queue = rng.choice(words.MAIL_QUEUES)
        self.form_queue = rng.choice(words.FORM_QUEUES)
        self.team, self.old_team = cast.sample(words.TEAMS, 2)
        self.city, self.other_city = cast.sample(CITIES, 2)
        self.owners = [cast.person(house.domain) for _ in range(3)]
        self.cover, self.old_cover = cast.person(house.domain), cast.person(house.domain)
        self.customer_number = rng.randrange(2100, 8200)

    @property
    def crm(self) -> bool:
        """The customer's record decides."""
        return self.level >= 3 or (self.subtype == NAMED and self.level == 2)

    @property
    def article(self) -> bool:
        """The knowledge base says who takes it."""
        return self.level >= 4

    # --- records ---------------------------------------------------------------------------------

    def customer(
        self,
        tier: str | None = None,
        *,
        city: str | None = None,
        status: str = "active",
        owner: Person | None = None,
    ) -> Customer:
        """Add a customer."""
        cast, rng = self.cast, self.rng
        firm = cast.firm(cast.one(self.trade.customers))
        writer = cast.person(firm.domain)
        self.customer_number += rng.randrange(3, 60)
        record: Json = {
            "id": f"CU-{self.customer_number}",
            "name": firm.name,
            "company": firm.name,
            "city": city or cast.one(CITIES),
            "email": writer.email,
            "segment": tier or rng.choice(self.tiers),
            "status": status,
            "owner": (owner or rng.choice(self.owners)).name,
            "since": f"{rng.randrange(2019, 2030)}-{rng.randrange(1, 13):02d}-01",
        }
        found = Customer(record, firm, writer)
        self.customers.append(found)
        return found

    def ticket(
        self,
        customer: Customer,
        age: int,
        area: Area | None = None,
        *,
        queue: str | None = None,
        status: str = "open",
        severity: str = "normal",
    ) -> Json:
        """Add a ticket that came in so many minutes ago."""
        rng = self.rng
        about = area or rng.choice([self.other_area, *self.more_areas])
        symptom = rng.choice(about.symptoms)
        alarm = about is SECURITY
        since = rng.choice(words.AFTER_ALARM if alarm else words.SINCE)
        impact = rng.choice(words.ALARM_IMPACTS if alarm else words.IMPACTS)
        created = self.clock.at(self.clock.day, self.clock.minute - age)
        touched = rng.randrange(1, age) if age > 1 and rng.random() < 0.5 else age
        body: Json = {
            "id": "",
            "customer_id": customer.record["id"],
            "reporter": customer.writer.email,
            "subject": symptom,
            "description": (
                f"{symptom}. {since} {impact} {customer.writer.name}, {customer.firm.name}"
            ),
            "queue": queue or self.queue,
            "status": status,
            "severity": severity,
            "category": about.key,
            "assignee": None,
            "due_on": None,
            "tags": [],
            "resolution": "answered" if status == "closed" else None,
            "reference": None,
            "created_at": created,
            "updated_at": self.clock.at(self.clock.day, self.clock.minute - touched),
        }
        self.tickets.append(body)
        return body

    def _older(self, limit: int) -> int:
        return limit + self.rng.randrange(4, 200)

    def _younger(self, limit: int) -> int:
        return self.rng.randrange(max(5, limit // 3), limit - 3)

    # --- what the subtypes set up ----------------------------------------------------------------

    def _overdue(self) -> None:
        """Tickets past their time; decoys are younger, wait for the customer or lie elsewhere."""
        rng, slow, fast = self.rng, self.slow, self.fast
        if self.level == 1:
            age = self._older(slow)
            self.first.append(self.ticket(self.customer(), age))
            for _ in range(2):
                self.ticket(self.customer(), age + rng.randrange(5, 900), severity="low")
            for _ in range(rng.randrange(3, 5)):
                self.ticket(self.customer(), self._younger(slow))
        elif self.level == 2:
            for _ in range(rng.randrange(1, 3)):
                self.first.append(self.ticket(self.customer(), self._older(fast), severity="high"))
            for _ in range(rng.randrange(3, 5)):
                self.second.append(self.ticket(self.customer(), self._older(slow)))
            self.ticket(self.customer(), self._younger(fast), severity="high")
            for _ in range(2):
                self.ticket(self.customer(), rng.randrange(fast + 5, slow - 5))
            self.ticket(self.customer(), self._older(slow), severity="low")
        else:
            top, middle, low = self.tiers
            for _ in range(3):
                self.first.append(self.ticket(self.customer(top), self._older(fast)))
            for _ in range(rng.randrange(3, 5)):
                self.second.append(self.ticket(self.customer(middle), self._older(slow)))
            for _ in range(1 + self.level // 4):
                self.ticket(self.customer(top), self._younger(fast))
                self.ticket(self.customer(middle), rng.randrange(fast + 5, slow - 5))
            self.ticket(self.customer(low), self._older(slow))
            self.ticket(self.customer(top, status="ended"), self._older(slow))
            self.ticket(self.customer(middle, status="ended"), self._older(slow))
        known = [c for c in self.customers if c.record["status"] == "active"]
        for decoy in range(2):
            own = known[decoy] if self.level >= 3 else self.customer()
            severity = "high" if self.level == 2 and decoy else "normal"
            self.ticket(own, self._older(slow), queue=self.elsewhere[decoy], severity=severity)
            self.ticket(own, self._older(slow), status="waiting", severity=severity)

    def _outage(self) -> None:
        """Reports of one area inside the window; decoys are older, elsewhere or of other areas."""
        rng, area, window = self.rng, self.area, self.window
        city = self.city if self.crm else None
        is_outage = rng.random() < 0.5
        count = 3 if self.level == 1 else self.threshold - 1 + is_outage * rng.randrange(1, 3)
        ages = sorted(rng.sample(range(window // 4, window - 15), count), reverse=True)
        for age in ages:
            self.first.append(self.ticket(self.customer(city=city), age, area))
        for _ in range(2):
            self.ticket(self.customer(city=city), window + rng.randrange(5, 1500), area)
        for _ in range(2):
            self.ticket(self.customer(city=city), window - rng.randrange(3, 12), self.other_area)
        self.ticket(self.customer(city=city), window - rng.randrange(3, 12), area, status="closed")
        if self.crm:
            for _ in range(2 + self.level // 5):
                self.ticket(
                    self.customer(city=self.other_city), window - rng.randrange(3, 12), area
                )
            gone = self.customer(city=city, status="ended")
            self.ticket(gone, window - rng.randrange(3, 12), area)
            self.ticket(gone, window - rng.randrange(3, 30), self.other_area)

    def _named(self) -> None:
        """Tickets of named accounts, and what goes before them in the table."""
        rng, tier = self.rng, self.tiers[0]
        if self.level == 1:
            account = self.customer(tier)
            age = rng.randrange(20, 400)
            self.first.append(self.ticket(account, age, self.area))
            self.ticket(account, age + 300, queue=self.elsewhere[0])
            self.ticket(account, age + 900, status="waiting")
            self.ticket(account, age + 2900, status="closed")
            for _ in range(3):
                self.ticket(self.customer(), rng.randrange(20, 400))
            return
        accounts = [self.customer(tier, owner=self.owners[n % 3]) for n in range(5)]
        plain = [self.customer(rng.choice(self.tiers[1:])) for _ in range(3)]
        self.first += [
            self.ticket(accounts[0], rng.randrange(20, 500), SECURITY),
            self.ticket(plain[0], rng.randrange(20, 500), SECURITY),
        ]
        if self.article:
            self.first.append(self.ticket(accounts[1], rng.randrange(20, 500), SECURITY))
        for account in accounts[1:] if self.level < 4 else accounts:
            self.second.append(self.ticket(account, rng.randrange(20, 500)))
        for other in plain[1:]:
            self.ticket(other, rng.randrange(20, 500), severity=rng.choice(("normal", "high")))
        self.ticket(accounts[2], rng.randrange(500, 900), queue=self.elsewhere[0])
        self.ticket(accounts[1], rng.randrange(500, 900), status="waiting")
        self.ticket(accounts[1], rng.randrange(500, 900), SECURITY, queue=self.elsewhere[1])
        self.ticket(plain[1], rng.randrange(500, 900), SECURITY, status="waiting")
        gone = self.customer(tier, status="ended")
        self.ticket(gone, rng.randrange(20, 500))

    def _pairs(self) -> None:
        """Two tickets of one customer on one matter; decoys share the customer or the matter."""
        rng, area = self.rng, self.area
        if self.level == 1:
            firm = self.customer()
            later = rng.randrange(60, 200)
            self.second.append(self.ticket(firm, later + rng.randrange(200, 500), area))
            self.first.append(self.ticket(firm, later, area))
            self.ticket(firm, later - rng.randrange(10, 50), self.other_area)
            self.ticket(firm, later + 600, self.other_area)
            self.ticket(firm, later + 900, area, status="closed")
            self.ticket(firm, later + 1000, area, status="waiting")
            for _ in range(2):
                self.ticket(self.customer(), rng.randrange(20, 400), area)
            return
        mail, form = self.mail_queue, self.form_queue
        # Whoever has two tickets on a matter wrote the form first and the mail afterwards.
        for _ in range(3 + rng.randrange(0, 2)):
            self._pair(self.customer(self.tiers[1]), area)
        alone = self.customer(self.tiers[1])
        self.ticket(alone, self._recent(), area, queue=mail)
        self.ticket(alone, self._recent(), self.other_area, queue=form)
        crossed = self.customer(self.tiers[2])
        self.ticket(crossed, self._recent(), area, queue=form)
        self.ticket(crossed, self._recent(), self.other_area, queue=mail)
        done = self.customer(self.tiers[2])
        self.ticket(done, self._recent(), area, queue=mail)
        self.ticket(done, self.window + 60, area, queue=form, status="closed")
        waiting = self.customer(self.tiers[1])
        self.ticket(waiting, self._recent(), area, queue=mail, status="waiting")
        self.ticket(waiting, self.window + 50, area, queue=form)
        if self.crm:
            for _ in range(1 + self.level // 4):
                kept = self.customer(self.tiers[0])
                self._pair(kept, area, belongs=False)
            old = self.customer(self.tiers[1])
            self.ticket(old, self.window + rng.randrange(20, 300), area, queue=mail)
            self.ticket(old, self.window + 400, area, queue=form)

    def _recent(self) -> int:
        return self.rng.randrange(10, self.window - 5)

    def _pair(self, customer: Customer, area: Area, *, belongs: bool = True) -> None:
        age = self._recent()
        later = self.ticket(customer, age, area, queue=self.mail_queue)
        earlier = self.ticket(
            customer, age + self.rng.randrange(5, 300), area, queue=self.form_queue
        )
        if belongs:
            self.first.append(later)
            self.second.append(earlier)

    def _noise(self) -> None:
        """Tickets that nothing hangs on, more of them at higher levels."""
        rng = self.rng
        for _ in range(1 + self.level):
            self.ticket(
                self.customer(self.tiers[2]),
                rng.randrange(1500, 9000),
                queue=rng.choice(self.elsewhere),
                status=rng.choice(("open", "waiting", "closed")),
                severity=rng.choice(("low", "normal")),
            )

    def _number(self) -> None:
        """Number the tickets in the order in which they came in."""
        number = self.rng.randrange(1200, 8600)
        for body in sorted(self.tickets, key=lambda t: str(t["created_at"])):
            number += self.rng.randrange(1, 9)
            body["id"] = f"TK-{number}"
        self.tickets.sort(key=lambda t: str(t["id"]))
