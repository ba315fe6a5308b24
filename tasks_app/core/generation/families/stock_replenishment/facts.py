"""The facts of a draft: articles with their stock, what is on its way, what will be needed."""

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from math import ceil
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.shop import TRADES, Article, Trade
from tasks_app.core.generation.families.stock_replenishment import words
from tasks_app.core.generation.talk import capital

POINT: Final = "reorder_point"
PACK: Final = "pack_size"
SUBSTITUTE: Final = "substitute"
SEASON: Final = "season_stop"

WEEKS: Final = 6
"""Weeks of a forecast, from the one before this."""
HEIRS: Final = (("old", "order"), ("old_enough", "enough"))
"""Fate of what is replaced and of what replaces it: the first article of that fate."""
MOST_ITEMS: Final = 13
"""Articles of the hardest draft."""
PACKS: Final = (4, 6, 8, 10, 12, 16, 24)


@dataclass
class Item:
    """One article and what is true of it."""

    name: str
    supplier: str
    fate: str
    """order, enough, coming, blocked, season, old, old_enough."""
    sku: str = ""
    on_hand: int = 0
    reserved: int = 0
    coming: int = 0
    """What is ordered and has not come yet."""
    waiting: int = 0
    """What customers wait for."""
    point: int = 0
    pack: int = 1
    listed_pack: int = 1
    """The pack size in the product record; out of date where the terms say otherwise."""
    weeks: list[int] = field(default_factory=list)
    season_until: str | None = None
    heir: "Item | None" = None
    """What replaces it."""
    old: "Item | None" = None
    """What it replaces."""

    @property
    def free(self) -> int:
        """What could be sold today."""
        return self.on_hand - self.reserved

    @property
    def there(self) -> int:
        """What counts as stock: free, on its way, and what is left of the article it replaces."""
        return self.free + self.coming + (self.old.there if self.old is not None else 0)


