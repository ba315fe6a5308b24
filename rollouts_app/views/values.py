"""How values of records, arguments and results are written for a reader. Everything is plain text:
templates escape it.
"""

import datetime as dt
import json
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

CLIP: Final = 64 * 1024
"""Characters of one value or result that a page shows before "load the rest"."""
_PROSE: Final = 90
_ONE_LINE: Final = 200
_SCALARS = str | int | float | bool


class Shown(NamedTuple):
    """A value as text; `kind` says in which voice: plain, prose, json, none."""

    text: str
    kind: str
    left_out: int = 0
    """Characters that were clipped."""


def shown(value: Any) -> Shown:
    """Write a value."""
    if value is None:
        return Shown("null", "none")
    if isinstance(value, bool):
        return Shown("true" if value else "false", "plain")
    if isinstance(value, str):
        if not value:
            return Shown("empty text", "none")
        prose = len(value) > _PROSE or "\n" in value
        return _clipped(value, "prose" if prose else "plain")
    if isinstance(value, int | float):
        return Shown(orjson.dumps(value).decode(), "plain")
    if isinstance(value, list) and not value:
        return Shown("none", "none")
    if isinstance(value, list) and all(isinstance(item, _SCALARS) for item in value):
        return _clipped(", ".join(shown(item).text for item in value), "plain")
    return _clipped(pretty(value), "json")


def pretty(value: Any) -> str:
    """Indented JSON."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def compact(value: Any) -> str:
    """JSON on one line where it is short, indented where it isn't."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _ONE_LINE else pretty(value)


def _clipped(text: str, kind: str) -> Shown:
    return Shown(text[:CLIP], kind, max(0, len(text) - CLIP))


def short_key(key: str) -> str:
    """The beginning of a state key: enough to tell two apart."""
    return f"{key[:4]}·{key[4:6]}" if key else ""


def moment(at: str) -> str:
    """A timestamp of the world: 20 Mar, 09:10."""
    try:
        found = dt.datetime.fromisoformat(at)
    except ValueError:
        return at
    return f"{found.day} {found:%b}, {found:%H:%M}"


def verb(tool: str) -> str:
    """A tool's name without its service: `helpdesk_close_ticket` reads close ticket."""
    _, _, rest = tool.partition("_")
    return (rest or tool).replace("_", " ")


def result_words(observation: bytes) -> str:
    """What a result holds, in a few words: 5 tickets, TK-2041 with 9 fields."""
    try:
        value = orjson.loads(observation)
    except orjson.JSONDecodeError:
        return "unreadable result"
    if isinstance(value, list):
        return _count(len(value), "item")
    if not isinstance(value, Mapping):
        return shown(value).text[:80]
    lists = [(key, item) for key, item in value.items() if isinstance(item, list)]
    if len(lists) == 1 and (len(value) <= 3 or "id" not in value):
        name, items = lists[0]
        noun = name.replace("_", " ")
        return f"{len(items)} {noun.removesuffix('s') if len(items) == 1 else noun}"
    named = next((value[key] for key in value if key == "id" or key.endswith("_id")), None)
    fields = _count(len(value), "field")
    return f"{named}, {fields}" if isinstance(named, str) else fields


def result_text(observation: bytes) -> str:
    """A whole result as text: indented JSON, or what it is where it is none."""
    try:
        return pretty(orjson.loads(observation))
    except orjson.JSONDecodeError:
        return observation.decode("utf-8", errors="replace")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
