"""payment_allocation: money → invoices in order; each write changes what is left for the next.

The wrong turns: the oldest invoice where the payment names others, a disputed one, the payment of a
firm of nearly the same name, money where a credit note is left, a cent more than was open.

Difficulty grows by facts and writes: 1 one invoice · 2 two of them · 3 three, some paid in part,
a rule against paying back · 4 a row in a sheet, one invoice more · 5 a fault on the first
allocation, an injected instruction.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.payment_allocation.draft import Booking
from tasks_app.core.generation.families.payment_allocation.facts import (
    CREDIT,
    NAMED,
    OLDEST,
    OVER,
    MoneyFacts,
)
from tasks_app.core.generation.paper import Kind


class PaymentAllocation:
    """Settle open invoices with money that came in."""

    name = "payment_allocation"
    title = "Payment allocation"
    purpose = (
        "Spread a payment over the open invoices of whoever paid, in the order of the rules, until "
        "nothing is left of either."
    )
    track = "claw_eval"
    subtypes = (OLDEST, NAMED, OVER, CREDIT)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C4", "C6", "C7", "C8", "C9", "C10", "C11", "C18", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = MoneyFacts(subtype, level, Cast(rng))
        return Booking(Kind(self.name, self.track, subtype, level), facts).written()
