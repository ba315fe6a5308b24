"""Where the places of a JSON text stand: JSON pointer → line, for faults shown beside the text."""

import json
import re
from typing import Final

from tasks_app.core.editing import pointer

_BLANK: Final = re.compile(r"[ \t\r\n]*")
_SCALAR: Final = re.compile(r"[^\s,\]}]+")
_DECODER: Final = json.JSONDecoder()


def lines(text: str) -> dict[str, int]:
    """The line, from 1, on which each value begins; empty for a text that is no JSON."""
    found: dict[str, int] = {}
    try:
        _value(text, _skip(text, 0), (), found)
    except (IndexError, TypeError, ValueError, RecursionError):
        return {}
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    return {place: _line(starts, position) for place, position in found.items()}


def line_of(known: dict[str, int], place: str) -> int | None:
    """The line of a place, else of the nearest one around it; None where the text is no JSON."""
    while place not in known:
        if not place:
            return None
        place = place.rpartition("/")[0]
    return known[place]


def _line(starts: list[int], position: int) -> int:
    low, high = 0, len(starts)
    while high - low > 1:
        middle = (low + high) // 2
        if starts[middle] <= position:
            low = middle
        else:
            high = middle
    return low + 1


def _skip(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return match.end() if match else position


def _value(text: str, position: int, path: tuple[str | int, ...], found: dict[str, int]) -> int:
    found[pointer(path)] = position
    if text[position] == "{":
        return _object(text, position + 1, path, found)
    if text[position] == "[":
        return _list(text, position + 1, path, found)
    if text[position] == '"':
        return _string(text, position)[1]
    match = _SCALAR.match(text, position)
    if match is None:
        raise ValueError(position)
    return match.end()


def _string(text: str, position: int) -> tuple[str, int]:
    value, end = _DECODER.raw_decode(text, position)
    if not isinstance(value, str):
        raise TypeError(position)
    return value, end


def _object(text: str, position: int, path: tuple[str | int, ...], found: dict[str, int]) -> int:
    position = _skip(text, position)
    while text[position] != "}":
        key, position = _string(text, position)
        position = _skip(text, position)
        if text[position] != ":":
            raise ValueError(position)
        position = _skip(text, _value(text, _skip(text, position + 1), (*path, key), found))
        position = _skip(text, position + 1) if text[position] == "," else position
    return position + 1


def _list(text: str, position: int, path: tuple[str | int, ...], found: dict[str, int]) -> int:
    position = _skip(text, position)
    index = 0
    while text[position] != "]":
        position = _skip(text, _value(text, position, (*path, index), found))
        position = _skip(text, position + 1) if text[position] == "," else position
        index += 1
    return position + 1
