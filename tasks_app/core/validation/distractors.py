"""Gate N5: every criterion by which the reference chooses rules somebody out, and decides.

A criterion is a key of a binding's `where`, a condition of a query, or a filter of a read (free
search words are none). It has to rule out at least one record, and without it the reference must
not pass: it comes to another answer, or can no longer tell who is meant.
"""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.functions import FunctionError
from tasks_app.core.predicates import PredicateError, compile_where, is_operators
from tasks_app.core.program import Act, BindingError, bind, is_binding
from tasks_app.core.samples import Argument, arguments_of, holders, id_field
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import Step
from tasks_app.core.validation.altered_ends import perturbed
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, pointer
from tasks_app.core.validation.trial import Trial
from tasks_app.core.validation.tried import Repair, Written, as_suggestion, tried_out
from tasks_app.core.values import LEAVES, LISTS, MISSING, OBJECTS, canonical

_NO_CRITERIA: Final = frozenset({"limit", "sort", "order", "fields", "range"})
_NUMBERED: Final = re.compile(r"^(.*?)(\d+)$", re.DOTALL)
_ENDS: Final = ("first", "last", "all")
_UNBOUND: Final = (BindingError, FunctionError, PredicateError)
"""What a choice raises that cannot be made."""


class Criterion(NamedTuple):
    """One condition of one choice."""

    step: int
    path: tuple[str | int, ...]
    """Where in the step it stands."""
    name: str
    """The field, or the argument."""
    said: str
    """As a person reads it."""
    choice: bytes
    """What tells the choice: the same choice may stand in several places."""


def telling(trial: Trial) -> Iterator[Finding]:
    """N5: every criterion rules out a record, and without it the answer is another."""
    for criterion, idle in judged(trial):
        if not idle:
            continue
        yield finding(
            "N5",
            pointer("reference", criterion.step, *criterion.path),
            f"{_who(trial.spec.reference[criterion.step])} chooses by {criterion.said}, {idle}",
            hint="add a record that differs from the right one in just that",
        ).model_copy(update={"suggestion": as_suggestion(trial, _with_lookalike(trial, criterion))})


def _who(step: Step) -> str:
    return f"step {step.id}" if step.id is not None else "the reply"


def judged(trial: Trial) -> Iterator[tuple[Criterion, str]]:
    """Yield every criterion, with what is wrong with it in words (nothing, if it decides)."""
    seen: set[tuple[bytes, str]] = set()
    for position, step in enumerate(trial.spec.reference):
        for criterion in (*_of_bindings(position, step), *_of_call(position, step)):
            if (criterion.choice, criterion.name) in seen:
                continue
            seen.add((criterion.choice, criterion.name))
            yield criterion, _idle(trial, criterion)


def _of_bindings(position: int, step: Step) -> Iterator[Criterion]:
    for path, binding in _choices(
        (("arguments", step.arguments), ("each", step.each), ("reply", step.reply))
    ):
        where = binding["where"]
        choice = canonical({**binding, "field": None, "take": None})
        for name, predicate in where.items():
            said = f"{name} ({_short(predicate)})"
            yield Criterion(position, (*path, "where", name), name, said, choice)


def _choices(
    parts: Sequence[tuple[str, Any]],
) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    for name, value in parts:
        yield from _inside((name,), value)


def _inside(
    path: tuple[str | int, ...], value: Any
) -> Iterator[tuple[tuple[str | int, ...], Mapping[str, Any]]]:
    if isinstance(value, LEAVES):
        return
    if isinstance(value, OBJECTS):
        if "from" in value and is_binding(value) and isinstance(value.get("where"), Mapping):
            yield path, value
        # A choice may lie in what another one chooses by.
        for key, item in value.items():
            yield from _inside((*path, key), item)
    elif isinstance(value, LISTS):
        for number, item in enumerate(value):
            yield from _inside((*path, number), item)


def _of_call(position: int, step: Step) -> Iterator[Criterion]:
    """Yield the filters of a read."""
    if step.tool is None or step.each is not None or step.tool not in tools():
        return
    if tools()[step.tool].facts.kind != "read":
        return
    choice = canonical([step.id, step.tool, step.arguments])
    for argument in arguments_of(step.tool):
        value = step.arguments.get(argument.name)
        if value is None or argument.name in _NO_CRITERIA:
            continue
        if argument.name == "where" and isinstance(value, LISTS):
            for number, condition in enumerate(value):
                name = f"{argument.name}/{number}"
                path = ("arguments", argument.name, number)
                yield Criterion(position, path, name, _short(condition), choice)
        elif not argument.required and not _is_words(argument):
            said = f"{argument.name} ({_short(value)})"
            yield Criterion(position, ("arguments", argument.name), argument.name, said, choice)


def _is_words(argument: Argument) -> bool:
    return argument.name == "query"


