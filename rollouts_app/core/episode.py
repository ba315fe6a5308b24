"""One attempt of a policy at a task, within the task's limits, from the request to the grade."""

from collections.abc import Callable
from dataclasses import dataclass

from rollouts_app.core.environment import Environment, StopReason
from rollouts_app.core.errors import EpisodeFailure
from rollouts_app.core.policy import Policy
from rollouts_app.core.trajectory import Trajectory
from tasks_app.core.results import Grade
from tasks_app.core.spec import Limits, TaskSpec


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an episode came to."""

    trajectory: Trajectory
    grade: Grade | None
    """None after a failure: not scored, never 0."""
    stop: StopReason
    failure: EpisodeFailure | None
    turns: int
    calls: int
    tokens: int | None
    """Completion tokens of all turns; None where nobody counted."""
    seconds: float | None
    """By the clock that was passed in; None without one."""

    @property
    def reward(self) -> float | None:
        """The total of the grade."""
        return None if self.grade is None else self.grade.total


def run_episode(
    spec: TaskSpec,
    policy: Policy,
    *,
    seed: int = 0,
    limits: Limits | None = None,
    clock: Callable[[], float] | None = None,
) -> Outcome:
    """Let a policy work until it is done, a limit is reached or something outside it breaks.

    Args:
        spec: The task.
        policy: A fresh policy object.
        seed: Recorded beside the trajectory.
        limits: Instead of the task's own.
        clock: Seconds that only grow; without one nothing is timed and `seconds` is no limit.
    """
    environment = Environment(spec, limits=limits)
    began = clock() if clock is not None else 0.0
    tokens: int | None = None
    failure: EpisodeFailure | None = None
    while environment.stop is None:
        asked = clock() if clock is not None else 0.0
        if clock is not None and asked - began > environment.limits.seconds:
            environment.halt("time_limit")
            break
        try:
            action = policy.act(environment.messages, environment.tools)
        except EpisodeFailure as broken:
            failure = broken
            environment.halt("failed")
            break
        if action.tokens is not None:
            tokens = (tokens or 0) + action.tokens
        environment.step(action, seconds=clock() - asked if clock is not None else None)
    stop = environment.stop
    trajectory = environment.trajectory(policy=policy.name, seed=seed)
    return Outcome(
        trajectory=trajectory,
        grade=None if failure is not None else environment.grade(),
        stop=stop if stop is not None else "finished",
        failure=failure,
        turns=environment.turns,
        calls=trajectory.calls,
        tokens=tokens,
        seconds=clock() - began if clock is not None else None,
    )
