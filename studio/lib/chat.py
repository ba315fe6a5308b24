"""Talking to a language model behind an OpenAI-compatible endpoint: one request form, one answer
form.

A `ChatClient` turns a `ChatRequest` into a `ChatAnswer` or raises `EndpointFailure`. What a model
says is
data, however odd (unparsable arguments, unknown tools, nothing at all); what a *server* does wrong
is a
failure with its own words and a kind. The client sends only what the endpoint's probe found
supported.

Clock, randomness and waiting are passed in, so that tests neither sleep nor guess.
"""

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol
from urllib.parse import urlsplit

import httpx2
import orjson

from studio.lib.chat_limits import MOST_BYTES, OversizedAnswer, bound
from studio.lib.hashing import content_hash

if TYPE_CHECKING:
    # The library takes nearly half a second to load. Whoever asks a model pays for it, and not each
    # process that knows what an answer is; so the functions below load it.
    import openai

FailureKind = Literal[
    "unreachable",
    "timeout",
    "rate_limited",
    "wrong_key",
    "refused",
    "broken_answer",
    "server",
    "budget",
]
RETRIED: Final[frozenset[FailureKind]] = frozenset(
    {"unreachable", "timeout", "rate_limited", "broken_answer", "server"}
)
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
MOST_TOKENS: Final = 10_000_000
"""Of one call, on either side; a server that counts more does not count."""
Message = Mapping[str, Any]
"""One message in the form of the chat completions API."""


class EndpointFailure(Exception):
    """A call that gave no answer; never a reward of 0, always retried or reported."""

    def __init__(self, kind: FailureKind, message: str, *, retry_after: float | None = None):
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        """The server's own words, where there are any."""
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model wrote it: the arguments are its text, perhaps no JSON at all."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a model said."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    refusal: str = ""
    finish: str = "stop"
    """`stop`, `tool_calls`, `length` (cut off), `content_filter` or what the server calls it."""
    usage: Usage = Usage()
    seconds: float = 0.0

    def message(self) -> dict[str, Any]:
        """Return it as the assistant message that goes back into the conversation."""
        body: dict[str, Any] = {"role": "assistant", "content": self.text or None}
        if self.calls:
            body["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.calls
            ]
        elif body["content"] is None:
            body["content"] = ""
        return body


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What is asked. `draw` tells apart calls that ask the same: episode and turn."""

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    draw: str = ""

    def key(self, endpoint: str, model: str) -> str:
        """Return the content key under which the answer is stored and found again."""
        return content_hash(
            {
                "endpoint": endpoint,
                "model": model,
                "messages": [dict(message) for message in self.messages],
                "tools": [dict(tool) for tool in self.tools],
                "sampling": [self.temperature, self.top_p, self.max_tokens, self.seed],
                "draw": self.draw,
            }
        )


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a probe found an endpoint to take."""

    tools: bool = True
    parallel_calls: bool = False
    images: bool = False
    seed: bool = False
    context: int | None = None
    """Tokens it says it can read; None where it does not say."""
    latency: float | None = None
    """Seconds of a short answer."""


class ChatClient(Protocol):
    """Whatever answers a request."""

    def ask(self, request: ChatRequest) -> ChatAnswer:
        """Answer. Raises EndpointFailure."""


