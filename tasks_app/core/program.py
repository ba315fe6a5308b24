"""The reference program: bindings, and its runner.

A program is a list of steps; arguments are literals or bindings to earlier steps *by step id*, so
that
another seed, a repair or a dropped step rebinds it. Binding forms:

- `{"from": step, "path", "where", "sort", "take", "field"}`: reserved sources are `clock` (now,
today) and
  `item` (inside `each`). With any of where, sort, take, field the value is a list to select from;
  `take` is
  `only` (fails unless one is left), `first`, `last` or `all`.
- `{"fn": name, "args": [...]}`: a function of functions.py.
- `{"text": template, "with": {...}}`: a filled text.

A step answered `rate_limited`, `unavailable` or `timeout` is repeated by the runner, at most three
times.
An unresolved binding ends its step as a problem; it never raises.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cmp_to_key
from typing import Any, Final, NamedTuple

from tasks_app.core.calls import TRANSIENT_ERRORS, Call
from tasks_app.core.functions import FunctionError, apply_function, fill
from tasks_app.core.memo import Memo
from tasks_app.core.predicates import PredicateError, Test, compile_where, order
from tasks_app.core.spec import Step, TaskSpec
from tasks_app.core.values import LEAVES, LISTS, MISSING, OBJECTS, Record, follow, split_path
from tasks_app.core.world.world import World

REPETITIONS: Final = 3


class Act(NamedTuple):
    """One plain act of a policy: a tool call with literal arguments, or a reply that ends a
    stage.
    """

    tool: str | None
    arguments: Mapping[str, Any]
    reply: str = ""
    step: str = ""
    """Id of the reference step it came from."""

    def written(self) -> dict[str, Any]:
        """Return it as calls files write it."""
        if self.tool is None:
            return {"reply": self.reply}
        return {"tool": self.tool, "arguments": dict(self.arguments)}


class StepProblem(NamedTuple):
    """A step that could not be carried out."""

    step: str
    position: int
    """Index in the program."""
    message: str
    call: Call | None = None


@dataclass
class ProgramRun:
    """What running a program did."""

    acts: list[Act] = field(default_factory=list)
    """Every call made (repetitions included) and every reply, with literal arguments."""
    results: dict[str, Any] = field(default_factory=dict)
    problems: list[StepProblem] = field(default_factory=list)
    begins: list[int] = field(default_factory=list)
    """Number of acts before each step that was come to, and after all of them."""


class BindingError(LookupError):
    """A binding that selects nothing, too much, or names what isn't there."""


class Bound:
    """What bindings gave in the runs of one program and its variants.

    The very same results bind to the same: runs in worlds that remember their calls share most.
    """

    __slots__ = ("_given", "_lists", "_named")

    def __init__(self) -> None:
        self._named: dict[int, tuple[Any, tuple[str, ...]]] = {}
        self._given: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._lists: dict[tuple[int, ...], list[Any]] = {}

    def bind(self, value: Any, scope: Mapping[str, Any]) -> Any:
        """Resolve every binding in a value. Raises what `bind` raises."""
        if isinstance(value, LEAVES):
            return value
        named = self.sources(value)
        parts = [scope["clock"]["now"] if name == "clock" else scope.get(name) for name in named]
        # What a key tells by its address is kept beside what it gave, so no address is used again.
        key = (id(value), *map(id, parts))
        met = self._given.get(key)
        if met is None:
            met = self._given[key] = (bind(value, scope), value, parts)
        return met[0]

    def sources(self, value: Any) -> tuple[str, ...]:
        """Return the steps that a value's bindings name, each once."""
        met = self._named.get(id(value))
        if met is None:
            found: dict[str, None] = {}
            _add_sources(value, found)
            met = self._named[id(value)] = (value, tuple(found))
        return met[1]

    def listed(self, items: list[Any]) -> list[Any]:
        """Return a list of results: the very list that held the same ones before."""
        return self._lists.setdefault(tuple(map(id, items)), items)


def _add_sources(value: Any, found: dict[str, None]) -> None:
    if isinstance(value, LEAVES):
        return
    if isinstance(value, OBJECTS):
        if isinstance(value.get("from"), str):
            found[value["from"]] = None
        for item in value.values():
            _add_sources(item, found)
    elif isinstance(value, LISTS):
        for item in value:
            _add_sources(item, found)


def run_program(
    world: World,
    steps: Sequence[Step],
    *,
    repetitions: int = REPETITIONS,
    first: int = 0,
    results: Mapping[str, Any] | None = None,
    bound: Bound | None = None,
) -> ProgramRun:
    """Run a program to its end in a world, and let unreached stages happen.

    Args:
        world: A fresh world, or one in which the steps before `first` were done.
        steps: The program.
        repetitions: How often a transient error is retried; 0 is the no-retry policy of C10.
        first: The step to begin with.
        results: What the steps before it gave, by step id.
        bound: What bindings gave in other runs of it and its variants.
    """
    run = ProgramRun(results=dict(results or {}))
    run_steps(world, steps, run, range(first, len(steps)), repetitions, bound)
    world.finish()
    return run


