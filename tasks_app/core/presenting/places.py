"""JSON pointers into a written spec as places that a person can go to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.editing import difference, tokens
from tasks_app.core.presenting.words import shown
from tasks_app.core.services.catalog import collections

_PARTS: Final = {
    "services": "records",
    "tools": "tools",
    "tool_aliases": "tools",
    "constraints": "constraints",
    "write_set": "constraints",
    "free": "constraints",
    "checks": "checks",
    "reference": "reference",
    "alternatives": "reference",
    "limits": "tools",
    "timeline": "timeline",
    "user": "timeline",
    "faults": "timeline",
    "clock": "timeline",
}
"""First key of a pointer → the tab (and the part of the editor) it belongs to; else request."""
_NAMES: Final = {
    "request": "request",
    "workplace": "workplace",
    "policies": "policy",
    "checks": "check",
    "constraints": "constraint",
    "reference": "step",
    "timeline": "stage",
    "write_set": "write set",
    "output_contract": "what the reply must contain",
}
_MISSING: Final = object()


@dataclass(frozen=True)
class Place:
    """Where a pointer leads."""

    words: str
    part: str
    collection: str = ""
    record: str = ""
    anchor: str = ""
    """Id of the element on the page."""


@dataclass(frozen=True)
class ChangedPlace:
    """One operation of a difference, with both values."""

    op: str
    pointer: str
    place: Place
    before: str | None
    after: str | None


def place_of(written: Mapping[str, Any], pointer: str) -> Place:
    """The place of a pointer, named by ids rather than by numbers."""
    parts = tokens(pointer)
    if not parts:
        return Place("the whole task", "request")
    if parts[0] == "services":
        return _record_place(written, parts)
    part = _PARTS.get(parts[0], "request")
    if len(parts) == 1:
        return Place(parts[0].replace("_", " "), part, anchor=f"at-{parts[0]}")
    words: list[str] = []
    value: Any = written
    anchor = f"at-{parts[0]}"
    for depth, token in enumerate(parts):
        value = _inside(value, token)
        if token.isdigit() or token == "-":  # noqa: S105 - the end of a list
            name = _name(value, int(token) if token.isdigit() else None)
            words.append(name)
            if depth == 1:
                anchor = f"at-{parts[0]}-{token}"
        else:
            words.append(_NAMES.get(token, token.replace("_", " ")))
    return Place(_joined(words), part, anchor=anchor)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[ChangedPlace, ...]:
    """The difference of two written specs, each operation with its place and both values."""
    found = []
    for operation in difference(before, after):
        pointer = operation["path"]
        op = operation["op"]
        old = _find(before, pointer) if op != "add" else _MISSING
        where = after if op == "add" else before
        found.append(
            ChangedPlace(
                op=op,
                pointer=pointer,
                place=place_of(where, pointer),
                before=None if old is _MISSING else shown(old, 400),
                after=shown(operation["value"], 400) if op != "remove" else None,
            )
        )
    return tuple(found)


def _record_place(written: Mapping[str, Any], parts: Sequence[str]) -> Place:
    if len(parts) < 3:
        return Place("records", "records")
    collection = f"{parts[1]}/{parts[2]}"
    if len(parts) == 3:
        return Place(collection, "records", collection)
    record = _find_parts(written, parts[:4])
    declared = collections().get(collection)
    id_field = declared.id_field if declared is not None else "id"
    record_id = str(record.get(id_field, "")) if isinstance(record, Mapping) else ""
    words = f"{collection} {record_id or f'record {parts[3]}'}"
    field = " ".join(
        f"{int(token) + 1}" if token.isdigit() else token.replace("_", " ") for token in parts[4:]
    )
    return Place(
        f"{words} · {field}" if field else words, "records", collection, record_id, "record"
    )


def _name(value: Any, index: int | None) -> str:
    if isinstance(value, Mapping):
        for key in ("id", "title", "name", "tool", "address"):
            if isinstance(value.get(key), str):
                return str(value[key])
        if "reply" in value:
            return "the reply"
    if isinstance(value, str):
        return shown(value, 60)
    return "" if index is None else str(index + 1)


def _joined(words: Sequence[str]) -> str:
    """ "check", "k1", "weight" → "check k1 · weight"."""
    text = words[0]
    for position, word in enumerate(words[1:], start=1):
        if not word:
            continue
        text += f" {word}" if position == 1 or words[position - 1] == "policy" else f" · {word}"
    return text


def _inside(value: Any, token: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(token, _MISSING)
    if isinstance(value, list | tuple) and token.isdigit() and int(token) < len(value):
        return value[int(token)]
    return _MISSING


def _find(document: Any, pointer: str) -> Any:
    return _find_parts(document, tokens(pointer))


def _find_parts(document: Any, parts: Sequence[str]) -> Any:
    for token in parts:
        document = _inside(document, token)
    return document
