"""Finding out what an endpoint takes, by asking it four short things."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from studio.lib.chat import Abilities, ChatRequest, EndpointFailure, OpenAIChat, RetryPolicy

_PIXEL: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9"
    "awAAAABJRU5ErkJggg=="
)
_CLOCK: Final[Mapping[str, Any]] = {
    "type": "function",
    "function": {
        "name": "clock_get_time",
        "description": "Tell the time in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "The city."}},
            "required": ["city"],
        },
    },
}


def probe(chat: OpenAIChat) -> Abilities:
    """Return what the endpoint takes. Raises EndpointFailure if it answers nothing at all."""
    patient = replace(chat, retry=RetryPolicy(attempts=2), abilities=Abilities(seed=True))
    try:
        plain = patient.ask(_say("Answer with the one word: yes"))
        seed = True
    except EndpointFailure as failure:
        if failure.kind != "refused":
            raise
        patient = replace(patient, abilities=Abilities())
        plain = patient.ask(_say("Answer with the one word: yes"))
        seed = False
    try:
        called = patient.ask(
            replace(
                _say("Use the tool twice at once: the time in Odense and the time in Porto."),
                tools=(_CLOCK,),
            )
        )
        tools, parallel = True, len(called.calls) >= 2
    except EndpointFailure as failure:
        if failure.kind not in ("refused", "server"):
            raise
        tools = parallel = False
    return Abilities(
        tools=tools,
        parallel_calls=parallel,
        images=_takes_images(patient),
        seed=seed,
        context=patient.context_length(),
        latency=plain.seconds,
    )


def _say(text: str) -> ChatRequest:
    return ChatRequest(messages=({"role": "user", "content": text},), max_tokens=64, seed=1)


def _takes_images(chat: OpenAIChat) -> bool:
    content = [
        {"type": "text", "text": "Which colour is this?"},
        {"type": "image_url", "image_url": {"url": _PIXEL}},
    ]
    request = ChatRequest(messages=({"role": "user", "content": content},), max_tokens=16)
    try:
        chat.ask(request)
    except EndpointFailure as failure:
        if failure.kind not in ("refused", "server"):
            raise
        return False
    return True
