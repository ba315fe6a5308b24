"""Repairs that can be computed for what the dynamic gates find, each tried out before it is
offered.

- recompute_expected: checks, texts and write set expect what the reference's final records hold
now.
- restore_value: a record's value is put back to the one that the reference looks for.
- relink_argument: a literal of the reference becomes the nearest value that exists.
- missing_check and what goes with it: see closings.py.
- partial_order: a sequence check keeps only that the looking-up comes before the last call, and of
that only what every other right solution looks up as well.
"""

import copy
import difflib
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.checks.call_order import CallOrder
from tasks_app.core.checks.message_match import MessageMatch, recipients_of, text_of
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.constraints.argument_policy import ArgumentPolicy
from tasks_app.core.evidence import Evidence, EvidenceError, Selection, has_reference
from tasks_app.core.predicates import compile_predicate, literal_of, numbers_in, same
from tasks_app.core.records import diff
from tasks_app.core.samples import id_field
from tasks_app.core.validation import text_pieces
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.closings import MOST_SURVIVORS, missing_check
from tasks_app.core.validation.collateral import widened
from tasks_app.core.validation.mutants import Judged
from tasks_app.core.validation.structure import fitted
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import Repair, Written, as_suggestion, tried_out
from tasks_app.core.values import MISSING, Change, follow

MOST_ROUNDS: Final = 3
MOST_CANDIDATES: Final = 40
ALIKE: Final = 0.7


def with_suggestions(
    trial: Trial,
    findings: Iterable[Finding],
    judged: Sequence[Judged] = (),
) -> Iterator[Finding]:
    """Yield findings, with a suggestion where a repair was found that works."""
    found = list(findings)
    if not any(f.suggestion is None and f.severity == "block" for f in found):
        yield from found
        return
    repair: Repair | None = None
    for number, item in enumerate(found):
        if item.suggestion is not None:
            yield item
            continue
        if item.gate == "O1":
            repair = unsolved(trial) if number == 0 else None
        elif item.gate == "O4":
            repair = partial_order(trial, item.path)
        elif item.gate == "M1" and number < min(len(_alive(judged)), MOST_SURVIVORS):
            mutant, result = _alive(judged)[number]
            repair = missing_check(trial, mutant, result)
        else:
            repair = None
        if repair is None:
            yield item
            continue
        yield item.model_copy(update={"suggestion": as_suggestion(trial, repair)})


def _alive(judged: Sequence[Judged]) -> list[Judged]:
    return [entry for entry in judged if entry.result.verdict == "survived"]


def unsolved(trial: Trial) -> Repair | None:
    """Return the first repair under which the reference earns 1."""
    ways: Sequence[Callable[[Trial], Iterator[Repair]]] = (allowed, recomputed)
    if trial.program.problems:
        ways = (restored, relinked, recomputed)
    elif trial.reference.grade.violations:
        ways = (restored, allowed, recomputed)
    for way in ways:
        for number, repair in enumerate(way(trial)):
            if number >= MOST_CANDIDATES:
                break
            tried = tried_out(repair.written)
            if tried is not None and tried.reference.grade.passed and not tried.program.problems:
                return repair
    return None


def allowed(trial: Trial) -> Iterator[Repair]:
    """Yield the spec whose write set allows what the reference changes."""
    strays = trial.reference.evidence.strays()
    if strays:
        written = copy.deepcopy(trial.spec.written())
        written["write_set"] = widened(trial, strays)
        places = ", ".join(stray.address for stray in strays[:3])
        yield Repair("write_set_from_reference", f"let the write set allow {places}", written)


# --- recompute_expected --------------------------------------------------------------------------


