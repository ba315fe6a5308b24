"""The reference's final records with one field altered, without any call (gate M2)."""

from typing import Any, Final

from tasks_app.core.evidence import Evidence
from tasks_app.core.instants import is_date, is_instant
from tasks_app.core.records import diff
from tasks_app.core.samples import id_field
from tasks_app.core.validation import near_misses
from tasks_app.core.validation.card import MutantResult
from tasks_app.core.validation.equivalence import Masks
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import NUMBERS, Record, address, digest

_MASKED: Final = "·"


def prove_states(trial: Trial) -> list[MutantResult]:
    """Perturb each expected field of the reference's final records directly and grade."""
    masks, evidence = Masks(trial), trial.reference.evidence
    last = evidence.stages[-1]
    first = evidence.ground.start
    found: list[MutantResult] = []
    for change in diff(first, last.closed):
        after = change.after
        if after is None:
            continue
        for name in change.fields():
            if name == id_field(change.collection) or masks.hides(change, name):
                continue
            for wrong in _wrong_values(after.get(name)):
                altered = with_field(evidence, change.collection, change.id, name, wrong)
                grade = trial.judged(f"state:{name}", altered)
                place = address(change.collection, change.id, name)
                found.append(
                    MutantResult(
                        id=f"state-{len(found)}",
                        operator="wrong_field",
                        title=f"{place} is {wrong!r}",
                        reward=grade.total,
                        verdict="survived" if grade.passed else "killed",
                        difference=(place,) if grade.passed else (),
                    )
                )
    return found


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
    rows = last.closed[place]
    altered = Record({**rows[record_id], name: value})
    altered.digest = digest(f"{place}/{record_id}", altered)
    tables = {**last.closed, place: {**rows, record_id: altered}}
    return Evidence(
        evidence.ground, (*evidence.stages[:-1], last._replace(closed=tables)), evidence.calls
    )
