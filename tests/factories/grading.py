"""Checks and constraints out of short JSON, as a spec would hold them."""

from typing import Any

from pydantic import TypeAdapter

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.catalog import AnyCheck
from tasks_app.core.constraints.base import BaseConstraint
from tasks_app.core.constraints.catalog import AnyConstraint

_CHECK: TypeAdapter[Any] = TypeAdapter(AnyCheck)
_CONSTRAINT: TypeAdapter[Any] = TypeAdapter(AnyConstraint)


def check(kind: str, **keys: Any) -> BaseCheck:
    """Return a check; id, component and weight have defaults."""
    made: BaseCheck = _CHECK.validate_python(
        {"id": "c", "component": "outcome", "weight": 1.0, "kind": kind, **keys}
    )
    return made


def constraint(kind: str, **keys: Any) -> BaseConstraint:
    """Return a constraint; id, policy, sentence and severity have defaults."""
    base = {"id": "K1", "policy": "p", "sentence": "The rule.", "severity": "gate"}
    made: BaseConstraint = _CONSTRAINT.validate_python({**base, "kind": kind, **keys})
    return made
