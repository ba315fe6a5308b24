"""A repair that is tried out before it is offered: the new written spec, and its reference run."""

from typing import Any, NamedTuple

from tasks_app.core.editing import difference
from tasks_app.core.predicates import PredicateError
from tasks_app.core.spec import SpecError, load_spec
from tasks_app.core.validation.card import Suggestion
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import InvalidValueError

Written = dict[str, Any]


class Repair(NamedTuple):
    """A repair that was tried out: the new written spec."""

    rule: str
    title: str
    written: Written


def tried_out(written: Written) -> Trial | None:
    """Run a candidate's reference; None if it is no spec."""
    try:
        return Trial(load_spec(written))
    except (SpecError, InvalidValueError, PredicateError):
        return None


def as_suggestion(trial: Trial, repair: Repair | None) -> Suggestion | None:
    """Return a repair that was tried out as a finding carries it."""
    if repair is None:
        return None
    patch = tuple(difference(trial.spec.written(), repair.written))
    return Suggestion(rule=repair.rule, title=repair.title, patch=patch)
