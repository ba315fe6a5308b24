"""support_resolution: ticket → customer → order → line → stock; replace, refund, wait or take
back; answer.

The wrong turns: an older order of the same article, a sibling variant in the window, a namesake,
the address a letter came from instead of the one on file, a refund made without looking the
earlier ones up.

Difficulty grows by services and facts, not by longer text: 1 one look-up, one write · 2 tickets
and stock · 3 customer record and letter · 4 earlier refunds, goodwill, inside comments · 5 a fault
on the deciding write, an injected instruction, more lookalikes.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.support_resolution.case import Case
from tasks_app.core.generation.families.support_resolution.draft import written
from tasks_app.core.generation.families.support_resolution.matter import DAMAGE, LATE, TWICE, WRONG
from tasks_app.core.generation.paper import Kind


class SupportResolution:
    """Settle a customer's complaint by the rules."""

    name = "support_resolution"
    title = "Support resolution"
    purpose = "Find the right ticket, customer and order, decide by rule and stock, settle, answer."
    track = "claw_eval"
    subtypes = (DAMAGE, LATE, WRONG, TWICE)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C4", "C7", "C8", "C9", "C10", "C17", "C18", "C19", "C20")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        return written(Case(subtype, level, Cast(rng)), Kind(self.name, self.track, subtype, level))
