"""What each check gives the reference solution, and what it gives for doing nothing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from tasks_app.core.presenting.words import cut
from tasks_app.core.results import FULL, CheckResult, Grade
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.trial import Trial

LONGEST_REASON: Final = 240
"""Characters of what decided a check; the replay shows the whole."""


@dataclass(frozen=True)
class Standing:
    """How one check stands at the end of one run."""

    score: float | None
    state: Literal["holds", "partly", "fails", "unscored"]
    reason: str
    """What decided it, for one that does not hold."""
    unmet: str
    """Id of the check that must hold first."""


@dataclass(frozen=True)
class Standings:
    """All checks of one run, by id."""

    checks: Mapping[str, Standing]
    reward: float


def reference_and_null(spec: TaskSpec) -> tuple[Standings | None, Standings]:
    """Run both and grade them; without a reference there is only the run that does nothing.

    Raises InvalidValueError of records that no world can hold.
    """
    trial = Trial(spec)
    null = _standings(trial.null().grade)
    return (_standings(trial.reference.grade) if spec.reference else None), null


def _standings(found: Grade) -> Standings:
    return Standings({result.id: _standing(result) for result in found.checks}, found.total)


def _standing(result: CheckResult) -> Standing:
    if result.score is None:
        return Standing(None, "unscored", cut(result.detail, LONGEST_REASON), "")
    if result.score >= FULL:
        return Standing(result.score, "holds", "", "")
    state: Literal["partly", "fails"] = "partly" if result.score > 0 else "fails"
    reason = "" if result.unmet else cut(result.failure or result.detail, LONGEST_REASON)
    return Standing(result.score, state, reason, result.unmet or "")
