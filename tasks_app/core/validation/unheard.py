"""Repairs for what is said and no check hears: a check of the reply, or of a letter, that names
what the reference names there.

What a check asks for has to be known before the run: the number of a record that is yet to be made
is asked for as that record's field.
"""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.checks.message_match import MessageMatch, recipients_of, text_of
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.evidence import Selection, has_reference
from tasks_app.core.instants import is_date, is_instant
from tasks_app.core.samples import id_field
from tasks_app.core.validation.equivalence import Masks
from tasks_app.core.validation.structure import fitted
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import Repair
from tasks_app.core.values import Change

NEW_SHARE: Final = 0.1
"""What a check of a text is worth that a repair adds."""
_SUM: Final = re.compile(r"(?<![\w.,-])\d+\.\d{2}(?![\w])")
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODE: Final = re.compile(r"[A-Za-z]*[-/]?\d[\w/-]{2,}")
"""What may be the number of a record, or stand in one as a text."""


def heard(trial: Trial, at: int) -> Iterator[Repair]:
    """Yield specs with a check of the reply at an act, which nobody hears."""
    check: dict[str, Any] = {"kind": "answer"}
    if len(trial.spec.stages) > 1:
        replies = [i for i, act in enumerate(trial.acts) if act.tool is None]
        check["stage"] = trial.spec.stages[replies.index(at)].id
    for pieces in _choices(named(trial, trial.acts[at].reply)):
        yield from _added(
            trial,
            {**check, "id": "r_said", "explain": "The reply names what was done"},
            pieces,
            "add a check of what the reply names",
        )


def lettered(trial: Trial, mailbox: str, letter: Mapping[str, Any]) -> Iterator[Repair]:
    """Yield specs with a check of a letter that no check looks for."""
    people = sorted(recipients_of(letter))
    known = [check for check in trial.spec.checks if isinstance(check, MessageMatch)]
    if not people or any({p.casefold() for p in check.to} == {*people} for check in known):
        return
    for pieces in _choices(named(trial, text_of(letter))):
        yield from _added(
            trial,
            {
                "id": "r_letter",
                "explain": "The letter names what it is about",
                "kind": "message_match",
                "mailbox": mailbox,
                "to": people,
            },
            pieces,
            f"add a check of the letter to {', '.join(people)}",
        )


def _choices(pieces: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield all pieces, then each alone: right solutions need not name all of them."""
    if pieces:
        yield pieces
    if len(pieces) > 1:
        yield from ((piece,) for piece in pieces)


def named(trial: Trial, text: str) -> list[Any]:
    """Return what a text of the reference names and the request does not: records, codes and days
    that stand in them, addresses, sums.
    """
    held = {
        value
        for rows in trial.seed.ground.start.values()
        for row in rows.values()
        for value in row.values()
        if isinstance(value, str)
    }
    made = made_ids(trial)
    found: list[Any] = []
    for code in dict.fromkeys(_CODE.findall(text)):
        if code in made:
            reference = reference_to(trial, made[code], code)
            found += [reference] if reference is not None else []
        elif code not in trial.spec.request.text and any(code in value for value in held):
            found.append(code)
    found += dict.fromkeys(_ADDRESS.findall(text))
    found += [{"number": float(sum_)} for sum_ in dict.fromkeys(_SUM.findall(text))]
    return found


def made_ids(trial: Trial) -> dict[str, str]:
    """Return the ids of the records that the reference makes, and where those lie."""
    start = trial.seed.ground.start
    return {
        record_id: place
        for place, rows in trial.reference.evidence.tables().items()
        for record_id in rows
        if record_id not in start.get(place, {})
    }


def reference_to(trial: Trial, place: str, record_id: str) -> dict[str, Any] | None:
    """Return what stands for the id of a record that is made in the run: the record that a check
    selects, else the one with its values; None where neither tells it from others.
    """
    for check in trial.spec.checks:
        if isinstance(check, RecordMatch) and check.place == place:
            where = {**check.where, **_literal(check.expect)}
            if not has_reference(where) and _only(trial, place, where, record_id):
                return {"record": place, "where": where, "field": id_field(place)}
    where = own_values(trial, place, record_id)
    if not _only(trial, place, where, record_id):
        return None
    return {"record": place, "where": where, "field": id_field(place)}


def _literal(expect: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in expect.items() if is_plain(value)}


def _only(trial: Trial, place: str, where: Mapping[str, Any], record_id: str) -> bool:
    """Whether a `where` selects this record and no other at the reference's end."""
    rows = Selection(place, where).of(trial.reference.evidence)
    return bool(where) and [row.get(id_field(place)) for row in rows] == [record_id]


def own_values(trial: Trial, place: str, record_id: str) -> dict[str, Any]:
    """Return the values of a record of the reference's end that tell it and that can be known:
    no wording, nothing that is free, and no id that the run makes.
    """
    row = trial.reference.evidence.rows(place)[record_id]
    masks, whole = Masks(trial), Change(place, record_id, None, row)
    made = made_ids(trial)
    return {
        name: value
        for name, value in row.items()
        if name != id_field(place)
        and is_plain(value)
        and not masks.hides(whole, name)
        and not (isinstance(value, str) and value in made)
    }


def is_plain(value: Any) -> bool:
    """Say whether a value is one that a check can expect as it is: no list, no long text."""
    if isinstance(value, str):
        return bool(value) and (len(value) <= 60 or is_date(value) or is_instant(value))
    return isinstance(value, int | float)


def _added(
    trial: Trial, check: Mapping[str, Any], pieces: Sequence[Any], title: str
) -> Iterator[Repair]:
    """Yield the spec with a check of a text more, which the others make room for."""
    anchor = next(
        (c.id for c in trial.spec.checks if c.component == "outcome" and not c.requires), None
    )
    if anchor is None or any(own.id == check["id"] for own in trial.spec.checks):
        return
    written = copy.deepcopy(trial.spec.written())
    paying = [i for i, c in enumerate(trial.spec.checks) if c.pays]
    rest = 1 - NEW_SHARE
    weights = fitted([trial.spec.checks[i].weight * rest for i in paying], rest)
    for i, weight in zip(paying, weights, strict=True):
        written["checks"][i]["weight"] = weight
    written["checks"].append(
        {
            **check,
            "component": "report",
            "weight": NEW_SHARE,
            "requires": [anchor],
            "text": [[piece] for piece in pieces],
        }
    )
    yield Repair("missing_check", title, written)
