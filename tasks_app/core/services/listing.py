"""What list and search tools share: word search, filters, order and pages over records.

Records come from strangers: a field may be missing or of another type. Everything here copes with
that, so that no tool answers `internal_error`.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar

from pydantic import StringConstraints

from tasks_app.core.calls import ToolError
from tasks_app.core.instants import day_of, parse_instant
from tasks_app.core.values import LEAVES, NUMBERS, OBJECTS, Record

R = TypeVar("R")
Page = Mapping[str, Any]
"""What a list or search tool answers: the records under their plural noun, and `total`."""

Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
"""A short value: a filter, a name, a status."""

DEFAULT_LIMIT: Final = 50


def text_of(record: Any) -> str:
    """Return all texts and numbers of a record in lower case, one a line; kept with the record."""
    known: str | None = getattr(record, "text", None)
    if known is not None:
        return known
    pieces: list[str] = []
    _gather(record, pieces)
    text = "\n".join(pieces).casefold()
    if type(record) is Record:
        record.text = text
    return text


def summary_of(record: Any, fields: tuple[str, ...]) -> Record:
    """Return the named fields that a record has, in that order; kept with the record."""
    kept: dict[tuple[str, ...], Record] | None = getattr(record, "summaries", None)
    if kept is not None and fields in kept:
        return kept[fields]
    made = Record({name: record[name] for name in fields if name in record})
    if kept is not None:
        kept[fields] = made
    elif type(record) is Record:
        record.summaries = {fields: made}
    return made


def _gather(value: Any, pieces: list[str]) -> None:
    if isinstance(value, str):
        pieces.append(value)
    elif isinstance(value, LEAVES):
        if value is not None and not isinstance(value, bool):
            pieces.append(str(value))
    elif isinstance(value, list):
        for item in value:
            _gather(item, pieces)
    elif isinstance(value, OBJECTS):
        for item in value.values():
            _gather(item, pieces)
    else:
        pieces.append(str(value))


def search(rows: Iterable[R], query: str | None) -> list[R]:
    """Return the records in which every word of the query occurs somewhere, in record order."""
    words = query.casefold().split() if query else []
    if not words:
        return list(rows)
    chosen: list[R] = []
    for row in rows:
        text = getattr(row, "text", None) or text_of(row)
        for word in words:
            if word not in text:
                break
        else:
            chosen.append(row)
    return chosen


def select(rows: Iterable[R], **wanted: str | None) -> list[R]:
    """Return the records whose fields equal the filters that are given; text ignores case."""
    chosen = list(rows)
    for field, value in wanted.items():
        if value is not None:
            folded = value.casefold()
            kept: list[R] = []
            for row in chosen:
                found = _field(row, field)
                if found == value or _says(found, folded):
                    kept.append(row)
            chosen = kept
    return chosen


def _says(value: Any, folded: str) -> bool:
    if isinstance(value, str):
        return value.casefold() == folded
    if isinstance(value, list):
        return any(_says(item, folded) for item in value)
    return type(value) in (int, float) and str(value) == folded


def _field(row: Any, field: str) -> Any:
    return row.get(field)


def in_days(rows: Iterable[R], field: str, since: str | None, until: str | None) -> list[R]:
    """Return the records whose date or timestamp lies on or between two days; both may be open."""
    if since is None and until is None:
        return list(rows)
    chosen: list[R] = []
    for row in rows:
        value = _field(row, field)
        day = day_of(value) if isinstance(value, str) else None
        if day is not None and (since is None or since <= day) and (until is None or day <= until):
            chosen.append(row)
    return chosen


def moment(value: Any) -> str:
    """Return a date or timestamp as text that sorts by time whatever its offset; else empty."""
    return _moment(value) if isinstance(value, str) else ""


@functools.lru_cache(maxsize=1024)
def _moment(text: str) -> str:
    instant = parse_instant(text)
    return text if instant is None else instant.isoformat()


def by_time(rows: Iterable[R], field: str, id_field: str = "id") -> list[R]:
    """Return the records by a date or timestamp, then by id; those without one come first."""
    chosen: list[Any] = list(rows)
    if len(chosen) > 1:
        chosen.sort(key=lambda row: (moment(row.get(field)), row.get(id_field)))
    return chosen


def page(noun: str, rows: Sequence[R], limit: int, fields: tuple[str, ...] | None = None) -> Page:
    """Return the first records, as summaries of the named fields where a record has them."""
    shown: list[Any] = list(rows[:limit])
    if fields is not None:
        shown = [summary_of(row, fields) for row in shown]
    return {noun: shown, "total": len(rows)}


def number(value: Any) -> float:
    """Return a number as it is, 0 for anything else."""
    return value if isinstance(value, NUMBERS) and not isinstance(value, bool) else 0


def objects(value: Any) -> list[Mapping[str, Any]]:
    """Return the objects of a list that a record may hold, none for anything else."""
    return [item for item in value if isinstance(item, OBJECTS)] if isinstance(value, list) else []


def state_of(record: Any) -> str:
    """Return a record's status in lower case, empty where it has none."""
    status = record.get("status")
    return status.lower() if isinstance(status, str) else ""


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None. Raises ToolError `invalid_value` if none is left."""
    kept = {name: value for name, value in values.items() if value is not None}
    if not kept:
        raise ToolError("invalid_value", f"give at least one of {', '.join(values)}")
    return kept