def recomputed(trial: Trial) -> Iterator[Repair]:
    """Yield the spec that expects what its reference arrives at, round by round."""
    current, told = trial, list[str]()
    written = trial.spec.written()
    for _ in range(MOST_ROUNDS):
        following, notes = expected_again(current)
        if following == written:
            return
        written = following
        told.extend(note for note in notes if note not in told)
        yield Repair(
            "recompute_expected",
            "expect what the reference arrives at: " + "; ".join(told[:3]),
            written,
        )
        tried = tried_out(written)
        if tried is None:
            return
        current = tried


def expected_again(trial: Trial) -> tuple[Written, list[str]]:
    """Return the written spec with expected values from the reference's final records, and what
    changed.
    """
    written = copy.deepcopy(trial.spec.written())
    evidence = trial.reference.evidence
    swaps: list[tuple[Any, Any]] = []
    told: list[str] = []
    changes = diff(evidence.ground.start, evidence.tables())
    for check, body in zip(trial.spec.checks, written.get("checks", ()), strict=True):
        if isinstance(check, RecordMatch):
            _expect(check, body, evidence, changes, swaps, told)
        elif isinstance(check, MessageMatch):
            _readdress(check, body, evidence, swaps, told)
    _swap_texts(trial, written, swaps, told)
    if swaps:
        written["write_set"] = _swapped(written.get("write_set", []), swaps)
        for check, body in zip(trial.spec.checks, written.get("checks", ()), strict=True):
            if isinstance(check, RecordMatch) and has_reference([check.where, check.expect]):
                for key in ("where", "expect"):
                    if key in body:
                        body[key] = _swapped_references(body[key], swaps)
        for rule in written.get("constraints", ()):
            if "also" in rule:
                rule["also"] = _swapped(rule["also"], swaps)
    _retell(trial, written, swaps)
    strays = evidence.strays()
    if strays and "write_set" in written:
        rules = {str(rule.address) for rule in trial.spec.write_set}
        fresh = [r for r in widened(trial, strays) if _address_of(r) not in rules]
        written["write_set"].extend(r for r in fresh if r not in written["write_set"])
    return written, told


def _retell(trial: Trial, written: Written, swaps: Sequence[tuple[Any, Any]]) -> None:
    """Let the sentence of a check that expects something new name the new number."""
    for old_body, body in zip(trial.spec.written()["checks"], written["checks"], strict=True):
        if body == old_body or not body.get("explain"):
            continue
        for old, new in swaps:
            if _is_number(old) and _is_number(new):
                body["explain"] = text_pieces.replaced(
                    body["explain"], {"number": old}, functools.partial(_like, new)
                )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _like(new: float, said: str) -> str:
    """Return a number with as many decimals as a text gave the one it replaces."""
    return f"{new:.{len(said.partition('.')[2])}f}"


def _address_of(rule: Any) -> str:
    return str(rule["address"]) if isinstance(rule, Mapping) else str(rule)


def _readdress(
    check: MessageMatch,
    body: dict[str, Any],
    evidence: Evidence,
    swaps: list[tuple[Any, Any]],
    told: list[str],
) -> None:
    """Point a letter check that finds no letter to the one new letter that was sent."""
    try:
        rows = Selection(check.mailbox, check.where).of(evidence, check.stage)
    except EvidenceError:  # a day that the task does not have
        return
    wanted = {name.casefold() for name in check.to}
    if not check.to or any(recipients_of(row) == wanted for row in rows):
        return
    old = evidence.ground.start.get(check.mailbox, {})
    key = id_field(check.mailbox)
    fresh = [row for row in rows if row[key] not in old and text_of(row)]
    if len(fresh) != 1:
        return
    now = sorted(recipients_of(fresh[0]))
    body["to"] = now
    if len(now) == len(check.to) == 1:
        swaps.append((check.to[0], now[0]))
    told.append(f"a letter to {', '.join(now)}")


