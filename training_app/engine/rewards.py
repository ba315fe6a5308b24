"""Reward functions of TRL that read our environments.

GRPO, Dr. GRPO and GiGPO get one reward, the total. GDPO gets one function a component; what they
return are contributions, so they sum to the total and all reward weights are 1.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from tasks_app.core.results import GRADED
from training_app.engine.environments import Settled, ToolEnvironment

RewardFunction = Callable[..., list[float]]


class Rewards:
    """Settles rollouts and gives out their rewards; remembers the last batch."""

    def __init__(self, ends: Sequence[int]):
        """Make them.

        Args:
            ends: Token ids that end a completion; one without is truncated.
        """
        self._ends = frozenset(ends)
        self.last: list[Settled] = []
        self._completions: list[Any] = []

    def settle(
        self,
        environments: Sequence[ToolEnvironment],
        completions: Sequence[Any],
        completion_ids: Sequence[Sequence[int]],
    ) -> list[Settled]:
        """Settle a batch; settling it again changes nothing."""
        self._completions = list(completions)
        self.last = [
            environment._settle(completion, truncated=not ids or ids[-1] not in self._ends)
            for environment, completion, ids in zip(
                environments, completions, completion_ids, strict=True
            )
        ]
        return self.last

    def samples(self) -> list[dict[str, Any]]:
        """The last batch as lines of a samples file."""
        return [
            {
                "spec_hash": one.spec_hash,
                "group": one.group,
                "reward": one.reward,
                "passed": one.passed,
                "truncated": one.truncated,
                "contributions": dict(one.contributions),
                "violations": list(one.violations),
                "messages": completion,
            }
            for one, completion in zip(self.last, self._completions, strict=True)
        ]

    def total(self) -> list[RewardFunction]:
        """One function: the total."""

        def reward(
            completions: Sequence[Any],
            completion_ids: Sequence[Sequence[int]],
            environments: Sequence[ToolEnvironment],
            log_metric: Callable[[str, float], None],
            **more: Any,
        ) -> list[float]:
            settled = self.settle(environments, completions, completion_ids)
            for name in GRADED:
                log_metric(f"contributions/{name}", _mean([s.contributions[name] for s in settled]))
            _log(settled, log_metric)
            return [one.reward for one in settled]

        return [reward]

    def by_component(self) -> list[RewardFunction]:
        """One function a component, in the order of grades."""
        return [self._component(name, first=not i) for i, name in enumerate(GRADED)]

    def _component(self, name: str, *, first: bool) -> RewardFunction:
        def component(
            completions: Sequence[Any],
            completion_ids: Sequence[Sequence[int]],
            environments: Sequence[ToolEnvironment],
            log_metric: Callable[[str, float], None],
            **more: Any,
        ) -> list[float]:
            settled = self.settle(environments, completions, completion_ids)
            if first:
                _log(settled, log_metric)
                log_metric("total", _mean([one.reward for one in settled]))
            return [one.contributions[name] for one in settled]

        component.__name__ = name
        return component


def _log(settled: Sequence[Settled], log_metric: Callable[[str, float], None]) -> None:
    log_metric("violations", _mean([float(bool(one.violations)) for one in settled]))
    log_metric("passed", _mean([float(one.passed) for one in settled]))
    log_metric("truncated", _mean([float(one.truncated) for one in settled]))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
