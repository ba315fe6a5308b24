"""Repairs for what no check sees: what a surviving mutant changes, or an altered field, is expected
by a check, counted, closed by the write set, or declared free where no check can expect it.

The difference between a survivor and the reference is the missing check.
"""

import copy
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.checks.message_match import MessageMatch
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.checks.scopes import FILES
from tasks_app.core.evidence import Evidence, Selection, has_reference
from tasks_app.core.predicates import literal_of
from tasks_app.core.samples import id_field
from tasks_app.core.validation.altered_ends import prove_states
from tasks_app.core.validation.card import MutantResult
from tasks_app.core.validation.collateral import collateral_check
from tasks_app.core.validation.equivalence import Masks
from tasks_app.core.validation.mutants import Mutant, verdict_of
from tasks_app.core.validation.structure import fitted
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.validation.tried import Repair, Written, tried_out
from tasks_app.core.validation.unheard import (
    filed,
    heard,
    is_plain,
    lettered,
    made_ids,
    own_values,
)
from tasks_app.core.values import MISSING, NUMBERS, Record, escape_id, pattern, unescape_id

MOST_SURVIVORS: Final = 3
"""Survivors of a proof for which a missing check is looked for."""
NEW_WEIGHT: Final = 0.05
MOST_IN_ANY_ORDER: Final = 3
"""Entries of a list of which every order is written out."""


def missing_check(trial: Trial, mutant: Mutant, result: MutantResult) -> Repair | None:
    """Return the spec that sees what a surviving mutant changed: the difference is the missing
    check.
    """
    play = trial.run(mutant.operator, mutant.acts, mutant.at)
    silent = mutant.operator in ("empty_reply", "idle_reply")
    for repair in heard(trial, mutant.at) if silent else _closings(trial, play, result):
        tried = tried_out(repair.written)
        if tried is None or not tried.reference.grade.passed or _lost(trial, tried):
            continue
        again = tried.run(mutant.operator, mutant.acts, mutant.at)
        verdict, _ = verdict_of(tried, Masks(tried), mutant, again, ())
        if verdict == "killed":
            return repair
    return None


def _lost(trial: Trial, tried: Trial) -> bool:
    """Whether a written alternative passed before a repair and does not after it."""
    name = "alternative:{}"
    return any(
        trial.run_program(name.format(number), steps).grade.passed
        and not tried.run_program(name.format(number), steps).grade.passed
        for number, steps in enumerate(trial.spec.alternatives)
    )


def _closings(trial: Trial, play: Play, result: MutantResult) -> Iterator[Repair]:
    written = trial.spec.written()
    if play.evidence.strays():
        yield from _collateral(trial, written)
    for place in result.difference:
        if place.startswith(("text:", "constraints:")):
            continue
        home, _, fields = place.partition("#")
        try:
            found = pattern(home)
        except ValueError:
            continue
        record_id = found.exact_id or unescape_id(home.rpartition("/")[2])
        yield from _counting(trial, written, found.collection, play.evidence)
        if fields:
            yield from _expecting(trial, written, found.collection, record_id, fields.split(","))
        elif record_id in trial.reference.evidence.rows(found.collection):
            yield from _demanding(trial, written, found.collection, record_id)
        else:
            yield from _capping(trial, written, found.collection)


def _collateral(trial: Trial, written: Written) -> Iterator[Repair]:
    from_patch = collateral_check(trial)
    if from_patch:
        changed = copy.deepcopy(written)
        for operation in from_patch[:-1]:
            changed["checks"][int(operation["path"].split("/")[2])]["weight"] = operation["value"]
        changed["checks"].append(from_patch[-1]["value"])
        yield Repair("add_collateral_check", "add a check for collateral damage", changed)


def _counting(trial: Trial, written: Written, collection: str, wrong: Evidence) -> Iterator[Repair]:
    """Let a check that leaves open how many records it selects ask for as many as there are."""
    right = trial.reference.evidence
    for number, check in enumerate(trial.spec.checks):
        if not isinstance(check, RecordMatch) or check.place != collection:
            continue
        if literal_of(check.count) is not MISSING:
            continue
        selection = Selection(check.place, check.where)
        count = len(selection.of(right, check.stage))
        if count != len(selection.of(wrong, check.stage)):
            changed = copy.deepcopy(written)
            changed["checks"][number]["count"] = {"eq": count}
            yield Repair("missing_check", f"let {check.id} ask for exactly {count}", changed)


