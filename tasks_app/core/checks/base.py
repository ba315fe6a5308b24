"""What every check is: frozen data with one method that judges evidence."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from tasks_app.core.evidence import Evidence
from tasks_app.core.frozen import Frozen
from tasks_app.core.results import Component, Identifier, Judgement


class BaseCheck(Frozen):
    """One grading test on final records, calls or reply."""

    pays: ClassVar[bool] = True
    """Whether it counts in total, components and pass gate; the weights of those that do sum to 1.
    """

    id: Identifier
    component: Component
    weight: float = Field(gt=0, le=1, allow_inf_nan=False)
    """Share of the total; the weights of a spec sum to 1."""
    explain: str = ""
    """What holds when the check holds, as a sentence for people."""
    requires: tuple[str, ...] = ()
    """Ids of checks that must have scored 1; else this one scores 0."""
    stage: str | None = None
    """The stage whose end it reads; None: the end of the episode."""
    because: Mapping[str, str] = Field(default_factory=dict)
    """Expected field → policy id, record address or sentence that entails it (gate K3)."""

    @abstractmethod
    def judge(self, evidence: Evidence) -> Judgement:
        """Judge the evidence. Raises EvidenceError where the evidence lacks what the check
        reads.
        """

    def reads(self) -> tuple[str, ...]:
        """Return the collection addresses this check reads, for the gates and the task page."""
        return ()

    def expected_text(self) -> tuple[Any, ...]:
        """Return the text pieces it looks for (keyword paste of N2, text mutants of M1)."""
        return ()