def _expect(
    check: RecordMatch,
    body: dict[str, Any],
    evidence: Evidence,
    changes: Sequence[Change],
    swaps: list[tuple[Any, Any]],
    told: list[str],
) -> None:
    try:
        rows = Selection(check.place, check.where).of(evidence, check.stage)
        expected = evidence.resolve(check.expect, check.stage)
    except EvidenceError:
        return
    if not rows and not compile_predicate(check.count)(0):
        _relink_where(check, body, changes, swaps, told)
        return
    if not compile_predicate(check.count)(len(rows)):
        body["count"] = {"eq": len(rows)}
        told.append(f"{len(rows)} records in {check.place}")
    for path, predicate in expected.items():
        values = [follow(row, path) for row in rows]
        if all(compile_predicate(predicate)(value) for value in values):
            continue
        if any(value is MISSING for value in values) or has_reference(check.expect[path]):
            continue
        distinct = [v for i, v in enumerate(values) if not any(same(v, w) for w in values[:i])]
        old = literal_of(predicate)
        if len(distinct) == 1:
            new = distinct[0]
            body["expect"][path] = {"eq": new} if isinstance(new, Mapping) else new
            if old is not MISSING:
                swaps.append((old, new))
                told.append(f"{path} {new} instead of {old}")
            else:
                told.append(f"{path} {new}")
        else:
            body["expect"][path] = {"in": sorted(distinct, key=str)}
            told.append(f"{path} {', '.join(map(str, distinct[:4]))}")
            _pair(predicate, distinct, swaps)


def _pair(predicate: Any, distinct: Sequence[Any], swaps: list[tuple[Any, Any]]) -> None:
    """Note which one value of a list became which, where exactly one did."""
    listed = predicate.get("in") if isinstance(predicate, Mapping) else None
    if not isinstance(listed, list | tuple):
        return
    gone = [v for v in listed if not any(same(v, w) for w in distinct)]
    come = [v for v in distinct if not any(same(v, w) for w in listed)]
    if len(gone) == 1 and len(come) == 1:
        swaps.append((gone[0], come[0]))


def _relink_where(
    check: RecordMatch,
    body: dict[str, Any],
    changes: Sequence[Change],
    swaps: list[tuple[Any, Any]],
    told: list[str],
) -> None:
    """Point a check that selects nothing to the one record of its collection that the reference
    changed.
    """
    written = [c.after for c in changes if c.collection == check.place and c.after is not None]
    if len(written) != 1:
        return
    for path, predicate in check.where.items():
        value = follow(written[0], path)
        if value is MISSING or has_reference(predicate) or compile_predicate(predicate)(value):
            continue
        old = literal_of(predicate)
        body["where"][path] = value
        if old is not MISSING:
            swaps.append((old, value))
            told.append(f"{path} {value} instead of {old}")


def _swap_texts(
    trial: Trial, written: Written, swaps: Sequence[tuple[Any, Any]], told: list[str]
) -> None:
    """Let text groups that miss ask for the new value."""
    stages = [stage.id for stage in trial.spec.stages]
    evidence = trial.reference.evidence
    bodies = {b["id"]: b for b in written.get("checks", ())}
    for reading in text_pieces.readings(trial.spec.checks, trial.acts, stages, evidence):
        text = "\n".join(text_pieces.said(trial.acts[p], n) for p, n in reading.acts.items())
        body = bodies[reading.check.id]
        gone: list[int] = []
        for number, group in enumerate(reading.groups):
            if any(text_pieces.holds(text, piece) for piece in group):
                continue
            wanted = _next_pieces(group, swaps) or _stated(group, text, evidence)
            if "text" not in body:
                continue
            if wanted:
                body["text"] = [
                    list(g) if isinstance(g, list | tuple) else [g] for g in body["text"]
                ]
                body["text"][number] = wanted
                told.append(f"the text states {text_pieces.written(wanted[0])}")
            elif told and all(isinstance(piece, str) for piece in group):
                gone.append(number)
                told.append(f"the text need not name {group[0]}")
        if gone and len(gone) < len(body["text"]):
            body["text"] = [g for n, g in enumerate(body["text"]) if n not in gone]
        forbidden = body.get("forbidden", ())
        said = [piece for piece in forbidden if text_pieces.holds(text, piece)]
        if said and told:
            body["forbidden"] = [piece for piece in forbidden if piece not in said]


