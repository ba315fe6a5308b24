"""The facts of a draft: who paid, which invoices are open, and what goes where."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.payment_allocation import words
from tasks_app.core.generation.forms import Json

OLDEST: Final = "oldest_first"
NAMED: Final = "by_reference"
OVER: Final = "overpayment"
CREDIT: Final = "credit_note_first"


class Part(NamedTuple):
    """A part of a payment that goes to an invoice."""

    source: Json
    invoice: Json
    amount: float
    whole: bool
    """Whether it settles what was open, rather than using up what was left."""


@dataclass
class MoneyFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    invoices: list[Json] = field(default_factory=list)
    transactions: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_open()
        self._draw_money()
        self._draw_others()
        self._number()
        self.parts = self._spread()

    @property
    def kept(self) -> bool:
        """A sheet keeps what is left or open."""
        return self.level >= 4

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        suffix, self.trade = rng.choice(words.HOUSES)
        self.house: Firm = cast.firm(suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        first, second = cast.sample(words.CUSTOMER_TRADES, 2)
        self.customer = cast.firm(first).name
        stem = self.customer.split(" ", 1)[0]
        self.twins = [f"{stem} {second}", f"{self.customer} Service"]
        """Firms of nearly the same name."""
        self.customer_id = f"CU-{cast.number(3000, 7000)}"
        self.twin_ids = [f"CU-{cast.number(3000, 7000)}" for _ in self.twins]

    def _invoice(self, customer_id: str, due: int, status: str, *, partly: bool = False) -> Json:
        amount = self.cast.price(120, 1900)
        paid = round(amount * self.rng.randrange(15, 60) / 100, 2) if partly else 0.0
        invoice: Json = {
            "id": "",
            "customer_id": customer_id,
            "amount": amount,
            "paid_amount": amount if status == "paid" else paid,
            "currency": "EUR",
            "due_on": self.clock.date(due),
            "status": status,
        }
        self.invoices.append(invoice)
        return invoice

    def _draw_open(self) -> None:
        """The open invoices of whoever paid, oldest first."""
        rng = self.rng
        count = {1: 1, 2: 2, 3: 3, 4: 3, 5: 4}[self.level]
        if self.subtype in (OLDEST, NAMED):
            count += 1  # one is left, or is older than those that are named
        days = sorted(self.cast.sample(range(-70, 20), count))
        self.open = [
            self._invoice(
                self.customer_id, day, "open", partly=self.level >= 3 and rng.random() < 0.5
            )
            for day in days
        ]

    def due(self, invoice: Json) -> float:
        """What is open of an invoice at the start."""
        return float(round(invoice["amount"] - invoice["paid_amount"], 2))

    def _draw_money(self) -> None:
        """A payment that leads where the subtype wants it, and perhaps a credit note."""
        rng = self.rng
        self.named: list[Json] = []
        self.credit: Json | None = None
        dues = [self.due(invoice) for invoice in self.open]
        some = round(rng.randrange(35, 80) / 100, 2)
        if self.subtype == OLDEST:
            amount = sum(dues[:-2]) + round(dues[-2] * some, 2) if self.level < 3 else 0
            if self.level >= 3:
                amount = sum(dues[:-1]) + round(dues[-1] * some, 2)
        elif self.subtype == NAMED:
            # the oldest is not named; it gets what is left, from the second difficulty on
            self.named = self.cast.shuffled(self.open[1:])[: 1 if self.level < 3 else 2]
            amount = sum(self.due(invoice) for invoice in self.named)
            if self.level == 1:
                amount = round(amount * some, 2)
            else:
                amount += round(dues[0] * some, 2)
        elif self.subtype == OVER:
            amount = sum(dues) + self.cast.price(20, 400)
        else:
            over = self.level == 1
            credit = dues[0] + self.cast.price(15, 90) if over else round(dues[0] * some, 2)
            self.credit = self._money(-credit, "credit_note", "received", 9)
            amount = self.cast.price(100, 400)
            if not over:
                amount = sum(dues) - credit - round(dues[-1] * some, 2)
        self.payment = self._money(round(amount, 2), "incoming", "received", 1)

    def _money(
        self, amount: float, category: str, status: str, days: int, counterparty: str = ""
    ) -> Json:
        name = counterparty or self.customer
        ids = dict(
            zip((self.customer, *self.twins), (self.customer_id, *self.twin_ids), strict=True)
        )
        transaction: Json = {
            "id": "",
            "date": self.clock.date(-days),
            "amount": round(amount, 2),
            "currency": "EUR",
            "counterparty": name,
            "customer_id": ids[name],
            "reference": self.rng.choice(words.REFERENCES),
            "category": category,
            "status": status,
            "allocated_amount": abs(round(amount, 2)) if status == "allocated" else 0.0,
        }
        self.transactions.append(transaction)
        return transaction

    def _draw_others(self) -> None:
        """Invoices that get nothing, older and newer money, and what belongs to the twins."""
        rng = self.rng
        for status in ("disputed", "on_hold", "paid"):
            self._invoice(self.customer_id, -rng.randrange(75, 120), status)
        if self.level >= 3:
            self._invoice(self.customer_id, rng.randrange(-60, 10), "disputed", partly=True)
        for twin_id in self.twin_ids:
            for _ in range(1 + self.level // 3):
                self._invoice(twin_id, -rng.randrange(5, 90), "open")
        for status, days in (("allocated", 40), ("returned", 4), ("allocated", 0)):
            self._money(self.cast.price(100, 900), "incoming", status, days)
        for twin in self.twins:
            self._money(
                self.cast.price(300, 1500), "incoming", "received", rng.randrange(0, 6), twin
            )
        self._money(-self.cast.price(20, 80), "credit_note", "received", 60, self.twins[1])
        if self.subtype == CREDIT:
            self._money(-self.cast.price(20, 80), "credit_note", "allocated", 50)

    def _number(self) -> None:
        rng = self.rng
        number = rng.randrange(20_100, 80_000)
        for invoice in sorted(self.invoices, key=lambda i: (i["due_on"], i["customer_id"])):
            number += rng.randrange(2, 30)
            invoice["id"] = f"IN-{number}"
        self.invoices.sort(key=lambda i: str(i["id"]))
        number = rng.randrange(4100, 9000)
        for row in sorted(
            self.transactions, key=lambda t: (t["date"], t["counterparty"], t["amount"])
        ):
            number += rng.randrange(1, 12)
            row["id"] = f"TX-{number}"
        self.transactions.sort(key=lambda t: str(t["id"]))
        if self.named:
            pattern = rng.choice(words.NAMING)
            self.payment["reference"] = pattern.format(
                first=self.named[0]["id"], rest="".join(f" and {i['id']}" for i in self.named[1:])
            )

    # --- what follows ----------------------------------------------------------------------------

    def _spread(self) -> list[Part]:
        """What goes where, by the rules, one after another."""
        due = {invoice["id"]: self.due(invoice) for invoice in self.open}
        named = [i["id"] for i in self.named]
        order = [*self.named, *(i for i in self.open if i["id"] not in named)]
        parts: list[Part] = []
        for source in (self.credit, self.payment):
            left = abs(source["amount"]) if source is not None else 0.0
            for invoice in order:
                if source is None or left <= 0 or due[invoice["id"]] <= 0:
                    continue
                amount = round(min(left, due[invoice["id"]]), 2)
                whole = amount == due[invoice["id"]]
                left = round(left - amount, 2)
                due[invoice["id"]] = round(due[invoice["id"]] - amount, 2)
                parts.append(Part(source, invoice, amount, whole))
        self.still_open = round(sum(due.values()), 2)
        """What is open of all invoices in the end."""
        return parts

    def paid(self, invoice: Json) -> float:
        """What is paid of an invoice in the end."""
        got = sum(part.amount for part in self.parts if part.invoice is invoice)
        return float(round(invoice["paid_amount"] + got, 2))

    def used(self, source: Json) -> float:
        """What is used of a payment in the end."""
        return round(sum(part.amount for part in self.parts if part.source is source), 2)

    @property
    def left(self) -> float:
        """What is left of the payment in the end."""
        return float(round(self.payment["amount"] - self.used(self.payment), 2))
