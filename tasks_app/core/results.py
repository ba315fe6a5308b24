"""What grading returns: check and constraint results, the grade. Not scored is None, never 0."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

Identifier = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,63}$")]
"""How ids of checks, constraints, steps and stages are written."""

Component = Literal["outcome", "process", "report", "collateral"]
COMPONENTS: Final[tuple[Component, ...]] = ("outcome", "process", "report", "collateral")
GRADED: Final[tuple[str, ...]] = (*COMPONENTS, "constraint")
"""Component names of every grade, in the order of exports."""


FULL: Final = 1 - 1e-9
"""The score from which on a check or a total counts as full: sums of weights miss 1 by a hair."""


class Judgement(NamedTuple):
    """What one check made of the evidence, before `requires` is applied."""

    score: float | None
    """0 to 1; None where nothing could score it (a rubric without a judge)."""
    detail: str = ""
    """What decided it, as a sentence for people."""
    cites: tuple[str, ...] = ()
    """Places that decided it: record addresses, `call:3`, `reply:main`."""


class CheckResult(NamedTuple):
    """One check of one episode."""

    id: str
    component: Component
    weight: float
    score: float | None
    detail: str = ""
    cites: tuple[str, ...] = ()
    unmet: str | None = None
    """Id of the required check that did not score 1; the score is then 0."""
    failure: str | None = None
    """Why the check itself failed; the score is then 0."""


class ConstraintResult(NamedTuple):
    """One constraint of one episode. Broken once, however often."""

    id: str
    gate: bool
    deduct: float
    broken: bool
    call: int | None = None
    """Index of the call that broke it."""
    detail: str = ""


class Grade(NamedTuple):
    """All results of one episode and what training derives from them."""

    checks: tuple[CheckResult, ...]
    constraints: tuple[ConstraintResult, ...]
    components: Mapping[str, float | None]
    """Every name of GRADED → 0–1, None where nothing was scored."""
    contributions: Mapping[str, float]
    """Every name of GRADED → its part of the total; they sum to it."""
    total: float
    """The reward: Σ weight·score − deductions, not below 0; 0 after a gate; rounded to 9 decimals.
    """
    passed: bool
    gated: bool
    profiles: Mapping[str, float] = {}
    """Scores of other scoring profiles on the same evidence (`claw_eval`)."""

    @property
    def violations(self) -> tuple[str, ...]:
        """Ids of the broken constraints."""
        return tuple([c.id for c in self.constraints if c.broken])
