"""Wrong values that a careless worker writes: a day off, two digits swapped, one cent, the other
enum value.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tasks_app.core import instants
from tasks_app.core.calls import Tables
from tasks_app.core.predicates import same
from tasks_app.core.samples import DUMMY_ADDRESS, Argument
from tasks_app.core.values import NUMBERS, Record

MOST_LOOKALIKES: Final = 3


class Miss(NamedTuple):
    """A wrong value and the operator that made it."""

    operator: str
    value: Any
    how: str
    """As a person reads it."""


def is_wording(value: Any) -> bool:
    """Say whether a text is free wording; a code such as CB-0731 is a value, wherever it stands."""
    if not isinstance(value, str):
        return value is None
    return " " in value.strip() or not any(character.isdigit() for character in value)


def swapped_digits(text: str) -> str | None:
    """Return a text with its last two unequal neighbour digits swapped; None if it has none."""
    for position in range(len(text) - 2, -1, -1):
        first, second = text[position], text[position + 1]
        if first.isdigit() and second.isdigit() and first != second:
            return text[:position] + second + first + text[position + 2 :]
    return None


def numbers(value: float, *, integer: bool) -> Iterator[Miss]:
    """Yield near misses of a number."""
    if integer or (isinstance(value, int) and abs(value) < 10):
        yield Miss("wrong_value", int(value) + 1, "one more")
        if value > 1:
            yield Miss("wrong_value", int(value) - 1, "one less")
    else:
        yield Miss("wrong_value", round(value + 0.01, 2), "one cent more")
        yield Miss("wrong_value", round(value - 0.01, 2), "one cent less")
    written = str(int(value)) if float(value).is_integer() else f"{value:.2f}"
    turned = swapped_digits(written)
    if turned is not None and float(turned) != value:
        other = float(turned)
        yield Miss(
            "wrong_value",
            int(other) if integer or other.is_integer() else other,
            "two digits swapped",
        )


def days(value: str) -> Iterator[Miss]:
    """Yield near misses of a date."""
    for count in (1, -1):
        yield Miss("wrong_value", instants.add_days(value, count), "a day off")


def moments(value: str) -> Iterator[Miss]:
    """Yield near misses of a timestamp."""
    for count, how in ((1440, "a day late"), (-60, "an hour early"), (60, "an hour late")):
        yield Miss("wrong_value", instants.add_minutes(value, count), how)


def lookalikes(
    tables: Tables, place: str, record_id: str, most: int = MOST_LOOKALIKES
) -> list[str]:
    """Return the ids of a collection's records that are most like one record, best first."""
    rows = tables.get(place, {})
    right = rows.get(record_id)
    if right is None:
        return [other for other in rows if other != record_id][:most]
    ranked = sorted(
        ((-_likeness(right, row), other) for other, row in rows.items() if other != record_id)
    )
    return [other for _, other in ranked[:most]]


def _likeness(left: Record, right: Record) -> int:
    return sum(
        1
        for name, value in left.items()
        if value is not None and name in right and right[name] == value
    )


def of_value(
    argument: Argument, value: Any, tables: Tables, homes: Mapping[str, Sequence[str]]
) -> Iterator[Miss]:
    """Yield near misses of one argument's value; texts that people read are left to text mutants.

    Args:
        argument: What the schema says of it.
        value: The right value.
        tables: The records, for lookalikes.
        homes: Record id → the collections that hold it.
    """
    if isinstance(value, list):
        yield from _of_list(argument, value, tables, homes)
    elif isinstance(value, Mapping):
        yield from _of_object(value, tables, homes)
    elif isinstance(value, bool):
        yield Miss("wrong_value", not value, "the opposite")
    elif isinstance(value, NUMBERS):
        yield from numbers(value, integer=argument.integer)
    elif isinstance(value, str):
        yield from _of_text(argument, value, tables, homes)


def _of_text(
    argument: Argument, value: str, tables: Tables, homes: Mapping[str, Sequence[str]]
) -> Iterator[Miss]:
    if value in homes:
        for other in lookalikes(tables, homes[value][0], value):
            yield Miss("wrong_record", other, f"{other} in place of {value}")
        return
    if argument.kind == "choice":
        others = [choice for choice in argument.choices if not same(choice, value)]
        for other in others[:3]:
            yield Miss("wrong_value", other, f"{other} in place of {value}")
    elif instants.is_date(value):
        yield from days(value)
    elif instants.is_instant(value):
        yield from moments(value)
    elif argument.kind == "email" or "@" in value:
        for other in addresses(tables, value):
            yield Miss("wrong_recipient", other, f"to {other}")
    else:
        turned = swapped_digits(value)
        if turned is not None:
            yield Miss("wrong_value", turned, "two digits swapped")
        for other in same_field(tables, value, most=2):
            yield Miss("wrong_value", other, f"{other} in place of {value}")


def _of_list(
    argument: Argument, value: list[Any], tables: Tables, homes: Mapping[str, Sequence[str]]
) -> Iterator[Miss]:
    inner = argument.item or argument
    if len(value) > 1:
        yield Miss("omit_item", value[:-1], "the last one left out")
    if value and all(isinstance(item, str) and "@" in item for item in value):
        for other in addresses(tables, value[0]):
            yield Miss("wrong_recipient", [other, *value[1:]], f"to {other}")
        yield Miss("wrong_recipient", [*value, DUMMY_ADDRESS], f"also to {DUMMY_ADDRESS}")
        return
    for position, item in enumerate(value[:3]):
        for miss in of_value(inner, item, tables, homes):
            yield miss._replace(value=[*value[:position], miss.value, *value[position + 1 :]])


def _of_object(
    value: Mapping[str, Any], tables: Tables, homes: Mapping[str, Sequence[str]]
) -> Iterator[Miss]:
    """Yield an object with one of its values wrong; its free wording is left alone."""
    for name, held in value.items():
        if is_wording(held):
            continue
        inner = Argument(name, required=True, kind="text", integer=isinstance(held, int))
        for miss in of_value(inner, held, tables, homes):
            how = f"its {name} wrong, {miss.how}"
            yield miss._replace(value={**value, name: miss.value}, how=how)


def addresses(tables: Tables, right: str, most: int = 3) -> list[str]:
    """Return other mail addresses of the records, those most like the right one first."""
    found: dict[str, None] = {}
    for rows in tables.values():
        for row in rows.values():
            for value in row.values():
                if isinstance(value, str) and "@" in value and " " not in value:
                    found.setdefault(value)
    others = [a for a in found if a.casefold() != right.casefold()]
    name = right.partition("@")[0].casefold()
    others.sort(key=lambda a: -_common(name, a.partition("@")[0].casefold()))
    return others[:most] or [DUMMY_ADDRESS]


def _common(left: str, right: str) -> int:
    count = 0
    for first, second in zip(left, right, strict=False):
        if first != second:
            break
        count += 1
    return count


def same_field(tables: Tables, value: str, most: int) -> list[str]:
    """Return other values of the field that holds a value: the next article number, the other
    queue.
    """
    for rows in tables.values():
        for row in rows.values():
            for name, held in row.items():
                if held == value:
                    found: dict[str, None] = {}
                    for other in rows.values():
                        candidate = other.get(name)
                        if isinstance(candidate, str) and candidate and not same(candidate, value):
                            found.setdefault(candidate)
                    return list(found)[:most]
    return []
