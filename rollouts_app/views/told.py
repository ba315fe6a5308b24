"""As the model sees it: what a policy was given before a turn, with its length in tokens."""

from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from rollouts_app import queries, reports
from studio.lib.tokens import TokenCounter
from studio.web.acts import Act
from studio.web.auth import require
from studio.web.errors import Conflict, NotFound
from studio.web.htmx import render_page
from studio.web.token_counts import counting_of
from tasks_app.core.spec import SpecError

SHOWN: Final = 64 * 1024
"""Characters of a message that are drawn; the rest is downloaded over the API."""


@dataclass(frozen=True)
class Part:
    """One message, or the tools as a whole."""

    number: int
    role: str
    text: str
    left_out: int
    """Characters that are not drawn."""
    characters: int
    tokens: int
    new: bool
    """Whether it came since the turn before."""


def _part(
    number: int, message: dict[str, Any], counter: TokenCounter, *, new: bool = False
) -> Part:
    content = message.get("content") or ""
    calls = [
        f"{call['function']['name']} {call['function']['arguments']}"
        for call in message.get("tool_calls", ())
    ]
    text = "\n".join([*([content] if content else []), *calls])
    return Part(
        number, message["role"], text[:SHOWN], max(0, len(text) - SHOWN), len(text),
        counter.count(text), new,
    )  # fmt: skip


@never_cache
@require_GET
@require(Act.READ)
def episode_told(request: HttpRequest, code: str) -> HttpResponse:
    """Messages and tools before `?turn=k`, counted by `?tokenizer=NAME`."""
    row = queries.get_episode(code)
    asked = request.GET.get("turn", "1")
    if not (asked.isascii() and asked.isdigit() and len(asked) < 7):
        raise NotFound(f"There is no turn {asked[:20]}.")
    try:
        told = reports.told(row, int(asked))
    except SpecError as failure:
        raise Conflict(f"{row.code} cannot be opened: {failure}") from failure
    counting = counting_of(request)
    counter = counting.counter
    old = len(told.messages)
    if told.turn > 1:
        roles = [message["role"] for message in told.messages]
        old = len(roles) - 1 - roles[::-1].index("assistant")
    parts = [
        _part(number, message, counter, new=number > old)
        for number, message in enumerate(told.messages, 1)
    ]
    tools = [
        (tool["function"]["name"], tool["function"]["description"], _pretty(tool))
        for tool in told.tools
    ]
    written = orjson.dumps(told.tools).decode()
    tool_tokens = counter.count(written)
    context = {
        "episode": row,
        "told": told,
        "parts": parts,
        "tools": tools,
        "tool_characters": len(written),
        "tool_tokens": tool_tokens,
        "tokens": sum(part.tokens for part in parts) + tool_tokens,
        "characters": sum(part.characters for part in parts) + len(written),
        "exact": counter.exact,
        "tokenizer": counter.name,
        "counting": counting,
        "previous": told.turn - 1 if told.turn > 1 else None,
        "next": told.turn + 1 if told.turn < told.turns else None,
    }
    return render_page(request, "rollouts/told.html", None, context)


def _pretty(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
