"""Gate X1: what changes outside the write set costs reward, and the reference stays inside."""

from collections.abc import Iterator
from typing import Any

from tasks_app.core.evidence import Evidence
from tasks_app.core.program import Act
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, operation
from tasks_app.core.validation.mutants import (
    Masks,
    extra_writes,
    last_place,
    perturbed,
    shown,
    with_field,
)
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.values import Change, address
from tasks_app.core.writes import Stray


def stray_plays(trial: Trial) -> list[tuple[Act, Play]]:
    """Run the reference with one write outside the write set, for every such write that can be
    found.
    """
    place = last_place(trial.acts)
    found: list[tuple[Act, Play]] = []
    for act in extra_writes(trial):
        play = trial.run("stray", (act, *trial.acts[place:]), place, keep=True)
        if play.evidence.strays():
            found.append((act, play))
    return found


def damaged_field(trial: Trial) -> float | None:
    """Return the most that the reference earns if a field of an untouched record is altered at its
    end: of the first and the last such record of every collection.
    """
    evidence, masks = trial.reference.evidence, Masks(trial)
    last = evidence.stages[-1]
    found: list[float] = []
    for place, rows in last.closed.items():
        start = trial.seed.ground.start.get(place, {})
        same = [record_id for record_id, row in rows.items() if start.get(record_id) is row]
        for record_id in dict.fromkeys([*same[:1], *same[-1:]]):
            altered = _altered(evidence, masks, place, record_id)
            if altered is not None:
                found.append(trial.judged("damage", altered).total)
    return max(found, default=None)


def _altered(evidence: Evidence, masks: Masks, place: str, record_id: str) -> Evidence | None:
    """The reference's end with the first field of a record altered that the write set guards."""
    row = evidence.stages[-1].closed[place][record_id]
    whole = Change(place, record_id, row, row)
    for name, value in row.items():
        if name == "id" or masks.hides(whole, name):
            continue
        wrong = perturbed(value)
        if wrong is None:
            continue
        altered = with_field(evidence, place, record_id, name, wrong)
        if altered.strays():
            return altered
    return None


def inside(trial: Trial) -> Iterator[Finding]:
    """X1, first half: the reference changes nothing outside the write set."""
    strays = trial.reference.evidence.strays()
    if not strays:
        yield from narrow(trial)
        return
    names = ", ".join(stray.address for stray in strays[:3])
    yield finding(
        "X1",
        "/write_set",
        f"the reference itself changes {names}, which the write set does not allow",
        hint="allow what the reference has to change",
        rule="write_set_from_reference",
        title="allow what the reference changes",
        patch=[operation("add", "/write_set", widened(trial, strays))],
    )


def narrow(trial: Trial) -> Iterator[Finding]:
    """X1, third part: the write set leaves no record open that no right solution alters.

    A rule with `where` or `max`, or of single fields of one record, says itself what it is for; one
    that opens a whole record, or all of a collection that a tool can write to, is held against what
    the reference and the written alternatives change.
    """
    evidence = [trial.reference.evidence]
    for number, steps in enumerate(trial.spec.alternatives):
        evidence.append(trial.run_program(f"alternative:{number}", steps).evidence)
    changed: dict[str, set[str]] = {}
    for seen in evidence:
        for _, changes in seen.changes():
            for change in changes:
                changed.setdefault(change.collection, set()).add(change.id)
    start = trial.seed.ground.start
    written = {facts.service for facts in trial.seed.ground.tools.values() if facts.writes}
    for i, rule in enumerate(trial.spec.write_set):
        if rule.where or rule.max is not None or (rule.change and "update" not in rule.change):
            continue
        place = rule.place
        if place.exact_id is not None and place.fields is not None:
            continue
        if place.collection.partition("/")[0] not in written:
            continue
        here = changed.get(place.collection, set())
        idle = [
            record_id
            for record_id in start.get(place.collection, {})
            if record_id not in here and place.matches_id(record_id)
        ]
        if not idle:
            continue
        _, _, fields = rule.address.partition("#")
        own = [address(place.collection, one) for one in sorted(here) if place.matches_id(one)]
        own = [f"{one}#{fields}" if fields else one for one in own]
        rest = [r.model_dump(mode="json") for r in trial.spec.write_set]
        yield finding(
            "X1",
            f"/write_set/{i}",
            f"{rule.address} allows {address(place.collection, idle[0])} to be changed, which no "
            "right solution changes",
            hint="allow what has to be changed, and no more",
            rule="narrow_write_set",
            title="allow what the reference changes",
            patch=[operation("replace", "/write_set", [*rest[:i], *own, *rest[i + 1 :]])],
        )


def widened(trial: Trial, strays: tuple[Stray, ...]) -> list[Any]:
    """Return the write set with a rule for every stray of the reference."""
    rules: list[Any] = [rule.model_dump(mode="json") for rule in trial.spec.write_set]
    for stray in strays:
        change = stray.change
        if change.kind == "update":
            rule: Any = f"{change.address}#{','.join(stray.fields or change.fields())}"
        elif change.kind == "add":
            rule = {"address": f"{change.collection}/*", "change": "add", "max": 1}
        else:
            rule = {"address": change.address, "change": "delete"}
        same_place = next((r for r in rules if isinstance(r, dict) and r == rule), None)
        if change.kind == "add" and same_place is not None:
            same_place["max"] += 1
        elif rule not in rules:
            rules.append(rule)
    return rules


def costs(trial: Trial, plays: list[tuple[Act, Play]], damaged: float | None) -> Iterator[Finding]:
    """X1, second half: a change outside the write set costs reward."""
    reference = trial.reference.reward
    for act, play in plays:
        if play.reward >= reference - 1e-9 or play.grade.passed:
            yield finding(
                "X1",
                "/checks",
                f"a write too many costs nothing: the reference and {shown(act)} still "
                f"earn {play.reward:g}",
                hint='add a collateral check: {"kind": "unchanged", "outside": "write_set"}',
                rule="add_collateral_check",
                title="add a check for collateral damage",
                patch=collateral_check(trial),
            )
            return
    # A write too many may lose by a rule of its own; that something was altered has to cost too.
    if damaged is not None and damaged >= reference - 1e-9:
        yield finding(
            "X1",
            "/checks",
            "a record altered outside the write set costs nothing: the reference still "
            f"earns {damaged:g}",
            hint='add a collateral check: {"kind": "unchanged", "outside": "write_set"}',
            rule="add_collateral_check",
            title="add a check for collateral damage",
            patch=collateral_check(trial),
        )


def collateral_check(trial: Trial) -> list[dict[str, Any]]:
    """Return a patch that adds the collateral check at a tenth of the weight."""
    checks = trial.spec.checks
    anchor = next((c.id for c in checks if c.component == "outcome" and not c.requires), None)
    if anchor is None:
        return []
    taken = {c.id for c in checks}
    name = next(
        n for n in ("c_only", "c_nothing_else", "c_write_set", "c_outside") if n not in taken
    )
    patch: list[dict[str, Any]] = [
        operation("replace", f"/checks/{i}/weight", round(c.weight * 0.9, 9))
        for i, c in enumerate(checks)
        if c.pays
    ]
    check = {
        "id": name,
        "component": "collateral",
        "kind": "unchanged",
        "weight": 0.1,
        "explain": "Nothing outside the write set changed",
        "requires": [anchor],
        "outside": "write_set",
    }
    return [*patch, operation("add", "/checks/-", check)]
