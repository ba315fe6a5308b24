"""Environment: world, task and grading behind reset, step and grade; it records what happens.

Invariants:
- A wrong action is an observation, never an exception. What raises is an EpisodeFailure: not the
  policy's doing.
- A text without tool calls ends the stage. Where the task has a colleague but no tool to reach
  them, a text that asks (it holds a question mark) goes to them while their patience lasts.
- Limits stop the episode after a whole turn, calls beyond the limit are not made; the stages that
  were not reached happen all the same before grading.
"""

from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from rollouts_app.core.errors import TaskFailure
from rollouts_app.core.messages import Message, opening
from rollouts_app.core.policy import Action
from rollouts_app.core.trajectory import RecordedCall, RecordedTurn, Trajectory, key_text
from tasks_app.core.briefing import tool_schemas
from tasks_app.core.calls import Call, anchor_keys
from tasks_app.core.grading.grade import grade
from tasks_app.core.results import Grade
from tasks_app.core.spec import Limits, TaskSpec
from tasks_app.core.values import InvalidValueError
from tasks_app.core.world.world import Seed, World

StopReason = Literal["finished", "turn_limit", "call_limit", "time_limit", "failed"]
STOP_REASONS: Final[dict[StopReason, str]] = {
    "finished": "the policy said it was done",
    "turn_limit": "the task's limit of turns was reached",
    "call_limit": "the task's limit of tool calls was reached",
    "time_limit": "the task's limit of seconds was reached",
    "failed": "something outside the policy broke; the episode has no reward",
}
_CHANNEL: Final = "message_user"
_QUESTIONS: Final = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one action led to."""

    calls: tuple[Call, ...]
    heard: str
    """The colleague's answer, or the next stage's notification; empty otherwise."""
    ended_stage: bool
    stop: StopReason | None
    """Why the episode is over; None while it goes on."""


class Environment:
    """One episode from the policy's side. Not thread-safe, one an episode."""

    def __init__(self, spec: TaskSpec, *, limits: Limits | None = None):
        self.spec = spec
        self.limits = limits or spec.limits
        try:
            self.seed = Seed.of(spec)
        except InvalidValueError as problem:
            raise TaskFailure(str(problem)) from problem
        self.tools = tool_schemas(spec, self.seed.ground.tools)
        self._talks = spec.user is not None and _CHANNEL not in spec.tools
        self.reset()

    def reset(self) -> tuple[Message, ...]:
        """Begin anew and return the opening messages."""
        self.world = World(self.seed)
        self.messages: list[Message] = list(opening(self.spec))
        self.stop: StopReason | None = None
        self.end_key = ""
        self._turns: list[RecordedTurn] = []
        return tuple(self.messages)

    @property
    def turns(self) -> int:
        """How many turns were taken."""
        return len(self._turns)

    def step(self, action: Action, *, seconds: float | None = None) -> StepResult:
        """Take one turn. Raises RuntimeError after the end; reset first.

        Args:
            action: What the policy does.
            seconds: How long it thought, for the record.
        """
        if self.stop is not None:
            raise RuntimeError(f"the episode is over: {STOP_REASONS[self.stop]}")
        stage = self.world.stage
        text = encodable(action.text)
        self.messages.append(Message("assistant", text, action.calls))
        made: list[Call] = []
        stop: StopReason | None = None
        for request in action.calls:
            if len(self.world.calls) >= self.limits.tool_calls:
                stop = "call_limit"
                break
            call = self.world.call(encodable(request.name), request.arguments)
            made.append(call)
            observed = call.observation.decode("utf-8")
            self.messages.append(Message("tool", observed, call_id=request.id))
        heard, ended = "", False
        if not action.calls:
            heard, ended = self._hear(text)
            if self.world.finished:
                stop = "finished"
        self._turns.append(
            RecordedTurn(
                index=len(self._turns),
                stage=stage,
                text=text,
                calls=tuple(
                    RecordedCall(
                        id=request.id,
                        name=encodable(request.name),
                        arguments=request.arguments,
                        observation=call.observation,
                        error=call.error,
                        state_key=key_text(call.state_key),
                        anchor_key="",  # known at the end, see `trajectory`
                    )
                    for request, call in zip(action.calls, made, strict=False)
                ),
                ends_stage=ended,
                heard=heard,
                tokens=action.tokens,
                seconds=seconds,
            )
        )
        if stop is None and len(self._turns) >= self.limits.turns:
            stop = "turn_limit"
        if stop is not None:
            self.halt(stop)
        return StepResult(tuple(made), heard, ended, stop)

    def _hear(self, text: str) -> tuple[str, bool]:
        script = self.spec.user
        if (
            self._talks
            and script is not None
            and self.world.context.rounds < script.patience
            and any(sign in text for sign in _QUESTIONS)
        ):
            heard = self.world.say(text)
            self.messages.append(Message("user", heard))
            return heard, False
        notification = self.world.reply(text)
        if notification is None:
            return "", True
        self.messages.append(Message("user", notification))
        return notification, True

    def halt(self, stop: StopReason) -> None:
        """End the episode from outside: a limit, a failure, a person who gives up."""
        self.stop = stop
        self.end_key = key_text(self.world.store.state_key())

    def grade(self) -> Grade:
        """Grade the episode; the stages that were not reached happen first, with empty replies."""
        if self.stop is None:
            self.halt("finished")
        self.world.finish()
        return grade(self.spec.checks, self.spec.constraints, self.world.evidence())

    def trajectory(self, *, policy: str, seed: int) -> Trajectory:
        """Return what was recorded so far."""
        anchors = iter(anchor_keys(self.world.calls, self.seed.ground.tools))
        turns = tuple(
            replace(
                turn,
                calls=tuple(
                    replace(call, anchor_key=key_text(anchor))
                    for call, anchor in zip(turn.calls, anchors, strict=False)
                ),
            )
            for turn in self._turns
        )
        return Trajectory(
            spec_hash=self.spec.hash,
            policy=policy,
            seed=seed,
            turns=turns,
            stop=self.stop or "",
            end_key=self.end_key,
        )

    def chat(self) -> list[dict[str, Any]]:
        """Return the conversation as an OpenAI-compatible server wants it."""
        return [message.as_chat() for message in self.messages]


def encodable(text: str) -> str:
    """Replace what UTF-8 cannot hold (lone surrogates): a policy may write anything."""
    return text.encode("utf-8", errors="replace").decode("utf-8")
