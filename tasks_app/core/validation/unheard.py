"""Repairs for what is said and no check hears: a check of the reply, or of a letter, that names
what the reference names there.

What a check asks for has to be known before the run: the number of a record that is yet to be made
is asked for as that record's field.
"""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.checks.answer import Answer
from tasks_app.core.checks.message_match import MessageMatch, recipients_of, text_of
from tasks_app.core.checks.record_match import RecordMatch
from tasks_app.core.checks.scopes import FILES
from tasks_app.core.checks.text_match import TextMatch
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
_WHOLE: Final = re.compile(r"(?<![\w.,:/-])\d{1,9}(?![\w/:-]|[.,]\d)")
_ADDRESS: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_CODE: Final = re.compile(r"[A-Za-z]*[-/]?\d[\w/-]{2,}")
"""What may be the number of a record, or stand in one as a text."""


def heard(trial: Trial, at: int) -> Iterator[Repair]:
    """Yield specs with a check of the reply at an act, which nobody hears."""
    yield from _all_heard(trial)
    replies = [i for i, act in enumerate(trial.acts) if act.tool is None]
    own = _said_check(trial, replies.index(at))
    for pieces in _choices(named(trial, trial.acts[at].reply)):
        yield from _added(trial, [(own, pieces)], "add a check of what the reply names")


def _all_heard(trial: Trial) -> Iterator[Repair]:
    """Yield specs in which each letter, reply and file that nobody looks into has a check: who
    forgets one check of the report forgets them all.
    """
    replies = [act.reply for act in trial.acts if act.tool is None]
    said = [
        (_said_check(trial, day), text)
        for day, text in enumerate(replies)
        if not _is_heard(trial, day)
    ]
    written = [
        (_letter_check(mailbox, people), text_of(letter))
        for mailbox in trial.reference.evidence.tables()
        for people, letter in _unseen(trial, mailbox).items()
    ]
    filed = [(_file_check(path), text) for path, text in _unread(trial)]
    telling = [(check, named(trial, text)) for check, text in (*written, *said, *filed)]
    checks = [(check, pieces) for check, pieces in telling if pieces]
    if len(checks) > 1:
        title = f"add a check of each of {len(checks)} texts that nobody looks into"
        yield from _added(trial, checks, title)
        yield from _added(trial, [(check, pieces[:1]) for check, pieces in checks], title)


def _said_check(trial: Trial, day: int) -> dict[str, Any]:
    check = {"id": "r_said", "explain": "The reply names what was done", "kind": "answer"}
    several = len(trial.spec.stages) > 1
    return {**check, "stage": trial.spec.stages[day].id} if several else check


def _is_heard(trial: Trial, day: int) -> bool:
    stages = trial.spec.stages
    own = (stages[day].id, None) if day == len(stages) - 1 else (stages[day].id,)
    return any(
        isinstance(check, Answer | TextMatch)
        and check.stage in own
        and getattr(check, "path", None) is None
        for check in trial.spec.checks
    )


def filed(trial: Trial, path: str) -> Iterator[Repair]:
    """Yield specs with a check of a file that the reference writes and nobody looks into."""
    yield from _all_heard(trial)
    for own, text in _unread(trial):
        for pieces in _choices(named(trial, text)) if own == path else ():
            yield from _added(trial, [(_file_check(path), pieces)], f"add a check of {path}")


def _unread(trial: Trial) -> list[tuple[str, str]]:
    """Path and text of the files that the reference makes and that no check names."""
    known = {getattr(check, "path", None) for check in trial.spec.checks}
    start = trial.seed.ground.start.get(FILES, {})
    return [
        (path, row["text"])
        for path, row in trial.reference.evidence.rows(FILES).items()
        if path not in start and path not in known and isinstance(row.get("text"), str)
    ]


def _file_check(path: str) -> dict[str, Any]:
    return {
        "id": "r_file",
        "explain": "The file holds what it is about",
        "kind": "text_match",
        "path": path,
    }


