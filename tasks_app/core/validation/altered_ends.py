"""The reference's final records with one field altered, without any call (gate M2). Where a task
takes several days, a field is altered on each earlier day on which it may be written, too, and
stays so until something sets it again.
"""

from collections.abc import Iterator
from typing import Any, Final

from tasks_app.core.calls import Tables
from tasks_app.core.evidence import Evidence
from tasks_app.core.instants import is_date, is_instant
from tasks_app.core.records import diff
from tasks_app.core.samples import id_field
from tasks_app.core.validation import near_misses
from tasks_app.core.validation.card import MutantResult
from tasks_app.core.validation.equivalence import Masks
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import NUMBERS, Change, Record, address, digest

_MASKED: Final = "·"


def prove_states(trial: Trial) -> list[MutantResult]:
    """Perturb each expected field of the reference's final records directly and grade."""
    found: list[MutantResult] = []
    for place, wrong, day, altered in _altered(trial):
        grade = trial.judged(f"state:{place.rpartition('#')[2]}", altered)
        found.append(
            MutantResult(
                id=f"state-{len(found)}",
                operator="wrong_field",
                title=f"{place} is {wrong!r}{day}",
                reward=grade.total,
                verdict="survived" if grade.passed else "killed",
                difference=(place,) if grade.passed else (),
            )
        )
    return found


def _altered(trial: Trial) -> Iterator[tuple[str, Any, str, Evidence]]:
    """Yield the place of a field, its wrong value, the day in words, and the evidence."""
    masks, evidence = Masks(trial), trial.reference.evidence
    last = evidence.stages[-1]
    first = evidence.ground.start
    for change in diff(first, last.closed):
        after = change.after
        if after is None:
            continue
        for name in change.fields():
            if name == id_field(change.collection) or masks.hides(change, name):
                continue
            place = address(change.collection, change.id, name)
            for wrong in _wrong_values(after.get(name)):
                altered = with_field(evidence, change.collection, change.id, name, wrong)
                yield place, wrong, "", altered
            for day in _days(evidence, change, name):
                rows = evidence.stages[day].closed[change.collection]
                for wrong in _wrong_values(rows[change.id].get(name))[:1]:
                    told = f" from {evidence.stages[day].id} on"
                    yield place, wrong, told, _since(evidence, change, name, wrong, day)


def _days(evidence: Evidence, change: Change, name: str) -> list[int]:
    """The days before the last on which the record is there and the write set opens its field."""
    return [
        day
        for day, stage in enumerate(evidence.stages[:-1])
        if name in stage.closed.get(change.collection, {}).get(change.id, {})
        and any(
            rule.place.collection == change.collection
            and (not rule.stages or stage.id in rule.stages)
            and (rule.place.fields is None or name in rule.place.fields)
            for rule in evidence.ground.write_set
        )
    ]


def _since(evidence: Evidence, change: Change, name: str, value: Any, day: int) -> Evidence:
    """Return evidence in which a field is wrong from a day on, until it is set anew."""
    place, record_id = change.collection, change.id
    stages = list(evidence.stages)
    right = stages[day].closed[place][record_id][name]
    stages[day] = stages[day]._replace(
        closed=_with(stages[day].closed, place, record_id, name, value)
    )
    for later in range(day + 1, len(stages)):
        stage = stages[later]
        if not _has(stage.opened, place, record_id, name, right):
            break
        opened = _with(stage.opened, place, record_id, name, value)
        if not _has(stage.closed, place, record_id, name, right):
            stages[later] = stage._replace(opened=opened)
            break
        closed = _with(stage.closed, place, record_id, name, value)
        stages[later] = stage._replace(opened=opened, closed=closed)
    return Evidence(evidence.ground, stages, evidence.calls)


def _wrong_values(value: Any) -> list[Any]:
    """Return wrong values of a field: of a moment those that are a day late and an hour early."""
    if isinstance(value, str) and is_instant(value):
        return [miss.value for miss in near_misses.moments(value)]
    wrong = perturbed(value)
    return [] if wrong is None else [wrong]


def perturbed(value: Any) -> Any:
    """Return a wrong value of the same type, None where there is none to make."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, NUMBERS):
        return value + 1
    if isinstance(value, str):
        if is_date(value):
            return next(near_misses.days(value)).value
        if is_instant(value):
            return next(near_misses.moments(value)).value
        return near_misses.swapped_digits(value) or f"{value}{_MASKED}"
    if isinstance(value, list):
        return _another(value) if len(value) < 2 else value[:-1]
    return None


def _another(value: list[Any]) -> list[Any] | None:
    """Return a list of one with another beside it: the same once more would name nobody else."""
    more = perturbed(value[0]) if value else None
    return [*value, *value] if value and more is None else [*value, more] if value else None


def with_field(evidence: Evidence, place: str, record_id: str, name: str, value: Any) -> Evidence:
    """Return evidence whose last stage ends with one field altered."""
    last = evidence.stages[-1]
    closed = _with(last.closed, place, record_id, name, value)
    return Evidence(
        evidence.ground, (*evidence.stages[:-1], last._replace(closed=closed)), evidence.calls
    )


def _has(tables: Tables, place: str, record_id: str, name: str, value: Any) -> bool:
    row = tables[place].get(record_id)
    return row is not None and bool(row.get(name) == value)


def _with(tables: Tables, place: str, record_id: str, name: str, value: Any) -> Tables:
    rows = tables[place]
    altered = Record({**rows[record_id], name: value})
    altered.digest = digest(f"{place}/{record_id}", altered)
    return {**tables, place: {**rows, record_id: altered}}
