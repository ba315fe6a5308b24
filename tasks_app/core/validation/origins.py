"""Which records a computed value comes from: the data flow of a reference's bindings."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tasks_app.core.functions import FunctionError
from tasks_app.core.predicates import PredicateError, compile_where
from tasks_app.core.program import BindingError, bind, is_binding
from tasks_app.core.validation.trace import is_number, leaves
from tasks_app.core.values import LISTS, MISSING, OBJECTS, split_path


class _Item(NamedTuple):
    value: Any
    record: str
    """The innermost record that holds it; the step's name where no record is known there."""


def records_behind(value: Any, scope: Mapping[str, Any], homes: Mapping[str, Any]) -> set[str]:
    """Return the ids of the records that the bindings inside a value read.

    Args:
        value: An argument as the reference writes it.
        scope: What the steps gave.
        homes: The ids of all records.
    """
    found: set[str] = set()
    _add(value, scope, homes, found)
    return found


def _add(value: Any, scope: Mapping[str, Any], homes: Mapping[str, Any], found: set[str]) -> None:
    if isinstance(value, OBJECTS):
        if "from" in value and is_binding(value):
            if value["from"] != "clock":
                found.update(item.record for item in _chosen(value, scope, homes))
            return
        for item in value.values():
            _add(item, scope, homes, found)
    elif isinstance(value, LISTS):
        for item in value:
            _add(item, scope, homes, found)


def _chosen(
    binding: Mapping[str, Any], scope: Mapping[str, Any], homes: Mapping[str, Any]
) -> list[_Item]:
    source = binding["from"]
    held = scope.get(source, MISSING)
    if held is MISSING:
        return []
    items = [_Item(held, _record(held, source, homes))]
    for part in split_path(str(binding.get("path", ""))):
        items = [inner for item in items for inner in _into(item, part, homes)]
    if not {"where", "take", "field", "sort"} & binding.keys():
        return items
    rows = [
        _Item(row, _record(row, item.record, homes))
        for item in items
        for row in (item.value if isinstance(item.value, LISTS) else (item.value,))
    ]
    try:
        if isinstance(binding.get("where"), Mapping):
            test = compile_where(bind(binding["where"], scope))
            rows = [row for row in rows if test(row.value)]
    except (BindingError, FunctionError, PredicateError):
        return []
    if binding.get("take") in ("first", "last"):
        return rows[:1] if binding["take"] == "first" else rows[-1:]
    return rows


def _into(item: _Item, part: str, homes: Mapping[str, Any]) -> list[_Item]:
    value = item.value
    inner: Sequence[Any]
    if part == "*":
        inner = list(value.values()) if isinstance(value, OBJECTS) else value
    elif isinstance(value, OBJECTS):
        inner = [value[part]] if part in value else []
    elif isinstance(value, LISTS) and part.isdigit():
        inner = value[int(part) : int(part) + 1]
    else:
        inner = []
    if not isinstance(inner, LISTS):
        return []
    return [_Item(found, _record(found, item.record, homes)) for found in inner]


def _record(value: Any, above: str, homes: Mapping[str, Any]) -> str:
    if isinstance(value, OBJECTS):
        for key in ("id", "sku", "path"):
            name = value.get(key)
            if isinstance(name, str) and name in homes:
                return name
    return above


def reckoned(value: float, read: Sequence[tuple[str, Any]]) -> tuple[str, str] | None:
    """Return two records of which two numbers give a value, for references without bindings.

    Sums, differences, products and a price less a percentage; sums of a whole column too.

    Args:
        value: What is written.
        read: The records read before it, with their ids.
    """
    numbers = [(name, float(n)) for name, row in read for n in leaves(row) if is_number(n)][:400]
    for place, (first, a) in enumerate(numbers):
        for second, b in numbers[place + 1 :]:
            if first != second and _gives(a, b, value):
                return first, second
    columns: dict[str, list[tuple[str, float]]] = {}
    for name, row in read:
        if isinstance(row, OBJECTS):
            for field, n in row.items():
                if is_number(n):
                    columns.setdefault(field, []).append((name, float(n)))
    for held in columns.values():
        if len(held) > 2 and abs(sum(n for _, n in held) - value) < 0.005:
            return held[0][0], held[1][0]
    return None


def _gives(a: float, b: float, value: float) -> bool:
    made = (a + b, a - b, b - a, a * b, a * (100 - b) / 100, b * (100 - a) / 100)
    return any(abs(result - value) < 0.005 for result in made)
