"""What an episode can change beside its records: stage, colleague, faults met, stages closed.

All of it lives in the store's context, or the sharing of prefixes between runs would lie.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tasks_app.core.calls import Tables
from tasks_app.core.evidence import StageEvidence
from tasks_app.core.values import digest


class Context(NamedTuple):
    """The store's context."""

    stage: int
    """Index of the running stage."""
    opened: Tables
    """The records when the running stage began, after its mutations."""
    first_call: int
    closed: tuple[StageEvidence, ...] = ()
    told: tuple[str, ...] = ()
    """Ids of the facts that the colleague has told, in order."""
    rounds: int = 0
    """How often the colleague has answered."""
    met: Mapping[str, int] = {}
    """Tool with faults → calls so far that passed its schema."""
    missed: tuple[str, ...] = ()
    """Mutations that matched nothing because of what the policy did."""
    finished: bool = False


def context_key(context: Context) -> int:
    """Return the digest of stage and told facts that goes into the state key."""
    if context.stage == 0 and not context.told:
        return 0
    return digest("context", {"stage": context.stage, "told": sorted(context.told)})
