"""number_close: a number in a text or a field is close to a target, in any spelling and unit
sign.
"""

import functools
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.scopes import FILES, OUTBOX, Scope, read_scope
from tasks_app.core.evidence import (
    Evidence,
    EvidenceError,
    Selection,
    is_reference,
    referenced,
    without_references,
)
from tasks_app.core.frozen import Frozen
from tasks_app.core.predicates import compile_where, numbers_in, read_number
from tasks_app.core.results import Judgement
from tasks_app.core.values import MISSING, address, follow


class FieldPlace(Frozen):
    """A field of the one record that `where` selects."""

    service: str
    collection: str
    where: Mapping[str, Any] = Field(default_factory=dict)
    field: str

    @field_validator("where")
    @classmethod
    def _compiles(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        compile_where(without_references(value))
        return value

    @functools.cached_property
    def selection(self) -> Selection:
        """The compiled `where`."""
        return Selection(f"{self.service}/{self.collection}", self.where)


class NumberClose(BaseCheck):
    """Holds if a number of the text (any of them), or the field, lies within the tolerance."""

    kind: Literal["number_close"]
    target: float | Mapping[str, Any]
    """A number, or a reference to a record's field."""
    absolute: float = Field(default=0.005, ge=0, allow_inf_nan=False)
    relative: float = Field(default=0, ge=0, allow_inf_nan=False)
    """Share of the target; the wider of both tolerances counts."""
    scope: Scope = "final"
    path: str | None = None
    place: FieldPlace | None = None
    """A record's field instead of a text."""

    @field_validator("target")
    @classmethod
    def _number_or_reference(cls, value: float | Mapping[str, Any]) -> float | Mapping[str, Any]:
        if isinstance(value, Mapping) and not is_reference(value):
            raise ValueError("target is a number or a reference")
        return value

    @model_validator(mode="after")
    def _one_place(self) -> "NumberClose":
        if self.scope == "file" and not self.path:
            raise ValueError("scope file needs a path")
        if self.place is not None and (self.path or self.scope != "final"):
            raise ValueError("number_close reads either a place or a text")
        return self

    def judge(self, evidence: Evidence) -> Judgement:
        """Compare."""
        target = read_number(evidence.resolve(self.target, self.stage))
        if target is None:
            raise EvidenceError("the target is no number")
        tolerance = max(self.absolute, abs(target) * self.relative) + 1e-9
        found, cites = self._numbers(evidence)
        if any(abs(number - target) <= tolerance for number in found):
            return Judgement(1.0, "", cites)
        return Judgement(0.0, f"no number within {tolerance:g} of {target:g}", cites)

    def _numbers(self, evidence: Evidence) -> tuple[tuple[float, ...], tuple[str, ...]]:
        if self.place is None:
            scope: Scope = "file" if self.path else self.scope
            passage = read_scope(scope, self.path, evidence, self.stage)
            return numbers_in(passage.text), passage.cites
        collection = f"{self.place.service}/{self.place.collection}"
        found = self.place.selection.of(evidence, self.stage)
        if len(found) != 1:
            raise EvidenceError(f"{len(found)} records of {collection} instead of one")
        id_field = evidence.ground.id_fields.get(collection, "id")
        value = follow(found[0], self.place.field)
        number = None if value is MISSING else read_number(value)
        cites = (address(collection, found[0][id_field], self.place.field),)
        return (() if number is None else (number,)), cites

    def reads(self) -> tuple[str, ...]:
        """The collection of its field or text, and what its references look into."""
        if self.place is not None:
            own: tuple[str, ...] = (f"{self.place.service}/{self.place.collection}",)
        else:
            own = (FILES,) if self.path else (OUTBOX,) if self.scope == "message" else ()
        return (*own, *referenced(self.target))
