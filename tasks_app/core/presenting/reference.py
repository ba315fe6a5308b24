"""The reference solution as it really ran: each step with what came back and what it changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from tasks_app.core.calls import Call
from tasks_app.core.grading.grade import grade
from tasks_app.core.presenting.words import binding, plain, shown
from tasks_app.core.program import Act, run_program, step_name
from tasks_app.core.spec import TaskSpec
from tasks_app.core.values import MISSING, Change
from tasks_app.core.world.world import World

LARGEST_RESULT: Final = 6_000
"""Characters of a result on the page; the replay shows the whole."""


@dataclass(frozen=True)
class ArgumentView:
    """One argument of a call and where the program took it from."""

    name: str
    text: str
    origin: str


@dataclass(frozen=True)
class FieldView:
    """A field before and after; None where it was not there."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class ChangeView:
    """A record that a call changed."""

    address: str
    kind: str
    fields: tuple[FieldView, ...]


@dataclass(frozen=True)
class FlipView:
    """A check whose score changed."""

    check: str
    words: str
    before: float
    after: float


@dataclass(frozen=True)
class StepView:
    """One act: a call, or a reply."""

    number: int
    step: str
    tool: str
    kind: str
    """read, write, channel; reply."""
    arguments: tuple[ArgumentView, ...]
    error: str
    result: str
    cut: int
    """Characters left out of the result."""
    changes: tuple[ChangeView, ...]
    flips: tuple[FlipView, ...]
    reply: str
    begins: int | None
    """Place in the program of the step that begins here; None: it has begun before."""


@dataclass(frozen=True)
class RunView:
    """The whole run."""

    steps: tuple[StepView, ...]
    problems: tuple[tuple[str, str, int], ...]
    """Step, what went wrong, its index in the program."""
    reward: float
    passed: bool


def reference_view(spec: TaskSpec) -> RunView:
    """Run the reference and tell it step by step. Raises InvalidValueError of broken records."""
    program = run_program(World(spec), spec.reference)
    world = World(spec)
    tools = world.seed.ground.tools
    steps = []
    scores = _scores(spec, world)
    begins: dict[str, int] = {}
    for position, step in enumerate(spec.reference):
        begins.setdefault(step_name(step, position), position)
    sources = {step.id: step.arguments for step in spec.reference if step.id is not None}
    for number, act in enumerate(program.acts, start=1):
        call = None
        if act.tool is None:
            world.reply(act.reply)
        else:
            call = world.call(act.tool, act.arguments)
        after = _scores(spec, world)
        flips = tuple(
            FlipView(check.id, check.explain, scores[check.id], after[check.id])
            for check in spec.checks
            if scores[check.id] != after[check.id]
        )
        scores = after
        facts = tools.get(call.tool) if call is not None else None
        kind = facts.kind if facts is not None else "read"
        steps.append(
            _step(
                number,
                act,
                call,
                kind,
                sources.get(act.step, {}),
                flips,
                begins.pop(act.step, None),
            )
        )
    world.finish()
    final = grade(spec.checks, spec.constraints, world.evidence())
    problems = tuple((p.step, p.message, p.position) for p in program.problems)
    return RunView(tuple(steps), problems, final.total, final.passed)


def change_view(change: Change) -> ChangeView:
    """A change with its fields in words."""
    before: Mapping[str, Any] = change.before or {}
    after: Mapping[str, Any] = change.after or {}
    names = change.fields() if change.kind == "update" else tuple(after or before)
    return ChangeView(
        change.address,
        change.kind,
        tuple(FieldView(name, _field(before, name), _field(after, name)) for name in names),
    )


def _field(record: Mapping[str, Any], name: str) -> str | None:
    return shown(_argument(record[name])) if name in record else None


def _argument(value: Any) -> str:
    """A value as it is written; a list of texts and numbers by commas."""
    if isinstance(value, list | tuple) and not any(isinstance(v, list | dict) for v in value):
        return ", ".join(map(plain, value)) or "an empty list"
    return plain(value)


def _scores(spec: TaskSpec, world: World) -> dict[str, float]:
    results = grade(spec.checks, spec.constraints, world.evidence()).checks
    return {result.id: result.score or 0.0 for result in results}


def _step(
    number: int,
    act: Act,
    call: Call | None,
    kind: str,
    sources: Mapping[str, Any],
    flips: tuple[FlipView, ...],
    begins: int | None,
) -> StepView:
    if call is None:
        return StepView(number, act.step, "", "reply", (), "", "", 0, (), flips, act.reply, begins)
    result = _result(call)
    return StepView(
        number=number,
        step=act.step,
        tool=call.name,
        kind=kind,
        arguments=tuple(
            ArgumentView(name, _argument(value), binding(sources.get(name, MISSING)))
            for name, value in act.arguments.items()
        ),
        error=call.error or "",
        result=result[:LARGEST_RESULT],
        cut=max(0, len(result) - LARGEST_RESULT),
        changes=tuple(change_view(change) for change in call.changes),
        flips=flips,
        reply="",
        begins=begins,
    )


def _result(call: Call) -> str:
    return orjson.dumps(call.outcome, option=orjson.OPT_INDENT_2).decode()