def _tightened(
    trial: Trial, written: Written, collection: str, record_id: str, values: Mapping[str, Any]
) -> Iterator[Repair]:
    """Let the checks that leave a choice of these values ask for those of the reference: a figure
    within bounds, or any text where one is meant. What a text has to name stays as it is.
    """
    changed = copy.deepcopy(written)
    tight: dict[str, None] = {}
    told: dict[str, None] = {}
    for number, check in enumerate(trial.spec.checks):
        row = _selected(trial, check, collection, record_id)
        if row is None or not isinstance(check, RecordMatch):
            continue
        for name in values:
            value, wanted = row.get(name), check.expect.get(name)
            if not isinstance(wanted, Mapping) or literal_of(wanted) is not MISSING:
                continue
            figure = isinstance(value, NUMBERS) and not has_reference(wanted)
            if figure or wanted.keys() <= {"nonempty", "exists"}:
                changed["checks"][number]["expect"][name] = value
                tight[check.id] = told[f"{name} {value}"] = None
    if told:
        title = f"let {', '.join(tight)} also expect {', '.join(told)}"
        yield Repair("missing_check", title, changed)


def _selected(trial: Trial, check: Any, collection: str, record_id: str) -> Record | None:
    """Return the record as it is on the day of a check that reads it and no other."""
    if not isinstance(check, RecordMatch) or check.place != collection:
        return None
    rows = Selection(check.place, check.where).of(trial.reference.evidence, check.stage)
    own = [row.get(id_field(collection)) for row in rows] == [record_id]
    return rows[0] if own else None


def _expecting(
    trial: Trial, written: Written, collection: str, record_id: str, fields: Sequence[str]
) -> Iterator[Repair]:
    """Let a check that reads the record expect the fields, else add one."""
    row = trial.reference.evidence.rows(collection).get(record_id)
    if row is None:
        return
    made = made_ids(trial)
    values = {
        name: row.get(name)
        for name in fields
        if is_plain(row.get(name)) and str(row.get(name)) not in made
    }
    if not values:
        return
    yield from _tightened(trial, written, collection, record_id, values)
    named = ", ".join(f"{k} {v}" for k, v in values.items())
    for number, check in enumerate(trial.spec.checks):
        then = _selected(trial, check, collection, record_id)
        if then is not None:
            changed = copy.deepcopy(written)
            expect = changed["checks"][number].setdefault("expect", {})
            loose = {k for k in expect if literal_of(expect[k]) is MISSING}
            own = {k: then.get(k) for k in values if k not in expect or k in loose}
            expect.update(own)
            told = ", ".join(f"{k} {v}" for k, v in own.items()) or named
            yield Repair("missing_check", f"let {check.id} also expect {told}", changed)
    if record_id not in trial.seed.ground.start.get(collection, {}):
        return  # it is made in the run: its id is no address before that
    yield from _added(
        trial,
        written,
        collection,
        {id_field(collection): record_id},
        values,
        f"expect {named} of {record_id}",
    )


def _demanding(trial: Trial, written: Written, collection: str, record_id: str) -> Iterator[Repair]:
    """Add a check that the record the mutant left out exists, by its content."""
    if record_id in trial.seed.ground.start.get(collection, {}):
        return
    row = trial.reference.evidence.rows(collection)[record_id]
    where = own_values(trial, collection, record_id)
    yield from _addressed(trial, written, collection, row)
    yield from lettered(trial, collection, row)
    if collection == FILES:
        yield from filed(trial, record_id)
    yield from _tightened(trial, written, collection, record_id, where)
    yield from _exactly(trial, written, collection, record_id, where)
    yield from _listed(trial, written, collection, record_id)
    if where:
        yield from _added(trial, written, collection, where, {}, f"expect the record {record_id}")


def _listed(trial: Trial, written: Written, collection: str, record_id: str) -> Iterator[Repair]:
    """Let a check that selects the record expect a list that it holds, in any order."""
    made = made_ids(trial)
    for number, check in enumerate(trial.spec.checks):
        row = _selected(trial, check, collection, record_id)
        if row is None or not isinstance(check, RecordMatch):
            continue
        for name, held in row.items():
            short = isinstance(held, list | tuple) and 0 < len(held) <= MOST_IN_ANY_ORDER
            if not short or name in check.expect or any(one in str(held) for one in made):
                continue
            orders = [list(order) for order in itertools.permutations(held)]
            wanted = {"in": orders} if len(orders) > 1 else {"eq": orders[0]}
            changed = copy.deepcopy(written)
            changed["checks"][number].setdefault("expect", {})[name] = wanted
            yield Repair(
                "missing_check",
                f"let {check.id} also expect {name} as the reference has them",
                changed,
            )


