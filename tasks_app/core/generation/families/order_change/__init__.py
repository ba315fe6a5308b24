"""order_change: what somebody ordered × how far it is × the day → cancel, change, or say no.

The wrong turns: an order of the same article that is packed already, one that leaves too soon, a
branch in another town, another variant, the whole order where one line was meant, a late change
where only a return or a refusal is left.

Difficulty grows by facts and writes: 1 one order by its state · 2 the day on which it leaves, a yes
or an address that only the lead has · 3 stock put right, all orders of a customer, articles that
never come back · 4 more orders, a number that only the lead knows · 5 a write that fails once, an
injected instruction.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.order_change.draft import Change
from tasks_app.core.generation.families.order_change.facts import (
    ADDRESS,
    LATE,
    LINE,
    WHOLE,
    OrderFacts,
)
from tasks_app.core.generation.paper import Kind


class OrderChange:
    """Change an order as far as it may still be changed."""

    name = "order_change"
    title = "Order change"
    purpose = (
        "Find the order that is meant, see what its state and the day still allow, and cancel it, "
        "change it, take it back or decline."
    )
    track = "claw_eval"
    subtypes = (WHOLE, LINE, ADDRESS, LATE)
    levels = (1, 2, 3, 4, 5)
    capabilities = (
        "C1", "C2", "C4", "C6", "C7", "C8", "C9", "C10", "C12", "C13", "C15", "C18", "C19", "C20",
    )  # fmt: skip

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = OrderFacts(subtype, level, Cast(rng))
        return Change(Kind(self.name, self.track, subtype, level), facts).written()
