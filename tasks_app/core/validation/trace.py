"""What a witness may look at: the reference's trace, what the policy was told at first, and what
the other gates found.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import Call
from tasks_app.core.predicates import contains_number, contains_piece, fold
from tasks_app.core.program import Act, is_binding
from tasks_app.core.samples import Argument, arguments_of
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.validation.card import ConstraintProof
from tasks_app.core.validation.equivalence import Masks, differences
from tasks_app.core.validation.mutants import Judged
from tasks_app.core.validation.trial import Play, Trial
from tasks_app.core.values import LEAVES, LISTS, NUMBERS, OBJECTS

SMALL: Final = 12
"""Whole numbers up to here are counts and lines: they recur by chance."""


class Shown(NamedTuple):
    """One proof as far as it has come."""

    trial: Trial
    constraints: Sequence[ConstraintProof] = ()
    """How each constraint bites (K1)."""
    judged: Sequence[Judged] = ()
    """The mutants of the reference (M1)."""
    strays: Sequence[tuple[Act, Play]] = ()
    """Writes outside the write set and what they earn (X1)."""
    damaged: float | None = None
    """What the reference earns with a field altered elsewhere (X1)."""


class Held(NamedTuple):
    """Whether a witness was seen, and what it is."""

    held: bool
    words: str


def writes(trial: Trial) -> list[Call]:
    """Return the calls of the reference that changed records."""
    return [call for call in trial.reference.calls if call.ok and call.changes]


def positions_of_writes(trial: Trial) -> list[int]:
    """Return the acts of the reference that changed records."""
    return [
        position
        for position, act in enumerate(trial.acts)
        if act.tool is not None and trial.call(position).ok and trial.call(position).changes
    ]


def service_of(call: Call) -> str:
    """Return the service of a call's tool."""
    known = tools().get(call.tool)
    return known.facts.service if known is not None else ""


def leaves(value: Any) -> list[Any]:
    """Return the plain values inside a value, truth values and nothings apart."""
    found: list[Any] = []
    _gather(value, found)
    return found


def _gather(value: Any, found: list[Any]) -> None:
    if isinstance(value, LISTS):
        inside: Iterable[Any] = value
    elif isinstance(value, OBJECTS):
        inside = value.values()
    else:
        inside = (value,)
    for item in inside:  # most are plain: told here, which saves a call
        if isinstance(item, LEAVES):
            if item is not None and not isinstance(item, bool):
                found.append(item)
        elif item is value:
            found.append(item)
        else:
            _gather(item, found)


def is_number(value: Any) -> bool:
    """Say whether a value is a number; truth values are none."""
    return isinstance(value, NUMBERS) and not isinstance(value, bool)


def argument_of(tool: str, name: str) -> Argument | None:
    """Return an argument of a tool by its name."""
    if tool not in tools():
        return None
    return next((a for a in arguments_of(tool) if a.name == name), None)


def is_choice(tool: str, name: str, value: Any) -> bool:
    """Say whether a value is one of the few that an argument allows."""
    argument = argument_of(tool, name)
    if argument is None:
        return False
    item = argument.item if argument.item is not None else argument
    return value in item.choices


def texts_of(tool: str) -> tuple[str, ...]:
    """Return the arguments of a tool that carry text."""
    return tools()[tool].facts.text if tool in tools() else ()


def asked(spec: TaskSpec) -> str:
    """Return the request and the notifications of later days, folded."""
    return fold("\n".join([spec.request.text, *(s.notification or "" for s in spec.timeline)]))


def rules(spec: TaskSpec) -> str:
    """Return the policy documents and the output contract, folded."""
    workplace = spec.workplace
    return fold("\n".join([*(p.text for p in workplace.policies), workplace.output_contract]))


def told(spec: TaskSpec) -> str:
    """Return all that the policy knows before its first call, folded."""
    workplace = spec.workplace
    people = (f"{p.name} {p.role} {p.mailbox}" for p in (*workplace.people, workplace.requester))
    house = [workplace.organisation, workplace.coworker.role, workplace.coworker.mailbox]
    return "\n".join([asked(spec), rules(spec), fold("\n".join([*house, *people]))])


def says(text: str, value: Any) -> bool:
    """Say whether a folded text states a value."""
    if is_number(value):
        return contains_number(text, float(value))
    return isinstance(value, str) and bool(value) and contains_piece(text, value)


def is_telling(value: Any) -> bool:
    """Say whether a value is particular enough that meeting it twice is no chance."""
    if is_number(value):
        return not float(value).is_integer() or abs(value) > SMALL
    return isinstance(value, str) and len(value) > 3


def first_position(trial: Trial, step: Step) -> int | None:
    """Return the first act of a step, None if it did nothing."""
    return next((i for i, act in enumerate(trial.acts) if act.step == step.id), None)


def scope_of(trial: Trial) -> dict[str, Any]:
    """Return what bindings of the reference may name once all of it was done."""
    now = trial.seed.now
    return {**trial.program.results, "clock": {"now": now, "today": now[:10]}}


def bindings(value: Any) -> Iterator[Mapping[str, Any]]:
    """Return every binding inside a value, outer ones first."""
    found: list[Mapping[str, Any]] = []
    _add_bindings(value, found)
    return iter(found)


def _add_bindings(value: Any, found: list[Mapping[str, Any]]) -> None:
    if isinstance(value, LEAVES):
        return
    if isinstance(value, LISTS):
        inside: Iterable[Any] = value
    elif isinstance(value, OBJECTS):
        if is_binding(value):
            found.append(value)
        inside = value.values()
    else:
        return
    for item in inside:
        if not isinstance(item, LEAVES):
            _add_bindings(item, found)


def ends_otherwise(trial: Trial, play: Play) -> bool:
    """Say whether a run ends in other records than the reference."""
    return bool(differences(Masks(trial), trial.reference.evidence, play.evidence))


def listings(outcome: Any) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield the lists of records in a result, by their key."""
    if isinstance(outcome, OBJECTS):
        for name, value in outcome.items():
            if isinstance(value, list) and value and all(isinstance(r, OBJECTS) for r in value):
                yield name, value