@dataclass
class Budget:
    """A hard stop in calls and tokens, shared by threads. None: no limit."""

    calls: int | None = None
    tokens: int | None = None
    used_calls: int = 0
    used_tokens: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def take(self) -> None:
        """Count a call that is about to be made. Raises EndpointFailure `budget`."""
        with self._lock:
            if self.calls is not None and self.used_calls >= self.calls:
                raise EndpointFailure("budget", f"the budget of {self.calls} calls is spent")
            if self.tokens is not None and self.used_tokens >= self.tokens:
                raise EndpointFailure("budget", f"the budget of {self.tokens} tokens is spent")
            self.used_calls += 1

    def count(self, usage: Usage) -> None:
        """Count the tokens of an answer."""
        with self._lock:
            self.used_tokens += usage.prompt + usage.completion


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long to wait: exponential back-off with full jitter, Retry-After obeyed."""

    attempts: int = 5
    first: float = 0.5
    """Seconds before the second attempt, at most."""
    longest: float = 30.0

    def delay(self, attempt: int, failure: EndpointFailure, rng: random.Random) -> float:
        """Return the seconds to wait after the attempt with that number (from 1)."""
        if failure.retry_after is not None:
            return min(failure.retry_after, self.longest) * (1 + rng.random() * 0.1)
        return rng.random() * min(self.longest, self.first * 2.0 ** (attempt - 1))


@dataclass
class OpenAIChat:
    """A client of one endpoint and model. Thread-safe; keeps its connections."""

    base_url: str
    model: str
    api_key: str
    abilities: Abilities = Abilities()
    timeout: float = 120.0
    """Seconds until an answer begins, and again until it ends."""
    most_bytes: int = MOST_BYTES
    """Of an answer; a longer one is not read to its end."""
    retry: RetryPolicy = RetryPolicy()
    budget: Budget = field(default_factory=Budget)
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    wait: Callable[[float], object] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        from openai import DefaultHttpxClient, OpenAI

        # the retries are ours: the library's own would hide how often an answer was asked for
        self._client = OpenAI(
            base_url=self.base_url,
            api_key=self.api_key or "none",
            timeout=self.timeout,
            max_retries=0,
            # an allowed host must not be able to send the request on to one that is not
            http_client=DefaultHttpxClient(
                timeout=self.timeout,
                follow_redirects=False,
                # what runs on this machine is not behind its proxy
                trust_env=urlsplit(self.base_url).hostname not in LOOPBACK,
                headers={"Accept-Encoding": "identity"},
                event_hooks={"response": [self._bound]},
            ),
        )

    def _bound(self, response: httpx2.Response) -> None:
        until = self.clock() + self.timeout
        bound(response, most=self.most_bytes, until=until, clock=self.clock)

    def __del__(self) -> None:
        # a client that was handed in is not closed by the library
        with suppress(AttributeError):
            self._client.close()

    def ask(self, request: ChatRequest) -> ChatAnswer:
        """Ask until there is an answer or the attempts are used up. Raises EndpointFailure."""
        attempt = 1
        while True:
            self.budget.take()
            try:
                answer = self._ask_once(request)
            except EndpointFailure as failure:
                if failure.kind not in RETRIED or attempt >= self.retry.attempts:
                    raise
                self.wait(self.retry.delay(attempt, failure, self.rng))
                attempt += 1
                continue
            self.budget.count(answer.usage)
            return answer

    def _ask_once(self, request: ChatRequest) -> ChatAnswer:
        import openai

        started = self.clock()
        try:
            # Not completions.create: turning typed parameters and answers over costs more than
            # all the rest of a call, and what a server says is read leniently here anyway.
            body = self._client.post(
                "/chat/completions",
                cast_to=object,
                content=orjson.dumps(self.body(request), option=orjson.OPT_NON_STR_KEYS),
            )
        except openai.OpenAIError as problem:
            raise failure_of(problem) from problem
        except ValueError as problem:  # an answer that is no JSON
            raise EndpointFailure("broken_answer", f"the answer is no JSON: {problem}") from problem
        except RecursionError as problem:
            raise EndpointFailure("broken_answer", "the answer is nested too deeply") from problem
        return read_answer(body, self.clock() - started)

    def body(self, request: ChatRequest) -> dict[str, Any]:
        """Return exactly what is sent: nothing that the endpoint was not found to take."""
        body: dict[str, Any] = {"model": self.model, "messages": list(request.messages)}
        if request.tools and self.abilities.tools:
            body["tools"] = list(request.tools)
        for name in ("temperature", "top_p", "max_tokens"):
            value = getattr(request, name)
            if value is not None:
                body[name] = value
        if request.seed is not None and self.abilities.seed:
            body["seed"] = request.seed
        return body

    def context_length(self) -> int | None:
        """Return what the server says of the model's context, None where it says nothing."""
        import openai

        try:
            listed = self._client.models.list()
        except (openai.OpenAIError, ValueError, RecursionError):
            return None
        for model in listed.data or ():
            if model.id == self.model:
                for name in ("max_model_len", "context_length", "context_window"):
                    value = (model.model_extra or {}).get(name)
                    if isinstance(value, int):
                        return value
        return None

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def failure_of(problem: "openai.OpenAIError") -> EndpointFailure:
    """Name what went wrong by its kind, in the server's words."""
    import openai

    if isinstance(problem, openai.APITimeoutError):
        return EndpointFailure("timeout", "the endpoint did not answer in time")
    if isinstance(problem, openai.APIConnectionError):
        cause = problem.__cause__ or problem
        if isinstance(cause, OversizedAnswer):
            return EndpointFailure("broken_answer", str(cause))
        return EndpointFailure("unreachable", f"the endpoint cannot be reached: {cause}")
    if isinstance(problem, openai.APIStatusError):
        words = _words(problem)
        status = problem.status_code
        if status in (401, 403):
            return EndpointFailure("wrong_key", f"the endpoint refused the key ({status}): {words}")
        if status == 429:
            after = problem.response.headers.get("retry-after")
            return EndpointFailure(
                "rate_limited", f"too many requests: {words}", retry_after=_seconds(after)
            )
        if status in (408, 504):
            return EndpointFailure("timeout", f"the endpoint timed out ({status}): {words}")
        if status >= 500:
            return EndpointFailure("server", f"the endpoint failed ({status}): {words}")
        return EndpointFailure("refused", f"the endpoint refused the request ({status}): {words}")
    if isinstance(problem, openai.APIResponseValidationError):
        return EndpointFailure("broken_answer", f"the answer has no known form: {problem}")
    return EndpointFailure("server", str(problem))


