"""A policy behind a language model: what the model says becomes an action, however odd it is.

Invariants:
- Nothing that a model writes raises: broken arguments, unknown tools, several calls, refusals,
  empty and cut-off replies are the action as it stands. Only a server that does not answer raises.
- Calls are numbered by us: models repeat ids, and ours must be the same when stored answers are
  played again.
- Time is the time of the answers, so that waiting for a busy server costs the policy nothing and a
  resumed episode counts what it counted before.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rollouts_app.core.environment import encodable
from rollouts_app.core.errors import EndpointFailure
from rollouts_app.core.messages import Message, ToolRequest, opening
from rollouts_app.core.policy import Action
from rollouts_app.core.trajectory import RecordedTurn
from studio.lib.chat import ChatAnswer, ChatClient, ChatRequest
from studio.lib.chat import EndpointFailure as ChatFailure
from tasks_app.core.spec import TaskSpec

PREFIX: Final = "endpoint:"
_LONGEST_NAME: Final = 64
_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class Sampling:
    """How answers are drawn; None: as the server does by itself."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None


class TeacherPolicy:
    """One episode of a model. `draw` tells its questions apart from those of its siblings."""

    def __init__(
        self,
        name: str,
        chat: ChatClient,
        *,
        draw: str,
        seed: int = 0,
        sampling: Sampling | None = None,
    ):
        self.name = name
        self.seconds = 0.0
        """Of all answers so far."""
        self._chat = chat
        self._draw = draw
        self._seed = seed
        self._sampling = sampling or Sampling()
        self._turns = 0
        self._asked = 0

    def clock(self) -> float:
        """Seconds that the model took so far."""
        return self.seconds

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Action:
        """Ask the model. Raises errors.EndpointFailure where its server gives no answer."""
        request = ChatRequest(
            messages=[as_sent(message) for message in messages],
            tools=tools,
            temperature=self._sampling.temperature,
            top_p=self._sampling.top_p,
            max_tokens=self._sampling.max_tokens,
            seed=self._seed,
            draw=f"{self._draw}/{self._turns}",
        )
        try:
            answer = self._chat.ask(request)
        except ChatFailure as failure:
            raise EndpointFailure(f"{failure.kind}: {failure.message}") from failure
        self._turns += 1
        self.seconds += answer.seconds
        return self._action(answer)

    def _action(self, answer: ChatAnswer) -> Action:
        calls = []
        for call in answer.calls:
            self._asked += 1
            calls.append(
                ToolRequest(
                    f"call_{self._asked}",
                    encodable(call.name),
                    encodable(call.arguments).encode("utf-8"),
                )
            )
        counted = answer.usage.prompt or answer.usage.completion
        return Action(
            text=encodable(answer.text or answer.refusal),
            calls=tuple(calls),
            tokens=answer.usage.completion if counted else None,
        )


def as_sent(message: Message) -> dict[str, Any]:
    """Return a message as servers take it back.

    Many refuse a conversation that holds what their own model wrote a turn before: arguments that
    are no JSON object, a name of odd characters. Such a call is sent back in a form they take; the
    trajectory keeps it as it was.
    """
    body = message.as_chat()
    for call in body.get("tool_calls", ()):
        function = call["function"]
        name = _NOT_IN_NAMES.sub("_", function["name"])[:_LONGEST_NAME]
        function["name"] = name or "unnamed"
        if not _is_object(function["arguments"]):
            function["arguments"] = json.dumps({"not_json": function["arguments"]})
    return body


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def conversation(spec: TaskSpec, turns: Sequence[RecordedTurn]) -> list[dict[str, Any]]:
    """What a server is sent after these turns: the opening, and whatever was said and heard since.

    Args:
        spec: The task.
        turns: The recorded turns so far, from the first one on.
    """
    messages: list[Message] = list(opening(spec))
    for turn in turns:
        requests = tuple(ToolRequest(call.id, call.name, call.arguments) for call in turn.calls)
        messages.append(Message("assistant", turn.text, requests))
        messages += [
            Message("tool", call.observation.decode("utf-8", errors="replace"), call_id=call.id)
            for call in turn.calls
        ]
        if turn.heard:
            messages.append(Message("user", turn.heard))
    return [as_sent(message) for message in messages]
