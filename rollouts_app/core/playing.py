"""A person as the policy: acts kept one by one, the episode made again from them on every request.

Invariant: nothing of a game under way is held in memory. Its acts are the whole truth; a world is
rebuilt from them in milliseconds, so a restart, a second tab or a take-back loses nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rollouts_app.core.environment import Environment
from rollouts_app.core.episode import Outcome
from rollouts_app.core.policy import Action
from rollouts_app.core.scripted import request_of
from rollouts_app.core.trajectory import RecordedTurn, Trajectory
from tasks_app.core.program import Act
from tasks_app.core.spec import TaskSpec
from tasks_app.core.world.world import World

POLICY: Final = "person"


class UnusableError(ValueError):
    """A trajectory that no reference program can express; the message says why."""


def resume(spec: TaskSpec, acts: Sequence[Act]) -> Environment:
    """Make the episode again from what was done so far. Raises TaskFailure without a world."""
    environment = Environment(spec)
    for number, act in enumerate(acts, start=1):
        if environment.stop is not None:
            break
        environment.step(action_of(act, number))
    return environment


def action_of(act: Act, number: int) -> Action:
    """An act as an action of its own turn."""
    if act.tool is None:
        return Action(act.reply)
    return Action("", (request_of(act, number),))


def outcome_of(environment: Environment, *, seconds: float | None) -> Outcome:
    """What a finished game came to."""
    grade = environment.grade()
    trajectory = environment.trajectory(policy=POLICY, seed=0)
    return Outcome(
        trajectory=trajectory,
        grade=grade,
        stop=environment.stop or "finished",
        failure=None,
        turns=environment.turns,
        calls=trajectory.calls,
        tokens=None,
        seconds=seconds,
    )


def reference_of(spec: TaskSpec, trajectory: Trajectory) -> list[Mapping[str, Any]]:
    """The calls of a trajectory as the steps of a reference program, under the studio's names.

    Calls that failed are left out: they wrote nothing, and the runner repeats what only failed for
    the moment. Raises UnusableError for a damaged turn or a talk outside a tool.
    """
    world = World(spec)
    steps: list[Mapping[str, Any]] = []
    for turn in trajectory.turns:
        if not isinstance(turn, RecordedTurn):
            raise UnusableError(f"turn {turn.index + 1} is damaged")
        for recorded in turn.calls:
            call = world.call(recorded.name, recorded.arguments)
            if call.ok:
                name = f"step{len(steps) + 1}"
                steps.append({"id": name, "tool": call.tool, "arguments": dict(call.arguments)})
        if turn.calls:
            continue
        if not turn.ends_stage:
            raise UnusableError(
                f"turn {turn.index + 1} talks with the colleague outside a tool; "
                "a reference has tools and replies only"
            )
        steps.append({"reply": turn.text})
        world.reply(turn.text)
    return steps
