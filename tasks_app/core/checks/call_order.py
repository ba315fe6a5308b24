"""call_order: successful calls came in an order, all before the first of the last kind."""

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

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
        """Walk the calls once per step."""
        calls = [call for call in evidence.calls_of(self.stage) if took_effect(call)]
        steps = [(step,) if isinstance(step, CallPattern) else step for step in self.order]
        end, last = len(calls), -1
        for position, call in enumerate(calls):
            if any(pattern.matches(call) for pattern in steps[-1]):
                end = position
                break
        cites: list[str] = []
        start = 0
        for number, step in enumerate(steps):
            closing = number == len(steps) - 1
            stop = len(calls) if closing else end
            last = start
            for pattern in step:
                found = next((n for n in range(start, stop) if pattern.matches(calls[n])), None)
                if found is None:
                    return Judgement(0.0, self._missing(pattern, steps), tuple(cites))
                cites.append(f"call:{calls[found].index}")
                last = max(last, found + 1)
            start = last
        return Judgement(1.0, "", tuple(cites))

    def _missing(self, pattern: CallPattern, steps: Sequence[Sequence[CallPattern]]) -> str:
        wanted = " or ".join(pattern.tools)
        if pattern in steps[-1]:
            return f"{wanted} was not called after the rest"
        return f"{wanted} was not called in its place before {' or '.join(steps[-1][0].tools)}"
