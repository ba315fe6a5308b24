"""Checks, constraints and the write set as rows that a person reads without knowing the format."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.evidence import is_reference
from tasks_app.core.predicates import TOLERANCE, is_operators, literal_of
from tasks_app.core.presenting.words import plain, predicate, pretty, reference, several, where
from tasks_app.core.spec import TaskSpec
from tasks_app.core.writes import WriteRule

_COMMON: Final = frozenset(
    {"id", "kind", "component", "weight", "explain", "requires", "because", "policy", "sentence",
     "severity"}
)  # fmt: skip
_LABELS: Final = {
    "where": "records where",
    "expect": "expected",
    "count": "how many",
    "text": "must say",
    "forbidden": "must not say",
    "regex": "must match",
    "min_length": "characters",
    "to": "addressed to",
    "tool": "tool",
    "arguments": "with arguments",
    "argument": "argument",
    "allow": "allowed",
    "deny": "never",
    "limit": "must be",
    "n": "at most",
    "min": "at least",
    "max": "at most",
    "per": "for each",
    "values": "never say",
    "allowed": "who may read it",
    "write": "the write",
    "needs": "needs before it",
    "record": "the record",
    "outside": "unchanged",
    "address": "unchanged",
    "stage": "stage",
    "own_domain": "own domain",
    "also": "and also",
    "tools": "tools",
    "target": "number",
    "absolute": "give or take",
    "relative": "or a share of it",
    "order": "in this order",
    "rows": "rows",
    "key": "a row is named by",
    "exact": "no other rows",
    "free_for": "free for",
    "question": "a judge is asked",
}
_WANTED: Final = frozenset(
    {"expect", "text", "forbidden", "regex", "min_length", "target", "absolute", "relative", "rows",
     "exact", "columns", "order", "to", "attendees", "window", "minutes", "free_for", "weekday",
     "tool", "arguments", "address", "outside", "question"}
)  # fmt: skip
"""Keys that say what is expected; the others say where it is looked for, and how often."""
_CONDITIONS: Final = ("where", "expect", "arguments")
_PIECES: Final = ("text", "forbidden", "values")
_USUAL: Final[Mapping[str, Mapping[str, Any]]] = {
    "record_match": {"count": 1},
    "message_match": {"min": 1},
    "tool_called": {"min": 1},
    "number_close": {"absolute": 0.005},
}
"""What a kind asks for where its author wrote nothing: a reader should not have to know."""
_SCOPES: Final = {
    "final": "the reply",
    "all": "everything the coworker wrote",
    "message": "the messages it sent",
}
_READING: Final = ("text_match", "text_absent", "number_close", "rubric")
_PLACES: Final = frozenset({"service", "collection", "scope", "path", "mailbox", "place"})


@dataclass(frozen=True)
class Line:
    """One demand: a field and what it must be; without a name the words stand alone."""

    name: str
    words: str
    note: str = ""
    """How closely a number is compared."""


@dataclass(frozen=True)
class Detail:
    """One part of a rule: what it is and what it says."""

    key: str
    """As the format calls it."""
    label: str
    lines: tuple[Line, ...]
    wanted: bool = False
    """Whether it says what is expected."""

    @property
    def words(self) -> str:
        """All of it on one line."""
        if any(line.name for line in self.lines):
            return ", ".join(f"{line.name} {line.words}" for line in self.lines)
        return "; ".join(line.words for line in self.lines)


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
    because: tuple[Line, ...]
    json: str
    """As it is written."""


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
                because=tuple(Line(k, plain(v)) for k, v in check.because.items()),
                json=pretty(raw),
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
    kind = str(raw.get("kind", ""))
    found = []
    place = _place(kind, raw)
    if place:
        found.append(Detail("in", "in", (Line("", place),)))
    for key, value in {**raw, **_unsaid(kind, raw)}.items():
        if key in _COMMON or (place and key in _PLACES):
            continue
        label = _LABELS.get(key, key.replace("_", " "))
        found.append(Detail(key, label, tuple(_lines(key, value)), key in _WANTED))
    return tuple(found)


def brief(value: Any) -> str:
    """A part of a spec on one line: a whole check or constraint by its parts, else a value."""
    if isinstance(value, Mapping) and isinstance(value.get("kind"), str):
        kind = value["kind"].replace("_", " ")
        said = (
            detail.words if detail.label == kind else f"{detail.label} {detail.words}"
            for detail in details(value)
        )
        return f"{kind}: {'; '.join(said)}"
    return predicate(value)


def _unsaid(kind: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: value for key, value in _USUAL.get(kind, {}).items() if key not in raw}


def _place(kind: str, raw: Mapping[str, Any]) -> str:
    """Where a check looks; empty for one that looks at calls, or at what it names itself."""
    if "service" in raw and "collection" in raw:
        return f"{raw['service']}/{raw['collection']}"
    field = raw.get("place")
    if isinstance(field, Mapping):
        return (
            f"{field.get('field')} of {field.get('service')}/{field.get('collection')}"
            f" where {where(field.get('where') or {})}"
        )
    if kind == "answer":
        return _SCOPES["final"]
    if kind == "message_match":
        return str(raw.get("mailbox", "mail/outbox"))
    if kind in _READING:
        if raw.get("path"):
            return f"the file {raw['path']}"
        return _SCOPES.get(str(raw.get("scope", "final")), "")
    return ""


def _lines(key: str, value: Any) -> Iterator[Line]:
    """What one part says, each demand on its own line."""
    if key in _CONDITIONS and isinstance(value, Mapping):
        for path, wanted in value.items():
            yield Line(path, predicate(wanted), _closeness(wanted))
    elif key in _PIECES and isinstance(value, list | tuple):
        if key == "forbidden":  # none of them: no choice to spell out
            yield Line("", ", ".join(reference(piece) for piece in value))
            return
        for group in value:
            pieces = group if isinstance(group, list | tuple) and group else (group,)
            spelt = any(isinstance(piece, Mapping) and "number" in piece for piece in pieces)
            yield Line("", several(pieces), "in any spelling" if spelt else "")
    elif key == "count":
        counted = value.get("eq") if isinstance(value, Mapping) and len(value) == 1 else value
        exactly = isinstance(counted, int)
        yield Line("", f"exactly {counted}" if exactly else predicate(value))
    elif key == "order" and isinstance(value, list | tuple):
        for number, step in enumerate(value, start=1):
            calls = step if isinstance(step, list | tuple) else (step,)
            yield Line(f"{number}.", " and ".join(_call(call) for call in calls))
    elif key == "rows" and isinstance(value, list | tuple):
        for row in value:
            yield Line("", where(row) if isinstance(row, Mapping) else reference(row))
    elif key in ("write", "needs") and isinstance(value, Mapping):
        yield Line("", _call(value))
    elif key == "window" and isinstance(value, list | tuple) and len(value) == 2:
        yield Line("", f"from {value[0]} to {value[1]}")
    elif key == "outside":
        yield Line("", f"everything outside the {reference(value).replace('_', ' ')}")
    elif isinstance(value, Mapping) and key != "target" and not _is_predicate(value):
        inner = (
            f"{name} {where(part) if isinstance(part, Mapping) else reference(part)}"
            for name, part in value.items()
        )
        yield Line("", ", ".join(inner))
    else:
        yield Line("", predicate(value))


def _is_predicate(value: Mapping[str, Any]) -> bool:
    return is_operators(value) or is_reference(value)


def _call(pattern: Any) -> str:
    """A call pattern: "orders_get with order_id OR-1"."""
    if not isinstance(pattern, Mapping):
        return reference(pattern)
    tool = pattern.get("tool", "")
    names = several(tool) if isinstance(tool, list | tuple) and tool else reference(tool)
    arguments = pattern.get("arguments")
    others = [
        f"{key} {brief(part)}" for key, part in pattern.items() if key not in ("tool", "arguments")
    ]
    with_words = [f"with {where(arguments)}"] if isinstance(arguments, Mapping) else []
    return " ".join(part for part in (names, *with_words, *others) if part)


def _closeness(wanted: Any) -> str:
    """How far off a number may be, where the predicate does not say so itself."""
    literal = literal_of(wanted)
    if isinstance(literal, float) and not literal.is_integer():
        return f"± {TOLERANCE:.3g}"
    if isinstance(wanted, Mapping) and isinstance(wanted.get("close"), int | float):
        return f"± {TOLERANCE:.3g}"
    return ""


def _holds(raw: Mapping[str, Any]) -> str:
    """A sentence for a check whose author wrote none."""
    place = f"{raw.get('service', '')}/{raw.get('collection', '')}".strip("/")
    return f"{str(raw.get('kind', 'check')).replace('_', ' ')} {place}".strip()
