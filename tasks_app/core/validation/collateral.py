"""Gate X1: what changes outside the write set costs reward, and the reference stays inside."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import orjson

from tasks_app.core.evidence import Evidence
from tasks_app.core.program import Act
from tasks_app.core.validation.altered_ends import perturbed, with_field
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.equivalence import Masks
from tasks_app.core.validation.gate import finding, operation
from tasks_app.core.validation.mutants import extra_writes, last_place, shown
from tasks_app.core.validation.structure import fitted
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.values import Change, address
from tasks_app.core.writes import Stray, WriteRule


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
    wide = [
        (i, idle)
        for i, rule in enumerate(trial.spec.write_set)
        if (idle := _idle(trial, rule, changed)) is not None
    ]
    if not wide:
        return
    narrowed = _narrowed(trial, {i for i, _ in wide}, evidence)
    for i, idle in wide:
        yield finding(
            "X1",
            f"/write_set/{i}",
            f"{trial.spec.write_set[i].address} allows {idle} to be changed, which no "
            "right solution changes",
            hint="allow what has to be changed, and no more",
            rule="narrow_write_set",
            title="allow what the right solutions change",
            patch=[operation("replace", "/write_set", narrowed)],
        )


def _idle(trial: Trial, rule: WriteRule, changed: Mapping[str, set[str]]) -> str | None:
    """Return the address of a record that a rule opens and no right solution changes."""
    if rule.where or rule.max is not None or (rule.change and "update" not in rule.change):
        return None
    place = rule.place
    if place.exact_id is not None and place.fields is not None:
        return None
    written = {facts.service for facts in trial.seed.ground.tools.values() if facts.writes}
    if place.collection.partition("/")[0] not in written:
        return None
    here = changed.get(place.collection, set())
    for record_id in trial.seed.ground.start.get(place.collection, {}):
        if record_id not in here and place.matches_id(record_id):
            return address(place.collection, record_id)
    return None


def _narrowed(trial: Trial, wide: Set[int], evidence: Sequence[Evidence]) -> list[Any]:
    """Return the write set with what right solutions change in place of the rules that are wide:
    the fields of a record that was there, and so many records more.
    """
    spec = trial.spec
    rest = [r.model_dump(mode="json") for i, r in enumerate(spec.write_set) if i not in wide]
    updates: dict[str, dict[str, None]] = {}
    more: dict[tuple[str, str], int] = {}
    for seen in evidence:
        made: dict[tuple[str, str], int] = {}
        for stage, changes in seen.changes():
            for change in changes:
                if not any(
                    spec.write_set[i].place.collection == change.collection
                    and spec.write_set[i].allows(change, change.kind, stage)
                    for i in wide
                ):
                    continue
                if _of_before(trial, change) and change.kind == "update":
                    updates.setdefault(change.address, {}).update(dict.fromkeys(change.fields()))
                else:
                    rule = orjson.dumps(_fresh(trial, change, stage, change.fields())).decode()
                    made[rule, stage] = made.get((rule, stage), 0) + 1
        for key, count in made.items():
            more[key] = max(more.get(key, 0), count)
    own: list[Any] = [f"{place}#{','.join(fields)}" for place, fields in updates.items()]
    own += [{**orjson.loads(rule), "max": count} for (rule, _), count in more.items()]
    return [*rest, *own]


def _of_before(trial: Trial, change: Change) -> bool:
    """Whether a record was there before anybody acted: only such a one has an address."""
    return change.id in trial.seed.ground.start.get(change.collection, {})


def _fresh(trial: Trial, change: Change, stage: str, fields: Iterable[str]) -> dict[str, Any]:
    """Return a rule, without its `max`, for what is made, altered after that, or deleted."""
    rule: dict[str, Any] = {"address": f"{change.collection}/*", "change": change.kind}
    if change.kind == "update":
        rule = {"address": f"{change.collection}/*#{','.join(fields)}"}
    elif change.kind == "delete" and _of_before(trial, change):
        rule = {"address": change.address, "change": "delete"}
    return {**rule, "stages": [stage]} if len(trial.spec.stages) > 1 else rule


def widened(trial: Trial, strays: tuple[Stray, ...]) -> list[Any]:
    """Return the write set with a rule for every stray of the reference."""
    rules: list[Any] = [rule.model_dump(mode="json") for rule in trial.spec.write_set]
    made: list[dict[str, Any]] = []
    for stray in strays:
        change, fields = stray.change, stray.fields or stray.change.fields()
        if change.kind == "update" and _of_before(trial, change):
            rule = f"{change.address}#{','.join(fields)}"
            if rule not in rules:
                rules.append(rule)
            continue
        fresh = _fresh(trial, change, stray.stage, fields)
        same = next((r for r in made if {**r, "max": 0} == {**fresh, "max": 0}), None)
        if same is None:
            made.append({**fresh, "max": 1})
        else:
            same["max"] += 1
    return [*rules, *made]


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
    paying = [i for i, c in enumerate(checks) if c.pays]
    weights = fitted([checks[i].weight * 0.9 for i in paying], 0.9)
    patch: list[dict[str, Any]] = [
        operation("replace", f"/checks/{i}/weight", weight)
        for i, weight in zip(paying, weights, strict=True)
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
