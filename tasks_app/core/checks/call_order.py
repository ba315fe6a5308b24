"""call_order: successful calls came in an order, all before the first of the last kind."""

import functools
from typing import Literal

from pydantic import Field

from tasks_app.core.calls import Call
from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.evidence import Evidence
from tasks_app.core.patterns import CallPattern, took_effect
from tasks_app.core.results import Judgement

Step = CallPattern | tuple[CallPattern, ...]
"""A call, or several whose order among themselves does not matter."""


class CallOrder(BaseCheck):
    """Holds if the steps happened in this order before the *first* call of the last step.

    Looking something up after the first write, though before a second one, is too late. The inner
    list `[[a, b], c]` asks for a and b in any order before c.
    """

    kind: Literal["call_order"]
    order: tuple[Step, ...] = Field(min_length=2)

    def judge(self, evidence: Evidence) -> Judgement:
        """Take each step's first call after the step before it."""
        if self.stage is not None:
            evidence.stage(self.stage)
        found = [[self._calls(pattern, evidence) for pattern in step] for step in self.steps]
        end = min((calls[0].index for calls in found[-1] if calls), default=len(evidence.calls))
        cites: list[str] = []
        start = -1
        for number, step in enumerate(found):
            last = start
            for position, calls in enumerate(step):
                for call in calls:
                    if call.index > start:
                        break
                else:
                    return Judgement(0.0, self._missing(number, position), tuple(cites))
                if number < len(found) - 1 and call.index >= end:
                    return Judgement(0.0, self._missing(number, position), tuple(cites))
                cites.append(f"call:{call.index}")
                last = max(last, call.index)
            start = last
        return Judgement(1.0, "", tuple(cites))

    @functools.cached_property
    def steps(self) -> tuple[tuple[CallPattern, ...], ...]:
        """The steps, each as the calls it needs."""
        return tuple((step,) if isinstance(step, CallPattern) else step for step in self.order)

    def _calls(self, pattern: CallPattern, evidence: Evidence) -> list[Call]:
        found = [
            call
            for tool in pattern.tools
            for call in evidence.calls_to(tool)
            if took_effect(call)
            and pattern.matches(call)
            and (self.stage is None or call.stage == self.stage)
        ]
        return found if len(pattern.tools) == 1 else sorted(found, key=lambda call: call.index)

    def _missing(self, number: int, position: int) -> str:
        wanted = " or ".join(self.steps[number][position].tools)
        if number == len(self.steps) - 1:
            return f"{wanted} was not called after the rest"
        before = " or ".join(tool for pattern in self.steps[-1] for tool in pattern.tools)
        return f"{wanted} was not called in its place before the first {before}"
