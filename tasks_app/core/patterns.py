"""Call patterns: which calls a check or a constraint is about."""

import functools
from collections.abc import Mapping
from typing import Any

from pydantic import Field, field_validator

from tasks_app.core.calls import Call
from tasks_app.core.frozen import Frozen
from tasks_app.core.predicates import Test, compile_where


class CallPattern(Frozen):
    """Tool or any of several, a `where` on the arguments, a stage."""

    tool: str | tuple[str, ...]
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    stage: str | None = None

    @field_validator("arguments")
    @classmethod
    def _compiles(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        compile_where(value)
        return value

    @property
    def tools(self) -> tuple[str, ...]:
        """The tool names it covers."""
        return (self.tool,) if isinstance(self.tool, str) else self.tool

    @functools.cached_property
    def holds(self) -> Test:
        """The compiled `where` on the arguments."""
        return compile_where(self.arguments)

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The tool names it covers, for look-ups."""
        return frozenset(self.tools)

    def matches(self, call: Call) -> bool:
        """Say whether a call is meant, whatever came of it."""
        return (
            (call.tool == self.tool or call.tool in self.names)
            and (self.stage is None or call.stage == self.stage)
            and (not self.arguments or self.holds(call.arguments))
        )


def took_effect(call: Call) -> bool:
    """Say whether a call did what it says: it succeeded, or it wrote and only its answer was
    lost.
    """
    return call.error is None or bool(call.changes)
