"""record_match: so many records of a collection are selected, and each is as expected."""

import functools
from collections.abc import Mapping
from typing import Any, Literal

import orjson
from pydantic import Field, field_validator

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.evidence import (
    Evidence,
    Selection,
    has_reference,
    referenced,
    without_references,
)
from tasks_app.core.predicates import (
    Entry,
    Test,
    compile_fields,
    compile_predicate,
    compile_where,
    in_words,
    shown,
)
from tasks_app.core.results import Judgement
from tasks_app.core.values import MISSING, address, follow


@functools.lru_cache(maxsize=1024)
def _compiled(expect: bytes) -> tuple[Entry, ...]:
    """Compile an `expect` whose references are resolved; many runs make the same records."""
    return compile_fields(orjson.loads(expect))


class RecordMatch(BaseCheck):
    """Holds if `where` selects the right count of records and `expect` holds for every one of
    them.
    """

    kind: Literal["record_match"]
    service: str
    collection: str
    where: Mapping[str, Any] = Field(default_factory=dict)
    expect: Mapping[str, Any] = Field(default_factory=dict)
    count: int | Mapping[str, Any] = 1
    """How many records `where` must select: a number or a predicate; default exactly one."""

    @field_validator("where", "expect")
    @classmethod
    def _where_compiles(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        compile_where(without_references(value))
        return value

    @field_validator("count")
    @classmethod
    def _count_compiles(cls, value: int | Mapping[str, Any]) -> int | Mapping[str, Any]:
        compile_predicate(value)
        return value

    @functools.cached_property
    def place(self) -> str:
        """The collection's address."""
        return f"{self.service}/{self.collection}"

    @functools.cached_property
    def _selection(self) -> Selection:
        return Selection(self.place, self.where)

    @functools.cached_property
    def _expected(self) -> tuple[Entry, ...] | None:
        return None if has_reference(self.expect) else compile_fields(self.expect)

    @functools.cached_property
    def _counted(self) -> Test:
        return compile_predicate(self.count)

    def judge(self, evidence: Evidence) -> Judgement:
        """Select, count, compare."""
        found = self._selection.of(evidence, self.stage)
        id_field = evidence.ground.id_fields.get(self.place, "id")
        cites = tuple(address(self.place, row[id_field]) for row in found)
        if not self._counted(len(found)):
            return Judgement(0.0, f"{len(found)} records of {self.place} are selected", cites)
        expected = self._expected
        if expected is None:
            expected = _compiled(orjson.dumps(evidence.resolve(self.expect, self.stage)))
        for row, cite in zip(found, cites, strict=True):
            for path, parts, predicate, test in expected:
                value = follow(row, parts)
                if not test(value):
                    seen = "missing" if value is MISSING else shown(value)
                    said = f"{path} is {seen}; expected {in_words(predicate)}"
                    return Judgement(0.0, said, (cite,))
        return Judgement(1.0, "", cites)

    def reads(self) -> tuple[str, ...]:
        """The collection it looks into, and those its references look into."""
        return (self.place, *referenced(self.where), *referenced(self.expect))
