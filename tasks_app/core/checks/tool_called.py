"""tool_called: a tool was called often enough, and not too often."""

import functools
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.evidence import Evidence
from tasks_app.core.patterns import CallPattern, took_effect
from tasks_app.core.results import Judgement


class ToolCalled(BaseCheck):
    """Holds if between `min` and `max` calls match tool and arguments."""

    kind: Literal["tool_called"]
    tool: str | tuple[str, ...]
    """One tool, or any of several."""
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    min: int = Field(default=1, ge=0)
    max: int | None = Field(default=None, ge=0)
    """None: any number."""
    successful: bool = True
    """Whether only calls that took effect count; else also refused ones."""

    @model_validator(mode="after")
    def _means_something(self) -> "ToolCalled":
        _ = self.pattern
        if self.max is not None and self.max < self.min:
            raise ValueError("max is below min")
        if self.min == 0 and self.max is None:
            raise ValueError("min 0 without max always holds")
        return self

    @functools.cached_property
    def pattern(self) -> CallPattern:
        """Which calls are meant."""
        return CallPattern(tool=self.tool, arguments=self.arguments, stage=self.stage)

    def judge(self, evidence: Evidence) -> Judgement:
        """Count the calls."""
        found = [
            call
            for call in evidence.calls
            if self.pattern.matches(call) and (not self.successful or took_effect(call))
        ]
        cites = tuple(f"call:{call.index}" for call in found)
        if len(found) < self.min or (self.max is not None and len(found) > self.max):
            return Judgement(0.0, f"{len(found)} calls of {' or '.join(self.pattern.tools)}", cites)
        return Judgement(1.0, "", cites)
