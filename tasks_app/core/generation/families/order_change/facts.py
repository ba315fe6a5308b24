"""The facts of a draft: a customer's orders, how far each of them is, and what is to be done."""

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Final

from tasks_app.core.generation.cast import CITIES, Cast, Clock, Firm, Person, is_working_day
from tasks_app.core.generation.families.order_change import words
from tasks_app.core.generation.families.shop import TRADES, Trade
from tasks_app.core.generation.forms import Json

WHOLE: Final = "before_packing"
LINE: Final = "one_line_only"
ADDRESS: Final = "new_address"
LATE: Final = "too_late"

GONE, BACK, OLD, BARRED = "gone", "back", "old", "barred"
"""How a late wish ends: it is on its way, it comes back, it came too long ago, or never may."""
OPEN: Final = ("placed", "confirmed")


@dataclass
class OrderFacts:
    """What is true in one draft. Drawn once, then only read."""

    subtype: str
    level: int
    cast: Cast
    orders: list[Json] = field(default_factory=list)
    products: list[Json] = field(default_factory=list)
    meant: list[Json] = field(default_factory=list)
    """The orders that the wish is about."""

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_habits()
        self._draw_customer()
        if self.subtype == LATE:
            self._draw_late()
        else:
            self._draw_open()
        self._draw_others()
        self._number()

    # --- which level brings what -----------------------------------------------------------------

    def _draw_habits(self) -> None:
        rng, level = self.rng, self.level
        self.dated = level >= 2
        """The day on which an order leaves counts."""
        self.days = rng.randrange(2, 5)
        self.limit = self.clock.date(self.days)
        """What leaves later than this day may be changed."""
        self.fewer = self.subtype == LINE and (level >= 4 or (level >= 2 and rng.random() < 0.4))
        self.asks_number = self.fewer and level >= 3
        self.asks_address = self.subtype == ADDRESS and level >= 2
        self.all_orders = self.subtype == ADDRESS and level >= 3
        self.confirms = level >= 2 and (
            self.subtype == WHOLE or (self.subtype == LINE and not self.fewer)
        )
        self.stocked = level >= 3 and self.subtype in (WHOLE, LINE)
        """What is not sent goes back on stock."""
        ends = (GONE,) if level == 1 else (GONE, BACK, OLD) if level == 2 else (BACK, OLD, BARRED)
        self.end = rng.choice(ends) if self.subtype == LATE else ""
        self.barred = self.subtype == LATE and level >= 3
        self.term = rng.choice((14, 21, 30))
        self.keep = rng.choice((2, 4, 6))

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        self.trade: Trade = rng.choice(TRADES)
        self.house: Firm = cast.firm(self.trade.suffix)
        self.lead: Person = cast.person(self.house.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        self.categories = cast.sample(words.CATEGORIES, 3)

    def _draw_customer(self) -> None:
        cast, rng = self.cast, self.rng
        suffixes = cast.sample(words.CUSTOMERS, 3)
        self.customer = cast.firm(suffixes[0]).name
        stem = self.customer.split(" ", 1)[0]
        self.others = [f"{stem} {suffixes[1]}", cast.firm(suffixes[2]).name]
        """Customers of another name, one of them beginning alike."""
        self.city, self.other_city = cast.sample(CITIES, 2)
        self.customer_id = f"CU-{cast.number(2000, 6000)}"
        self.branch_id = f"CU-{cast.number(2000, 6000)}"
        self.address = self.street(self.city)
        self.new_address = self.street(self.city)
        articles = [
            (article, variant) for article in self.trade.articles for variant in article.variants
        ]
        first, variant = rng.choice(articles)
        twins = [v for v in first.variants if v != variant]
        self.article = f"{variant} {first.name}"
        self.twin = f"{rng.choice(twins)} {first.name}"
        """The same thing in another variant."""
        self.goods: dict[str, Json] = {}
        for article, other in articles:
            name = f"{other} {article.name}"
            self.goods[name] = {
                "id": f"PR-{cast.number(100, 900)}",
                "sku": f"{article.code}-{cast.number(10, 99)}",
                "name": name,
                "category": rng.choice(self.categories[1:]),
                "on_hand": rng.randrange(10, 60),
                "reserved": rng.randrange(0, 9),
                "unit_price": cast.price(article.low, article.high),
            }
        self.goods[self.twin]["category"] = self.categories[0]
        if self.end == BARRED:
            self.goods[self.article]["category"] = self.categories[0]
            self.goods[self.twin]["category"] = self.categories[1]
        self.category = self.categories[0]

    def street(self, city: str) -> str:
        """An address in one line."""
        name = self.cast.firm().name
        return f"{name} {self.rng.choice(words.STREETS)} {self.rng.randrange(2, 90)}, {city}"

    def _lines(self, name: str, count: int, *, gone: bool = False) -> list[Json]:
        """Lines of an order, the article among them; one of them may have been cancelled."""
        free = [n for n in self.goods if n not in (self.article, self.twin, name)]
        others = self.cast.sample(free, count - 1 + gone)
        lines: list[Json] = []
        for number, what in enumerate(self.cast.in_the_middle(name, others), start=1):
            good = self.goods[what]
            lines.append(
                {
                    "line": number,
                    "sku": good["sku"],
                    "name": what,
                    "quantity": self.rng.randrange(8, 13)
                    if what == name
                    else self.rng.choice((1, 2, 3, 5, 7)),
                    "unit_price": good["unit_price"],
                    "status": "cancelled" if gone and what == others[-1] else "open",
                }
            )
        return lines

    def _order(
        self,
        name: str,
        status: str,
        placed: int,
        leaves: int,
        *,
        customer: str = "",
        branch: bool = False,
        count: int = 0,
        gone: bool = False,
    ) -> Json:
        """An order of an article, placed and leaving so many days from today."""
        sent = status in ("shipped", "delivered")
        order: Json = {
            "id": "",
            "customer_id": self.branch_id if branch else self.customer_id,
            "customer_name": customer or self.customer,
            "placed_on": self._day(placed),
            "leaves_on": self._day(leaves),
            "delivered_on": self._day(leaves + 2) if status == "delivered" else None,
            "status": status,
            "currency": "EUR",
            "address": self.street(self.other_city) if branch else self.address,
            "lines": self._lines(name, count or self.rng.randrange(2, 4), gone=gone),
        }
        if customer:
            order["customer_id"] = f"CU-{self.cast.number(2000, 6000)}"
            order["address"] = self.street(self.rng.choice((self.city, self.other_city)))
        if sent and order["delivered_on"] is None:
            order["status"] = "shipped"
        self.orders.append(order)
        return order

    def _day(self, days: int) -> str:
        """The working day so many days from today: a later one for what comes, an earlier one for
        what has been.
        """
        day: date = self.clock.day + timedelta(days=days)
        while not is_working_day(day):
            day += timedelta(days=1 if days > 0 else -1)
        return day.isoformat()

    def _draw_open(self) -> None:
        """Orders that may still be changed, and those of the same article that may not."""
        rng = self.rng
        later = self.days + 1
        status = rng.choice(OPEN)
        count = 3 if self.level >= 4 else 2
        target = self._order(
            self.article,
            status,
            -rng.randrange(1, 5),
            rng.randrange(later, later + 6),
            count=count,
            gone=self.stocked,
        )
        self.meant.append(target)
        if self.all_orders:
            for _ in range(1 if self.level == 3 else 2):
                name = rng.choice([n for n in self.goods if n not in (self.article, self.twin)])
                leaves = rng.randrange(later, later + 6)
                self.meant.append(self._order(name, rng.choice(OPEN), -rng.randrange(1, 6), leaves))
        for status_before in ("packing", "packed"):
            self._order(self.article, status_before, -rng.randrange(4, 8), later + 1)
        if self.dated:
            self._order(self.article, "confirmed", -rng.randrange(3, 8), 0)
        if not self.all_orders:
            twin = self._order(
                self.twin, "confirmed", -rng.randrange(1, 4), later + rng.randrange(4)
            )
            if self.subtype == ADDRESS and not self.asks_address:
                twin["address"] = self.new_address
        self._order(
            self.article, status, -rng.randrange(1, 5), later + rng.randrange(4), branch=True
        )

    def _draw_late(self) -> None:
        """The last order of the article can no longer be changed."""
        rng = self.rng
        if self.end == GONE:
            status = rng.choice(("packing", "packed", "shipped"))
            leaves = -1 if status == "shipped" else 1
            if self.dated and rng.random() < 0.4:
                status, leaves = "confirmed", 0
            placed = -rng.randrange(4, 7)
        elif self.end == OLD:
            status, leaves = "delivered", -self.term - rng.randrange(8, 15)
            placed = leaves - 4
        else:
            status, leaves = "delivered", -rng.randrange(5, self.term - 4)
            placed = leaves - 4
        count = 3 if self.level >= 4 else 2
        self.meant.append(self._order(self.article, status, placed, leaves, count=count))
        # An older one, and one of everything else that was placed later.
        self._order(self.article, "delivered", placed - 24, placed - 20)
        self._order(self.article, "confirmed", -2, self.days + 4, branch=True)
        self._order(self.twin, "confirmed", -1, self.days + 5)
        for _ in range(2):
            self._order(self.article, "cancelled", -rng.randrange(1, 3), self.days + 4)
        other = rng.choice([name for name in self.goods if name not in (self.article, self.twin)])
        self._order(other, "packed", -3, 1)

    def _draw_others(self) -> None:
        rng = self.rng
        free = [n for n in self.goods if n not in (self.article, self.twin)]
        for name in self.others:
            chosen = rng.choice((self.article, rng.choice(free)))
            self._order(chosen, "confirmed", -rng.randrange(1, 5), self.days + 3, customer=name)
        for _ in range(self.level // 2):
            self._order(
                rng.choice(free), "delivered", -rng.randrange(40, 60), -rng.randrange(30, 36)
            )
        self.products = sorted(
            ({k: v for k, v in good.items() if k != "unit_price"} for good in self.goods.values()),
            key=lambda row: str(row["id"]),
        )

    def _number(self) -> None:
        self.orders.sort(
            key=lambda order: (order["placed_on"], order["address"], order["leaves_on"])
        )
        number = self.rng.randrange(20_000, 70_000)
        for order in self.orders:
            number += self.rng.randrange(3, 40)
            order["id"] = f"OR-{number}"

    # --- what follows ----------------------------------------------------------------------------

    @property
    def line(self) -> Json:
        """The line of the article on the order that is meant."""
        return next(row for row in self.meant[0]["lines"] if row["name"] == self.article)

    def not_sent(self) -> list[Json]:
        """The lines of which something goes back on stock."""
        if self.subtype == WHOLE:
            return [row for row in self.meant[0]["lines"] if row["status"] != "cancelled"]
        return [self.line]

    def restored(self, line: Json) -> int:
        """How many pieces of a line go back on stock."""
        return int(line["quantity"]) - (self.keep if self.fewer else 0)