def _next_pieces(group: Sequence[Any], swaps: Sequence[tuple[Any, Any]]) -> list[Any]:
    found: list[Any] = []
    for piece in group:
        number = text_pieces.number_of(piece)
        for old, new in swaps:
            if number is not None and isinstance(old, int | float) and abs(number - old) < 0.005:
                found.append({"number": new})
            elif isinstance(piece, str) and isinstance(old, str) and same(piece, old):
                found.append(new)
    return found


def _stated(group: Sequence[Any], text: str, evidence: Evidence) -> list[Any]:
    """Return the one number that the text states and the reference wrote, for a number group."""
    numbers = [n for piece in group if (n := text_pieces.number_of(piece)) is not None]
    if not numbers:
        return []
    made: list[float] = []
    for change in diff(evidence.ground.start, evidence.tables()):
        for name in change.fields():
            value = None if change.after is None else change.after.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool):
                made.append(float(value))
    stated = [n for n in made if any(abs(n - m) < 0.005 for m in numbers_in(text))]
    nearest = sorted(set(stated), key=lambda n: (abs(n - numbers[0]), n))
    return [{"number": nearest[0]}] if nearest else []


def _swapped(value: Any, swaps: Sequence[tuple[Any, Any]]) -> Any:
    if isinstance(value, Mapping):
        return {key: _swapped(item, swaps) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_swapped(item, swaps) for item in value]
    for old, new in swaps:
        if isinstance(value, str) and isinstance(old, str):
            if same(value, old):
                return new
            if "/" in value and f"/{old}" in value:
                return value.replace(f"/{old}", f"/{new}")
    return value


def _swapped_references(value: Any, swaps: Sequence[tuple[Any, Any]]) -> Any:
    if isinstance(value, Mapping):
        if "record" in value:
            return _swapped(value, swaps)
        return {key: _swapped_references(item, swaps) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_swapped_references(item, swaps) for item in value]
    return value


# --- restore_value, relink_argument --------------------------------------------------------------


def restored(trial: Trial) -> Iterator[Repair]:
    """Yield specs in which one record's value is put back to what the failing step looks for."""
    wanted = _sought(trial)
    written = trial.spec.written()
    ranked: list[tuple[float, tuple[str | int, ...], str, str, str]] = []
    for service, named in written.get("services", {}).items():
        for name, records in named.items():
            key = id_field(f"{service}/{name}")
            for number, record in enumerate(records):
                for path, value in _texts(record):
                    if path == (key,):
                        continue
                    for literal in wanted:
                        if value == literal or abs(len(value) - len(literal)) > 12:
                            continue
                        alike = difflib.SequenceMatcher(None, value, literal).ratio()
                        if alike >= ALIKE:
                            place = ("services", service, name, number, *path)
                            ranked.append((-alike, place, literal, value, str(record.get(key, ""))))
    for _, place, literal, value, record_id in sorted(
        ranked, key=lambda r: (r[0], str(r[1]), r[2])
    ):
        yield Repair(
            "restore_value",
            f"set {place[-1]} of {record_id} back to {literal} (it is {value})",
            _with(written, place, literal),
        )


def relinked(trial: Trial) -> Iterator[Repair]:
    """Yield specs in which a literal of the failing step becomes the nearest value of a record."""
    written = trial.spec.written()
    known: dict[str, None] = {}
    for named in written.get("services", {}).values():
        for records in named.values():
            for record in records:
                for _, value in _texts(record):
                    if len(value) <= 60:
                        known.setdefault(value)
    for problem in trial.program.problems[:2]:
        body = written["reference"][problem.position]
        for path, value in _texts(body):
            if path[0] not in ("arguments", "each", "reply") or value in known:
                continue
            for other in difflib.get_close_matches(value, list(known), n=3, cutoff=ALIKE):
                yield Repair(
                    "relink_argument",
                    f"let step {problem.step} use {other} instead of {value}",
                    _with(written, ("reference", problem.position, *path), other),
                )


