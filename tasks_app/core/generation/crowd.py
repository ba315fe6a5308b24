"""The cap of gate V1 on an inventory: at most 5 % of its tasks are built alike.

Built alike means the same structural fingerprint. A draft of a structure that is full falls out,
and its plan is drafted again in the emptiest cell (subtype × difficulty) of its family.
"""

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from tasks_app.core.generation.family import Family, Plan

SHARE: Final = 0.05
LEAST: Final = 5
"""So many may be built alike however small the inventory is: a share of 20 tasks would be one."""


class Crowd:
    """What an inventory holds so far, by structure and by cell."""

    def __init__(self, planned: int):
        self.most = max(LEAST, math.ceil(SHARE * planned))
        self._alike: Counter[str] = Counter()
        self._cells: Counter[tuple[str, str, int]] = Counter()

    def is_full(self, fingerprint: str) -> bool:
        """Say whether no more of a structure are kept."""
        return self._alike[fingerprint] >= self.most

    def add(self, fingerprint: str, plan: Plan) -> None:
        """Count a task that is kept."""
        self._alike[fingerprint] += 1
        self._cells[plan.family, plan.subtype, plan.level] += 1

    def steered(self, plan: Plan, cells: Collection[tuple[str, int]]) -> Plan:
        """Return a plan in the cell of its family that holds fewest; never the one it was in, where
        there is another.
        """
        others: Sequence[tuple[str, int]] = [
            cell for cell in cells if cell != (plan.subtype, plan.level)
        ]
        if not others:
            return plan
        # Of equally empty cells each attempt takes another one.
        turned = [*others[plan.index % len(others) :], *others[: plan.index % len(others)]]
        subtype, level = min(turned, key=lambda cell: self._cells[plan.family, *cell])
        return replace(plan, subtype=subtype, level=level)


def cells_of(family: Family, difficulty: int | None) -> tuple[tuple[str, int], ...]:
    """Return the cells of a family that a run may fill."""
    levels = family.levels if difficulty is None else (difficulty,)
    return tuple((subtype, level) for level in levels for subtype in family.subtypes)