def _words(problem: "openai.APIStatusError") -> str:
    body = problem.body
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, Mapping) else inner
        if isinstance(said, str):
            return said[:500]
    return str(problem.message)[:500]


def _seconds(text: str | None) -> float | None:
    try:
        return max(0.0, float(text)) if text is not None else None
    except ValueError:
        return None


def read_answer(body: object, seconds: float) -> ChatAnswer:
    """Read a completion leniently. Raises EndpointFailure `broken_answer` if there is no
    message in it.
    """
    choices = _object(body).get("choices")
    choice = _object(choices[0]) if isinstance(choices, list) and choices else {}
    message = choice.get("message")
    if not isinstance(message, dict):
        raise EndpointFailure("broken_answer", "the answer holds no message")
    written = message.get("tool_calls")
    calls = []
    for number, call in enumerate(written if isinstance(written, list) else ()):
        function = _object(call).get("function")
        if not isinstance(function, dict):
            continue
        arguments = function.get("arguments")
        calls.append(
            ToolCall(
                id=str(_object(call).get("id") or f"call_{number}"),
                name=str(function.get("name") or ""),
                arguments=arguments if isinstance(arguments, str) else "",
            )
        )
    reasoning = message.get("reasoning_content") or message.get("reasoning") or ""
    usage = _object(_object(body).get("usage"))
    return ChatAnswer(
        text=_text(message.get("content")),
        calls=tuple(calls),
        reasoning=reasoning if isinstance(reasoning, str) else "",
        refusal=_text(message.get("refusal")),
        finish=str(choice.get("finish_reason") or "stop")[:40],
        usage=Usage(
            prompt=_count(usage.get("prompt_tokens")),
            completion=_count(usage.get("completion_tokens")),
        ),
        seconds=seconds,
    )


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):  # some servers answer in parts
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value <= MOST_TOKENS else 0
