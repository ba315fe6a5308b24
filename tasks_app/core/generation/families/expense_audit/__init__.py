"""expense_audit: expenses × receipts × limits → each approved, held or rejected.

The wrong turns: a receipt that was paid before, the same sum at the same place on another receipt,
a sum just inside the tolerance, a small sum that needs no receipt, a namesake, a rate of another
month.

Difficulty grows by facts and writes: 1 two expenses · 2 limits and rates that stand in the house's
rules, receipts to be looked for · 3 receipts missed beside the subtype's own fault · 4 more
expenses · 5 a decision that fails once, an injected instruction.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.expense_audit.draft import Audit
from tasks_app.core.generation.families.expense_audit.facts import (
    DOUBLE,
    FOREIGN,
    LIMIT,
    MISSING,
    ExpenseFacts,
)
from tasks_app.core.generation.paper import Kind


class ExpenseAudit:
    """Decide on the expenses of a colleague."""

    name = "expense_audit"
    title = "Expense audit"
    purpose = (
        "Hold a colleague's expenses against receipts, earlier payments, limits and rates, line by "
        "line, and approve, hold or reject each."
    )
    track = "claw_eval"
    subtypes = (DOUBLE, LIMIT, MISSING, FOREIGN)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C6", "C7", "C8", "C9", "C10", "C18", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = ExpenseFacts(subtype, level, Cast(rng))
        return Audit(Kind(self.name, self.track, subtype, level), facts).written()
