"""confirm_with_user: the colleague agreed before a write, having been told what it is about."""

import functools
from typing import Any, Literal

from pydantic import Field, field_validator

from tasks_app.core.calls import Call
from tasks_app.core.constraints.base import KEPT, BaseConstraint, Verdict, broken_by
from tasks_app.core.evidence import Evidence
from tasks_app.core.patterns import CallPattern, took_effect
from tasks_app.core.predicates import check_piece, contains_piece, fold
from tasks_app.core.values import MISSING, follow


class ConfirmWithUser(BaseConstraint):
    """Broken by a write that took effect without an earlier question that was answered with a
    yes.
    """

    kind: Literal["confirm_with_user"]
    write: CallPattern
    channel: str = "message_user"
    states: tuple[str, ...] = ()
    """Arguments of the write whose values the question must state."""
    answer: tuple[Any, ...] = Field(min_length=1)
    """Text pieces; any of them in the colleague's answer is the yes."""

    @field_validator("answer")
    @classmethod
    def _pieces(cls, value: tuple[Any, ...]) -> tuple[Any, ...]:
        for piece in value:
            check_piece(piece)
        return value

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        return self.write.tools

    def verdict(self, evidence: Evidence) -> Verdict:
        """Look for the yes before every write."""
        for tool in self._names:
            for write in evidence.calls_to(tool):
                if not took_effect(write) or not self.write.matches(write):
                    continue
                asked = (c for c in evidence.calls_to(self.channel) if c.index < write.index)
                if not any(call.ok and self._agreed(call, write) for call in asked):
                    return broken_by(write, "the colleague had not agreed")
        return KEPT

    def _agreed(self, call: Call, write: Call) -> bool:
        question = fold("\n".join(v for v in call.arguments.values() if isinstance(v, str)))
        for path in self.states:
            value = follow(write.arguments, path)
            if value is MISSING or not contains_piece(question, value):
                return False
        outcome = call.outcome
        told = fold(str(outcome.get("reply", ""))) if isinstance(outcome, dict) else ""
        return any(contains_piece(told, piece) for piece in self.answer)

    def concerns(self, call: Call) -> bool:
        """The write and the questions."""
        return self.write.matches(call) or call.tool == self.channel