def _short(value: Any) -> str:
    if is_binding(value):
        return "as read before"
    if not isinstance(value, LEAVES) and is_operators(value):
        return " and ".join(value)
    return str(value) if len(str(value)) <= 40 else f"{str(value)[:37]}…"


# --- idle criteria -------------------------------------------------------------------------------


def _idle(trial: Trial, criterion: Criterion) -> str:
    """Say in words why a criterion decides nothing; empty if it does."""
    if criterion.path[-2] == "where" and criterion.path[:2] != ("arguments", "where"):
        binding = _at(trial.spec.reference[criterion.step], criterion.path[:-2])
        if isinstance(binding, Mapping):
            counts = _counted(trial, criterion, binding)
            if counts is None:
                return ""  # nothing is there to be chosen from
            right, others, whole = counts
            if others <= right:
                return "which rules nobody out"
            if not whole:
                return ""  # other items may need it
            if binding.get("take", "only") not in _ENDS:
                return ""  # more than one is left: the reference cannot tell who is meant
    else:  # a filter of a read; what it leaves is chosen from by other criteria
        return "which rules nobody out" if _same_answer(trial, criterion) else ""
    play = trial.run_program(f"any:{criterion.name}", _without(trial, criterion))
    return "and passes without that as well" if play.grade.passed else ""


def _at(step: Step, path: Sequence[str | int]) -> Any:
    """Return what stands at a place of a step."""
    value: Any = {"arguments": step.arguments, "each": step.each, "reply": step.reply}
    for part in path:
        value = value[part]
    return value


def _counted(
    trial: Trial, criterion: Criterion, binding: Mapping[str, Any]
) -> tuple[int, int, bool] | None:
    """Return how many items a choice leaves, how many without one key, and whether that is all.

    Where it hangs on the item of an `each`: how many the key leaves by itself, for whichever item,
    and how many there are. What it decides for one of them is not told from that.
    """
    name, where = criterion.name, binding["where"]
    scope = {**trial.program.results, "clock": _clock(trial)}
    kept = {key: value for key, value in where.items() if key != name}
    each = trial.spec.reference[criterion.step].each
    try:
        return _left(binding, where, scope), _left(binding, kept, scope), True
    except _UNBOUND:
        if each is None or criterion.path[0] == "each":
            return None
    try:
        scopes = [{**scope, "item": item} for item in bind(each, scope)]
        own = {name: where[name]}
        return (
            sum(_left(binding, own, inside) for inside in scopes),
            sum(_left(binding, {}, inside) for inside in scopes),
            False,
        )
    except _UNBOUND:
        return None


def _left(binding: Mapping[str, Any], where: Mapping[str, Any], scope: Mapping[str, Any]) -> int:
    """Return how many of the items that a binding chooses from meet conditions. Raises one of
    _UNBOUND.
    """
    items = bind({key: value for key, value in binding.items() if key in ("from", "path")}, scope)
    if not isinstance(items, LISTS):
        raise BindingError("there is no list to choose from")
    return sum(map(compile_where(bind(where, scope)), items))


def _clock(trial: Trial) -> dict[str, str]:
    now = trial.spec.clock.start
    return {"now": now, "today": now[:10]}


def _same_answer(trial: Trial, criterion: Criterion) -> bool:
    """Say whether a read gives the same records without a filter."""
    step = trial.spec.reference[criterion.step]
    position = next((i for i, act in enumerate(trial.acts) if act.step == step.id), None)
    if position is None or step.tool is None:
        return False
    arguments = dict(trial.acts[position].arguments)
    name = str(criterion.path[1])
    if len(criterion.path) == 3:
        listed = list(arguments[name])
        arguments[name] = [item for n, item in enumerate(listed) if n != criterion.path[2]]
    else:
        arguments.pop(name, None)
    call = trial.tries(position, Act(step.tool, arguments))
    if call is None or not call.ok:
        return False
    return bool(_records(call.outcome) == _records(trial.call(position).outcome))


def _records(outcome: Any) -> Any:
    """Return the lists of an answer: what it says of how it was asked does not count."""
    if not isinstance(outcome, Mapping):
        return outcome
    lists = {key: value for key, value in outcome.items() if isinstance(value, LISTS)}
    return lists or outcome


def _without(trial: Trial, criterion: Criterion) -> list[Step]:
    """Return the reference without a criterion, wherever the same choice is made."""
    steps: list[Step] = []
    for position, step in enumerate(trial.spec.reference):
        body = {
            "arguments": _dropped(step.arguments, criterion),
            "each": _dropped(step.each, criterion),
            "reply": _dropped(step.reply, criterion),
        }
        if position == criterion.step and len(criterion.path) <= 3 and criterion.path[1] != "where":
            body["arguments"] = {k: v for k, v in step.arguments.items() if k != criterion.path[1]}
        elif position == criterion.step and criterion.path[:2] == ("arguments", "where"):
            listed = step.arguments["where"]
            kept = [item for n, item in enumerate(listed) if n != criterion.path[2]]
            body["arguments"] = {**step.arguments, "where": kept}
        same = all(body[k] is getattr(step, k) for k in body)
        steps.append(step if same else step.model_copy(update=body))
    return steps


