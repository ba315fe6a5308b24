"""What a gate is: an id, whether it blocks, and a function that yields findings."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding, Suggestion


class Gate(NamedTuple):
    """A static gate: it looks at the spec alone, no run needed (groups S, R, T and parts of K)."""

    id: str
    title: str
    blocks: bool
    look: Callable[[TaskSpec], Iterable[Finding]]


def finding(
    gate: str,
    path: str,
    message: str,
    *,
    hint: str = "",
    severity: Literal["block", "warn"] = "block",
    rule: str = "",
    title: str = "",
    patch: Sequence[Mapping[str, Any]] = (),
) -> Finding:
    """Build a finding; with `rule` and `patch` it carries a suggested repair."""
    suggestion = Suggestion(rule=rule, title=title or hint, patch=tuple(patch)) if patch else None
    return Finding(
        gate=gate, severity=severity, path=path, message=message, hint=hint, suggestion=suggestion
    )


def pointer(*parts: str | int) -> str:
    """Return a JSON pointer."""
    return "".join([f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts])


def operation(
    op: Literal["add", "remove", "replace"], path: str, value: Any = None
) -> dict[str, Any]:
    """Return one JSON Patch operation."""
    return {"op": op, "path": path} if op == "remove" else {"op": op, "path": path, "value": value}
