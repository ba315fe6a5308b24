"""The write set: which addresses may change, by which change, how often and when.

A plain address allows any change it covers (`service/collection/id#a,b`: an update of those
fields). The object form narrows it: `change`, `where` (on the record after, or before a deletion),
`max`, `stages`. Collateral = the changes of each stage, from after its mutations to its end, that
no rule allows. Timeline changes are nobody's fault; repair on a later day does not undo damage.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from pydantic import Field, model_serializer, model_validator

from tasks_app.core.frozen import Frozen
from tasks_app.core.memo import Memo
from tasks_app.core.predicates import Test, compile_where
from tasks_app.core.values import Change, ChangeKind, Pattern, pattern


class WriteRule(Frozen):
    """One rule of a write set."""

    address: str
    change: tuple[ChangeKind, ...] = ()
    """Kinds of change allowed; empty: any (an address with fields allows updates only)."""
    where: Mapping[str, Any] = Field(default_factory=dict)
    max: int | None = Field(default=None, ge=0)
    """How many records may change under this rule in the whole episode."""
    stages: tuple[str, ...] = ()
    """Stages in which it holds; empty: all."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"address": value}
        if isinstance(value, Mapping) and isinstance(value.get("change"), str):
            return {**value, "change": (value["change"],)}
        return value

    @model_validator(mode="after")
    def _compiles(self) -> "WriteRule":
        pattern(self.address)
        compile_where(self.where)
        return self

    @model_serializer(mode="plain")
    def _as_written(self) -> Any:
        body: dict[str, Any] = {"address": self.address}
        if self.change:
            body["change"] = self.change[0] if len(self.change) == 1 else list(self.change)
        if self.where:
            body["where"] = dict(self.where)
        if self.max is not None:
            body["max"] = self.max
        if self.stages:
            body["stages"] = list(self.stages)
        return self.address if len(body) == 1 else body

    @functools.cached_property
    def place(self) -> Pattern:
        """The compiled address."""
        return pattern(self.address)

    @functools.cached_property
    def holds(self) -> Test:
        """The compiled `where`."""
        return compile_where(self.where)

    def allows(self, change: Change, kind: ChangeKind, stage: str) -> bool:
        """Say whether a change of a record in its collection is under this rule, fields apart."""
        place = self.place
        if place.exact_id is not None:
            if change.id != place.exact_id:
                return False
        elif not place.matches_id(change.id):
            return False
        if self.stages and stage not in self.stages:
            return False
        if self.change and kind not in self.change:
            return False
        if place.fields is not None and kind != "update":
            return False
        if not self.where:
            return True
        return self.holds(change.after if change.after is not None else change.before)


class Stray(NamedTuple):
    """A change that no rule allows."""

    stage: str
    change: Change
    fields: tuple[str, ...]
    """Fields outside the write set; empty for a whole record."""

    @property
    def address(self) -> str:
        """The address as a person reads it."""
        place = self.change.address
        return f"{place}#{','.join(self.fields)}" if self.fields else place


def strays(
    rules: Sequence[WriteRule], changes: Iterable[tuple[str, Sequence[Change]]]
) -> list[Stray]:
    """Return the changes of all stages that the write set does not allow, in order.

    Args:
        rules: The write set.
        changes: Per stage its id and its difference.
    """
    by_collection = _grouped.of(rules) if isinstance(rules, tuple) else group(tuple(rules))
    used: dict[int, int] = {}
    found: list[Stray] = []
    for stage, differences in changes:
        for change in differences:
            kind = change.kind
            open_fields = change.differing() if kind == "update" else None
            allowed = False
            for number, rule in by_collection.get(change.collection, ()):
                covered = rule.place.fields
                if open_fields is not None and covered is not None and not open_fields & covered:
                    continue
                if not rule.allows(change, kind, stage):
                    continue
                if rule.max is not None and used.get(number, 0) >= rule.max:
                    continue
                used[number] = used.get(number, 0) + 1
                if open_fields is None or covered is None:
                    allowed = True
                    break
                open_fields -= covered
                if not open_fields:
                    allowed = True
                    break
            if not allowed:
                fields = tuple(sorted(open_fields)) if open_fields is not None else ()
                found.append(Stray(stage, change, fields))
    return found


def group(rules: tuple[WriteRule, ...]) -> dict[str, list[tuple[int, WriteRule]]]:
    """Return collection → its rules, numbered as the write set lists them."""
    grouped: dict[str, list[tuple[int, WriteRule]]] = {}
    for number, rule in enumerate(rules):
        grouped.setdefault(rule.place.collection, []).append((number, rule))
    return grouped


_grouped: Final = Memo(group)
