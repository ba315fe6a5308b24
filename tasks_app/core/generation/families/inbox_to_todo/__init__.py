"""inbox_to_todo: threads → their last state; what is asked and not settled → an item each.

The wrong turns: the day of the first letter where a second one moved it, a weekday counted from
today, an answer that only promises, a wish that was taken back, whoever took it first, a promise of
theirs, a letter without a day.

Difficulty grows by threads and habits: 1 one item · 2 two of them, who looks after whom · 3 days
named in two ways, old letters · 4 matters that stand on the list already, wishes revived · 5
letters moved, a creation that fails once, an injected instruction.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.inbox_to_todo.draft import Sorting
from tasks_app.core.generation.families.inbox_to_todo.facts import (
    ANSWERED,
    CANCELLED,
    DATED,
    DELEGATED,
)
from tasks_app.core.generation.families.inbox_to_todo.letters import Inbox
from tasks_app.core.generation.paper import Kind


class InboxToTodo:
    """Turn letters into items to do."""

    name = "inbox_to_todo"
    title = "Inbox to to-do list"
    purpose = (
        "Fold every thread to its last state, take away what is settled, and make one item with "
        "owner and day of each obligation that is left."
    )
    track = "claw_eval"
    subtypes = (DATED, ANSWERED, CANCELLED, DELEGATED)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C6", "C7", "C8", "C9", "C10", "C11", "C18", "C19", "C20")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec; see the family's own page for what the levels add."""
        facts = Inbox(subtype, level, Cast(rng))
        return Sorting(Kind(self.name, self.track, subtype, level), facts).written()
