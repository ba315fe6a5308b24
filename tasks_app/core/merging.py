"""A three-way merge of written specs: what two people changed since the same version.

Objects are merged key by key; lists whose entries carry ids (records, checks, constraints, steps)
entry by entry; anything else is one value. A value that both changed differently is a conflict.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tasks_app.core.editing import pointer

_MISSING: Final = object()


@dataclass(frozen=True)
class Conflict:
    """A value that both changed; MISSING values are None with ``…_gone`` set."""

    key: str
    """Its place, with ids in place of positions; names the choice in a form."""
    words: str
    base: Any
    mine: Any
    theirs: Any
    mine_gone: bool
    theirs_gone: bool


@dataclass(frozen=True)
class Merge:
    """The merged document, with the writer's own value (or the chosen one) at each conflict."""

    document: Any
    conflicts: tuple[Conflict, ...]


def merge(base: Any, mine: Any, theirs: Any, *, take_theirs: Sequence[str] = ()) -> Merge:
    """Merge two changed copies of ``base``.

    Args:
        base: What both began with.
        mine: The writer's own.
        theirs: What was saved meanwhile.
        take_theirs: Keys of the conflicts that are settled for the other side.
    """
    merger = _Merger(frozenset(take_theirs))
    document = merger.value(base, mine, theirs, ())
    return Merge(None if document is _MISSING else document, tuple(merger.conflicts))


class _Merger:
    def __init__(self, take_theirs: frozenset[str]) -> None:
        self.take_theirs = take_theirs
        self.conflicts: list[Conflict] = []

    def value(self, base: Any, mine: Any, theirs: Any, path: tuple[str, ...]) -> Any:
        if _equal(mine, theirs) or _equal(base, theirs):
            return mine
        if _equal(base, mine):
            return theirs
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            known = base if isinstance(base, Mapping) else {}
            return self._object(known, mine, theirs, path)
        if _by_id(mine) and _by_id(theirs) and (_by_id(base) or not base or base is _MISSING):
            return self._entries(() if base is _MISSING else base or (), mine, theirs, path)
        return self._conflict(base, mine, theirs, path)

    def _object(
        self,
        base: Mapping[str, Any],
        mine: Mapping[str, Any],
        theirs: Mapping[str, Any],
        path: tuple[str, ...],
    ) -> dict[str, Any]:
        merged = {}
        for key in dict.fromkeys([*theirs, *mine]):
            found = self.value(
                base.get(key, _MISSING),
                mine.get(key, _MISSING),
                theirs.get(key, _MISSING),
                (*path, key),
            )
            if found is not _MISSING:
                merged[key] = found
        return merged

    def _entries(
        self,
        base: Sequence[Any],
        mine: Sequence[Any],
        theirs: Sequence[Any],
        path: tuple[str, ...],
    ) -> list[Any]:
        before, own, other = (
            {entry["id"]: entry for entry in entries} for entries in (base, mine, theirs)
        )
        merged = []
        for entry_id in dict.fromkeys([*other, *own]):
            found = self.value(
                before.get(entry_id, _MISSING),
                own.get(entry_id, _MISSING),
                other.get(entry_id, _MISSING),
                (*path, entry_id),
            )
            if found is not _MISSING:
                merged.append(found)
        return merged

    def _conflict(self, base: Any, mine: Any, theirs: Any, path: tuple[str, ...]) -> Any:
        key = pointer(path)
        self.conflicts.append(
            Conflict(
                key,
                " · ".join(part.replace("_", " ") for part in path) or "the whole task",
                None if base is _MISSING else base,
                None if mine is _MISSING else mine,
                None if theirs is _MISSING else theirs,
                mine is _MISSING,
                theirs is _MISSING,
            )
        )
        return theirs if key in self.take_theirs else mine


def _by_id(value: Any) -> bool:
    """Whether it is a list whose entries are told apart by ids."""
    if not isinstance(value, list | tuple) or not value:
        return False
    ids = [entry.get("id") for entry in value if isinstance(entry, Mapping)]
    return (
        len(ids) == len(value)
        and all(isinstance(entry_id, str) for entry_id in ids)
        and len(set(ids)) == len(ids)
    )


def _equal(first: Any, second: Any) -> bool:
    if first is _MISSING or second is _MISSING:
        return first is second
    return bool(first == second) and isinstance(first, bool) == isinstance(second, bool)
