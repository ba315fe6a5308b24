"""forbid_tool: a tool, or a tool with certain arguments, is never called."""

import functools
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from tasks_app.core.calls import Call
from tasks_app.core.constraints.base import KEPT, BaseConstraint, Verdict, broken_by
from tasks_app.core.evidence import Evidence
from tasks_app.core.patterns import CallPattern
from tasks_app.core.predicates import compile_where


class ForbidTool(BaseConstraint):
    """Broken by the first attempt that passes the schema, whether it succeeds or not."""

    kind: Literal["forbid_tool"]
    tool: str | tuple[str, ...]
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    stage: str | None = None

    @field_validator("arguments")
    @classmethod
    def _compiles(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        compile_where(value)
        return value

    @functools.cached_property
    def pattern(self) -> CallPattern:
        """Which calls are meant."""
        return CallPattern(tool=self.tool, arguments=self.arguments, stage=self.stage)

    def verdict(self, evidence: Evidence) -> Verdict:
        """Look for the first attempt."""
        for tool in self.pattern.tools:
            for call in evidence.calls_to(tool):
                if call.valid and self.pattern.matches(call):
                    return broken_by(call, f"{tool} was called")
        return KEPT

    def concerns(self, call: Call) -> bool:
        """The calls it forbids."""
        return self.pattern.matches(call)
