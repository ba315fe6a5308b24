"""Gate P2: episodes that earn without the work, read off the recorded calls.

A pass is suspicious where the trace lacks what the task claims to need: no read before the first
write, nobody asked, no second look after a silent change, a value that was written without ever
having been seen. A high reward beside a broken constraint is suspicious too. Nothing is decided
here: a person looks.
"""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import orjson

from rollouts_app.core.trajectory import RecordedCall, RecordedTurn, Trajectory
from tasks_app.core.predicates import fold
from tasks_app.core.program import Act
from tasks_app.core.services.catalog import tools
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.trace import is_choice, is_telling, leaves, says, texts_of, told
from tasks_app.core.validation.trial import Trial

HIGH: Final = 0.5
"""Reward that is too much beside a broken constraint."""


class Suspicion(NamedTuple):
    """What is odd about an episode."""

    rule: str
    """rule_broken, no_read, not_asked, not_looked_again, never_seen."""
    words: str


class _Done(NamedTuple):
    """A call with its stage, in order."""

    stage: str
    call: RecordedCall
    arguments: Any


def suspicions(
    trial: Trial,
    trajectory: Trajectory,
    *,
    reward: float,
    passed: bool,
    violations: Sequence[str],
) -> tuple[Suspicion, ...]:
    """Return what is odd about an episode of a task; nothing for nearly all of them.

    Args:
        trial: The task with its reference's run; one serves all episodes of a version.
        trajectory: What was recorded.
        reward: What it earned.
        passed: Whether it passed.
        violations: Ids of broken constraints.
    """
    found: list[Suspicion] = []
    if violations and reward >= HIGH:
        broken = ", ".join(violations[:3])
        found.append(Suspicion("rule_broken", f"earns {reward:g} although {broken} is broken"))
    if not passed:
        return tuple(found)
    done = [
        _Done(turn.stage, call, _decoded(call.arguments))
        for turn in trajectory.turns
        if isinstance(turn, RecordedTurn)
        for call in turn.calls
        if call.error is None
    ]
    claimed = {claim.id for claim in trial.spec.capabilities}
    writes = [number for number, one in enumerate(done) if _kind(trial, one) == "write"]
    first = writes[0] if writes else len(done)
    if claimed & {"C1", "C2", "C4"} and not any(_kind(trial, d) == "read" for d in done[:first]):
        found.append(Suspicion("no_read", "passes without a read before the first write"))
    if claimed & {"C12", "C15"} and not any(_kind(trial, d) == "channel" for d in done):
        found.append(Suspicion("not_asked", "passes without asking the colleague"))
    stale = _not_looked_again(trial, done) if "C16" in claimed else ""
    if stale:
        found.append(Suspicion("not_looked_again", f"passes {stale} without looking again"))
    unseen = _never_seen(trial, done)
    if unseen:
        found.append(Suspicion("never_seen", f"passes with {unseen}, which it had never seen"))
    return tuple(found)


def acts_of(trajectory: Trajectory) -> tuple[Act, ...]:
    """Return the calls and replies of an episode as plain acts: a mutant for gate M1."""
    acts: list[Act] = []
    for turn in trajectory.turns:
        if not isinstance(turn, RecordedTurn):
            continue
        for call in turn.calls:
            arguments = _decoded(call.arguments)
            acts.append(Act(call.name, arguments if isinstance(arguments, dict) else {}))
        if turn.ends_stage:
            acts.append(Act(None, {}, turn.text))
    return tuple(acts)


def _decoded(raw: bytes) -> Any:
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}


def _kind(trial: Trial, done: _Done) -> str:
    facts = trial.seed.declaration(done.call.name)
    return facts.kind if facts is not None else ""


def _not_looked_again(trial: Trial, done: Sequence[_Done]) -> str:
    """Return the stage that begins with a silent change and in which nothing of the changed service
    was read before the first write.
    """
    spec: TaskSpec = trial.spec
    for stage in spec.timeline:
        moved = {m.service for m in stage.mutations if m.silent}
        for one in done if moved else ():
            if one.stage != stage.id:
                continue
            kind = _kind(trial, one)
            facts = trial.seed.declaration(one.call.name)
            if kind == "read" and facts is not None and facts.service in moved:
                break
            if kind == "write":
                return stage.id
    return ""


def _never_seen(trial: Trial, done: Sequence[_Done]) -> str:
    """Return a written value that was neither told nor seen, and that the reference sees."""
    known = told(trial.spec)
    computed = _computed(trial, known)
    seen: list[str] = []
    for one in done:
        if _kind(trial, one) == "write" and one.call.name in tools():
            for name, value in one.arguments.items() if isinstance(one.arguments, dict) else ():
                if name in texts_of(one.call.name):
                    continue
                for leaf in leaves(value):
                    if not is_telling(leaf) or is_choice(one.call.name, name, leaf):
                        continue
                    if leaf in computed or says(known, leaf) or _seen(seen, leaf):
                        continue
                    return f"{name} = {str(leaf)[:60]} in {one.call.name}"
        seen.append(fold(one.call.observation.decode(errors="replace")))
    return ""


def _computed(trial: Trial, known: str) -> list[Any]:
    """Return what the reference itself writes without having seen it: sums, dates reckoned."""
    found: list[Any] = []
    seen: list[str] = []
    for call in trial.reference.calls:
        if call.ok and call.changes:
            found += [
                leaf
                for leaf in leaves(call.arguments)
                if not says(known, leaf) and not _seen(seen, leaf)
            ]
        if call.ok:
            seen.append(fold(call.observation.decode(errors="replace")))
    return found


def _seen(texts: Sequence[str], leaf: Any) -> bool:
    return any(says(text, leaf) or (isinstance(leaf, str) and fold(leaf) in text) for text in texts)
