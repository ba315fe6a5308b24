"""month_end_close: build a list → correct it when something moved → hand the month over.

The wrong turn of every subtype: the figures of yesterday, where the register moved overnight and
nobody said so. Beside it: what falls just short of a criterion, the letter that settles nothing,
items of another month or owner at the handover.

Difficulty grows by days, joins and writes: 1 two days, one list, one row that moves · 2 a letter
settles another row · 3 a third day, on which open items change owner · 4 a handover file before its
letter, a confidential row · 5 a fourth day with another change, a fault on the row that follows it.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.month_end_close.book import (
    ACCRUALS,
    BANK,
    INTERCOMPANY,
)
from tasks_app.core.generation.families.month_end_close.draft import Close
from tasks_app.core.generation.families.month_end_close.facts import CloseFacts
from tasks_app.core.generation.paper import Kind


class MonthEndClose:
    """Close a month over several days."""

    name = "month_end_close"
    title = "Month-end close"
    purpose = (
        "Build the list of a closing month, correct it by what arrived and by what moved without a "
        "word, send the figures, and hand over what is open."
    )
    track = "clawmark"
    subtypes = (ACCRUALS, INTERCOMPANY, BANK)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C2", "C6", "C7", "C8", "C9", "C10", "C14", "C16", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = CloseFacts(subtype, level, Cast(rng))
        return Close(Kind(self.name, self.track, subtype, level), facts).written()
