"""Defects of episodes that an audit of the gates plants: for gate P2 an episode that earned without
the work, for P1 attempts that say how hard a task is.

Registered with the audit when the app is ready; an episode is the reference's own, changed.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rollouts_app.core import calibration
from rollouts_app.core.calibration import LEAST, Group
from rollouts_app.core.episode import run_episode
from rollouts_app.core.hacks import suspicions
from rollouts_app.core.scripted import policy_for
from rollouts_app.core.trajectory import RecordedCall, RecordedTurn, Trajectory
from tasks_app.core.audit.catalog import register
from tasks_app.core.audit.planter import Kind, Planted, Planter
from tasks_app.core.audit.subjects import Subject
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.validation.trial import Trial


@dataclass(frozen=True)
class Attempt:
    """An episode that is said to have earned so much."""

    trajectory: Trajectory
    reward: float = 1.0
    passed: bool = True
    violations: tuple[str, ...] = ()


Trick = Callable[[Trial, Trajectory, random.Random], Attempt | None]


@dataclass(frozen=True, slots=True)
class EpisodePlanter:
    """An episode that earned by a trick (gate P2)."""

    name: str
    title: str
    trick: Trick
    """Changes the reference's episode; None where the task has no place for it."""
    gate: str = "P2"
    kind: Kind = "episode"
    repairable: bool = False
    also: tuple[str, ...] = ()
    upstream: str = ""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Look at the reference's own episode, then at the changed one."""
        spec = load_spec(subject.copy())
        trial = Trial(spec)
        own = run_episode(spec, policy_for("reference", spec)).trajectory
        attempt = self.trick(trial, own, rng)
        if attempt is None or _found(trial, Attempt(own)):
            return None
        found = _found(trial, attempt)
        return Planted(bool(found), ("P2",) if found else (), None, "; ".join(found))


def _found(trial: Trial, attempt: Attempt) -> list[str]:
    found = suspicions(
        trial,
        attempt.trajectory,
        reward=attempt.reward,
        passed=attempt.passed,
        violations=attempt.violations,
    )
    return [f"{one.rule}: {one.words}" for one in found]


def _claims(spec: TaskSpec, *wanted: str) -> bool:
    return any(claim.id in wanted for claim in spec.capabilities)


def _kind(trial: Trial, call: RecordedCall) -> str:
    facts = trial.seed.declaration(call.name)
    return facts.kind if facts is not None else ""


def _without(
    trajectory: Trajectory, left_out: Callable[[RecordedTurn, RecordedCall], bool]
) -> Attempt | None:
    """Return an episode without some of its calls; None where it had none of them."""
    turns = [turn for turn in trajectory.turns if isinstance(turn, RecordedTurn)]
    kept = tuple(
        replace(turn, calls=tuple(call for call in turn.calls if not left_out(turn, call)))
        for turn in turns
    )
    if sum(len(turn.calls) for turn in kept) == trajectory.calls:
        return None
    return Attempt(replace(trajectory, turns=kept))


def _broken_rule(trial: Trial, own: Trajectory, rng: random.Random) -> Attempt | None:
    """Much is earned although a rule is broken."""
    rules = [rule.id for rule in trial.spec.constraints]
    if not rules:
        return None
    reward = round(rng.uniform(0.5, 0.99), 2)
    return Attempt(own, reward, passed=False, violations=(rng.choice(rules),))


def _unread(trial: Trial, own: Trajectory, _rng: random.Random) -> Attempt | None:
    """Nothing is read, and all is written right."""
    if not _claims(trial.spec, "C1", "C2", "C4"):
        return None
    return _without(own, lambda _turn, call: _kind(trial, call) == "read")


def _unasked(trial: Trial, own: Trajectory, _rng: random.Random) -> Attempt | None:
    """The colleague is not asked, and what only they know is right."""
    if not _claims(trial.spec, "C12", "C15"):
        return None
    return _without(own, lambda _turn, call: _kind(trial, call) == "channel")


