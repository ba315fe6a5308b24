"""What a generation made, counted: the last line of the command and the result of the job.

Counts are by planned task: a draft that is lost and drafted again is one task in the end.
"""

from collections import Counter
from typing import Any

from tasks_app.core.generation.generate import Outcome


class Tally:
    """Counts outcomes as they come."""

    def __init__(self) -> None:
        self.drafts = 0
        self._planned: dict[str, bool] = {}
        """Planned task → whether one of its drafts was proven."""
        self.unique = 0
        self.repairs = 0
        self._families: Counter[str] = Counter()
        self._subtypes: Counter[str] = Counter()
        self._services: Counter[str] = Counter()
        self._capabilities: Counter[str] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Count one draft."""
        plan = outcome.made.plan
        planned = f"{plan.family}/{plan.seed}/{plan.index}"
        self.drafts += 1
        self.repairs += len(outcome.made.repairs)
        proven = outcome.fate != "quarantined"
        self._planned[planned] = self._planned.get(planned, False) or proven
        spec = outcome.made.spec
        if outcome.fate == "unique" and spec is not None:
            self.unique += 1
            self._families[spec.family] += 1
            self._subtypes[spec.subtype] += 1
            self._services.update(list(spec.services))
            self._capabilities.update(claim.id for claim in spec.capabilities)

    def result(self) -> dict[str, Any]:
        """Return the counts under the names that the command prints."""
        generated, proven = len(self._planned), sum(self._planned.values())
        return {
            "generated": generated,
            "proven": proven,
            "unique": self.unique,
            "quarantined": generated - proven,
            "repairs": self.repairs,
            "families": dict(sorted(self._families.items())),
            "subtypes": dict(sorted(self._subtypes.items())),
            "services": dict(sorted(self._services.items())),
            "capabilities": dict(
                sorted(self._capabilities.items(), key=lambda item: int(item[0][1:]))
            ),
        }
