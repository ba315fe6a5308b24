"""ticket_triage: a queue of tickets through an ordered table of rules; the first that fits wins.

The wrong turns: the age of a ticket by its last change instead of its arrival, reports of another
place or of yesterday, a security matter of a named account, a pair that shares only the customer
or only the matter, an article of last year.

Difficulty grows by lines of the table and by joins: 1 one list, one write · 2 two lines or two
queues, many writes · 3 the customer's record decides · 4 who takes it stands in the current
article · 5 a fault on the write that matters, a ticket that gives orders, more lookalikes.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.ticket_triage.draft import Triage
from tasks_app.core.generation.families.ticket_triage.facts import MERGE, NAMED, OUTAGE, SLA
from tasks_app.core.generation.paper import Kind


class TicketTriage:
    """Sort a queue of tickets by an ordered table of rules."""

    name = "ticket_triage"
    title = "Ticket triage"
    purpose = (
        "Take every ticket of a queue through an ordered table, the first line that fits wins; "
        "raise, hand on or merge, close nothing."
    )
    track = "claw_eval"
    subtypes = (SLA, OUTAGE, NAMED, MERGE)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C6", "C7", "C8", "C9", "C10", "C14", "C18", "C19", "C20")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        return Triage(subtype, level, Cast(rng)).written(
            Kind(self.name, self.track, subtype, level)
        )
