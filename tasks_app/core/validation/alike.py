"""Gate D2, the choices of a program: of several rows that fit alike, none is taken by its place.

A choice that takes the first or the last of several says which one that is: it sorts them. Where
it does not, or they stand alike in what it sorts by, another of them fits everything that the
choice asks for, and whoever takes that one did what was asked.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tasks_app.core.functions import FunctionError
from tasks_app.core.predicates import PredicateError
from tasks_app.core.program import BindingError, bind
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, pointer
from tasks_app.core.validation.trace import bindings
from tasks_app.core.validation.trial import Trial
from tasks_app.core.values import LISTS, MISSING, follow, split_path

_ENDS: Final = ("first", "last")


def unordered(trial: Trial) -> Iterator[Finding]:
    """Yield a finding for each step that takes one of several rows that fit alike."""
    stages, stage = trial.spec.stages, 0
    for number, step in enumerate(trial.spec.reference):
        choices = [
            binding
            for binding in bindings([step.arguments, step.each, step.reply])
            if "from" in binding and binding.get("take") in _ENDS
        ]
        if choices:
            now = stages[min(stage, len(stages) - 1)].at
            clock = {"now": now, "today": now[:10]}
            yield from _of_step(trial, number, choices, {**trial.program.results, "clock": clock})
        stage += step.tool is None


def _of_step(
    trial: Trial, number: int, choices: Sequence[Mapping[str, Any]], scope: Mapping[str, Any]
) -> Iterator[Finding]:
    step = trial.spec.reference[number]
    told: set[tuple[str, str]] = set()
    items = [None] if step.each is None else _bound(step.each, scope)
    for choice in choices:
        if _source(choice) in told:
            continue
        for item in items if isinstance(items, LISTS) else ():
            alike = _alike(choice, scope if step.each is None else {**scope, "item": item})
            if alike < 2:
                continue
            told.add(_source(choice))
            who = f"step {step.id}" if step.id is not None else "the reply"
            yield finding(
                "D2",
                pointer("reference", number),
                f"{who} takes the {choice['take']} of {alike} {choice.get('path') or 'rows'} of "
                f"{choice['from']} that fit alike",
                hint="choose it by what the request or a rule says of it, or sort by that",
            )
            break


def _alike(choice: Mapping[str, Any], scope: Mapping[str, Any]) -> int:
    """Return how many rows could be the one that is taken; 1 where all of them say the same."""
    rows = _bound({**choice, "take": "all", "field": ""}, scope)
    if not isinstance(rows, LISTS) or len(rows) < 2:
        return 0
    taken = rows[0 if choice["take"] == "first" else -1]
    if "sort" in choice:
        by = split_path(choice["sort"].removeprefix("-"))
        rows = [row for row in rows if follow(row, by) == follow(taken, by)]
    field = split_path(str(choice.get("field", "")))
    own = follow(taken, field)
    return len(rows) if any(follow(row, field) != own for row in rows) else 1


def _source(choice: Mapping[str, Any]) -> tuple[str, str]:
    return choice["from"], choice.get("path", "")


def _bound(value: Any, scope: Mapping[str, Any]) -> Any:
    try:
        return bind(value, scope)
    except (BindingError, FunctionError, PredicateError):
        return MISSING  # gate O1 says so
