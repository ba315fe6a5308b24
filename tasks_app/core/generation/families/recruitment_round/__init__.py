"""recruitment_round: decide by the applications → somebody drops out, something moves → go on.

The wrong turns: the list, the slot or the pay of yesterday, where an application, a calendar or the
table of pay moved overnight and nobody said so. Beside it: applicants that miss one requirement,
the letter of somebody who only asks, whoever has withdrawn already.

Difficulty grows by days and writes: 1 two days, one decision that moves · 2 somebody withdraws ·
3 a third day · 4 more candidates, what must not be told · 5 a fault on a write that decides.
"""

import random
from collections.abc import Mapping
from typing import Any, Final

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.recruitment_round.desk import Desk
from tasks_app.core.generation.families.recruitment_round.facts import (
    OFFER,
    PANEL,
    SHORTLIST,
    RoundFacts,
)
from tasks_app.core.generation.families.recruitment_round.offer import Offer
from tasks_app.core.generation.families.recruitment_round.panel import Panel
from tasks_app.core.generation.families.recruitment_round.shortlist import Shortlist
from tasks_app.core.generation.paper import Kind

_DESKS: Final[Mapping[str, type[Desk]]] = {SHORTLIST: Shortlist, PANEL: Panel, OFFER: Offer}


class RecruitmentRound:
    """Fill a post over several days."""

    name = "recruitment_round"
    title = "Recruitment round"
    purpose = (
        "Choose by the applications, find a slot for a panel or a pay for an offer, and do it anew "
        "when somebody withdraws or something moved without a word."
    )
    track = "clawmark"
    subtypes = (SHORTLIST, PANEL, OFFER)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C2", "C3", "C6", "C7", "C8", "C9", "C10", "C16", "C19")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = RoundFacts(subtype, level, Cast(rng))
        return _DESKS[subtype](Kind(self.name, self.track, subtype, level), facts).written()
