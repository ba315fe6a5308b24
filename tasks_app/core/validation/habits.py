"""What nearly all records of a collection hold in a field, by which one that holds something else
is seen: a text among days, numbers or lists, a list among texts and numbers.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core.instants import ISO_DAY
from tasks_app.core.validation.record_types import number_fields
from tasks_app.core.values import LISTS, NUMBERS, Items

_RARE: Final = 3
"""At most one of so many others is the odd one."""
_DAY, _TEXT, _EMPTY, _NUMBER, _LIST = range(5)
_KINDS: Final[Mapping[type, int]] = {
    **dict.fromkeys(NUMBERS, _NUMBER),
    **dict.fromkeys((*LISTS, Items), _LIST),
}


class Habits(NamedTuple):
    """Fields of which nearly all records that have them hold the same kind of value."""

    dated: frozenset[str]
    """Days, and other texts in a few."""
    figures: frozenset[str]
    """Numbers, by what the service declares or by all but a few texts."""
    listed: frozenset[str]
    """Lists, and texts in a few."""
    single: frozenset[str]
    """Texts or numbers, and lists in a few."""


def habits_of(home: str, records: Sequence[Mapping[str, Any]]) -> dict[str, Habits]:
    """Return what the records of a collection hold, for each sheet or table whose rows they are."""
    together: dict[str, list[Mapping[str, Any]]] = {}
    service = home.partition("/")[0]
    for record in records:
        own = together.setdefault(table_of(record), [])
        if not is_heading(service, record):
            own.append(record)
    numbers = number_fields().get(home, frozenset())
    return {table: _habits(own, numbers) for table, own in together.items()}


def table_of(record: Mapping[str, Any]) -> str:
    """Return the sheet or table that a record is a row of; empty for all other records."""
    return str(record.get("sheet_id") or record.get("table_id") or "")


def is_heading(service: str, record: Mapping[str, Any]) -> bool:
    """Say whether a record is the line of a spreadsheet that names its columns."""
    return service == "sheets" and record.get("row") == 1


def _habits(records: Iterable[Mapping[str, Any]], numbers: frozenset[str]) -> Habits:
    seen: dict[str, list[int]] = {}
    for record in records:
        for field, value in record.items():
            if type(value) is str:
                day = value[4:5] == "-" and ISO_DAY.match(value)
                kind = _DAY if day else _TEXT if value else _EMPTY
            else:
                kind = _KINDS.get(type(value), -1)
                if kind < 0:
                    continue
            counts = seen.get(field)
            if counts is None:
                counts = seen[field] = [0, 0, 0, 0, 0]
            counts[kind] += 1
    dated, figures, listed, single = set(), set(numbers), set(), set()
    for field, (days, texts, empty, figured, lists) in seen.items():
        words = days + texts
        if _is_rare(texts, days):
            dated.add(field)
        if _is_rare(words + empty, figured):
            figures.add(field)
        if lists and _is_rare(words, lists):
            listed.add(field)
        if lists and _is_rare(lists, words + empty + figured):
            single.add(field)
    return Habits(frozenset(dated), frozenset(figures), frozenset(listed), frozenset(single))


def _is_rare(odd: int, others: int) -> bool:
    return 0 < odd <= others // _RARE
