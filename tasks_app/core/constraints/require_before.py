"""require_before: a look-up, a confirmation or an approval comes before the write."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from tasks_app.core.calls import Call
from tasks_app.core.constraints.base import KEPT, BaseConstraint, Verdict, broken_by
from tasks_app.core.evidence import Evidence
from tasks_app.core.patterns import CallPattern, took_effect
from tasks_app.core.predicates import same
from tasks_app.core.values import follow


class Needs(CallPattern):
    """The call that must come first."""

    same: Mapping[str, str] = Field(default_factory=dict)
    """Argument of this call → argument of the write that must be equal."""


class RequireBefore(BaseConstraint):
    """Broken by a write that took effect without a successful `needs` before it."""

    kind: Literal["require_before"]
    write: CallPattern
    needs: Needs

    def verdict(self, evidence: Evidence) -> Verdict:
        """Look for what every write needs."""
        ready: list[Call] | None = None
        for tool in self.write.tools:
            for write in evidence.calls_to(tool):
                if not took_effect(write) or not self.write.matches(write):
                    continue
                if ready is None:
                    ready = [
                        call
                        for name in self.needs.tools
                        for call in evidence.calls_to(name)
                        if took_effect(call) and self.needs.matches(call)
                    ]
                if not any(c.index < write.index and self._fits(c, write) for c in ready):
                    return broken_by(write, f"no {' or '.join(self.needs.tools)} came before it")
        return KEPT

    def _fits(self, call: Call, write: Call) -> bool:
        for argument, other in self.needs.same.items():
            first, second = follow(call.arguments, argument), follow(write.arguments, other)
            if not _equal(first, second):
                return False
        return True

    def concerns(self, call: Call) -> bool:
        """The write and what it needs."""
        return self.write.matches(call) or self.needs.matches(call)


def _equal(first: Any, second: Any) -> bool:
    """Equality of the format; of a list of needs (several looked up at once) any element is
    enough.
    """
    if isinstance(first, list) and not isinstance(second, list):
        return any(same(item, second) for item in first)
    return same(first, second)
