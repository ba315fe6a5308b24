"""Policies that need no model: the reference program, the cheap policies of the proof, plain calls.

Invariant: what a script plays is settled before its first turn. The reference is run once on a
world of its own, which turns its bindings into plain calls; these are played like anybody's.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson

from rollouts_app.core.errors import TaskFailure, UnknownPolicyError
from rollouts_app.core.messages import Message, ToolRequest
from rollouts_app.core.policy import Action
from tasks_app.core.calls import TRANSIENT_ERRORS
from tasks_app.core.cheap import cheap_acts
from tasks_app.core.program import Act, reference_run
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec
from tasks_app.core.values import InvalidValueError, in_order
from tasks_app.core.world.world import Seed, World

MOST_PARALLEL: Final = 8
"""Calls that a script asks for in one turn, where it reads the same thing of several records."""


class ScriptedPolicy:
    """Plays acts in order; when none is left it replies with nothing."""

    def __init__(self, name: str, turns: Sequence[Sequence[Act]]):
        self.name = name
        self._turns: Iterator[Sequence[Act]] = iter(turns)
        self._asked = 0

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Action:
        """Return the next turn; what it hears changes nothing."""
        acts = next(self._turns, ())
        if not acts:
            return Action("")
        if acts[0].tool is None:
            return Action(acts[0].reply)
        calls = []
        for act in acts:
            self._asked += 1
            calls.append(request_of(act, self._asked))
        return Action("", tuple(calls))


def request_of(act: Act, number: int) -> ToolRequest:
    """An act that calls a tool as the request of a model that fills in the form it was shown:
    the arguments stand in the order in which the tool declares them.
    """
    known = tools().get(act.tool or "")
    declared = known.facts.parameters if known is not None else None
    arguments = in_order(act.arguments, (declared or {}).get("properties", ()))
    return ToolRequest(f"call_{number}", act.tool or "", orjson.dumps(arguments))


def plain(name: str, acts: Sequence[Act]) -> ScriptedPolicy:
    """A policy that plays plain acts, one a turn."""
    return ScriptedPolicy(name, [(act,) for act in acts])


def grouped(acts: Sequence[Act], spec: TaskSpec) -> list[tuple[Act, ...]]:
    """Put acts into turns: the same read of several records in a row goes into one turn."""
    facts = Seed.of(spec).ground.tools
    troubled = {fault.tool for fault in spec.faults}
    turns: list[list[Act]] = []
    for act in acts:
        declared = facts.get(act.tool or "")
        together = (
            declared is not None
            and declared.kind == "read"
            and act.tool not in troubled
            and bool(turns)
            and (turns[-1][0].tool, turns[-1][0].step) == (act.tool, act.step)
            and len(turns[-1]) < MOST_PARALLEL
        )
        if together:
            turns[-1].append(act)
        else:
            turns.append([act])
    return [tuple(turn) for turn in turns]


def reference(spec: TaskSpec) -> ScriptedPolicy:
    """The task's own solution, retries of transient errors included."""
    return ScriptedPolicy("reference", _reference(spec))


def _reference(spec: TaskSpec) -> list[tuple[Act, ...]]:
    _, run = reference_run(spec)
    return grouped(run.acts, spec)


def _no_retry(spec: TaskSpec) -> list[tuple[Act, ...]]:
    """The reference that never repeats a call that failed for the moment."""
    _, run = reference_run(spec)
    world = World(spec)
    acts: list[Act] = []
    skipped: Act | None = None
    for act in run.acts:
        if skipped is not None and act == skipped:
            continue
        skipped = None
        acts.append(act)
        if act.tool is None:
            world.reply(act.reply)
        elif world.call(act.tool, act.arguments).error in TRANSIENT_ERRORS:
            skipped = act
    return grouped(acts, spec)


POLICIES: Final[Mapping[str, str]] = {
    "reference": "the task's own solution",
    "no_retry": "the reference that never repeats a call that failed for the moment",
    "null": "does and says nothing",
    "crawl": "reads everything, changes nothing",
    "spam": "calls every tool once or twice with whatever fits",
    "echo": "gives the request back as its answer",
    "paste": "answers with every text and number that the checks name",
    "first_record": "the reference with the first candidate in place of the right one",
    "errors_only": "makes only calls that fail",
    "refuse": "says that it can't help",
    "regex": "writes what regular expressions find in the request",
}
"""Every built-in policy by name, and what it does."""


Script: TypeAlias = Sequence[Sequence[Act]]
"""The turns that a policy plays on a task: the same in every episode of it."""


def script_for(name: str, spec: TaskSpec) -> Script:
    """Settle what a policy plays. Raises UnknownPolicyError, or TaskFailure without a world."""
    if name not in POLICIES:
        raise UnknownPolicyError(f"no policy {name!r}; known are {', '.join(POLICIES)}")
    try:
        if name == "reference":
            return _reference(spec)
        if name == "no_retry":
            return _no_retry(spec)
        return grouped(cheap_acts(name, spec), spec)
    except InvalidValueError as problem:
        raise TaskFailure(str(problem)) from problem


def policy_for(name: str, spec: TaskSpec) -> ScriptedPolicy:
    """Return a fresh policy object. Raises as `script_for`."""
    return ScriptedPolicy(name, script_for(name, spec))
