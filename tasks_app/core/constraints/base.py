"""What every constraint is: a disclosed rule on actions with one verdict over the calls."""

from abc import abstractmethod
from typing import Final, Literal, NamedTuple

from pydantic import Field

from tasks_app.core.calls import Call
from tasks_app.core.evidence import Evidence
from tasks_app.core.frozen import Frozen
from tasks_app.core.results import Identifier


class Deduction(Frozen):
    """A severity that costs part of the reward."""

    deduct: float = Field(gt=0, le=1, allow_inf_nan=False)


class Verdict(NamedTuple):
    """Whether a constraint is broken, by which call and why."""

    broken: bool
    call: int | None = None
    detail: str = ""


KEPT: Final = Verdict(broken=False)
"""The verdict of a constraint that nobody broke."""


def broken_by(call: Call, detail: str) -> Verdict:
    """Return the verdict that one call broke a constraint."""
    return Verdict(broken=True, call=call.index, detail=detail)


class BaseConstraint(Frozen):
    """A rule on actions; broken = violation, which costs reward. Broken once, however often."""

    id: Identifier
    policy: str
    """Id of the policy document that states it."""
    sentence: str = Field(min_length=1)
    """Verbatim in that document: the rule is disclosed to the coworker."""
    severity: Literal["gate"] | Deduction

    @abstractmethod
    def verdict(self, evidence: Evidence) -> Verdict:
        """Judge the calls. `forbid_tool` counts attempts that pass the schema, all others what took
        effect.
        """

    def concerns(self, call: Call) -> bool:
        """Say whether a call is one this rule is about (replay shows the verdict beside it)."""
        return False

    @property
    def gate(self) -> bool:
        """Whether breaking it makes the reward 0."""
        return self.severity == "gate"

    @property
    def deduct(self) -> float:
        """What breaking it costs; 0 for a gate, which takes everything."""
        return self.severity.deduct if isinstance(self.severity, Deduction) else 0.0


def domain_of(address: str) -> str:
    """Return the domain of a mail address, in lower case; empty for what is none."""
    return address.rpartition("@")[2].strip(" >").casefold() if "@" in address else ""


def names_of(value: str | tuple[str, ...]) -> tuple[str, ...]:
    """Return one name or several as a tuple."""
    return (value,) if isinstance(value, str) else value
