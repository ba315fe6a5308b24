"""The facts of a draft: expenses, receipts and rules, and what becomes of each expense."""

from dataclasses import dataclass, field
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.days import month_of
from tasks_app.core.generation.families.expense_audit import words
from tasks_app.core.generation.forms import Json

DOUBLE: Final = "duplicate_receipt"
LIMIT: Final = "over_limit"
MISSING: Final = "missing_receipt"
FOREIGN: Final = "foreign_currency"

REASONS: Final = {
    DOUBLE: "duplicate",
    LIMIT: "over_limit",
    MISSING: "missing_receipt",
    FOREIGN: "wrong_rate",
}
"""Subtype → why an expense of it isn't approved."""


@dataclass
class ExpenseFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    rows: list[Json] = field(default_factory=list)
    own: list[Json] = field(default_factory=list)
    """Expenses that have the fault of the subtype."""
    unproven: list[Json] = field(default_factory=list)
    """Expenses whose receipt is missing, beside that."""
    fine: list[Json] = field(default_factory=list)
    files: list[Json] = field(default_factory=list)
    policies: list[Json] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_expenses()
        self._draw_others()
        self._number()
        self._draw_files()
        self._draw_policies()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def filed(self) -> bool:
        """Receipts lie in a folder."""
        return self.level >= 3 or (self.subtype == MISSING and self.level >= 2)

    @property
    def looked_up(self) -> bool:
        """Limits or rates stand in the rules of the house."""
        return self.level >= 2 and self.subtype in (LIMIT, FOREIGN)

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        suffix, self.trade = rng.choice(words.HOUSES)
        self.house: Firm = cast.firm(suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.who: Person = cast.person(self.house.domain)
        self.twin = cast.person(self.house.domain, family=self.who.family)
        """Somebody of the same family name."""
        self.other = cast.person(self.house.domain)
        self.category = rng.choice(("meal", "taxi", "hotel"))
        self.limit = {"meal": 40, "taxi": 30, "hotel": 150}[self.category] + rng.randrange(0, 9)
        self.tolerance = rng.choice((2, 3, 5))
        self.small = rng.choice((10, 15, 20))
        self.currency, self.other_currency = cast.sample(words.CURRENCIES, 2)
        self.rate = round(rng.randrange(80, 260) / 1000 + 0.001, 3)
        self.folder = f"receipts/{self.who.family.lower()}"

    def _expense(
        self,
        amount: float,
        *,
        status: str = "pending",
        who: Person | None = None,
        category: str = "",
        days: int = 0,
        receipt: str = "",
    ) -> Json:
        rng = self.rng
        category = category or rng.choice([c for c in words.CATEGORIES if c != self.category])
        row: Json = {
            "id": "",
            "date": self.clock.date(-(days or rng.randrange(2, 12))),
            "amount": round(amount, 2),
            "currency": "EUR",
            "counterparty": rng.choice(words.CATEGORIES[category]),
            "employee": (who or self.who).name,
            "reference": receipt or f"R-{self.cast.number(1000, 9999)}",
            "category": category,
            "status": status,
            "verdict_reason": None,
        }
        self.rows.append(row)
        return row

    def _draw_expenses(self) -> None:
        faults = (1, 1, 1, 2, 2)[self.level - 1]
        draw = {
            DOUBLE: self._paid_before,
            LIMIT: self._over_limit,
            MISSING: self._without_receipt,
            FOREIGN: self._at_another_rate,
        }[self.subtype]
        for _ in range(faults):
            self.own.append(draw())
        if self.level >= 3 and self.subtype != MISSING:
            for _ in range(1 if self.level < 5 else 2):
                amount = self.cast.price(self.small + 1, self.small + 12)
                self.unproven.append(self._expense(amount))
        for number in range((2, 2, 3, 3, 4)[self.level - 1]):
            self.fine.append(self._sound(number))

    def _sound(self, number: int) -> Json:
        """An expense that is approved, the first one of them nearly at fault."""
        price = self.cast.price(self.small + 1, 29)
        if number:
            return self._expense(price)
        if self.subtype == LIMIT:
            return self._expense(self.limit + self.tolerance - 0.4, category=self.category)
        if self.subtype == MISSING:
            row = self._expense(self.cast.price(3, self.small - 1))
            if not self.filed:
                row["reference"] = "no receipt"
            return row
        if self.subtype == FOREIGN:
            return self._abroad(self.tolerance - 0.6)
        double = self.own[0]
        row = self._expense(double["amount"], category=double["category"])
        row["counterparty"] = double["counterparty"]
        return row

    def _paid_before(self) -> Json:
        row = self._expense(self.cast.price(self.small + 2, 60))
        paid = self._expense(
            row["amount"],
            status="approved",
            category=row["category"],
            days=self.rng.randrange(15, 40),
            receipt=row["reference"],
        )
        paid["counterparty"] = row["counterparty"]
        return row

    def _over_limit(self) -> Json:
        over = self.limit + self.tolerance + self.cast.price(2, 30)
        return self._expense(over, category=self.category)

    def _without_receipt(self) -> Json:
        row = self._expense(self.cast.price(self.small + 1, 60))
        if not self.filed:
            row["reference"] = "no receipt"
        return row

    def _at_another_rate(self) -> Json:
        return self._abroad(self.tolerance + self.cast.price(0.5, 2.5))

    def _abroad(self, more: float) -> Json:
        """An expense in another currency, so much above what it comes to."""
        foreign = self.cast.number(150, 700)
        row = self._expense(round(foreign * self.rate, 2) + more)
        row.update({"foreign_currency": self.currency, "foreign_amount": foreign})
        return row

    def _draw_others(self) -> None:
        """What was decided before, and what others spent."""
        rng, cast = self.rng, self.cast
        for status in ("approved", "rejected"):
            row = self._expense(cast.price(10, 60), status=status, days=rng.randrange(14, 40))
            if status == "rejected":
                row["verdict_reason"] = "private"
        if self.filed and self.subtype != MISSING:
            self.bagatelle = self._expense(cast.price(3, self.small - 1))
            self.fine.append(self.bagatelle)
        if self.subtype == LIMIT:  # over the limit in another category, and decided before
            self.fine.append(self._expense(self.limit + self.tolerance + 6, category="supplies"))
        for who in (self.twin, self.other):
            for _ in range(1 + self.level // 3):
                self._expense(cast.price(self.small + 1, 90), who=who, category=self.category)

    def _number(self) -> None:
        rng = self.rng
        # The first one that is pending is one that is approved.
        self.fine[1]["date"] = self.clock.date(-13)
        self.fine[0]["date"] = self.clock.date(-1)  # the first that is decided on abroad is held
        self.rows = self.cast.shuffled(self.rows)
        self.rows.sort(key=lambda row: str(row["date"]))
        number = rng.randrange(3000, 8000)
        for row in self.rows:
            number += rng.randrange(1, 15)
            row["id"] = f"TX-{number}"

    def _draw_files(self) -> None:
        """A receipt for every expense of the traveller but those whose receipt is missing."""
        if not self.filed:
            return
        without = [*self.unproven, *(self.own if self.subtype == MISSING else [])]
        without.append(self.fine[0] if self.subtype == MISSING else self.bagatelle)
        for row in self.rows:
            mine = row["employee"] == self.who.name
            if any(row is one for one in without):
                continue
            folder = self.folder if mine else f"receipts/{row['employee'].split()[-1].lower()}"
            number = self.cast.number(100, 999)
            path = f"{folder}/scan-{number}.txt"
            text = f"{row['counterparty']}, {row['date']}. Thank you for your visit."
            self.files.append(
                {
                    "id": path,
                    "media_type": "text/plain",
                    "title": row["reference"],
                    "owner": row["employee"],
                    "text": text,
                    "updated_at": self.clock.ago(2, 600),
                }
            )
        unique = {str(file["title"]): file for file in self.files}
        self.files = sorted(unique.values(), key=lambda file: str(file["id"]))

    def _draw_policies(self) -> None:
        if not self.looked_up:
            return
        month = month_of(self.clock.day)
        if self.subtype == LIMIT:
            limits = {"meal": 38, "taxi": 28, "hotel": 140, "supplies": 90}
            limits[self.category] = self.limit
            text = "; ".join(f"{name} {limit} EUR" for name, limit in limits.items())
            self.policies = [
                self._policy("Limits of expenses", f"Each time at most: {text}.", limits=limits),
                self._policy(
                    "Limits of gifts", "A gift costs 35 EUR at most.", limits={"gift": 35}
                ),
            ]
            return
        for name, rate in ((month, self.rate), ("last year", round(self.rate + 0.02, 3))):
            text = f"One {self.currency} is {rate} EUR."
            rates = {self.currency: rate, self.other_currency: round(rate / 2, 3)}
            self.policies.append(self._policy(f"Rates for {name}", text, rates=rates))
        self.policies.reverse()

    def _policy(self, title: str, text: str, **figures: Json) -> Json:
        number = self.cast.number(11, 89)
        return {
            "id": f"PL-{number}",
            "title": title,
            "category": "expenses",
            "text": text,
            **figures,
        }

    # --- what follows ----------------------------------------------------------------------------

    @property
    def approved(self) -> float:
        """What is approved in all."""
        return float(round(sum(row["amount"] for row in self.fine), 2))

    @property
    def verdict(self) -> str:
        """What becomes of an expense with the fault of the subtype."""
        return "rejected" if self.subtype == DOUBLE else "on_hold"
