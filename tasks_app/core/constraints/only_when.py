"""only_when: a write is allowed only if its record is in a certain state at that moment."""

import functools
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator

from tasks_app.core.calls import Call
from tasks_app.core.constraints.base import KEPT, BaseConstraint, Verdict, broken_by
from tasks_app.core.evidence import Evidence
from tasks_app.core.frozen import Frozen
from tasks_app.core.patterns import CallPattern, took_effect
from tasks_app.core.predicates import Test, compile_where
from tasks_app.core.values import follow


class RecordOf(Frozen):
    """Which record a call is about."""

    service: str
    collection: str
    id_argument: str
    """Path of the argument that names the record; a list names several."""


class OnlyWhen(BaseConstraint):
    """Broken by a call that took effect on a record which, before the call, was not as `where`
    says.
    """

    kind: Literal["only_when"]
    tool: str | tuple[str, ...]
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    """Narrows the calls."""
    stage: str | None = None
    record: RecordOf
    where: Mapping[str, Any] = Field(min_length=1)

    @field_validator("arguments", "where")
    @classmethod
    def _compiles(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        compile_where(value)
        return value

    @functools.cached_property
    def pattern(self) -> CallPattern:
        """Which calls are meant."""
        return CallPattern(tool=self.tool, arguments=self.arguments, stage=self.stage)

    @functools.cached_property
    def place(self) -> str:
        """The collection of the record."""
        return f"{self.record.service}/{self.record.collection}"

    @functools.cached_property
    def _holds(self) -> Test:
        return compile_where(self.where)

    def verdict(self, evidence: Evidence) -> Verdict:
        """Judge each record as it was before the call."""
        for tool in self.pattern.tools:
            for call in evidence.calls_to(tool):
                if not took_effect(call) or not self.pattern.matches(call):
                    continue
                rows = call.before.get(self.place, {})
                named = follow(call.arguments, self.record.id_argument)
                for record_id in named if isinstance(named, list) else (named,):
                    row = rows.get(record_id) if isinstance(record_id, str) else None
                    if row is None or not self._holds(row):
                        return broken_by(call, f"{record_id} was not in the state that allows it")
        return KEPT

    def concerns(self, call: Call) -> bool:
        """The calls it judges."""
        return self.pattern.matches(call)
