"""at_most: a tool takes effect at most so many times, in all or per value of an argument."""

import functools
from collections.abc import Mapping
from typing import Any, Literal

import orjson
from pydantic import Field, field_validator

from tasks_app.core.calls import Call
from tasks_app.core.constraints.base import KEPT, BaseConstraint, Verdict, broken_by
from tasks_app.core.evidence import Evidence
from tasks_app.core.patterns import CallPattern, took_effect
from tasks_app.core.predicates import compile_where, fold
from tasks_app.core.values import MISSING, follow


class AtMost(BaseConstraint):
    """Broken by the call that exceeds the count."""

    kind: Literal["at_most"]
    tool: str | tuple[str, ...]
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    """Narrows the calls."""
    stage: str | None = None
    per: str | None = None
    """Path of the argument whose values are counted apart; null: all calls together."""
    n: int = Field(ge=0)

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
        """Count."""
        tools = self.pattern.tools
        if sum(len(evidence.calls_to(tool)) for tool in tools) <= self.n:
            return KEPT
        calls = evidence.calls_to(tools[0]) if len(tools) == 1 else evidence.calls
        counts: dict[bytes, int] = {}
        for call in calls:
            if not took_effect(call) or not self.pattern.matches(call):
                continue
            key = b"" if self.per is None else _key(follow(call.arguments, self.per))
            counts[key] = counts.get(key, 0) + 1
            if counts[key] > self.n:
                what = "" if self.per is None else f" for {self.per} {key.decode()}"
                return broken_by(call, f"{counts[key]} calls{what}, {self.n} allowed")
        return KEPT

    def concerns(self, call: Call) -> bool:
        """The calls it counts."""
        return self.pattern.matches(call)


def _key(value: Any) -> bytes:
    if value is MISSING:
        return b""
    if isinstance(value, str):
        return fold(value).encode()
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
