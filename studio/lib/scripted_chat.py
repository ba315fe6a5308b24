"""A client that says what it was told to say: for tests and the offline demo."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from studio.lib.chat import ChatAnswer, ChatRequest, EndpointFailure

Line = ChatAnswer | EndpointFailure
Script = Callable[[ChatRequest], Line]


@dataclass
class ScriptedChat:
    """Answers from a list, or from a function of the request; keeps what it was asked."""

    script: Iterable[Line] | Script
    asked: list[ChatRequest] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines: Iterator[Line] | None = None if callable(self.script) else iter(self.script)

    def ask(self, request: ChatRequest) -> ChatAnswer:
        """Answer the next line. Raises EndpointFailure if the script says so, or is at its end."""
        self.asked.append(request)
        if callable(self.script):
            line = self.script(request)
        else:
            line = next(
                self._lines or iter(()), EndpointFailure("server", "the script is at its end")
            )
        if isinstance(line, EndpointFailure):
            raise line
        return line
