"""The repair loop: prove, apply the repairs that findings suggest, prove again.

On a failure the programmatic repair of the earliest failing gate is applied, then all is proven
anew; at most `budget` rounds, and no further once the multiset of failures repeats. What is left is
quarantined with its reason. Each repair is a record with its JSON Patch.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

import orjson

from tasks_app.core.editing import PatchError, apply, difference, tokens
from tasks_app.core.predicates import OPERATORS
from tasks_app.core.spec import SpecError, SpecProblem, TaskSpec, load_spec
from tasks_app.core.validation.card import Finding, ProofCard, RepairRecord, Suggestion
from tasks_app.core.validation.known import nearest
from tasks_app.core.validation.proof import Neighbours, Timer, prove
from tasks_app.core.values import content_hash

ORDER: Final = "SRTOINKXDMVG"
"""Gate letters in the order in which they are repaired."""
BUDGET: Final = 6
MOST_PROBLEMS: Final = 30
_ONE_BY_ONE: Final = ("O1", "O4", "O5", "N1", "N2", "K1", "K2", "X1", "M1", "M2")
"""Gates whose repairs are each tried out alone: two of them need not go together."""


class Mended(NamedTuple):
    """What the repair loop came to."""

    spec: TaskSpec | None
    """The last spec; None if the text never became one."""
    card: ProofCard | None
    """Its proof; carries the repairs."""
    repairs: tuple[RepairRecord, ...]
    quarantined: str | None
    """Why it cannot be used, None if it is proven."""


def mend(
    source: TaskSpec | bytes | str | Mapping[str, Any],
    *,
    budget: int = BUDGET,
    neighbours: Neighbours | None = None,
    timer: Timer | None = None,
) -> Mended:
    """Prove a spec and repair it as far as rules can.

    Args:
        source: A spec, or its text or data, which may be malformed.
        budget: Rounds of repair.
        neighbours: Looks for near duplicates (gate V1).
        timer: A clock for the card's milliseconds.
    """
    repairs: list[RepairRecord] = []
    if isinstance(source, TaskSpec):
        spec = source
    else:
        try:
            spec, formed = well_formed(source)
        except SpecError as problem:
            return Mended(None, None, (), f"S1: {problem}")
        repairs.extend(formed)
    card = prove(spec, neighbours=neighbours, timer=timer)
    seen = [_failures(card)]
    reason = None
    while not card.proven:
        if card.unproven_reason:
            reason = card.unproven_reason
            break
        if len(seen) > budget:
            reason = f"not mended after {budget} rounds: {_first(card)}"
            break
        step = next(repair_steps(spec, card), None)
        if step is None:
            reason = _first(card)
            break
        spec, record = step
        repairs.append(record)
        card = prove(spec, neighbours=neighbours, timer=timer)
        failures = _failures(card)
        if failures in seen:
            reason = f"repairs go round in a circle: {_first(card)}"
            break
        seen.append(failures)
    if repairs:
        card = card.model_copy(update={"repairs": tuple(repairs)})
    return Mended(spec, card, tuple(repairs), None if card.proven else reason or _first(card))


def _failures(card: ProofCard) -> Counter[tuple[str, str, str]]:
    return Counter((f.gate, f.path, f.message) for f in card.findings if f.severity == "block")


def _first(card: ProofCard) -> str:
    for found in sorted_findings(card.findings):
        return f"{found.gate}: {found.message}"
    return "the reference does not pass"


def sorted_findings(findings: Iterable[Finding]) -> list[Finding]:
    """Return the blocking findings in the order in which they are repaired."""
    return sorted(
        (f for f in findings if f.severity == "block"),
        key=lambda f: (ORDER.index(f.gate[0]), f.gate),
    )


def repair_steps(spec: TaskSpec, card: ProofCard) -> Iterator[tuple[TaskSpec, RepairRecord]]:
    """Yield the repairs that findings suggest, gate by gate; each gives a spec that loads."""
    findings = [f for f in sorted_findings(card.findings) if f.suggestion is not None]
    done: set[str] = set()
    for found in findings:
        if found.gate in done:
            continue
        done.add(found.gate)
        offered = [
            f.suggestion for f in findings if f.gate == found.gate and f.suggestion is not None
        ]
        mended = _together(spec, found.gate, offered)
        if mended is not None:
            yield mended


def _together(
    spec: TaskSpec, gate: str, offered: Sequence[Suggestion]
) -> tuple[TaskSpec, RepairRecord] | None:
    """Apply all suggestions of one gate that go together; from the back, so places hold."""
    before = spec.written()
    written, used = before, list[Suggestion]()
    taken: list[str] = []
    alone = gate in _ONE_BY_ONE
    for suggestion in offered if alone else sorted(offered, key=_place, reverse=True):
        places = [str(operation["path"]) for operation in suggestion.patch]
        if used and (alone or any(_meet(p, t) for p in places for t in taken)):
            continue
        try:
            candidate = apply(written, suggestion.patch)
            loaded = load_spec(candidate)
        except (PatchError, SpecError):
            continue
        if loaded.hash == spec.hash:
            continue
        written = candidate
        used.append(suggestion)
        taken.extend(places)
    if not used:
        return None
    mended = load_spec(written)
    titles = list(dict.fromkeys(s.title for s in reversed(used)))
    record = record_of(
        gate,
        used[0].rule,
        "; ".join(titles[:3]),
        difference(before, mended.written()),
        spec,
        mended,
    )
    return mended, record


def _place(suggestion: Suggestion) -> tuple[tuple[int, int, str], ...]:
    parts = tokens(str(suggestion.patch[0]["path"]))
    return tuple((1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts)


def _meet(path: str, other: str) -> bool:
    """Say whether two places are the same, or one lies within the other."""
    return path == other or path.startswith(f"{other}/") or other.startswith(f"{path}/")


def record_of(
    gate: str,
    rule: str,
    title: str,
    patch: Sequence[Mapping[str, Any]],
    before: TaskSpec,
    after: TaskSpec,
) -> RepairRecord:
    """Return the record of one repair by rule."""
    return RepairRecord(
        gate=gate,
        rule=rule,
        actor="rule",
        title=title,
        patch=tuple(patch),
        before=before.hash,
        after=after.hash,
    )


# --- S1: text that is no spec yet ----------------------------------------------------------------


def well_formed(
    source: bytes | str | Mapping[str, Any],
) -> tuple[TaskSpec, list[RepairRecord]]:
    """Load a spec, dropping unknown keys and casting types where it does not load.

    Raises SpecError if that does not help.
    """
    try:
        return load_spec(source), []
    except SpecError as problem:
        data = _data(source)
        if not isinstance(data, Mapping):
            raise
        return _cast(apply(data, ()), problem)


def _data(source: bytes | str | Mapping[str, Any]) -> Any:
    """Return what a text holds; None if it is no JSON."""
    if isinstance(source, Mapping):
        return source
    try:
        return orjson.loads(source)
    except orjson.JSONDecodeError:
        return None


def _cast(data: Any, problem: SpecError) -> tuple[TaskSpec, list[RepairRecord]]:
    original, rounds = data, 0
    before = content_hash(data)
    while True:
        rounds += 1
        patch = [
            operation
            for found in problem.problems[:MOST_PROBLEMS]
            if (operation := form_repair(data, found)) is not None
        ]
        patch.sort(key=lambda operation: str(operation["path"]), reverse=True)
        changed = data
        for operation in patch:
            try:
                changed = apply(changed, [operation])
            except PatchError:
                continue
        if content_hash(changed) == content_hash(data) or rounds > BUDGET:
            raise problem
        data = changed
        try:
            spec = load_spec(data)
        except SpecError as left:
            problem = left
            continue
        record = RepairRecord(
            gate="S1",
            rule="cast_to_form",
            actor="rule",
            title="drop unknown keys, cast types, fill defaults",
            patch=tuple(difference(original, data)),
            before=before,
            after=spec.hash,
        )
        return spec, [record]


_DEFAULTS: Final[Mapping[str, Any]] = {
    "severity": "gate",
    "difficulty": {"level": 3},
    "seed": 0,
    "language": "en",
    "requires": [],
    "services": {},
    "tools": [],
    "weight": 0.1,
}
"""Required field → a value that harms nothing; later gates judge it."""


def form_repair(data: Any, problem: SpecProblem) -> dict[str, Any] | None:
    """Return the operation that mends one fault of the form, None if no rule knows one."""
    parts = real_path(data, tokens(problem.path), missing="required" in problem.message.lower())
    if parts is None:
        return None
    path = "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)
    message = problem.message
    if "Extra inputs" in message:
        return {"op": "remove", "path": path}
    if "Field required" in message:
        name = parts[-1]
        if name in _DEFAULTS:
            return {"op": "add", "path": path, "value": _DEFAULTS[name]}
        return None
    value = _at(data, parts)
    cast = _cast_value(value, message)
    if cast is not None:
        return {"op": "replace", "path": path, "value": cast}
    if "unknown operator" in message or "literal object is written" in message:
        return _operators(value, path)
    if parts[-1] == "kind" or "does not match any of the expected tags" in message:
        return _nearest_kind(data, parts, path)
    return None


def _cast_value(value: Any, message: str) -> Any:
    if isinstance(value, str) and ("valid integer" in message or "valid number" in message):
        try:
            number = float(value.replace(",", ""))
        except ValueError:
            return None
        return int(number) if number.is_integer() else number
    if "valid string" in message and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if "less than or equal to" in message and isinstance(value, int | float):
        return _bound(message)
    if "valid tuple" in message and isinstance(value, str | Mapping):
        return [value]
    if "valid boolean" in message and isinstance(value, str):
        return value.strip().casefold() in ("true", "yes", "1")
    return None


def _bound(message: str) -> float | None:
    try:
        number = float(message.rpartition(" ")[2])
    except ValueError:
        return None
    return int(number) if number.is_integer() else number


_KINDS: Final = (
    "record_match",
    "unchanged",
    "message_match",
    "tool_called",
    "call_order",
    "answer",
    "text_match",
    "text_absent",
    "number_close",
    "rubric",
    "forbid_tool",
    "argument_policy",
    "require_before",
    "at_most",
    "only_when",
    "no_disclosure",
)


def _operators(value: Any, path: str) -> dict[str, Any] | None:
    """Mend predicates: a misspelt operator becomes the nearest one, a bare object a literal."""
    if not isinstance(value, Mapping):
        return None
    mended: dict[str, Any] = {}
    for field, predicate in value.items():
        if not isinstance(predicate, Mapping) or predicate.keys() <= OPERATORS:
            mended[field] = predicate
            continue
        renamed = {name: nearest(name, OPERATORS) or name for name in predicate}
        known = set(renamed.values()) <= OPERATORS
        mended[field] = (
            {renamed[name]: operand for name, operand in predicate.items()}
            if known
            else {"eq": predicate}
        )
    return {"op": "replace", "path": path, "value": mended}


def _nearest_kind(data: Any, parts: Sequence[str], path: str) -> dict[str, Any] | None:
    holder = _at(data, parts)
    kind = holder.get("kind") if isinstance(holder, Mapping) else holder
    close = nearest(str(kind), _KINDS)
    if close is None:
        return None
    place = f"{path}/kind" if isinstance(holder, Mapping) else path
    return {"op": "replace", "path": place, "value": close}


def real_path(data: Any, parts: Sequence[str], *, missing: bool) -> list[str] | None:
    """Return the parts that the document has: a model's path also names the kinds of unions."""
    found: list[str] = []
    place = data
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if isinstance(place, Mapping):
            if part in place:
                place = place[part]
                found.append(part)
            elif last and missing:
                found.append(part)
        elif isinstance(place, list) and part.isdigit() and int(part) < len(place):
            place = place[int(part)]
            found.append(part)
    return found or None


def _at(data: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        data = data[int(part)] if isinstance(data, list) else data[part]
    return data
