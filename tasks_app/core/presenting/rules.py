"""Checks, constraints and the write set as rows that a person reads without knowing the format."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.presenting.words import plain, predicate, reference, several, shown, where
from tasks_app.core.spec import TaskSpec
from tasks_app.core.writes import WriteRule

_COMMON: Final = frozenset(
    {"id", "kind", "component", "weight", "explain", "requires", "because", "policy", "sentence",
     "severity"}
)  # fmt: skip
_LABELS: Final = {
    "where": "looks at records where",
    "expect": "expects",
    "count": "how many",
    "text": "must say",
    "forbidden": "must not say",
    "to": "addressed to",
    "tool": "tool",
    "arguments": "with arguments",
    "argument": "argument",
    "allow": "allowed",
    "deny": "never",
    "limit": "must be",
    "n": "at most",
    "per": "for each",
    "values": "never say",
    "allowed": "who may read it",
    "write": "the write",
    "needs": "needs before it",
    "record": "the record",
    "outside": "outside",
    "stage": "stage",
    "own_domain": "own domain",
    "also": "and also",
    "tools": "tools",
}


@dataclass(frozen=True)
class Detail:
    """One part of a rule: its label and words."""

    label: str
    words: str


@dataclass(frozen=True)
class CheckRow:
    """A check as the page shows it."""

    id: str
    index: int
    kind: str
    component: str
    weight: float
    sentence: str
    requires: tuple[str, ...]
    details: tuple[Detail, ...]
    because: tuple[Detail, ...]
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class ConstraintRow:
    """A constraint as the page shows it."""

    id: str
    index: int
    kind: str
    sentence: str
    policy: str
    policy_title: str
    gate: bool
    deduct: float
    details: tuple[Detail, ...]
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class WriteRow:
    """One rule of the write set."""

    address: str
    index: int
    words: str


def check_rows(spec: TaskSpec) -> tuple[CheckRow, ...]:
    """All checks in the spec's order."""
    rows = []
    written = spec.written().get("checks", [])
    for index, (check, raw) in enumerate(zip(spec.checks, written, strict=True)):
        rows.append(
            CheckRow(
                id=check.id,
                index=index,
                kind=check.kind,
                component=check.component,
                weight=check.weight,
                sentence=check.explain or _holds(raw),
                requires=check.requires,
                details=details(raw),
                because=tuple(Detail(k, plain(v)) for k, v in check.because.items()),
                raw=raw,
            )
        )
    return tuple(rows)


def constraint_rows(spec: TaskSpec) -> tuple[ConstraintRow, ...]:
    """All constraints in the spec's order."""
    rows = []
    written = spec.written().get("constraints", [])
    for index, (rule, raw) in enumerate(zip(spec.constraints, written, strict=True)):
        policy = spec.policy(rule.policy)
        rows.append(
            ConstraintRow(
                id=rule.id,
                index=index,
                kind=rule.kind,
                sentence=rule.sentence,
                policy=rule.policy,
                policy_title=policy.title if policy is not None else rule.policy,
                gate=rule.gate,
                deduct=rule.deduct,
                details=details(raw),
                raw=raw,
            )
        )
    return tuple(rows)


def write_rows(spec: TaskSpec) -> tuple[WriteRow, ...]:
    """All rules of the write set."""
    return tuple(WriteRow(r.address, i, _may(r)) for i, r in enumerate(spec.write_set))


def _may(rule: WriteRule) -> str:
    parts = [f"may be {_done(kind)}" for kind in rule.change] or ["may change"]
    if rule.where:
        parts.append(f"where {where(rule.where)}")
    if rule.max is not None:
        parts.append(f"at most {rule.max}")
    if rule.stages:
        parts.append(f"in {', '.join(rule.stages)}")
    return ", ".join(parts)


def _done(kind: str) -> str:
    return {"add": "added", "update": "updated", "delete": "deleted"}[kind]


def details(raw: Mapping[str, Any]) -> tuple[Detail, ...]:
    """The parts of a written check or constraint that are its own, in words."""
    found = []
    if "service" in raw and "collection" in raw:
        found.append(Detail("in", f"{raw['service']}/{raw['collection']}"))
    for key, value in raw.items():
        if key in _COMMON or key in ("service", "collection"):
            continue
        found.append(Detail(_LABELS.get(key, key.replace("_", " ")), _words(key, value)))
    return tuple(found)


def _words(key: str, value: Any) -> str:
    if key in ("where", "expect", "arguments") and isinstance(value, Mapping):
        return where(value)
    if key in ("count", "limit"):
        return predicate(value)
    if key in ("text", "forbidden", "values") and isinstance(value, list | tuple):
        return "; ".join(
            several(group) if isinstance(group, list | tuple) and group else reference(group)
            for group in value
        )
    if isinstance(value, list | tuple):
        return ", ".join(shown(item) for item in value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name} {where(part) if isinstance(part, Mapping) else shown(part)}"
            for name, part in value.items()
        )
    return shown(value)


def _holds(raw: Mapping[str, Any]) -> str:
    """A sentence for a check whose author wrote none."""
    place = f"{raw.get('service', '')}/{raw.get('collection', '')}".strip("/")
    return f"{str(raw.get('kind', 'check')).replace('_', ' ')} {place}".strip()