def run_steps(
    world: World,
    steps: Sequence[Step],
    run: ProgramRun,
    positions: range,
    repetitions: int = REPETITIONS,
    bound: Bound | None = None,
) -> None:
    """Run some steps of a program and add what they did to its run."""
    for position in positions:
        step = steps[position]
        run.begins.append(len(run.acts))
        if world.finished:
            run.problems.append(
                StepProblem(step_name(step, position), position, "after the last reply")
            )
            break
        _run_step(world, step, position, run, repetitions, bound)
    else:
        run.begins.append(len(run.acts))


def step_name(step: Step, position: int) -> str:
    """What the acts of a step are said to come from: its id, or the reply of its place."""
    return step.id or f"reply{position}"


def _run_step(
    world: World,
    step: Step,
    position: int,
    run: ProgramRun,
    repetitions: int,
    bound: Bound | None,
) -> None:
    name = step_name(step, position)
    resolve = bound.bind if bound is not None else bind
    scope: dict[str, Any] = {
        **run.results,
        "clock": {"now": world.now, "today": world.now[:10]},
    }
    try:
        if step.tool is None:
            text = resolve(step.reply, scope)
            run.acts.append(Act(None, {}, text if isinstance(text, str) else str(text), name))
            world.reply(run.acts[-1].reply)
            return
        if step.each is None:
            arguments = resolve(step.arguments, scope)
            run.results[name] = _call(world, step, arguments, name, run, repetitions, position)
            return
        items = resolve(step.each, scope)
        if not isinstance(items, LISTS):
            raise BindingError("each does not give a list")
        found = []
        for item in items:
            arguments = resolve(step.arguments, {**scope, "item": item})
            found.append(_call(world, step, arguments, name, run, repetitions, position))
        run.results[name] = bound.listed(found) if bound is not None else found
    except (BindingError, FunctionError, PredicateError) as problem:
        run.problems.append(StepProblem(name, position, str(problem)))


def _call(
    world: World,
    step: Step,
    arguments: Mapping[str, Any],
    name: str,
    run: ProgramRun,
    repetitions: int,
    position: int,
) -> Any:
    tool = step.tool or ""
    for attempt in range(repetitions + 1):
        call = world.call(tool, arguments)
        run.acts.append(Act(tool, arguments, "", name))
        if call.error not in TRANSIENT_ERRORS or attempt == repetitions:
            break
    if call.error is not None:
        text = f"{call.error}: {call.outcome.get('message', '')}"
        run.problems.append(StepProblem(name, position, text, call))
        return MISSING
    return call.outcome


def perform(world: World, acts: Iterable[Act]) -> None:
    """Perform plain acts to the end, without repetition; unreached stages happen."""
    for act in acts:
        if world.finished:
            break
        if act.tool is None:
            world.reply(act.reply)
        else:
            world.call(act.tool, act.arguments)
    world.finish()


def read_acts(data: Any) -> list[Act]:
    """Read a calls file: a list of {"tool", "arguments"} and {"reply"}. Raises ValueError with the
    place.
    """
    if not isinstance(data, list):
        raise ValueError("a calls file is one JSON list")
    acts: list[Act] = []
    for position, entry in enumerate(data):
        if isinstance(entry, Mapping) and "tool" in entry and "reply" in entry:
            raise ValueError(f"[{position}] has both a tool and a reply; write two entries")
        if isinstance(entry, Mapping) and isinstance(entry.get("tool"), str):
            arguments = entry.get("arguments", {})
            if not isinstance(arguments, Mapping):
                raise ValueError(f"[{position}].arguments is not an object")
            acts.append(Act(entry["tool"], arguments))
        elif isinstance(entry, Mapping) and isinstance(entry.get("reply"), str):
            acts.append(Act(None, {}, entry["reply"]))
        else:
            raise ValueError(f'[{position}] is neither {{"tool", "arguments"}} nor {{"reply"}}')
    return acts


def reference_run(spec: TaskSpec) -> tuple[World, ProgramRun]:
    """Run a spec's reference on a fresh world."""
    world = World(spec)
    return world, run_program(world, spec.reference)


# --- bindings ------------------------------------------------------------------------------------

_SELECTING: Final = frozenset({"where", "sort", "take", "field"})
_BINDING: Final = frozenset({"from", "path"}) | _SELECTING
_OPERANDS: Final = {"path": str, "where": Mapping, "sort": str, "field": str, "take": str}
"""What stands at each key of a binding."""


def is_binding(value: Any) -> bool:
    """Say whether a value is one of the three binding forms."""
    if isinstance(value, LEAVES) or not isinstance(value, OBJECTS):
        return False
    keys = value.keys()
    return (
        ("from" in keys and keys <= _BINDING and isinstance(value["from"], str))
        or keys == {"fn", "args"}
        or keys == {"text", "with"}
    )


