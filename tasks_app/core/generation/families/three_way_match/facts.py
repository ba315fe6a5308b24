"""The facts of a three_way_match draft: one order, what came of it, and what was billed.

Beside it lie lookalikes that miss one criterion each: a sister firm, an older order, an invoice of
another order, one that is settled already.
"""

import math
from dataclasses import dataclass
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock
from tasks_app.core.generation.families.three_way_match import words
from tasks_app.core.generation.families.three_way_match.words import Goods
from tasks_app.core.generation.forms import Json
from tasks_app.core.generation.paper import Office

SHORT: Final = "short_delivery"
OVER: Final = "price_over"
SECOND: Final = "second_invoice"
PART: Final = "part_delivery"
BANDED: Final = (SHORT, OVER)
"""Subtypes that a band decides."""


@dataclass
class MatchFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_deal()
        self._decide()
        self._draw_orders()
        self._draw_invoices()
        self._draw_payees()

    # --- what a level brings ---------------------------------------------------------------------

    @property
    def stock(self) -> bool:
        """Orders and receipts stand in the inventory."""
        return self.level >= 2

    @property
    def letters(self) -> bool:
        """The supplier is written to."""
        return self.level >= 3

    @property
    def reports(self) -> bool:
        """A report is filed; the payee's own band and a limit count."""
        return self.level >= 4

    # --- house and deal --------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        suffix, kind = rng.choice(words.HOUSES)
        house = cast.firm(suffix)
        lead_role, own_role = rng.choice(words.LEAD_ROLES)
        self.office = Office(
            house, kind, cast.person(house.domain), lead_role, own_role, f"invoices@{house.domain}"
        )
        self.colleague, self.deputy = cast.person(house.domain), cast.person(house.domain)
        self.supply = rng.choice(words.SUPPLIES)
        self.supplier = cast.firm(self.supply.suffix)
        stem = self.supplier.name.split()[0]
        self.sister = cast.firm(
            f"{self.supply.suffix} {rng.choice(('Export', 'Trading', 'South'))}", stem=stem
        )
        self.others = [cast.firm(self.supply.suffix) for _ in range(2)]
        number = cast.number(210, 780)
        self.payee_id, self.sister_id = f"PY-{number}", f"PY-{number + rng.randrange(3, 30)}"
        self.other_ids = [
            f"PY-{number - rng.randrange(4, 90)}",
            f"PY-{number + rng.randrange(40, 90)}",
        ]
        letters = "".join(w[0] for w in self.supplier.name.split()).upper()
        self.ref_prefix = f"{letters}{rng.randrange(2, 9)}"
        self.goods, *self.other_goods = cast.shuffled(self.supply.goods)
        self.price = cast.price(self.goods.low, self.goods.high)

    def _draw_deal(self) -> None:
        """How much was ordered, came and was billed, and at which price."""
        rng = self.rng
        self.agrees = rng.random() < 0.4
        self.band = rng.choice((2, 3, 4, 5))
        self.own_band = self.band
        if self.reports and self.subtype in BANDED:
            # The agreed band decides otherwise than the general one.
            self.own_band = self.band + 4 if self.agrees else max(1, self.band - 2)
            self.band = self.band if self.agrees else self.own_band + 4
        self.ordered = rng.randrange(12, 40) * 10
        self.received, self.billed, self.billed_price = self.ordered, self.ordered, self.price
        low, high = sorted((self.band, self.own_band))
        if self.subtype == SHORT:
            share = self._share(low, high)
            self.received = self.ordered - max(1, round(self.ordered * share))
        elif self.subtype == OVER:
            share = self._share(low, high)
            self.billed_price = round(self.price * (1 + share), 2)
            if self.billed_price <= self.price:
                self.billed_price = round(self.price + 0.01, 2)
        elif self.subtype == PART:
            first = self.ordered // 10 * rng.randrange(3, 5)
            second = self.ordered // 10 * rng.randrange(2, 4)
            self.earlier = first
            self.received = first + second
            self.billed = second if self.agrees else second + rng.randrange(4, self.ordered // 10)
        self.is_paid = rng.random() < 0.5

    def _share(self, low: int, high: int) -> float:
        """A deviation: between both bands where they differ, else inside or outside the one."""
        rng = self.rng
        if low < high:
            return rng.uniform(low + 1.3, high - 1.2) / 100
        if self.agrees:
            return rng.uniform(0.35, 0.8) * low / 100
        return rng.uniform(low + 1.5, low + 9) / 100

    def _decide(self) -> None:
        """What the rules say: approve, hold with a reason, or reject."""
        deviation = 0.0
        if self.subtype == SHORT:
            deviation = (self.billed - self.received) / self.received * 100
        elif self.subtype == OVER:
            deviation = (self.billed_price - self.price) / self.price * 100
        if self.subtype in BANDED:
            self.agrees = deviation <= self.own_band
        too_much = self.reports and self.agrees and self.rng.random() < 0.4
        self.reason = ""
        if self.subtype == SECOND:
            self.action = "reject" if self.is_paid else "hold"
            self.reason = "duplicate"
        elif self.agrees:
            self.action = "hold" if too_much else "approve"
            self.reason = "over_limit" if too_much else ""
        else:
            self.action = "hold"
            self.reason = "price_mismatch" if self.subtype == OVER else "quantity_mismatch"

    def _settle_sums(self) -> None:
        """The sum in question, and a limit on the side that the decision needs."""
        self.amount = self.invoice["amount"]
        if self.subtype == SECOND or self.reason in ("", "over_limit"):
            self.question = self.amount
        elif self.subtype == SHORT:
            self.question = round((self.billed - self.received) * self.price, 2)
        elif self.subtype == OVER:
            self.question = round(round(self.billed_price - self.price, 2) * self.billed, 2)
        else:
            both = self.first_part["amount"] + self.amount
            self.question = round(both - round(self.received * self.price, 2), 2)
        if self.reason == "over_limit":
            self.limit = float(max(5, int(self.amount * 0.085) * 10))
        else:
            room = self.rng.randrange(60, 700)
            self.limit = float(math.ceil((self.amount + room) / 100) * 100)

    # --- records ---------------------------------------------------------------------------------

    def _draw_orders(self) -> None:
        """The right order among an older one, one of another article, one of another supplier."""
        rng = self.rng
        self.order_number = self.cast.number(1200, 8600)
        self.orders: list[Json] = []
        for _ in range(1 + self.level // 4):
            self._order(self.supplier.name, self.goods, rng.randrange(90, 300), status="closed")
        for firm in (self.sister, *self.others):
            self._order(firm.name, self.goods, rng.randrange(30, 80))
        self.right = self._order(self.supplier.name, self.goods, rng.randrange(14, 28))
        self.right["lines"][0] |= {
            "quantity": self.ordered,
            "received": self.received,
            "unit_price": self.price,
        }
        for goods in self.other_goods[: 2 + self.level // 5]:
            self._order(self.supplier.name, goods, rng.randrange(5, 13))
        if self.subtype == SECOND:  # the same once more, still to come
            again = self._order(self.supplier.name, self.goods, 3, status="confirmed")
            again["lines"] = [{**line, "received": 0} for line in self.right["lines"]]

    def _order(self, supplier: str, goods: Goods, days: int, status: str = "open") -> Json:
        rng = self.rng
        self.order_number += rng.randrange(2, 30)
        quantity = rng.randrange(10, 40) * 10
        body: Json = {
            "id": f"PO-{self.order_number}",
            "supplier": supplier,
            "lines": [self._line(goods, quantity)],
            "status": status,
            "expected_on": self.clock.date(-days + 10),
            "created_at": self.clock.ago(days, rng.randrange(480, 960)),
        }
        if self.stock and rng.random() < 0.5 and self.subtype != PART:
            extra = rng.choice([g for g in self.other_goods if g != goods])
            body["lines"].append(self._line(extra, rng.randrange(2, 9) * 5))
        self.orders.append(body)
        return body

    def _line(self, goods: Goods, quantity: int) -> Json:
        price = self.price if goods == self.goods else self.cast.price(goods.low, goods.high)
        return {
            "sku": f"{goods.code}-{self.rng.randrange(10, 99)}",
            "name": goods.spoken,
            "quantity": quantity,
            "received": quantity,
            "unit_price": price,
        }

    def _draw_invoices(self) -> None:
        """The right invoice among others of the supplier and of others."""
        rng, clock = self.rng, self.clock
        self.invoices: list[Json] = []
        right_lines = [dict(line) for line in self.right["lines"]]
        billed = {"quantity": self.billed, "unit_price": self.billed_price}
        right_lines[0] = {**right_lines[0], **billed}
        self.invoice = self._invoice(self.payee_id, self.right, right_lines, rng.randrange(8, 21))
        if self.subtype == PART:
            part = [{**self.right["lines"][0], "quantity": self.earlier}]
            self.first_part = self._invoice(
                self.payee_id, self.right, part, -rng.randrange(3, 12), status="paid"
            )
        if self.subtype == SECOND:
            self.original = self._invoice(
                self.payee_id,
                self.right,
                right_lines,
                -rng.randrange(2, 9) if self.is_paid else rng.randrange(3, 7),
                status="paid" if self.is_paid else "approved",
            )
            self.original["supplier_ref"] = self.invoice["supplier_ref"]
        if self.subtype == SECOND:  # the same sum for another order, another sum for this one
            again = self.orders[-1]
            self._invoice(self.payee_id, again, right_lines, rng.randrange(4, 30))
            freight = [{**right_lines[0], "quantity": 1}]
            self._invoice(self.payee_id, self.right, freight, rng.randrange(4, 30))
        elif self.stock:  # a first try that was turned down
            wrong = [{**right_lines[0], "quantity": self.billed + rng.randrange(3, 9)}]
            turned_down = self._invoice(
                self.payee_id, self.right, wrong, rng.randrange(4, 30), status="rejected"
            )
            turned_down["reject_reason"] = "wrong_amount"
        payees = {self.supplier.name: self.payee_id, self.sister.name: self.sister_id}
        payees |= {firm.name: i for firm, i in zip(self.others, self.other_ids, strict=True)}
        for order in self.orders:
            if order is self.right or (self.subtype == SECOND and order is self.orders[-1]):
                continue
            payee = payees[order["supplier"]]
            mine = payee == self.payee_id
            settled = order["status"] == "closed" or (mine and not self.stock)
            self._invoice(
                payee,
                order,
                order["lines"],
                -rng.randrange(5, 60) if settled else rng.randrange(4, 30),
                status=self._settled() if settled else "received",
            )
        self._settle_sums()
        self.invoices = self._numbered(clock)

    def _settled(self) -> str:
        """One invoice of the supplier is on hold at least; a bill sent twice is paid once."""
        held = any(i["status"] == "on_hold" for i in self.invoices)
        alone = self.subtype == SECOND and not self.stock
        return self.rng.choice(("paid", "on_hold")) if held and not alone else "on_hold"

    def _invoice(
        self, payee: str, order: Json, lines: list[Json], due: int, status: str = "received"
    ) -> Json:
        rng = self.rng
        billed = [{k: line[k] for k in ("sku", "name", "quantity", "unit_price")} for line in lines]
        amount = round(sum(line["quantity"] * line["unit_price"] for line in billed), 2)
        prefix = self.ref_prefix if payee == self.payee_id else f"{rng.choice('KLMNPRT')}{payee[3]}"
        body: Json = {
            "id": "",
            "payee_id": payee,
            "supplier_ref": f"{prefix}-{self.cast.number(10100, 98900)}",
            "purchase_order_id": order["id"],
            "amount": amount,
            "currency": "EUR",
            "due_on": self.clock.date(due),
            "status": status,
            "hold_reason": "disputed" if status == "on_hold" else None,
            "reject_reason": None,
            "lines": billed,
        }
        if not self.stock:
            kept = order["lines"]
            ordered = round(sum(x["quantity"] * x["unit_price"] for x in kept), 2)
            received = round(sum(x["received"] * x["unit_price"] for x in kept), 2)
            body["ordered_value"], body["received_value"] = ordered, received
        self.invoices.append(body)
        return body

    def _numbered(self, clock: Clock) -> list[Json]:
        """Number the invoices so that the right one is neither first nor last."""
        others = self.cast.shuffled([i for i in self.invoices if i is not self.invoice])
        rows = self.cast.in_the_middle(self.invoice, others)
        number = self.cast.number(2100, 8800)
        for body in rows:
            number += self.rng.randrange(1, 9)
            body["id"] = f"IN-{number}"
        return rows

    def _draw_payees(self) -> None:
        cast, rng = self.cast, self.rng
        self.payees: list[Json] = []
        host = self.supplier.domain
        self.address = f"accounts@{host}"
        rows = [
            (self.payee_id, self.supplier.name, self.address, "active", self.own_band),
            (
                self.sister_id,
                self.sister.name,
                f"accounts@{self.sister.domain}",
                "active",
                self.band,
            ),
            *(
                (i, firm.name, f"billing@{firm.domain}", "active", self.band)
                for i, firm in zip(self.other_ids, self.others, strict=True)
            ),
            (
                f"PY-{rng.randrange(910, 990)}",
                self.supplier.name,
                f"old@{host}",
                "closed",
                self.band,
            ),
        ]
        for payee_id, name, email, status, band in rows:
            body: Json = {
                "id": payee_id,
                "name": name,
                "country": rng.choice(("DK", "NL", "PL", "FI", "PT", "IE")),
                "contact": cast.person(host).name,
                "email": email,
                "status": status,
            }
            if self.reports and self.subtype in BANDED:
                body["band_percent"] = band
            self.payees.append(body)
        self.payees.sort(key=lambda p: str(p["id"]))
