"""The type of JSON values, and the few questions asked of them everywhere.

Use ``JsonValue`` in signatures and in pydantic models alike; it is pydantic's own recursive
type, so a value that passed a model needs no second check.

Invariants: functions here never change their argument, and never recurse deeper than
``MAX_DEPTH`` (hostile nesting is refused, not survived).
"""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from pydantic import JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]
JsonScalar: TypeAlias = str | int | float | bool | None

__all__ = [
    "MAX_DEPTH",
    "JsonObject",
    "JsonScalar",
    "JsonValue",
    "Leaf",
    "depth",
    "leaves",
    "unstorable",
    "written_value",
]

MAX_DEPTH = 64
_SURROGATE = re.compile("[\ud800-\udfff]")


class Leaf(NamedTuple):
    """A scalar and where it stands: ``path`` reads like ``items[2].total``."""

    path: str
    value: JsonScalar


def depth(value: JsonValue, *, limit: int = MAX_DEPTH) -> int:
    """Levels of nesting: 0 for a scalar, 1 for a flat list. Stops counting at ``limit`` + 1."""
    level = 0
    layer: list[JsonValue] = [value]
    while layer:
        deeper: list[JsonValue] = []
        found = False
        for item in layer:
            if isinstance(item, dict):
                found = True
                deeper.extend(item.values())
            elif isinstance(item, list):
                found = True
                deeper.extend(item)
        if not found:
            return level
        level += 1
        if level > limit:
            return level
        layer = deeper
    return level


def leaves(value: JsonValue, path: str = "", *, limit: int = MAX_DEPTH) -> Iterator[Leaf]:
    """Every scalar with its path, in document order; raises ValueError beyond ``limit`` levels."""
    if isinstance(value, dict | list) and limit <= 0:
        raise ValueError(f"nested too deeply at {path or 'the top'}")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, f"{path}.{key}" if path else key, limit=limit - 1)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from leaves(item, f"{path}[{index}]", limit=limit - 1)
    else:
        yield Leaf(path, value)


def unstorable(value: object) -> tuple[str, str] | None:
    """The first place that no database keeps, as ``/a/0/b``, and why; None where there is none."""
    layer: list[tuple[str, object]] = [("", value)]
    for _ in range(MAX_DEPTH + 1):
        deeper: list[tuple[str, object]] = []
        for place, item in layer:
            if isinstance(item, dict):
                for key, inner in item.items():
                    if why := _why_not(key):
                        return place or "/", f"a name of it {why}"
                    deeper.append((f"{place}/{key}", inner))
            elif isinstance(item, list):
                deeper.extend((f"{place}/{index}", inner) for index, inner in enumerate(item))
            elif why := _why_not(item):
                return place or "/", why
        if not deeper:
            return None
        layer = deeper
    return layer[0][0][:200], "is nested too deeply"


def _why_not(value: object) -> str:
    if isinstance(value, str):
        if "\x00" in value:
            return "holds NUL"
        if _SURROGATE.search(value):
            return "holds half of a surrogate pair"
    if isinstance(value, int) and not -(2**63) <= value < 2**64:
        return "is a whole number of more than 64 bits"
    return ""


def written_value(text: str) -> JsonValue:
    """What a person wrote as a value: JSON where it is that, otherwise the text itself.

    So a word needs no quotes. What is nested beyond reading stays text, like other broken JSON.
    """
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value
