"""What a support_resolution draft is about: firm, article, customer, and how it will end."""

from dataclasses import dataclass
from typing import Final

from tasks_app.core.generation.cast import Cast, Clock, Firm, Person
from tasks_app.core.generation.families.shop import (
    CLUBS,
    CONTRACT_ROLES,
    DAMAGES,
    TRADES,
    Article,
    Trade,
)
from tasks_app.core.generation.talk import capital

DAMAGE: Final = "damage_refund_or_replace"
LATE: Final = "late_parcel"
WRONG: Final = "wrong_article"
TWICE: Final = "two_letters_one_matter"


@dataclass
class Ware:
    """One variant of an article at a price."""

    article: Article
    variant: str
    sku: str
    price: float

    @property
    def name(self) -> str:
        """As the catalogue writes it."""
        return f"{capital(self.article.name)}, {self.variant}"

    @property
    def spoken(self) -> str:
        """As people say it."""
        return f"{self.variant} {self.article.name}"


@dataclass
class Matter:
    """Who wrote about what: firm, article, customer, and which way the rules lead."""

    subtype: str
    level: int
    cast: Cast

    def __post_init__(self) -> None:
        self.rng = self.cast.rng
        self._draw_firm()
        self._draw_matter()

    # --- which level brings what -----------------------------------------------------------------

    @property
    def desk(self) -> bool:
        """Tickets are kept in a helpdesk."""
        return self.level >= 2 or self.subtype == TWICE

    @property
    def shop_floor(self) -> bool:
        """Orders are involved (the easiest form of two letters is about tickets alone)."""
        return not (self.subtype == TWICE and self.level == 1)

    @property
    def stock_kept(self) -> bool:
        """The decision hangs on stock, not on price."""
        return self.level >= 2 and self.shop_floor

    @property
    def letters(self) -> bool:
        """The customer is answered at the address on file."""
        return self.level >= 3

    # --- drawing ---------------------------------------------------------------------------------

    def _draw_firm(self) -> None:
        cast, rng = self.cast, self.rng
        self.clock: Clock = cast.clock()
        self.trade: Trade = rng.choice(TRADES)
        self.shop: Firm = cast.firm(self.trade.suffix)
        self.lead_role, self.own_role = rng.choice(sorted(CONTRACT_ROLES.items()))
        self.lead: Person = cast.person(self.shop.domain)
        self.club = rng.choice(CLUBS)
        self.club_key = self.club.lower().replace(" ", "_")
        self.window = rng.choice((10, 14, 21, 28))
        self.grace = rng.choice((3, 4, 5, 7))
        self.small, self.large = rng.choice(
            ((3.0, 7.5), (5.0, 10.0), (4.0, 9.0), (2.5, 6.0), (6.0, 12.0))
        )

    def _draw_matter(self) -> None:
        cast, rng = self.cast, self.rng
        articles = cast.sample(self.trade.articles, len(self.trade.articles))
        article = articles[0]
        variants = cast.sample(article.variants, len(article.variants))
        self.ware = self._ware(article, variants[0])
        self.sibling = self._ware(article, variants[1])
        while abs(self.sibling.price - self.ware.price) < 2:
            self.sibling = self._ware(article, variants[1])
        self.other_wares = [self._ware(a, rng.choice(a.variants)) for a in articles[1:]]
        self.damage = rng.choice(DAMAGES)
        self.part = rng.choice(article.parts)
        self.customer = cast.customer()
        host = rng.choice(("oldpost", "attic", "backdoor"))
        self.old_address = f"{self.customer.given}.{cast.number(100, 999)}@{host}.example".lower()
        self.in_club = rng.random() < 0.5
        in_stock = rng.random() < 0.5
        if self.subtype == TWICE:
            in_stock = False
        self.waits = self.subtype == LATE and self.level >= 2 and rng.random() < 0.34
        self.action = "wait" if self.waits else "reship" if in_stock else "refund"
        self.takes_back = self.subtype == WRONG and rng.random() < 0.5
        self.voucher = rng.choice((5, 10, 12, 15, 20)) if self.level >= 3 else 0
        self.charge = rng.choice((3.9, 4.5, 4.9, 5.9, 6.5))

    def _ware(self, article: Article, variant: str) -> Ware:
        letters = "".join(c for c in variant.upper() if c.isalnum())[:4]
        price = self.cast.price(article.low, article.high)
        return Ware(article, variant, f"{article.code}-{letters}", price)

    # --- amounts ---------------------------------------------------------------------------------

    @property
    def goodwill(self) -> float:
        """What the customer gets on top for having had to write twice."""
        if self.subtype != TWICE:
            return 0.0
        return self.large if self.level >= 4 and self.in_club else self.small

    @property
    def amount(self) -> float:
        """The refund in full."""
        share = round(self.ware.price * (100 - self.voucher) / 100 + 1e-9, 2)
        extra = self.charge if self.subtype == LATE else 0.0
        return round(share + extra + self.goodwill, 2)
