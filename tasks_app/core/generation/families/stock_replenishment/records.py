"""What is on order, what customers wait for, and the whole of a draft's facts."""

from dataclasses import dataclass
from math import ceil
from typing import Final

from tasks_app.core.generation.families.stock_replenishment.facts import Item, Shelf
from tasks_app.core.generation.forms import Json

TRIES: Final = 400
"""Draws of numbers until they lead where they should."""


@dataclass
class StockFacts(Shelf):
    """What is true in one draft. Drawn once, then only read."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for _ in range(TRIES):
            self.items = []
            self._draw_items()
            if not self._clear():
                continue
            self.items = self._ordered()
            self._number()
            self._draw_orders()
            self._draw_other_weeks()
            if self._tells():
                return
        raise ValueError(f"no stock was found that leads to {self.subtype}")

    def _tells(self) -> bool:
        """Whether a quantity stands nowhere, and it shows what is coming and who waits for it."""
        waiting = [
            line["quantity"]
            for order in self.customers
            if order["status"] == "waiting"
            for line in order["lines"]
        ]
        coming = [
            line["quantity"] - line["received"]
            for order in self.purchases
            if order["status"] == "ordered"
            for line in order["lines"]
        ]
        for item in self.wanted if self.running else ():
            need, all_waiting = self.need(item), sum(waiting) - item.waiting
            wrong = [need + item.coming - sum(coming)]
            if self.backorders:
                wrong.append(need + all_waiting)
            if any(ceil(n / item.pack) * item.pack == self.quantity(item) for n in wrong):
                return False
        return bool({self.quantity(item) for item in self.wanted} - self._held())

    def _held(self) -> set[int]:
        """Figures that stand in the fields of records."""
        held: set[int] = set()
        for i in self.items:
            held |= {i.on_hand, i.reserved, i.point, i.pack, i.listed_pack, *i.weeks}
        for table in self.other_weeks:
            for weeks in table:
                held |= {*weeks}
        for order in (*self.purchases, *self.customers):
            for line in order["lines"]:
                held |= {value for value in line.values() if isinstance(value, int)}
        return held

    # --- orders ----------------------------------------------------------------------------------

    def _draw_orders(self) -> None:
        """What was ordered before, and what customers wait for."""
        rng = self.rng
        rows: list[tuple[int, str, str, list[Json]]] = []
        for supplier in self.suppliers if self.running else ():
            items = [i for i in self.items if i.supplier == supplier]
            open_lines: list[list[Json]] = [[], []]
            for item in items:
                if item.coming:
                    got = rng.choice((0, 0, rng.randrange(1, 12)))
                    line = {"sku": item.sku, "quantity": item.coming + got, "received": got}
                    open_lines[rng.randrange(2)].append(line)
            rows += [(rng.randrange(1, 15), supplier, "ordered", x) for x in open_lines if x]
            for status in ("received", "cancelled"):
                chosen = self.cast.sample(items, min(2, len(items)))
                rows.append(
                    (
                        rng.randrange(16, 60),
                        supplier,
                        status,
                        [self._past(i, status) for i in chosen],
                    )
                )
        number = rng.randrange(1100, 8000)
        self.purchases: list[Json] = []
        for days, supplier, status, lines in sorted(rows, key=lambda r: (-r[0], r[1])):
            number += rng.randrange(1, 9)
            self.purchases.append(
                {
                    "id": f"PO-{number}",
                    "supplier": supplier,
                    "lines": lines,
                    "status": status,
                    "expected_on": self.clock.date(-days + self.lead_days),
                    "created_at": self.clock.ago(days, rng.randrange(480, 1000)),
                }
            )
        self.customers: list[Json] = self._draw_customers() if self.backorders else []

    def _draw_other_weeks(self) -> None:
        """Two forecasts that do not count: figures of the same articles, each a little off."""
        rng = self.rng
        self.other_weeks = [
            [
                [max(1, week + rng.choice((-1, 1)) * rng.randrange(1, 8)) for week in item.weeks]
                for item in self.items
            ]
            for _ in range(2)
        ]

    def _past(self, item: Item, status: str) -> Json:
        quantity = item.pack * self.rng.randrange(2, 6) + 1
        return {
            "sku": item.sku,
            "quantity": quantity,
            "received": quantity if status == "received" else 0,
        }

    def _draw_customers(self) -> list[Json]:
        rng = self.rng
        wanted: list[tuple[str, list[tuple[Item, int]]]] = []
        for item in self.items:
            if item.waiting:
                part = rng.randrange(1, item.waiting)
                wanted += [("waiting", [(item, part)]), ("waiting", [(item, item.waiting - part)])]
        for status in ("waiting", "shipped", "shipped", "delivered"):
            others = [i for i in self.items if not i.waiting and i.fate != "order"]
            chosen = others if status == "waiting" else self.items
            wanted.append((status, [(i, rng.randrange(1, 4)) for i in self.cast.sample(chosen, 2)]))
        number = rng.randrange(20_000, 90_000)
        rows: list[Json] = []
        for status, lines in self.cast.shuffled(wanted):
            number += rng.randrange(2, 30)
            buyer = self.cast.customer()
            rows.append(
                {
                    "id": f"OR-{number}",
                    "customer_name": buyer.name,
                    "placed_on": self.clock.date(-rng.randrange(2, 20)),
                    "delivered_on": self.clock.date(-1) if status == "delivered" else None,
                    "status": status,
                    "lines": [
                        {"line": n, "sku": i.sku, "name": i.name, "quantity": q}
                        for n, (i, q) in enumerate(lines, start=1)
                    ],
                }
            )
        return rows

    # --- records ---------------------------------------------------------------------------------

    def products(self) -> list[Json]:
        """The articles as inventory keeps them."""
        rows = []
        for item in self.items:
            row: Json = {
                "id": item.sku,
                "sku": item.sku,
                "name": item.name,
                "category": self.range,
                "supplier": item.supplier,
                "on_hand": item.on_hand,
                "reserved": item.reserved,
                "reorder_point": item.point,
                "status": "discontinued" if item.heir is not None else "active",
            }
            if self.packed:
                row["pack_size"] = item.listed_pack
            if item.season_until is not None:
                row["season_until"] = item.season_until
            if item.heir is not None:
                row["replaced_by"] = item.heir.sku
            rows.append(row)
        return rows