def bind(value: Any, scope: Mapping[str, Any]) -> Any:
    """Resolve every binding in a value. Raises BindingError, FunctionError or PredicateError."""
    if isinstance(value, LEAVES):
        return value
    if isinstance(value, OBJECTS):
        if "from" in value and value.keys() <= _BINDING and isinstance(value["from"], str):
            return _select(value, scope)
        two = len(value) == 2
        if two and "fn" in value and "args" in value:
            if not isinstance(value["args"], LISTS):
                raise BindingError(f"args of {value['fn']} is no list")
            arguments = [a if isinstance(a, LEAVES) else bind(a, scope) for a in value["args"]]
            return apply_function(value["fn"], arguments)
        if two and "text" in value and "with" in value:
            if not isinstance(value["text"], str) or not isinstance(value["with"], Mapping):
                raise BindingError('a text binding is {"text": text, "with": {name: value}}')
            return fill(value["text"], {k: bind(v, scope) for k, v in value["with"].items()})
        return {k: v if isinstance(v, LEAVES) else bind(v, scope) for k, v in value.items()}
    if isinstance(value, LISTS):
        return [item if isinstance(item, LEAVES) else bind(item, scope) for item in value]
    return value


class _Choice(NamedTuple):
    """What a `from` binding asks for, read once."""

    source: str
    wrong: str
    """What is wrong with it; empty if nothing is."""
    path: Sequence[str]
    selects: bool
    where: Any
    sort: str | None
    field: str | None
    take: str


def _read(binding: Mapping[str, Any]) -> _Choice:
    source = binding["from"]
    wrong = next(
        (
            f"{key} of a binding to {source} is {binding[key]!r}"
            for key, kind in _OPERANDS.items()
            if key in binding and not isinstance(binding[key], kind)
        ),
        "",
    )
    return _Choice(
        source,
        wrong,
        () if wrong else split_path(binding.get("path", "")),
        not _SELECTING.isdisjoint(binding),
        binding.get("where", MISSING),
        binding.get("sort"),
        binding.get("field"),
        binding.get("take", "only"),
    )


_choices: Final = Memo(_read)


def _select(binding: Mapping[str, Any], scope: Mapping[str, Any]) -> Any:
    asked = _choices.of(binding) if type(binding) is Record else _read(binding)
    source = asked.source
    if asked.wrong:
        raise BindingError(asked.wrong)
    if source not in scope:
        raise BindingError(f"no step {source} before this one")
    value = scope[source]
    if value is MISSING:
        raise BindingError(f"step {source} failed")
    found = follow(value, asked.path)
    if found is MISSING:
        raise BindingError(f"step {source} has nothing at {binding.get('path')!r}")
    if not asked.selects:
        return found
    if not isinstance(found, LISTS):
        raise BindingError(f"step {source} gives no list at {binding.get('path', '')!r}")
    chosen = list(found)
    if asked.where is not MISSING:
        test = _fixed.of(asked.where) if type(asked.where) is Record else None
        if test is None:
            test = compile_where(bind(asked.where, scope))
        chosen = [item for item in chosen if test(item)]
    if asked.sort is not None:
        chosen = sort_by(chosen, asked.sort)
    if asked.field is not None:
        parts = split_path(asked.field)
        chosen = [follow(item, parts) for item in chosen]
        if any(item is MISSING for item in chosen):
            raise BindingError(f"an item of {source} has no field {asked.field}")
    match asked.take:
        case "all":
            return chosen
        case "first" | "last" as end:
            if not chosen:
                raise BindingError(f"nothing of step {source} is left to take the {end} of")
            return chosen[0 if end == "first" else -1]
        case "only":
            if len(chosen) != 1:
                raise BindingError(f"{len(chosen)} items of step {source} are left instead of one")
            return chosen[0]
        case other:
            raise BindingError(f"take {other!r} is none of only, first, last, all")


def holds_binding(value: Any) -> bool:
    """Say whether there is a binding anywhere in a value."""
    if isinstance(value, OBJECTS):
        return is_binding(value) or any(map(holds_binding, value.values()))
    return isinstance(value, LISTS) and any(map(holds_binding, value))


def _compiled(where: Record) -> Test | None:
    return None if holds_binding(where) else compile_where(where)


_fixed: Final = Memo(_compiled)
"""A `where` without bindings inside → its test; None for one that each run binds anew."""


def sort_by(items: Sequence[Any], path: str) -> list[Any]:
    """Sort stably by a field; a leading `-` reverses; what has no order keeps its place."""
    down = path.startswith("-")
    path = path.removeprefix("-")

    def compare(left: Any, right: Any) -> int:
        found = order(follow(left, path), follow(right, path)) or 0
        return -found if down else found

    return sorted(items, key=cmp_to_key(compare))