@dataclass
class Shelf:
    """Which articles there are, and what becomes of each."""

    subtype: str
    level: int
    cast: Cast
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_house()
        self._draw_rules()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def running(self) -> bool:
        """Earlier orders are on their way."""
        return self.level >= 2

    @property
    def forecast(self) -> bool:
        """A sheet says what will be needed."""
        return self.level >= 3

    @property
    def backorders(self) -> bool:
        """Customers wait for some of it."""
        return self.level >= 4

    @property
    def packed(self) -> bool:
        """Quantities are rounded up to full packs."""
        return self.level >= 2 or self.subtype == PACK

    @property
    def terms(self) -> bool:
        """A second sheet has the pack sizes that hold."""
        return self.forecast and self.subtype == PACK

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_house(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        wide = [t for t in TRADES if sum(len(a.variants) for a in t.articles) >= MOST_ITEMS]
        self.trade: Trade = rng.choice(TRADES if self.level < 3 else wide)
        self.shop: Firm = cast.firm(self.trade.suffix)
        self.lead: Person = cast.person(self.shop.domain)
        self.lead_role, self.own_role = rng.choice(words.ROLES)
        count = {1: 2, 2: 2, 3: 3, 4: 4, 5: 4}[self.level]
        trades = cast.sample(words.SUPPLIER_TRADES, count)
        self.suppliers = [cast.firm(trade).name for trade in trades]
        self.blocked = self.suppliers[-1]
        """A supplier from whom nothing is ordered any more."""
        self.range = rng.choice(words.RANGES)

    def _draw_rules(self) -> None:
        rng = self.rng
        self.times = rng.choice((2, 3))
        self.ahead = rng.choice((2, 3))
        self.reserve = rng.choice((9, 11, 13, 14, 17, 18, 19, 21, 23))
        self.lead_days = rng.choice((6, 7, 8, 9, 12, 15, 16))
        self.season_days = rng.choice((25, 28, 35, 40, 45))

    def _fates(self) -> list[tuple[str, str]]:
        """Fate and supplier of each article; more of both at each level."""
        own = self.suppliers[:-1] if len(self.suppliers) > 2 else self.suppliers[:1]
        first, last = own[0], own[-1]
        if self.level == 1:
            alone = ("order", *_ALONE[self.subtype], "enough", "enough")
            return [(fate, first) for fate in alone]
        fates = [("order", first), ("order", first), ("enough", first), ("coming", first)]
        fates += [("blocked", self.blocked), ("enough", last)]
        often = 0.3
        if self.level >= 3:
            fates += [("enough" if self.rng.random() < often else "order", last), ("coming", last)]
        if self.level >= 4:
            middle = "coming" if self.rng.random() < often else "order"
            fates += [(middle, own[1]), ("order", last)]
        if self.level >= 5:
            fates.append(("enough", own[1]))
        if self.subtype == SUBSTITUTE:
            fates.append(("old", self.blocked if self.level >= 3 else first))
            if self.level >= 3:
                fates.append(("old_enough", first))
        if self.subtype == SEASON:
            fates += [("season", first), ("season", last)][: 1 + (self.level >= 3)]
        return fates

    def _wares(self, fates: list[str]) -> list[tuple[Article, str]]:
        """Kind and variant of each article; what replaces another is of its kind."""
        cast = self.cast
        left = cast.shuffled([(a, v) for a in self.trade.articles for v in a.variants])
        chosen: dict[int, tuple[Article, str]] = {}
        if self.level == 1:
            kinds = [a for a in self.trade.articles if len(a.variants) > 2]
            self.kind = self.rng.choice(kinds)
            chosen = dict(enumerate([w for w in left if w[0] is self.kind][:3]))
        else:
            pairs = [(fates.index(heir), fates.index(old)) for old, heir in HEIRS if old in fates]
            articles = cast.sample(self.trade.articles, len(pairs))
            for (heir_place, old_place), article in zip(pairs, articles, strict=True):
                of_kind = [w for w in left if w[0] is article]
                chosen[heir_place], chosen[old_place] = of_kind[0], of_kind[1]
        rest = [w for w in left if w not in chosen.values()]
        return [chosen[place] if place in chosen else rest.pop() for place in range(len(fates))]

    def _draw_items(self) -> None:
        fates = self._fates()
        wares = self._wares([fate for fate, _ in fates])
        for place, (fate, supplier) in enumerate(fates):
            article, variant = wares[place]
            item = Item(
                f"{capital(article.name)}, {variant}",
                supplier,
                fate,
            )
            self._fill(item)
            self.items.append(item)
        for old, heir in HEIRS:
            for item in [i for i in self.items if i.fate == old]:
                self._replace(item, next(i for i in self.items if i.fate == heir))

    def _replace(self, old: Item, heir: Item) -> None:
        """Let one article replace another, with what is left of that one counting as stock."""
        old.heir, heir.old = heir, old
        old.coming = 0
        if heir.fate == "order":
            room = heir.point - heir.there + old.there - 1
            left = self.rng.randrange(1, max(2, min(12, room)))
            heir.on_hand = max(heir.reserved, heir.on_hand - left)
            old.reserved = self.rng.randrange(0, 3)
            old.on_hand = left + old.reserved
        else:
            # the heir alone would be short; with what is left of the old one it is not
            left = self.rng.randrange(8, 20)
            heir.on_hand = heir.reserved + heir.point - self.rng.randrange(1, 6) - heir.coming
            old.reserved = self.rng.randrange(0, 4)
            old.on_hand = left + old.reserved

    def _fill(self, item: Item) -> None:
        """Numbers that lead to the fate of an article."""
        rng = self.rng
        item.point = rng.randrange(24, 75)
        item.pack = rng.choice(PACKS)
        item.listed_pack = (
            rng.choice([p for p in PACKS if p != item.pack]) if self.terms else item.pack
        )
        item.reserved = rng.randrange(3, 15)
        base = item.point * rng.randrange(11, 20) // (10 * self.ahead)
        item.weeks = [base + rng.randrange(-base // 4, base // 4 + 1) for _ in range(WEEKS)]
        day = self.clock.day
        if self.subtype == SEASON:
            over = item.fate == "season"
            low = 3 if over else self.season_days + 6
            high = self.season_days - 2 if over else self.season_days + 120
            item.season_until = (day + timedelta(days=rng.randrange(low, high))).isoformat()
        short = item.point - rng.randrange(4, 20)
        if item.fate in ("order", "blocked", "season", "old", "old_enough"):
            if self.running and rng.random() < 0.6:
                item.coming = rng.randrange(3, max(4, short // 2))
            item.on_hand = max(0, short - item.coming) + item.reserved
            if rng.random() < 0.5:  # on hand alone would be enough
                item.reserved += item.point - item.on_hand + rng.randrange(1, 9)
                item.on_hand = max(0, short - item.coming) + item.reserved
        elif item.fate == "coming":
            item.on_hand = short + item.reserved
            item.coming = item.point - short + rng.randrange(3, 25)
        else:
            item.on_hand = item.point + item.reserved + rng.randrange(2, 40)
        if self.backorders and item.fate == "order" and rng.random() < 0.5:
            item.waiting = rng.randrange(4, 16)

    # --- what follows ----------------------------------------------------------------------------

    def target(self, item: Item) -> int:
        """Up to where an article is filled."""
        if not self.forecast:
            return self.times * item.point
        coming = item.weeks[2 : 2 + self.ahead]
        return sum(coming) + self.reserve + item.waiting

    def need(self, item: Item) -> int:
        """How many pieces are lacking."""
        return self.target(item) - item.there

    def quantity(self, item: Item) -> int:
        """How many are ordered."""
        need = self.need(item)
        return ceil(need / item.pack) * item.pack if self.packed else need

    @property
    def wanted(self) -> list[Item]:
        """The articles that are ordered."""
        return [item for item in self.items if item.fate == "order"]

    def pieces(self, supplier: str) -> int:
        """How many pieces one supplier is to send in all."""
        return sum(self.quantity(item) for item in self.wanted if item.supplier == supplier)

    @property
    def receivers(self) -> list[str]:
        """The suppliers who get an order, in the order of the house."""
        return [s for s in self.suppliers if any(i.supplier == s for i in self.wanted)]

    def _clear(self) -> bool:
        """Whether every fate follows from the numbers, and no quantity is said anywhere."""
        for item in self.items:
            if item.on_hand < item.reserved or min(item.on_hand, item.coming) < 0:
                return False
            short = item.there < item.point
            if item.fate in ("order", "blocked", "season") and not short:
                return False
            if item.fate in ("enough", "coming") and short:
                return False
        quantities = [self.quantity(item) for item in self.wanted]
        if min(quantities) < 13 or len(set(quantities)) < len(quantities):
            return False
        if self.packed and any(self.need(i) % i.pack == 0 for i in self.wanted):
            return False
        totals = [self.pieces(supplier) for supplier in self.suppliers]
        return not self._said() & {*quantities, *totals}

    def _said(self) -> set[int]:
        """Figures that stand in texts: a quantity that did so would be given away."""
        names = " ".join(item.name for item in self.items)
        weeks = {self.week(place) for place in range(WEEKS)}
        rules = {self.reserve, self.lead_days, self.season_days, self.times, self.ahead}
        return rules | weeks | {int(figure) for figure in re.findall(r"\d+", names)}

    def _ordered(self) -> list[Item]:
        """The order of the records: what is ordered never comes first, whatever is asked for."""
        aside = [item for item in self.items if item.fate != "order"]
        if self.level == 1:
            aside = [item for item in aside if item.name.lower().startswith(self.kind.name)]
        if self.level == 2:
            aside = [item for item in aside if item.supplier == self.suppliers[0]]
        first = self.rng.choice(aside)
        rest = [item for item in self.items if item is not first]
        return [first, *self.cast.shuffled(rest)]

    def _number(self) -> None:
        """Article numbers of the house, in the order of the records."""
        letters = "".join(c for c in self.trade.suffix.upper() if c.isalpha())[:2]
        number = self.rng.randrange(1010, 8000)
        for item in self.items:
            number += self.rng.randrange(3, 60)
            item.sku = f"{letters}-{number}"

    def week(self, place: int) -> int:
        """The calendar week of a column of the forecast; the second one is this week's."""
        day: date = self.clock.day + timedelta(days=7 * (place - 1))
        return day.isocalendar().week


_ALONE: Final = {
    POINT: ("enough", "enough"),
    PACK: ("enough", "enough"),
    SUBSTITUTE: ("old", "enough"),
    SEASON: ("season", "enough"),
}
"""Subtype → what stands beside the one article of the easiest form: others of its kind."""
