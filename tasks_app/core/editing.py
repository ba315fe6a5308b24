"""Edits of written specs as RFC 6902 JSON Patches: the difference of two, and applying one.

Invariants: ``apply(before, difference(before, after)) == after``; neither function changes its
argument; a patch that does not fit raises ``PatchError`` naming the operation and the place, and
nothing is half-applied.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Document = Any
Change = dict[str, Any]
"""One operation: {"op", "path"} and "value" or "from"."""


class PatchError(ValueError):
    """An operation that does not fit the document."""

    def __init__(self, number: int, place: str, message: str) -> None:
        super().__init__(f"operation {number} at {place or '/'}: {message}")
        self.number = number
        self.place = place
        self.message = message


def difference(before: Document, after: Document) -> list[Change]:
    """Return operations that turn ``before`` into ``after``; the same ones in every process."""
    changes: list[Change] = []
    _compare(before, after, "", changes)
    return changes


def apply(document: Document, patch: Iterable[Mapping[str, Any]]) -> Document:
    """Return a changed copy. Raises PatchError."""
    result = copy.deepcopy(_plain(document))
    for number, operation in enumerate(patch):
        result = _apply_one(result, operation, number)
    return result


def tokens(path: str) -> list[str]:
    """Return the parts of a JSON pointer, unescaped."""
    if not path:
        return []
    return [part.replace("~1", "/").replace("~0", "~") for part in path.lstrip("/").split("/")]


def pointer(parts: Iterable[str | int]) -> str:
    """Write parts as a JSON pointer."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in parts)


def _plain(value: Document) -> Document:
    """Lists and dictionaries only: frozen specs hold mappings and tuples."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _same(first: Document, second: Document) -> bool:
    # True == 1 in Python, yet they are different JSON.
    if isinstance(first, bool) != isinstance(second, bool):
        return False
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(
            _same(value, second[key]) for key, value in first.items()
        )
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second)


def _compare(before: Document, after: Document, path: str, changes: list[Change]) -> None:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        changes.extend(
            {"op": "remove", "path": path + pointer([key])} for key in before if key not in after
        )
        for key, value in after.items():
            place = path + pointer([key])
            if key in before:
                _compare(before[key], value, place, changes)
            else:
                changes.append({"op": "add", "path": place, "value": _plain(value)})
    elif isinstance(before, list | tuple) and isinstance(after, list | tuple):
        _compare_lists(before, after, path, changes)
    elif not _same(before, after):
        changes.append({"op": "replace", "path": path, "value": _plain(after)})


def _compare_lists(
    before: Sequence[Any], after: Sequence[Any], path: str, changes: list[Change]
) -> None:
    """Keep what both ends share, so that one record added at the front is one operation."""
    start = 0
    while start < min(len(before), len(after)) and _same(before[start], after[start]):
        start += 1
    end = 0
    shortest = min(len(before), len(after)) - start
    while end < shortest and _same(before[-1 - end], after[-1 - end]):
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    for offset, (left, right) in enumerate(zip(old, new, strict=False)):
        _compare(left, right, f"{path}/{start + offset}", changes)
    changes.extend(
        {"op": "remove", "path": f"{path}/{start + index}"}
        for index in range(len(old) - 1, len(new) - 1, -1)
    )
    changes.extend(
        {"op": "add", "path": f"{path}/{start + index}", "value": _plain(new[index])}
        for index in range(len(old), len(new))
    )


def _apply_one(document: Document, operation: Mapping[str, Any], number: int) -> Document:
    kind = operation.get("op")
    path = operation.get("path")
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise PatchError(number, str(path), "the path is a JSON pointer such as /checks/0/weight")
    if kind in ("add", "replace", "test") and "value" not in operation:
        raise PatchError(number, path, f"{kind} needs a value")
    if kind == "test":
        if not _same(_find(document, path, number), operation["value"]):
            raise PatchError(number, path, "holds another value than the patch was made for")
        return document
    if kind == "remove":
        return _remove(document, path, number)
    if kind in ("add", "replace"):
        value = copy.deepcopy(_plain(operation["value"]))
        return _put(document, path, value, number, replace=kind == "replace")
    if kind in ("move", "copy"):
        source = operation.get("from")
        if not isinstance(source, str):
            raise PatchError(number, path, f"{kind} needs a place to take from")
        value = copy.deepcopy(_find(document, source, number))
        if kind == "move":
            document = _remove(document, source, number)
        return _put(document, path, value, number, replace=False)
    raise PatchError(number, path, f"unknown operation {kind!r}")


def _find(document: Document, path: str, number: int) -> Document:
    for part in tokens(path):
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(part, len(document) - 1, path, number)]
        else:
            raise PatchError(number, path, f"there is no {part!r}")
    return document


def _parent(document: Document, path: str, number: int) -> tuple[Document, str]:
    head, _, last = path.rpartition("/")
    return _find(document, head, number), tokens(f"/{last}")[0]


def _remove(document: Document, path: str, number: int) -> Document:
    if not path:
        raise PatchError(number, path, "the whole cannot be removed")
    holder, last = _parent(document, path, number)
    if isinstance(holder, dict) and last in holder:
        del holder[last]
    elif isinstance(holder, list):
        del holder[_index(last, len(holder) - 1, path, number)]
    else:
        raise PatchError(number, path, f"there is no {last!r}")
    return document


def _put(document: Document, path: str, value: Document, number: int, *, replace: bool) -> Document:
    if not path:
        return value
    holder, last = _parent(document, path, number)
    if isinstance(holder, dict):
        if replace and last not in holder:
            raise PatchError(number, path, f"there is no {last!r}")
        holder[last] = value
    elif isinstance(holder, list):
        if replace:
            holder[_index(last, len(holder) - 1, path, number)] = value
        elif last == "-":
            holder.append(value)
        else:
            holder.insert(_index(last, len(holder), path, number), value)
    else:
        raise PatchError(number, path, "the place above is neither a list nor an object")
    return document


def _index(part: str, largest: int, path: str, number: int) -> int:
    if not part.isascii() or not part.isdigit() or (len(part) > 1 and part[0] == "0"):
        raise PatchError(number, path, f"{part!r} is no position in a list")
    index = int(part)
    if index > largest:
        raise PatchError(number, path, f"the list ends before position {index}")
    return index
