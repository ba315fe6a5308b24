"""Frozen data that may keep what it compiled: a cached property is no part of the value.

A check compiles its predicates once and judges hundreds of runs. What it compiled must not outlive
a change (`model_copy(update=…)`) and cannot cross a process boundary (closures don't pickle), so
copies and pickles carry the declared fields alone.
"""

import functools
from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A frozen model that refuses unknown keys; cached properties are dropped from copies."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @functools.cached_property
    def plain(self) -> Mapping[str, Any]:
        """The model as plain JSON data, made once; for reading only."""
        return self.model_dump(mode="json")

    def _forget(self) -> Self:
        declared = type(self).model_fields  # looked up once: pydantic answers it slowly
        for name in [name for name in self.__dict__ if name not in declared]:
            del self.__dict__[name]
        return self

    def __copy__(self) -> Self:
        return super().__copy__()._forget()

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return super(Frozen, self.__copy__()).__deepcopy__(memo)

    def __getstate__(self) -> dict[Any, Any]:
        state = super().__getstate__()
        names = type(self).model_fields
        return {**state, "__dict__": {k: v for k, v in state["__dict__"].items() if k in names}}
