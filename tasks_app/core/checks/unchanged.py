"""unchanged: what lies at an address, or outside the write set, is as it was.

Differences are taken stage by stage, from after its mutations to its end: timeline changes are
nobody's fault, and repair on a later day does not undo damage.
"""

import functools
from typing import Any, Literal

from pydantic import field_validator, model_validator

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.evidence import Evidence
from tasks_app.core.results import Judgement
from tasks_app.core.values import Pattern, pattern


class Unchanged(BaseCheck):
    """Holds if nothing under the address patterns, or nothing outside the write set, changed."""

    kind: Literal["unchanged"]
    address: str | tuple[str, ...] = ()
    """Address patterns; several as a list."""
    outside: Literal["write_set"] | None = None
    """`write_set`: everything that the task's write set does not allow."""

    @field_validator("address")
    @classmethod
    def _compiles(cls, value: str | tuple[str, ...]) -> str | tuple[str, ...]:
        for text in (value,) if isinstance(value, str) else value:
            pattern(text)
        return value

    @model_validator(mode="after")
    def _one_of_both(self) -> "Unchanged":
        if bool(self.address) == (self.outside is not None):
            raise ValueError('unchanged needs either address or outside: "write_set"')
        return self

    @functools.cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The compiled address patterns."""
        texts: Any = (self.address,) if isinstance(self.address, str) else self.address
        return tuple(pattern(text) for text in texts)

    def judge(self, evidence: Evidence) -> Judgement:
        """Look for the first change that should not be."""
        if self.stage is not None:
            evidence.stage(self.stage)
        if self.outside is not None:
            found = [
                stray.address
                for stray in evidence.strays()
                if self.stage is None or stray.stage == self.stage
            ]
        else:
            found = self._touched(evidence)
        if not found:
            return Judgement(1.0)
        return Judgement(0.0, f"changed: {', '.join(found[:5])}", tuple(found[:20]))

    def _touched(self, evidence: Evidence) -> list[str]:
        found: list[str] = []
        for stage, changes in evidence.changes():
            if self.stage is not None and stage != self.stage:
                continue
            for change in changes:
                for place in self.patterns:
                    if not place.covers_record(change.collection, change.id):
                        continue
                    if place.fields is None or change.kind != "update":
                        found.append(change.address)
                        break
                    fields = [name for name in change.fields() if name in place.fields]
                    if fields:
                        found.append(f"{change.address}#{','.join(fields)}")
                        break
        return found

    def reads(self) -> tuple[str, ...]:
        """The collections of its patterns."""
        return tuple(dict.fromkeys(place.collection for place in self.patterns))