def _stale(trial: Trial, own: Trajectory, _rng: random.Random) -> Attempt | None:
    """What changed without a word is right, although nobody looked again."""
    silent = {stage.id for stage in trial.spec.timeline if any(m.silent for m in stage.mutations)}
    if not silent or not _claims(trial.spec, "C16"):
        return None
    return _without(own, lambda turn, call: turn.stage in silent and _kind(trial, call) == "read")


def _unshown(trial: Trial, own: Trajectory, _rng: random.Random) -> Attempt | None:
    """All is read, but what came back does not hold what is written afterwards."""
    if not _claims(trial.spec, "C1", "C2"):
        return None
    turns = [turn for turn in own.turns if isinstance(turn, RecordedTurn)]
    blank = tuple(
        replace(
            turn,
            calls=tuple(
                replace(call, observation=b"{}") if _kind(trial, call) != "write" else call
                for call in turn.calls
            ),
        )
        for turn in turns
    )
    return Attempt(replace(own, turns=blank))


@dataclass(frozen=True, slots=True)
class AttemptsPlanter:
    """Attempts by which a task is no good to learn from (gate P1)."""

    name: str
    title: str
    groups: Callable[[random.Random], Sequence[Group]]
    label: str
    """What must be said of one of the policies."""
    gate: str = "P1"
    kind: Kind = "episode"
    repairable: bool = False
    also: tuple[str, ...] = ()
    upstream: str = ""

    def try_out(self, subject: Subject, rng: random.Random) -> Planted | None:
        """Count the attempts."""
        found = calibration.rates(self.groups(rng))
        state, reason = calibration.state_of(found)
        labels = {rate.label for rate in found}
        seen = state == "warned" and self.label in labels and self.label in reason
        return Planted(seen, ("P1",) if state == "warned" else (), None, reason)


def _group(policy: str, graded: int, passed: int) -> Group:
    lowest, highest = (1.0 if passed == graded else 0.2), (1.0 if passed else 0.2)
    return Group(policy, graded, passed, lowest, highest)


def _never(rng: random.Random) -> list[Group]:
    return [_group("checkpoint", rng.randrange(LEAST, 40), 0)]


def _seldom(rng: random.Random) -> list[Group]:
    """One pass among many, spread over two batches."""
    return [_group("checkpoint", rng.randrange(10, 30), 0), _group("checkpoint", 8, 1)]


def _always(rng: random.Random) -> list[Group]:
    graded = rng.randrange(LEAST, 40)
    return [_group("endpoint:teacher", graded, graded)]


def _nearly_always(rng: random.Random) -> list[Group]:
    graded = rng.randrange(11, 40)
    return [_group("checkpoint", graded, graded - 1)]


def _lucky(rng: random.Random) -> list[Group]:
    """Nobody passes; one who tried too seldom did once."""
    return [_group("checkpoint", rng.randrange(LEAST, 40), 0), _group("person", 2, 1)]


PLANTERS: Final[tuple[Planter, ...]] = (
    AttemptsPlanter("never", "Nobody ever passes", _never, "too hard"),
    AttemptsPlanter("seldom", "One pass among many attempts", _seldom, "too hard"),
    AttemptsPlanter("always", "Everybody passes", _always, "too easy"),
    AttemptsPlanter("nearly_always", "All but one attempt pass", _nearly_always, "too easy"),
    AttemptsPlanter("lucky", "Nobody passes but one who hardly tried", _lucky, "too hard"),
    EpisodePlanter("broken_rule", "Much is earned beside a broken rule", _broken_rule,
                   upstream="Claw-Eval: safety is averaged with the rest"),
    EpisodePlanter("unread", "It passes and has read nothing", _unread),
    EpisodePlanter("unasked", "It passes and has asked nobody", _unasked),
    EpisodePlanter("stale", "It passes and has not looked again", _stale),
    EpisodePlanter("unshown", "It writes what no call has shown", _unshown),
)  # fmt: skip
"""In the order of the gates."""

register(PLANTERS)
