"""meeting_slot: many calendars, one slot that is left; one invitation.

The wrong turns: a gap too close to what comes before it, one that suits all but one, the core
hours of another day, a room too small, a namesake, somebody on leave in place of the deputy.

Difficulty grows by people and rules: 1 the calendar alone · 2 people (and rooms) from the
directory, a namesake · 3 only the lead knows how long it takes · 4 somebody is on leave, the
deputy comes · 5 a fault on the booking, a meeting that gives orders.
"""

import random
from collections.abc import Mapping
from typing import Any

from tasks_app.core.generation.cast import Cast
from tasks_app.core.generation.families.meeting_slot.draft import Booking
from tasks_app.core.generation.families.meeting_slot.facts import NOTICE, ONE, ROOM, ZONES
from tasks_app.core.generation.paper import Kind


class MeetingSlot:
    """Find the one slot that is left and book it."""

    name = "meeting_slot"
    title = "Meeting slot"
    purpose = (
        "Lay the calendars of several people over each other, find the one slot that the rules "
        "leave, and send one invitation."
    )
    track = "claw_eval"
    subtypes = (ONE, ZONES, ROOM, NOTICE)
    levels = (1, 2, 3, 4, 5)
    capabilities = ("C1", "C2", "C5", "C7", "C8", "C9", "C10", "C12", "C18", "C19", "C20")

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec."""
        return Booking(subtype, level, Cast(rng)).written(
            Kind(self.name, self.track, subtype, level)
        )
