"""rubric: a question for a judge. It never enters pass gate, components, total or training reward.

Its weight is a sum of its own, among rubrics: the weights of all other checks sum to 1 without it.
Without a judge it is not scored (None); with one, its score stands beside the grade for people and
evaluations.
"""

from typing import ClassVar, Literal

from pydantic import Field

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.evidence import Evidence
from tasks_app.core.results import Judgement


class Rubric(BaseCheck):
    """A question that a judge answers with a score; data only."""

    pays: ClassVar[bool] = False

    kind: Literal["rubric"]
    question: str = Field(min_length=1)
    """What the judge is asked about what it reads."""
    scope: Literal["final", "all"] = "final"
    """The reply, or everything the coworker wrote."""
    endpoint: str = ""
    """Name of the judge's endpoint; empty: the one the evaluation names."""

    def judge(self, evidence: Evidence) -> Judgement:
        """Leave it unscored: nothing here asks a model."""
        return Judgement(None, "no judge was asked")