def _addressed(
    trial: Trial, written: Written, collection: str, row: Mapping[str, Any]
) -> Iterator[Repair]:
    """Let a check of letters to anybody ask for those to whom the reference writes."""
    people = [*(row.get("to") or ()), *(row.get("cc") or ())]
    if not people or not all(isinstance(one, str) for one in people):
        return
    for number, check in enumerate(trial.spec.checks):
        if isinstance(check, MessageMatch) and check.mailbox == collection and not check.to:
            changed = copy.deepcopy(written)
            changed["checks"][number]["to"] = people
            yield Repair(
                "missing_check", f"let {check.id} ask for a letter to {', '.join(people)}", changed
            )


def _exactly(
    trial: Trial, written: Written, collection: str, record_id: str, values: Mapping[str, Any]
) -> Iterator[Repair]:
    """Let a check that selects the record expect its values as they are, in place of bounds."""
    for number, check in enumerate(trial.spec.checks):
        row = _selected(trial, check, collection, record_id)
        if row is None or not isinstance(check, RecordMatch):
            continue
        expected = {k: row.get(k) for k in values if k not in check.where}
        changed = copy.deepcopy(written)
        expect = changed["checks"][number].setdefault("expect", {})
        loose = {k: v for k, v in expected.items() if expect.get(k) != v}
        # What refers to another record stays as it is: an id that the run makes is no literal.
        loose = {k: v for k, v in loose.items() if not has_reference(expect.get(k))}
        if loose:
            expect.update(loose)
            named = ", ".join(f"{k} {v}" for k, v in loose.items())
            yield Repair("missing_check", f"let {check.id} expect {named}", changed)


def _capping(trial: Trial, written: Written, collection: str) -> Iterator[Repair]:
    """Let the write set allow no more additions than the reference makes under the rule."""
    for number, rule in enumerate(trial.spec.write_set):
        if rule.place.collection == collection and rule.max is None and not rule.place.fields:
            made = sum(
                change.collection == collection
                and change.kind == "add"
                and rule.allows(change, "add", stage)
                for stage, changes in trial.reference.evidence.changes()
                for change in changes
            )
            changed = copy.deepcopy(written)
            body = changed["write_set"][number]
            body = {"address": body} if isinstance(body, str) else body
            changed["write_set"][number] = {**body, "change": "add", "max": made}
            yield Repair(
                "close_write_set", f"allow {made} additions to {collection}, no more", changed
            )


def missing_field(trial: Trial, place: str) -> Repair | None:
    """Return the spec in which a field that the reference writes is read by a check, or is free."""
    home, _, name = place.partition("#")
    found = pattern(home)
    record_id = found.exact_id or unescape_id(home.rpartition("/")[2])
    written = trial.spec.written()
    for repair in (
        *_expecting(trial, written, found.collection, record_id, [name]),
        *_demanding(trial, written, found.collection, record_id),
        *_freed(trial, written, found.collection, record_id, name),
    ):
        tried = tried_out(repair.written)
        if tried is None or not tried.reference.grade.passed:
            continue
        if not any(place in state.difference for state in prove_states(tried)):
            return repair
    return None


def _freed(
    trial: Trial, written: Written, collection: str, record_id: str, name: str
) -> Iterator[Repair]:
    if name in ("to", "cc"):
        return  # who gets a letter is never free
    old = record_id in trial.seed.ground.start.get(collection, {})
    address = f"{collection}/{escape_id(record_id) if old else '*'}#{name}"
    changed = copy.deepcopy(written)
    free = {"address": address, "reason": "no rule says what it must be"}
    changed["free"] = [*changed.get("free", ()), free]
    yield Repair("free_field", f"declare {address} free", changed)


def _added(
    trial: Trial,
    written: Written,
    collection: str,
    where: Mapping[str, Any],
    expect: Mapping[str, Any],
    title: str,
) -> Iterator[Repair]:
    anchor = next(
        (c.id for c in trial.spec.checks if c.component == "outcome" and not c.requires), None
    )
    taken = {c.id for c in trial.spec.checks}
    number = next(n for n in range(1, 100) if f"o_also_{n}" not in taken)
    service, _, name = collection.partition("/")
    changed = copy.deepcopy(written)
    paying = [
        number
        for number, check in enumerate(trial.spec.checks)
        if check.pays and check.component == "outcome"
    ]
    own = [trial.spec.checks[i].weight for i in paying]
    left = sum(own) - NEW_WEIGHT
    for i, weight in zip(paying, fitted([w * left / sum(own) for w in own], left), strict=True):
        changed["checks"][i]["weight"] = weight
    body = {
        "id": f"o_also_{number}",
        "component": "outcome",
        "kind": "record_match",
        "weight": NEW_WEIGHT,
        "service": service,
        "collection": name,
        "where": dict(where),
    }
    if expect:
        body["expect"] = dict(expect)
    if anchor is not None:
        body["requires"] = [anchor]
    changed["checks"].append(body)
    yield Repair("missing_check", f"add a check: {title}", changed)
