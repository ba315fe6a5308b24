"""Gate V1: a task is new. Near duplicates by request text, siblings by structural fingerprint."""

from collections.abc import Mapping
from typing import Any

from tasks_app.core.predicates import OPERATORS
from tasks_app.core.program import is_binding
from tasks_app.core.spec import TaskSpec
from tasks_app.core.values import LEAVES, LISTS, OBJECTS, content_hash


def fingerprint(spec: TaskSpec) -> str:
    """Return the structural fingerprint: what is done and tested, without names, numbers or
    wording.

    Tool sequence with abstracted arguments, check kinds with their operators, constraint kinds with
    severity, faults, stages, colleague. 16 hex digits.
    """
    steps = [
        {
            "tool": step.tool,
            "each": step.each is not None,
            "arguments": {name: _shape(value) for name, value in step.arguments.items()},
        }
        for step in spec.reference
        if step.tool is not None
    ]
    checks = sorted(
        f"{check.kind}:{check.component}:{','.join(sorted(_operators(check.plain)))}"
        for check in spec.checks
    )
    constraints = sorted(f"{c.kind}:{'gate' if c.gate else 'deduct'}" for c in spec.constraints)
    return content_hash(
        {
            "steps": steps,
            "checks": checks,
            "constraints": constraints,
            "faults": [f"{fault.tool}:{fault.moment}" for fault in spec.faults],
            "stages": len(spec.stages),
            "colleague": spec.user is not None,
        }
    )[:16]


def _shape(value: Any) -> Any:
    if is_binding(value):
        if "fn" in value:
            arguments = value["args"] if isinstance(value["args"], LISTS) else ()
            return [str(value["fn"]), *map(_shape, arguments)]
        if "text" in value:
            return "text"
        return f"from:{value.get('take', '')}"
    if isinstance(value, Mapping):
        return sorted(value)
    return "list" if isinstance(value, LISTS) else "literal"


def _operators(value: Any) -> set[str]:
    found: set[str] = set()
    _collect(value, found)
    return found


def _collect(value: Any, found: set[str]) -> None:
    if isinstance(value, LEAVES):
        return
    if isinstance(value, OBJECTS):
        found.update(OPERATORS.intersection(value))
        for item in value.values():
            _collect(item, found)
    elif isinstance(value, LISTS):
        for item in value:
            _collect(item, found)
