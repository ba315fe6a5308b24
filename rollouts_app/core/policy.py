"""The seam between an episode and whatever chooses actions: teacher, checkpoint, script, person."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rollouts_app.core.messages import Message, ToolRequest


@dataclass(frozen=True, slots=True)
class Action:
    """What a policy does in one turn: text and calls; without calls the text ends the stage."""

    text: str = ""
    calls: tuple[ToolRequest, ...] = ()
    tokens: int | None = None
    """Completion tokens; None where nobody counted."""


class Policy(Protocol):
    """Chooses actions. One object an episode; it may keep state."""

    @property
    def name(self) -> str:
        """How it is listed: `reference`, `null`, `endpoint:NAME`."""

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Action:
        """Return the next action, given all messages so far and the offered tools.

        Raises EpisodeFailure where the failure is not the policy's doing.
        """
