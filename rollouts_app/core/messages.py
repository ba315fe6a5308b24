"""The conversation with a policy. What it is told at first is ``tasks_app.core.briefing``'s."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tasks_app.core.briefing import request_text, system_prompt
from tasks_app.core.spec import TaskSpec

Role = Literal["system", "user", "assistant", "tool"]


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """A tool call as the policy asks for it."""

    id: str
    """Unique within an episode; pairs the request with its observation."""
    name: str
    arguments: bytes
    """The text as the policy wrote it; perhaps not JSON."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation."""

    role: Role
    content: str = ""
    calls: tuple[ToolRequest, ...] = ()
    """Of an assistant's message."""
    call_id: str = ""
    """Of a tool's message: the request it answers."""

    def as_chat(self) -> dict[str, Any]:
        """The message as an OpenAI-compatible server wants it."""
        body: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.calls:
            body["content"] = self.content or None
            body["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": call.name,
                        "arguments": call.arguments.decode("utf-8", errors="replace"),
                    },
                }
                for call in self.calls
            ]
        if self.role == "tool":
            body["tool_call_id"] = self.call_id
        return body


def opening(spec: TaskSpec) -> tuple[Message, ...]:
    """The messages an episode begins with: system prompt and request."""
    return (
        Message("system", system_prompt(spec)),
        Message("user", request_text(spec)),
    )


def as_chat(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """All messages in the form of an OpenAI-compatible server."""
    return [message.as_chat() for message in messages]
