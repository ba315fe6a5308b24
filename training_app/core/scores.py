"""What an evaluation came to: scores with intervals, and what changed against another one.

Invariants:
- Missing is not zero. An episode that broke outside the policy, or was not run, is counted apart
  and is in no mean; a task without a scored episode is in none either.
- The unit is the task: episodes of one task are averaged first, and intervals are drawn over tasks.
- Two evaluations are compared on the tasks that both scored, task by task.
- The same results give the same numbers: every interval is drawn from one fixed seed.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from studio.lib.jsonvalue import JsonObject
from studio.lib.stats import DRAWS, bootstrap, mean, pass_at_k, pass_hat_k, wilson

Kind = Literal["new_instances", "new_families", "seen"]
"""What is new in a task for the model; ``seen``: it was trained on it."""
MIXED: Final = "mixed"
SEED: Final = 20_310_101
K: Final = (1, 3)
MOST_CHANGES: Final = 500
"""Tasks that a report names as worse or better; it counts them all."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One episode."""

    episode: str
    state: Literal["graded", "failed", "queued"]
    """Failed: outside the policy. Queued: not run yet."""
    reward: float | None = None
    passed: bool | None = None
    violations: int = 0


@dataclass(frozen=True, slots=True)
class TaskResult:
    """All episodes of one task version of a suite."""

    version: int
    """Pairs it with the same version in another evaluation."""
    task: str
    title: str
    family: str
    kind: Kind
    attempts: tuple[Attempt, ...]

    @property
    def graded(self) -> tuple[Attempt, ...]:
        """Those that count."""
        return tuple(one for one in self.attempts if one.state == "graded")

    @property
    def score(self) -> float | None:
        """The share of graded episodes that passed; None without any."""
        return mean([float(bool(one.passed)) for one in self.graded])

    @property
    def reward(self) -> float | None:
        """The mean reward of the graded episodes; None without any."""
        return mean([one.reward for one in self.graded if one.reward is not None])

    @property
    def worst(self) -> str:
        """The episode that shows best what went wrong; empty without a graded one."""
        if not self.graded:
            return ""
        return min(self.graded, key=lambda one: (bool(one.passed), one.reward or 0.0)).episode


def summarise(results: Sequence[TaskResult], *, draws: int = DRAWS) -> JsonObject:
    """The whole and each family: scores with intervals, pass@k and pass^k, what is missing.

    Args:
        results: The tasks.
        draws: Resamples of an interval; fewer are quicker and rougher.
    """
    families = sorted({(result.kind, result.family) for result in results})
    kinds = sorted({result.kind for result in results})
    return {
        **_part(results, draws),
        "split_kind": kinds[0] if len(kinds) == 1 else MIXED if kinds else None,
        "splits": [
            {"split_kind": kind, **_part([r for r in results if r.kind == kind], draws)}
            for kind in kinds
        ],
        "families": [
            {
                "family": family,
                "split_kind": kind,
                **_part([r for r in results if (r.kind, r.family) == (kind, family)], draws),
            }
            for kind, family in families
        ],
    }


def _part(results: Sequence[TaskResult], draws: int) -> JsonObject:
    scores = [result.score for result in results if result.score is not None]
    rewards = [result.reward for result in results if result.reward is not None]
    attempts = [one for result in results for one in result.attempts]
    graded = [one for one in attempts if one.state == "graded"]
    low, high = _interval(scores, draws)
    reward_low, reward_high = _spread(rewards, draws)
    return {
        "tasks": len(results),
        "scored_tasks": len(scores),
        "episodes": len(attempts),
        "graded": len(graded),
        "failed": sum(one.state == "failed" for one in attempts),
        "missing": sum(one.state == "queued" for one in attempts),
        "passed": sum(bool(one.passed) for one in graded),
        "violations": sum(one.violations for one in graded),
        "score": mean(scores),
        "low": low,
        "high": high,
        "reward": mean(rewards),
        "reward_low": reward_low,
        "reward_high": reward_high,
        **{f"pass_at_{k}": _over_tasks(results, pass_at_k, k) for k in K},
        **{f"pass_{k}": _over_tasks(results, pass_hat_k, k) for k in K},
    }


