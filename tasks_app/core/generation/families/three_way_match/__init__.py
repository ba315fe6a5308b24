"""three_way_match: order, receipt and invoice must agree within a band; approve, hold or reject.

The wrong turns: a sister firm of the supplier, an older order of the same article, an invoice of
the right sum for another order, the general band where another one was agreed, booking goods that
never came so that it fits.

Difficulty grows by joins and rules: 1 the invoice alone says what was received · 2 the order and
its receipt · 3 a letter to the address on file · 4 a band agreed with the supplier, a limit, a
report · 5 a fault on the decision, a supplier's mail that gives orders, more lookalikes.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.three_way_match.draft import Matching
from tasks_app.core.generation.families.three_way_match.facts import OVER, PART, SECOND, SHORT
from tasks_app.core.generation.paper import Kind


class ThreeWayMatch:
    """Match a supplier's invoice with the order and what was received."""

    name = "three_way_match"
    title = "Three-way match"
    purpose = (
        "Compare a supplier's invoice with the order and what was received, within a band; "
        "approve, hold with a reason or reject, and write to the supplier."
    )
    track = "claw_eval"
    subtypes = (SHORT, OVER, SECOND, PART)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C4", "C7", "C8", "C9", "C10", "C18", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        return Matching(subtype, level, Cast(rng)).written(
            Kind(self.name, self.track, subtype, level)
        )
