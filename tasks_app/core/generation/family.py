"""What a family is: a shape of work that drafts specs from a seed."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tasks_app.core.spec import TaskSpec, load_spec


class Family(Protocol):
    """A shape of work: which services are read, how facts are joined, what is decided, what is
    written.
    """

    @property
    def name(self) -> str:
        """The name in specs, filters and commands."""

    @property
    def title(self) -> str:
        """What a researcher calls it, in a few words."""

    @property
    def purpose(self) -> str:
        """One sentence: the shape."""

    @property
    def track(self) -> str:
        """claw_eval, clawmark or pocket."""

    @property
    def subtypes(self) -> tuple[str, ...]:
        """Each changes the decision or the final records, never the names alone."""

    @property
    def levels(self) -> tuple[int, ...]:
        """The difficulties it has."""

    @property
    def capabilities(self) -> tuple[str, ...]:
        """What its tasks may claim."""

    def draft(self, subtype: str, level: int, rng: random.Random) -> Mapping[str, Any]:
        """Return a written spec of one subtype at one difficulty. The same rng gives the same
        bytes.
        """


@dataclass(frozen=True, slots=True)
class Plan:
    """One task to be drafted."""

    family: str
    subtype: str
    level: int
    seed: int
    index: int
    attempt: int = 0

    @property
    def key(self) -> str:
        """The seed text of this draft."""
        return f"{self.family}/{self.seed}/{self.index}/{self.attempt}"


def plans(
    family: Family, count: int, seed: int, difficulty: int | None = None, first: int = 0
) -> Iterator[Plan]:
    """Plan tasks so that every subtype × difficulty comes up equally often.

    Subtypes turn fastest; the first task is the so-manieth of its seed. Raises ValueError for a
    difficulty that the family hasn't.
    """
    if difficulty is not None and difficulty not in family.levels:
        known = ", ".join(map(str, family.levels))
        raise ValueError(f"{family.name} has no difficulty {difficulty}; it has {known}")
    levels = (difficulty,) if difficulty is not None else family.levels
    cells = [(subtype, level) for level in levels for subtype in family.subtypes]
    for index in range(first, first + count):
        subtype, level = cells[index % len(cells)]
        yield Plan(family.name, subtype, level, seed, index)


def draft(family: Family, plan: Plan) -> TaskSpec:
    """Draft one task. Raises SpecError if the family wrote something that is no spec (a defect)."""
    rng = random.Random(plan.key)
    return load_spec(family.draft(plan.subtype, plan.level, rng))
