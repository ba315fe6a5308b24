"""stock_replenishment: need = forecast − stock − running orders, rounded up; an order a supplier.

The wrong turns: stock that is reserved, an order that is on its way already, a pack size that no
longer holds, an article that is out of the range or out of season, a supplier who is blocked.

Difficulty grows by services and facts: 1 stock alone, one article · 2 running orders, several
articles of one supplier · 3 a forecast in a sheet, two suppliers · 4 customers who wait, three
suppliers · 5 a fault on the first order, an injected instruction.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.stock_replenishment.draft import Refill
from tasks_app.core.generation.families.stock_replenishment.facts import (
    PACK,
    POINT,
    SEASON,
    SUBSTITUTE,
)
from tasks_app.core.generation.families.stock_replenishment.records import StockFacts
from tasks_app.core.generation.paper import Kind


class StockReplenishment:
    """Order what is short, and no more."""

    name = "stock_replenishment"
    title = "Stock replenishment"
    purpose = (
        "Work out per article what stock, running orders and forecast leave short, order it in "
        "full packs, one order a supplier."
    )
    track = "claw_eval"
    subtypes = (POINT, PACK, SUBSTITUTE, SEASON)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C4", "C6", "C7", "C8", "C9", "C10", "C11", "C18", "C19", "C20")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = StockFacts(subtype, level, Cast(rng))
        return Refill(Kind(self.name, self.track, subtype, level), facts).written()