def _sought(trial: Trial) -> list[str]:
    """Return the literals of the step that failed and of those before it, and what broken rules
    would have allowed.
    """
    last = max((p.position for p in trial.program.problems[:1]), default=-1)
    found: dict[str, None] = {}
    for step in reversed(trial.spec.reference[: last + 1]):
        for path, value in _texts({"arguments": step.arguments, "each": step.each}):
            if path[-1] not in ("from", "path", "fn", "take", "field", "sort") and len(value) >= 3:
                found.setdefault(value)
    for rule in trial.spec.constraints:
        if rule.id in trial.reference.grade.violations and isinstance(rule, ArgumentPolicy):
            for _, value in _texts(list(rule.allow or ())):
                found.setdefault(value)
    return list(found)


def _texts(
    value: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, (*path, key))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _texts(item, (*path, number))


def _with(written: Written, path: Sequence[str | int], value: Any) -> Written:
    changed = copy.deepcopy(written)
    place: Any = changed
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return changed


# --- partial_order -------------------------------------------------------------------------------


def partial_order(trial: Trial, path: str) -> Repair | None:
    """Return the spec whose sequence check asks only for what comes before the last call, and of
    that only for what every right solution makes; where nothing is left of it, without the check.
    """
    parts = path.split("/")
    if len(parts) < 3 or parts[1] != "checks":
        return None
    number = int(parts[2])
    check = trial.spec.checks[number]
    if not isinstance(check, CallOrder):
        return None
    order = trial.spec.written()["checks"][number]["order"]
    loose: list[Any] = []
    for step in order[:-1]:
        loose.extend(step if isinstance(step, list | tuple) else [step])
    title = f"let {check.id} ask for no order among the look-ups"
    shared = [step for step in loose if _holds(_ordered(trial, number, [step], order[-1], ""))]
    for kept in (loose, shared):
        if kept and [kept, order[-1]] != order:
            repair = _ordered(trial, number, kept, order[-1], title)
            if _holds(repair):
                return repair
    dropped = _without(trial, number)
    return dropped if dropped is not None and _holds(dropped) else None


def _ordered(trial: Trial, number: int, kept: Sequence[Any], last: Any, title: str) -> Repair:
    written = copy.deepcopy(trial.spec.written())
    written["checks"][number]["order"] = [list(kept), last]
    return Repair("partial_order", title, written)


def _without(trial: Trial, number: int) -> Repair | None:
    """Return the spec without a sequence check that nothing else requires."""
    check = trial.spec.checks[number]
    if any(check.id in other.requires for other in trial.spec.checks):
        return None
    written = copy.deepcopy(trial.spec.written())
    del written["checks"][number]
    bodies = [
        body
        for body, other in zip(
            written["checks"],
            [c for c in trial.spec.checks if c is not check],
            strict=True,
        )
        if other.pays
    ]
    scale = 1 / (1 - check.weight)
    for body, weight in zip(
        bodies, fitted([body["weight"] * scale for body in bodies], 1.0), strict=True
    ):
        body["weight"] = weight
    title = f"drop {check.id}: other right solutions keep no such order"
    return Repair("partial_order", title, written)


def _holds(repair: Repair) -> bool:
    """Whether the reference and every alternative of a repaired spec pass."""
    tried = tried_out(repair.written)
    if tried is None or not tried.reference.grade.passed:
        return False
    return all(
        tried.run_program(f"alternative:{number}", steps).grade.passed
        for number, steps in enumerate(tried.spec.alternatives)
    )
