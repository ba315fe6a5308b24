"""Who plays in a payment_change draft: the house with its payment run, the supplier, its sister
firm and others of nearly the same name.
"""

from dataclasses import dataclass
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.payment_change import words
from tasks_app.core.generation.forms import Json

DENIED: Final = "callback_denied"
MISSING: Final = "callback_missing"
GENUINE: Final = "genuine_change"
SECOND: Final = "second_entity"
DAY_NAMES: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
COUNTRIES: Final = ("FI", "NL", "SE", "EE", "LT", "DK", "PT", "PL", "IE", "AT")
HOLD: Final = {DENIED: "fraud_suspected", MISSING: "callback_pending", SECOND: "disputed"}
"""Subtype → the reason for which invoices are held."""


@dataclass
class Parties:
    """House, supplier and payees of one draft."""

    subtype: str
    level: int
    cast: Cast

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_supplier()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def holds(self) -> bool:
        """Whether the rules end in invoices being held."""
        return self.subtype in HOLD

    @property
    def bulk(self) -> bool:
        """All invoices that the run would take are held, not only the one named."""
        return self.level >= 2 and self.subtype in (DENIED, MISSING)

    @property
    def asks(self) -> bool:
        """The call-back is known to the colleague only."""
        return self.level >= 3 and self.subtype != SECOND

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        suffix, self.trade = rng.choice(words.HOUSES)
        self.house: Firm = cast.firm(suffix)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.lead: Person = cast.person(self.house.domain)
        self.mailbox = f"payables.desk@{self.house.domain}"
        self.run_day = rng.randrange(5)
        self.reach = rng.choice((2, 3, 4))
        today = self.clock.day
        until_run = (self.run_day - today.weekday()) % 7
        self.last_due = until_run + self.reach
        self.callback = f"CB-{cast.number(1000, 9900):04d}"

    def _draw_supplier(self) -> None:
        cast, rng = self.cast, self.rng
        trade, other_trade, region = rng.choice(words.TRADES)
        base = cast.firm(trade)
        stem = base.name.split(" ")[0]
        self.supplier_name = base.name
        self.contact = cast.person(base.domain)
        self.payee = self._payee(base.name, base, self.contact)
        self.sister = self._payee(
            f"{base.name} {region}",
            cast.firm(f"{trade} {region}", stem=stem),
            cast.person(base.domain),
        )
        cousin = self._payee(
            f"{stem} {other_trade}", cast.firm(other_trade, stem=stem), cast.person(base.domain)
        )
        self.former = self._payee(f"{base.name} (old)", base, self.contact, "closed")
        self.former["email"], self.former["contact"] = self.payee["email"], self.payee["contact"]
        self.others = []
        for _ in range(2 + self.level // 2):
            firm = cast.firm(rng.choice(rng.choice(words.TRADES)[:2]))
            self.others.append(self._payee(firm.name, firm, cast.person(firm.domain)))
        self.payees = cast.in_the_middle(
            self.payee, cast.shuffled([self.sister, cousin, self.former, *self.others])
        )
        number = rng.randrange(100, 700)
        for payee in self.payees:
            number += rng.randrange(3, 30)
            payee["id"] = f"PY-{number}"
        self.cousin = cousin
        self.new_iban = self.sister["iban"] if self.subtype == SECOND else self._iban()

    def _payee(self, name: str, firm: Firm, contact: Person, status: str = "active") -> Json:
        rng = self.rng
        return {
            "id": "",
            "name": name,
            "country": rng.choice(COUNTRIES),
            "iban": self._iban(),
            "contact": contact.name,
            "email": f"{contact.given}.{contact.family}@{firm.domain}".lower(),
            "phone": f"+{rng.randrange(31, 99)} 555 0{rng.randrange(100, 999)}",
            "status": status,
            "bank_verified_on": self.clock.date(-rng.randrange(300, 1500)),
            "bank_reference": None,
        }

    def _iban(self) -> str:
        rng = self.rng
        groups = " ".join(f"{rng.randrange(10_000):04d}" for _ in range(3))
        return (
            f"{rng.choice(COUNTRIES)}{rng.randrange(10, 99)} 0000 {groups} {rng.randrange(100):02d}"
        )
