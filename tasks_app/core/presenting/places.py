"""JSON pointers into a written spec as places that a person can go to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.editing import difference, tokens
from tasks_app.core.presenting.anchors import RECORD, Spot, in_editor, on_page
from tasks_app.core.presenting.words import around, plain, shown
from tasks_app.core.services.catalog import collections

_NOUNS: Final = {
    "checks": "check",
    "constraints": "constraint",
    "reference": "step",
    "alternatives": "alternative",
    "timeline": "stage",
    "tools": "tool",
    "policies": "policy",
    "capabilities": "capability",
    "write_set": "write set",
}
"""List of the spec → what one entry of it is called."""
_INSIDE: Final = {
    "expect": ("expected", "what is expected"),
    "where": ("condition", "which records"),
    "text": ("must say", "what must be said"),
    "forbidden": ("must not say", "what must not be said"),
    "arguments": ("argument", "arguments"),
    "because": ("reason for", "reasons"),
}
"""Part of an entry → how what lies in it is called, and how it is called itself."""
_SENTENCES: Final = ("explain", "sentence", "title")
_IDS: Final = ("id", "name", "tool", "address")
_LONGEST_NAME: Final = 60
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
    editing: Spot | None = None
    """Where the editor has it; None: under the same names."""


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
    if parts and parts[0] == "services":
        return _record_place(written, parts)
    if not parts:
        words = "the whole task"
    elif len(parts) == 1:
        words = parts[0].replace("_", " ")
    else:
        words = _words(written, parts)
    shows = on_page(written, parts)
    return Place(words, shows.part, anchor=shows.anchor, editing=in_editor(written, parts))


def changes(
    before: Mapping[str, Any], after: Mapping[str, Any], longest: int = 400
) -> tuple[ChangedPlace, ...]:
    """The difference of two written specs, each operation with its place and both values, long
    ones cut to where they differ.
    """
    found = []
    for operation in difference(before, after):
        pointer = operation["path"]
        op = operation["op"]
        old = _find(before, pointer) if op != "add" else _MISSING
        where = after if op == "add" else before
        was = None if old is _MISSING else shown(old, longest)
        now = shown(operation["value"], longest) if op != "remove" else None
        if was is not None and now is not None:
            was, now = around(plain(old), plain(operation["value"]), longest)
        found.append(
            ChangedPlace(
                op=op,
                pointer=pointer,
                place=place_of(where, pointer),
                before=was,
                after=now,
            )
        )
    return tuple(found)


def _record_place(written: Mapping[str, Any], parts: Sequence[str]) -> Place:
    part, panel = on_page(written, parts)
    if len(parts) < 3:
        return Place("records", part, anchor=panel)
    collection = f"{parts[1]}/{parts[2]}"
    if len(parts) == 3:
        return Place(collection, part, collection, anchor=panel)
    record = _find_parts(written, parts[:4])
    declared = collections().get(collection)
    id_field = declared.id_field if declared is not None else "id"
    record_id = str(record.get(id_field, "")) if isinstance(record, Mapping) else ""
    words = f"{collection} {record_id or f'record {parts[3]}'}"
    field = " ".join(
        f"{int(token) + 1}" if token.isdigit() else token.replace("_", " ") for token in parts[4:]
    )
    if field:
        words = f"{words}, {field}"
    return Place(words, part, collection, record_id, RECORD if record_id else panel)


def _words(written: Mapping[str, Any], parts: Sequence[str]) -> str:
    """ "checks", "3", "expect", "amount" → "check “Refund is 42.10”, expected amount"."""
    depth = 2 if parts[0] == "workplace" and parts[1] == "policies" and len(parts) > 2 else 1
    owner, inner = parts[depth - 1], parts[depth]
    value = _find_parts(written, parts[: depth + 1])
    if _is_index(inner):
        head = f"{_NOUNS.get(owner, owner.replace('_', ' '))} {_name(value, inner)}".strip()
    elif "reply" in (owner, inner):
        head = "the reply"
    else:
        head = f"{owner} {inner}".replace("_", " ")
    tail = _tail(value, parts[depth + 1 :])
    return f"{head}, {tail}" if tail else head


def _tail(value: Any, parts: Sequence[str]) -> str:
    words = []
    for position, token in enumerate(parts):
        value = _inside(value, token)
        last = position == len(parts) - 1
        if _is_index(token):
            nested = isinstance(value, list | tuple)
            if nested and not last:
                continue  # the group goes without saying: its piece is named
            words.append(f"group {int(token) + 1}" if nested else _name(value, token))
        else:
            plain = token.replace("_", " ")
            holds = not isinstance(value, str)  # a policy's text is just its text
            within, itself = _INSIDE.get(token, (plain, plain)) if holds else (plain, plain)
            words.append(itself if last else within)
    return " ".join(word for word in words if word)


def _name(value: Any, token: str) -> str:
    """What a person calls an entry: its sentence, else its id, else its number."""
    if isinstance(value, Mapping):
        for key in _SENTENCES:
            if isinstance(value.get(key), str) and value[key]:
                return f"“{shown(value[key], _LONGEST_NAME)}”"
        for key in _IDS:
            if isinstance(value.get(key), str):
                return shown(value[key], _LONGEST_NAME)
        if "reply" in value:
            return "the reply"
    if isinstance(value, str):
        return shown(value, _LONGEST_NAME)
    return str(int(token) + 1) if token.isdigit() else ""


def _is_index(token: str) -> bool:
    return token.isdigit() or token == "-"  # noqa: S105 - the end of a list


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
