"""argument_policy: an argument stays inside an allow list, outside a deny list, a limit, the own
domain.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from tasks_app.core.calls import Call
from tasks_app.core.constraints.base import (
    KEPT,
    BaseConstraint,
    Verdict,
    broken_by,
    domain_of,
    names_of,
)
from tasks_app.core.evidence import Evidence
from tasks_app.core.patterns import CallPattern, took_effect
from tasks_app.core.predicates import Test, compile_predicate, compile_where, is_operators, same
from tasks_app.core.values import LISTS, MISSING, follow


class ArgumentPolicy(BaseConstraint):
    """Broken by a call that took effect with a value outside what is allowed.

    Every element of a list is judged, and every one of several arguments. An argument that is
    absent or null says nothing.
    """

    kind: Literal["argument_policy"]
    tool: str | tuple[str, ...]
    argument: str | tuple[str, ...]
    """Path of the argument, or of several."""
    arguments: Mapping[str, Any] = Field(default_factory=dict)
    """Narrows the calls."""
    stage: str | None = None
    allow: tuple[Any, ...] | None = None
    """The only values allowed."""
    deny: tuple[Any, ...] = ()
    """Values never allowed."""
    limit: Mapping[str, Any] | None = None
    """Operators that must hold, such as `{"lt": 150}`."""
    own_domain: str | tuple[str, ...] = ()
    """Domains whose addresses are allowed."""
    also: tuple[str, ...] = ()
    """Addresses allowed beside those domains."""

    @field_validator("arguments")
    @classmethod
    def _compiles(cls, value: Mapping[str, Any]) -> Mapping[str, Any]:
        compile_where(value)
        return value

    @field_validator("limit")
    @classmethod
    def _limits(cls, value: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if value is not None:
            if not is_operators(value):
                raise ValueError('limit is an object of operators, such as {"lt": 150}')
            compile_predicate(value)
        return value

    @model_validator(mode="after")
    def _says_something(self) -> "ArgumentPolicy":
        if self.allow is None and not (self.deny or self.limit or self.own_domain):
            raise ValueError("argument_policy needs allow, deny, limit or own_domain")
        if self.also and not self.own_domain:
            raise ValueError("also goes with own_domain")
        return self

    @functools.cached_property
    def pattern(self) -> CallPattern:
        """Which calls are meant."""
        return CallPattern(tool=self.tool, arguments=self.arguments, stage=self.stage)

    @functools.cached_property
    def _paths(self) -> tuple[str, ...]:
        return names_of(self.argument)

    @functools.cached_property
    def _limit(self) -> Test | None:
        return None if self.limit is None else compile_predicate(self.limit)

    @functools.cached_property
    def _domains(self) -> frozenset[str]:
        return frozenset(name.casefold() for name in names_of(self.own_domain))

    @functools.cached_property
    def _also(self) -> frozenset[str]:
        return frozenset(name.casefold() for name in self.also)

    def verdict(self, evidence: Evidence) -> Verdict:
        """Judge every value of every call."""
        for tool in self.pattern.tools:
            for call in evidence.calls_to(tool):
                if not took_effect(call) or not self.pattern.matches(call):
                    continue
                for path in self._paths:
                    for value in elements(follow(call.arguments, path)):
                        if not self.allows(value):
                            return broken_by(call, f"{path} is {value!r}")
        return KEPT

    def concerns(self, call: Call) -> bool:
        """The calls whose argument it judges."""
        return self.pattern.matches(call)

    def allows(self, value: Any) -> bool:
        """Say whether one value is inside what the rule allows."""
        if self.allow is not None and not any(same(value, option) for option in self.allow):
            return False
        if any(same(value, option) for option in self.deny):
            return False
        if self._limit is not None and not self._limit(value):
            return False
        if not self._domains:
            return True
        return isinstance(value, str) and (
            domain_of(value) in self._domains or value.casefold() in self._also
        )


def elements(value: Any) -> Sequence[Any]:
    """Return the values inside an argument: of a list each, at any depth; none for null or
    absent.
    """
    if value is MISSING or value is None:
        return ()
    if isinstance(value, LISTS):
        return [inner for item in value for inner in elements(item)]
    return (value,)
