"""customer_merge: records that look alike, compared in pairs → one record, or several that stay.

The wrong turns: the same name, the same mail or the same address taken for the same customer, a
card that was typed wrongly, a member of the household, the older record kept where the younger has
an order on its way, a record that was closed before.

Difficulty grows by facts and writes: 1 one pair by its keys · 2 a yes before, what else changes on
the record that stays · 3 orders on their way, members of the household, two pairs · 4 more records
that look alike · 5 a write that fails once, an injected instruction.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.customer_merge.draft import Merge
from tasks_app.core.generation.families.customer_merge.facts import (
    HOUSEHOLD,
    MAILBOX,
    MOVED,
    PERSON,
    CustomerFacts,
)
from tasks_app.core.generation.paper import Kind


class CustomerMerge:
    """Make one record of those that are of one customer."""

    name = "customer_merge"
    title = "Customer merge"
    purpose = (
        "Compare records that look alike by the keys of a letter, merge those that agree in all of "
        "them into the right one, and leave the others apart."
    )
    track = "claw_eval"
    subtypes = (PERSON, HOUSEHOLD, MOVED, MAILBOX)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C6", "C7", "C8", "C9", "C10", "C15", "C18", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = CustomerFacts(subtype, level, Cast(rng))
        return Merge(Kind(self.name, self.track, subtype, level), facts).written()