def _interval(scores: Sequence[float], draws: int) -> tuple[float | None, float | None]:
    """Bootstrap over tasks. Where all agree a resample shows no spread, and Wilson's stands in."""
    if scores and min(scores) == max(scores):
        known = wilson(scores[0] * len(scores), len(scores))
        return (known.low, known.high) if known is not None else (None, None)
    return _spread(scores, draws)


def _spread(values: Sequence[float], draws: int) -> tuple[float | None, float | None]:
    return bootstrap(values, random.Random(SEED), draws=draws) or (None, None)


def _over_tasks(
    results: Sequence[TaskResult], chance: Callable[[int, int, int], float | None], k: int
) -> float | None:
    """The mean over tasks with at least k graded episodes; None without one."""
    found = [
        chance(len(result.graded), sum(bool(one.passed) for one in result.graded), k)
        for result in results
    ]
    return mean([value for value in found if value is not None])


def compare(
    before: Sequence[TaskResult], after: Sequence[TaskResult], *, draws: int = DRAWS
) -> JsonObject:
    """The paired difference, after less before, and the tasks that changed, the worst first."""
    earlier = {result.version: result for result in before}
    pairs = [
        (earlier[result.version], result)
        for result in after
        if result.version in earlier
        and result.score is not None
        and earlier[result.version].score is not None
    ]
    changes = sorted(
        (_change(one, other) for one, other in pairs if _moved(one, other)),
        key=lambda change: (change.score, change.reward, change.task),
    )
    worse = [change for change in changes if (change.score, change.reward) < (0, 0)]
    better = [change for change in reversed(changes) if (change.score, change.reward) > (0, 0)]
    still = [other.score for one, other in pairs if not _moved(one, other)]
    return {
        **_difference(pairs, draws),
        "unpaired": len({r.version for r in (*before, *after)}) - len(pairs),
        "worse": len(worse),
        "better": len(better),
        "same": len(still),
        "same_passed": still.count(1.0),
        "same_failed": still.count(0.0),
        "families": [
            {
                "family": family,
                "split_kind": kind,
                **_difference(
                    [p for p in pairs if (p[1].kind, p[1].family) == (kind, family)], draws
                ),
            }
            for kind, family in sorted({(other.kind, other.family) for _, other in pairs})
        ],
        "regressions": [change.row() for change in worse[:MOST_CHANGES]],
        "gains": [change.row() for change in better[:MOST_CHANGES]],
    }


@dataclass(frozen=True, slots=True)
class _Change:
    task: str
    title: str
    family: str
    score: float
    reward: float
    was: float
    now: float
    episode_was: str
    episode_now: str

    def row(self) -> JsonObject:
        return {
            "task": self.task,
            "title": self.title,
            "family": self.family,
            "before": self.was,
            "after": self.now,
            "difference": self.score,
            "reward_difference": self.reward,
            "episode_before": self.episode_was,
            "episode_after": self.episode_now,
        }


def _moved(one: TaskResult, other: TaskResult) -> bool:
    return (one.score, one.reward) != (other.score, other.reward)


def _change(one: TaskResult, other: TaskResult) -> _Change:
    was, now = one.score or 0.0, other.score or 0.0
    return _Change(
        task=other.task,
        title=other.title,
        family=other.family,
        score=now - was,
        reward=(other.reward or 0.0) - (one.reward or 0.0),
        was=was,
        now=now,
        episode_was=one.worst,
        episode_now=other.worst,
    )


def _difference(pairs: Sequence[tuple[TaskResult, TaskResult]], draws: int) -> JsonObject:
    """Of scores and of rewards; both are there, only scored tasks are paired."""
    scores = [(other.score or 0.0) - (one.score or 0.0) for one, other in pairs]
    rewards = [(other.reward or 0.0) - (one.reward or 0.0) for one, other in pairs]
    low, high = _spread(scores, draws)
    reward_low, reward_high = _spread(rewards, draws)
    before = mean([one.score or 0.0 for one, _ in pairs])
    return {
        "tasks": len(pairs),
        "before": before,
        "after": mean([other.score or 0.0 for _, other in pairs]),
        "difference": math.fsum(scores) / len(scores) if scores else None,
        "low": low,
        "high": high,
        "reward_difference": mean(rewards),
        "reward_low": reward_low,
        "reward_high": reward_high,
    }