def lettered(trial: Trial, mailbox: str, letter: Mapping[str, Any]) -> Iterator[Repair]:
    """Yield specs with a check of a letter that no check looks for."""
    people = tuple(sorted(recipients_of(letter)))
    if people not in _unseen(trial, mailbox):
        return
    yield from _all_heard(trial)
    for pieces in _choices(named(trial, text_of(letter))):
        title = f"add a check of the letter to {', '.join(people)}"
        yield from _added(trial, [(_letter_check(mailbox, people), pieces)], title)


def _unseen(trial: Trial, mailbox: str) -> dict[tuple[str, ...], Mapping[str, Any]]:
    """Return the letters of the reference that no check looks for, by whom they go to: the last to
    the same people.
    """
    known = [
        {one.casefold() for one in check.to}
        for check in trial.spec.checks
        if isinstance(check, MessageMatch)
    ]
    start = trial.seed.ground.start.get(mailbox, {})
    found: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for letter_id, letter in trial.reference.evidence.rows(mailbox).items():
        people = () if letter_id in start or "to" not in letter else recipients_of(letter)
        if people and {*people} not in known:
            found[tuple(sorted(people))] = letter
    return found


def _letter_check(mailbox: str, people: Sequence[str]) -> dict[str, Any]:
    return {
        "id": "r_letter",
        "explain": "The letter names what it is about",
        "kind": "message_match",
        "mailbox": mailbox,
        "to": list(people),
    }


def _choices(pieces: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Yield all pieces, then each alone: right solutions need not name all of them."""
    if pieces:
        yield pieces
    if len(pieces) > 1:
        yield from ((piece,) for piece in pieces)


def named(trial: Trial, text: str) -> list[Any]:
    """Return what a text of the reference names and the request does not: records, codes and days
    that stand in them, addresses, sums; where it names none of these, whole numbers.
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
        elif code in trial.spec.request.text:
            continue
        elif code in held or (not code.isdigit() and any(code in value for value in held)):
            found.append(code)
    found += [path for path in made if path in text and _is_told(trial, path)]
    found += dict.fromkeys(_ADDRESS.findall(text))
    found += [{"number": float(sum_)} for sum_ in dict.fromkeys(_SUM.findall(text))]
    if found:
        return found
    asked = trial.spec.request.text
    return [{"number": int(n)} for n in dict.fromkeys(_WHOLE.findall(text)) if n not in asked]


def _is_told(trial: Trial, record_id: str) -> bool:
    """Whether the id of a record is chosen and not made: the write set knows it beforehand."""
    return any(record_id in str(rule.where) for rule in trial.spec.write_set)


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
    trial: Trial, checks: Sequence[tuple[Mapping[str, Any], Sequence[Any]]], title: str
) -> Iterator[Repair]:
    """Yield the spec with checks of texts more, which the others make room for."""
    anchor = next(
        (c.id for c in trial.spec.checks if c.component == "outcome" and not c.requires), None
    )
    if anchor is None:
        return
    written = copy.deepcopy(trial.spec.written())
    paying = [i for i, c in enumerate(trial.spec.checks) if c.pays]
    rest = 1 - NEW_SHARE
    weights = fitted([trial.spec.checks[i].weight * rest for i in paying], rest)
    for i, weight in zip(paying, weights, strict=True):
        written["checks"][i]["weight"] = weight
    taken = {own.id for own in trial.spec.checks}
    shares = fitted([NEW_SHARE / len(checks)] * len(checks), NEW_SHARE)
    for (check, pieces), share in zip(checks, shares, strict=True):
        names = (check["id"], *(f"{check['id']}_{number}" for number in range(2, 100)))
        name = next(one for one in names if one not in taken)
        taken.add(name)
        written["checks"].append(
            {
                **check,
                "id": name,
                "component": "report",
                "weight": share,
                "requires": [anchor],
                "text": [[piece] for piece in pieces],
            }
        )
    yield Repair("missing_check", title, written)