def _dropped(value: Any, criterion: Criterion) -> Any:
    """Return a value in which the same choice is made without one key; the very value if it is
    not in there.
    """
    if isinstance(value, LEAVES):
        return value
    if isinstance(value, OBJECTS):
        where = value.get("where")
        if (
            where is not None
            and isinstance(where, OBJECTS)
            and criterion.name in where
            and is_binding(value)
            and canonical({**value, "field": None, "take": None}) == criterion.choice
        ):
            kept = {k: v for k, v in where.items() if k != criterion.name}
            return {**value, "where": kept}
        changed = {key: _dropped(item, criterion) for key, item in value.items()}
        return value if all(changed[k] is value[k] for k in value) else changed
    if isinstance(value, LISTS):
        listed = [_dropped(item, criterion) for item in value]
        return value if all(a is b for a, b in zip(listed, value, strict=True)) else listed
    return value


# --- add_lookalike -------------------------------------------------------------------------------


def _with_lookalike(trial: Trial, criterion: Criterion) -> Repair | None:
    """Return the spec with a record more: the right one's double, but for one field."""
    field = criterion.name.partition(".")[0]
    if criterion.path[:2] == ("arguments", "where"):
        condition = _at(trial.spec.reference[criterion.step], criterion.path)
        field = str(condition.get("field", "")) if isinstance(condition, Mapping) else ""
    written = trial.spec.written()
    for place, record_id in _chosen(trial, criterion):
        row = trial.seed.ground.start[place][record_id]
        for value in _others(trial, place, row, field):
            changed = _doubled(written, place, row, field, value)
            tried = tried_out(changed)
            if tried is None or not tried.reference.grade.passed or tried.program.problems:
                continue
            if _idle(tried, criterion) == "":
                new = changed["services"][place.partition("/")[0]][place.partition("/")[2]][-1]
                title = f"add {new[id_field(place)]}, like {record_id} but for its {field}"
                return Repair("add_lookalike", title, changed)
    return None


def _chosen(trial: Trial, criterion: Criterion) -> Iterator[tuple[str, str]]:
    """Yield the records that the choice comes to, as far as they are there from the start."""
    homes = holders(trial.seed.ground.start)
    step = trial.spec.reference[criterion.step]
    binding = _at(step, criterion.path[:-2])
    items: Any = []
    if isinstance(binding, Mapping) and "from" in binding:
        rest = {k: v for k, v in binding.items() if k in ("from", "path", "where")}
        scope = {**trial.program.results, "clock": _clock(trial)}
        try:
            items = bind({**rest, "take": "all"}, scope)
        except (BindingError, FunctionError, PredicateError):
            return
    else:
        outcome = trial.program.results.get(step.id or "", MISSING)
        if isinstance(outcome, Mapping):
            items = [i for value in outcome.values() if isinstance(value, LISTS) for i in value]
    for item in items:
        for value in item.values() if isinstance(item, Mapping) else ():
            if isinstance(value, str) and value in homes:
                place = homes[value][0]
                if item.get(id_field(place)) == value:
                    yield place, value
                    break


def _others(trial: Trial, place: str, row: Mapping[str, Any], field: str) -> list[Any]:
    """Return other values for a field, those that other records hold first."""
    right = row.get(field, MISSING)
    if right is MISSING:
        return []
    found: list[Any] = []
    for other in trial.seed.ground.start[place].values():
        value = other.get(field)
        if value is not None and value != right and type(value) is type(right):
            found.append(value)
    made = perturbed(right) if isinstance(right, LEAVES) else None
    return [*found[:3], *([made] if made is not None else [])]


def _doubled(
    written: Written, place: str, row: Mapping[str, Any], field: str, value: Any
) -> Written:
    service, _, name = place.partition("/")
    changed = copy.deepcopy(written)
    rows = changed["services"][service][name]
    key = id_field(place)
    original = next(r for r in rows if r[key] == row[key])
    rows.append({**copy.deepcopy(original), key: _next_id([r[key] for r in rows]), field: value})
    return changed


def _next_id(ids: Sequence[str]) -> str:
    """Return an id after all others, in the manner of the last."""
    best = max(ids, key=lambda text: (len(text), text))
    match = _NUMBERED.match(best)
    if match is None:
        return f"{best}-2"
    return f"{match[1]}{int(match[2]) + 1:0{len(match[2])}d}"
