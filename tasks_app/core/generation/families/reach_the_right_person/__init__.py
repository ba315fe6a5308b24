"""reach_the_right_person: role → person → absent? → deputy, and on; one message.

The wrong turns: the name that somebody remembers, the same role at another site, a namesake, a
deputy who is away as well, a status that nobody keeps up to date, a shift that was swapped.

Difficulty grows by services and facts: 1 the directory alone · 2 the calendar says who is there ·
3 the number stands in a channel, a second absence or a swap · 4 longer ways, a stand-in named in
the calendar · 5 a read that fails once, an injected instruction.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.reach_the_right_person.draft import Errand
from tasks_app.core.generation.families.reach_the_right_person.facts import (
    DEPUTY,
    NAMESAKE,
    ROLE,
    SHIFT,
)
from tasks_app.core.generation.families.reach_the_right_person.records import ReachFacts
from tasks_app.core.generation.paper import Kind


class ReachTheRightPerson:
    """Find who answers for something now, and tell them."""

    name = "reach_the_right_person"
    title = "Reach the right person"
    purpose = (
        "From a role or a name to whoever is there to act on it, past absences, by one message."
    )
    track = "claw_eval"
    subtypes = (DEPUTY, ROLE, NAMESAKE, SHIFT)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C7", "C8", "C9", "C10", "C14", "C17", "C18", "C19", "C20")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = ReachFacts(subtype, level, Cast(rng))
        return Errand(Kind(self.name, self.track, subtype, level), facts).written()
