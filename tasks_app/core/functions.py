"""The closed list of pure functions that a reference program may use. A family adds none without a
test.
"""

import functools
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, Final

from tasks_app.core import instants
from tasks_app.core.predicates import compile_regex, order, same
from tasks_app.core.values import LISTS, LONGEST_TEXT, MISSING, NUMBERS, follow

LONGEST_SEARCH: Final = 31 * 24 * 60
"""Minutes in which `free_slot` looks: dates far apart would keep it busy for hours."""
WEEKDAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class FunctionError(ValueError):
    """A function cannot answer: the message says which and why."""


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, NUMBERS):
        raise FunctionError(f"{value!r} is not a number")
    return value


def _rounded(value: float) -> float:
    exact = round(value + 0.0, 6)
    money = round(exact + (1e-9 if exact >= 0 else -1e-9), 2)
    return int(money) if float(money).is_integer() else money


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise FunctionError(f"{value!r} is not text")
    return value


def _list(value: Any) -> Sequence[Any]:
    if not isinstance(value, LISTS):
        raise FunctionError(f"{value!r} is not a list")
    return value


def shown(value: Any) -> str:
    """Return a value as it reads inside a text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}" if abs(value) < 1e15 else str(value)
    if isinstance(value, LISTS):
        return _joined(", ", map(shown, value))
    return str(value)


def _joined(separator: str, parts: Iterable[str]) -> str:
    """Join texts; what is filled or joined may be filled in again and would grow without end."""
    found, length = [], 0
    for part in parts:
        length += len(part) + len(separator)
        if length > LONGEST_TEXT:
            raise FunctionError(f"a made text has at most {LONGEST_TEXT:,} characters")
        found.append(part)
    return separator.join(found)


def sum_(numbers: Any) -> float:
    """Sum of a list, rounded to cents."""
    return _rounded(sum(_number(n) for n in _list(numbers)))


def sub(left: Any, right: Any) -> float:
    """left − right, rounded to cents."""
    return _rounded(_number(left) - _number(right))


def mul(left: Any, right: Any) -> float:
    """left × right, rounded to cents."""
    return _rounded(_number(left) * _number(right))


def round_up(value: Any, step: Any) -> float:
    """The least multiple of a step that reaches a number: 31 in packs of 12 is 36."""
    size = _number(step)
    if size <= 0:
        raise FunctionError(f"{step!r} is no step to round to")
    return _rounded(math.ceil(round(_number(value) / size, 9)) * size)


def percent_off(price: Any, percent: Any) -> float:
    """A price less a percentage, rounded to cents."""
    return _rounded(_number(price) * (100 - _number(percent)) / 100)


def money(value: Any) -> str:
    """A number with two decimals: 76.60."""
    return f"{_number(value):.2f}"


def date_(instant: Any) -> str:
    """The day of a timestamp, as its own offset reads it."""
    day = instants.day_of(_text(instant))
    if day is None:
        raise FunctionError(f"{instant!r} is no date or timestamp")
    return day


def add_days(day: Any, count: Any) -> str:
    """The date some days later (or earlier)."""
    return instants.add_days(date_(day), int(_number(count)))


def add_minutes(instant: Any, count: Any) -> str:
    """The timestamp some minutes later, in the same offset."""
    if instants.parse_instant(_text(instant)) is None:
        raise FunctionError(f"{instant!r} is no timestamp")
    return instants.add_minutes(instant, int(_number(count)))


def days_between(first: Any, second: Any) -> int:
    """Days from the first date to the second."""
    return (date.fromisoformat(date_(second)) - date.fromisoformat(date_(first))).days


def next_weekday(day: Any, weekday: Any) -> str:
    """The first such weekday on or after a date."""
    if weekday not in WEEKDAYS:
        raise FunctionError(f"{weekday!r} is none of {', '.join(WEEKDAYS)}")
    start = date.fromisoformat(date_(day))
    return instants.add_days(date_(day), (WEEKDAYS.index(weekday) - start.weekday()) % 7)


def named_day(text: Any, earliest: Any) -> str:
    """The first day from a date on that is called so: “Friday” or “14 March”."""
    found = instants.named_day(_text(text), date_(earliest))
    if found is None:
        raise FunctionError(f"{text!r} names no day such as Friday or 14 March")
    return found


def regex(text: Any, expression: Any) -> str:
    """The first group of the first match (or the whole match)."""
    if isinstance(expression, str) and isinstance(text, str) and len(text) <= _LONGEST_KEPT:
        return _kept_first(text, expression)
    return _first(text, expression)


def _first(text: Any, expression: Any) -> str:
    found = compile_regex(expression).search(_text(text))
    if found is None:
        raise FunctionError(f"{expression!r} is not found")
    return str(found.group(1) if found.re.groups else found.group(0))


_LONGEST_KEPT: Final = 4096
_kept_first: Final = functools.lru_cache(maxsize=1024)(_first)
"""A program is run many times in a proof and looks for the same in the same letters."""


def lookup(key: Any, table: Any) -> Any:
    """The value of a key in a map."""
    if not isinstance(table, Mapping) or shown(key) not in table:
        raise FunctionError(f"no entry for {key!r}")
    return table[shown(key)]


def pick_at_least(value: Any, limit: Any, then: Any, otherwise: Any) -> Any:
    """`then` if a number reaches a limit, else `otherwise`."""
    return then if _number(value) >= _number(limit) else otherwise


def join(items: Any, separator: Any) -> str:
    """The items as one text."""
    return _joined(_text(separator), map(shown, _list(items)))


def column(rows: Any, field: Any) -> list[Any]:
    """One field of each row."""
    return [_field(row, field) for row in _list(rows)]


def count(items: Any) -> int:
    """How many items a list has."""
    return len(_list(items))


def lines(rows: Any, template: Any, separator: Any) -> str:
    """Each row through a template with `{field}` places, joined."""
    return _joined(_text(separator), (fill(_text(template), row) for row in _list(rows)))


def rows(source: Any, fields: Any) -> list[list[Any]]:
    """Rows as lists of the named fields; `=x` is the literal x."""
    return [
        [field[1:] if field.startswith("=") else _field(row, field) for field in _list(fields)]
        for row in _list(source)
    ]


def row_of(source: Any, record_id: Any) -> int:
    """The 1-based row of a sheet whose first cell is an id."""
    for number, row in enumerate(_list(source), start=1):
        if _list(row) and same(row[0], record_id):
            return number
    raise FunctionError(f"no row begins with {record_id!r}")


def differing(records: Any, sheet: Any, field: Any, index: Any) -> list[Any]:
    """The records whose field differs from the cell `index` of their sheet row."""
    cells = {shown(row[0]): row for row in _list(sheet) if row}
    found = []
    for record in _list(records):
        row = cells.get(shown(_field(record, "id")))
        place = int(_number(index))
        if row is not None and place < len(row) and not same(row[place], _field(record, field)):
            found.append(record)
    return found


def free_slot(events: Any, people: Any, start: Any, end: Any, minutes: Any) -> str:
    """The first quarter of an hour from which all people are free for some minutes."""
    opening, closing = instants.parse_instant(_text(start)), instants.parse_instant(_text(end))
    if opening is None or closing is None:
        raise FunctionError("free_slot expects timestamps")
    wanted = {_text(p).casefold() for p in _list(people)}
    busy = []
    for event in _list(events):
        who = {str(a).casefold() for a in follow_or_empty(event, "attendees")}
        begins = instants.parse_instant(str(_field(event, "start")))
        ends = instants.parse_instant(str(_field(event, "end")))
        if who & wanted and begins is not None and ends is not None:
            busy.append((begins, ends))
    length = int(_number(minutes))
    window = int((closing - opening).total_seconds()) // 60
    if length < 1 or window > LONGEST_SEARCH:
        raise FunctionError("free_slot looks for a minute or more in a month at most")
    for offset in range(0, window - length + 1, 15):
        candidate = instants.add_minutes(start, offset)
        begin = instants.parse_instant(candidate)
        finish = instants.parse_instant(instants.add_minutes(start, offset + length))
        if begin is None or finish is None:
            break
        if all(finish <= b or begin >= e for b, e in busy):
            return candidate
    raise FunctionError("no slot is free for all")


def largest(rows_: Any, field: Any) -> Any:
    """The row with the largest value of a field; the first of equals."""
    best: Any = None
    for row in _list(rows_):
        if best is None or order(_field(row, field), _field(best, field)) == 1:
            best = row
    if best is None:
        raise FunctionError("no row to choose from")
    return best


def follow_or_empty(value: Any, path: str) -> Sequence[Any]:
    """A list at a path, empty if there is none."""
    found = follow(value, path)
    return found if isinstance(found, list) else ()


def _field(row: Any, field: Any) -> Any:
    found = follow(row, _text(field))
    if found is MISSING:
        raise FunctionError(f"no field {field!r}")
    return found


_PLAIN: Final = re.compile(r"[^{}]+")


def fill(template: str, values: Any) -> str:
    """Fill `{name}` places of a template; doubled braces stand for themselves."""
    return _joined("", _filled(template, values))


def _filled(template: str, values: Any) -> Iterator[str]:
    position = 0
    while position < len(template):
        plain = _PLAIN.match(template, position)
        if plain is not None:
            yield plain.group()
            position = plain.end()
            continue
        mark = template[position]
        if template[position : position + 2] in ("{{", "}}"):
            yield mark
            position += 2
        elif mark == "{":
            end = template.find("}", position)
            if end < 0:
                raise FunctionError(f"unclosed place in {template!r}")
            yield shown(_field(values, template[position + 1 : end]))
            position = end + 1
        else:
            yield mark
            position += 1


FUNCTIONS: Final[Mapping[str, tuple[Callable[..., Any], int]]] = {
    "sum": (sum_, 1),
    "sub": (sub, 2),
    "mul": (mul, 2),
    "round_up": (round_up, 2),
    "percent_off": (percent_off, 2),
    "money": (money, 1),
    "date": (date_, 1),
    "add_days": (add_days, 2),
    "add_minutes": (add_minutes, 2),
    "days_between": (days_between, 2),
    "next_weekday": (next_weekday, 2),
    "named_day": (named_day, 2),
    "regex": (regex, 2),
    "lookup": (lookup, 2),
    "pick_at_least": (pick_at_least, 4),
    "join": (join, 2),
    "column": (column, 2),
    "count": (count, 1),
    "lines": (lines, 3),
    "rows": (rows, 2),
    "row_of": (row_of, 2),
    "differing": (differing, 4),
    "free_slot": (free_slot, 5),
    "largest": (largest, 2),
}
"""Name → function and number of arguments."""


def apply_function(name: str, arguments: Sequence[Any]) -> Any:
    """Call a function by name. Raises FunctionError for an unknown name, a wrong count or wrong
    types.
    """
    known = FUNCTIONS.get(name) if isinstance(name, str) else None
    if known is None:
        raise FunctionError(f"unknown function {name}")
    function, arity = known
    if len(arguments) != arity:
        raise FunctionError(f"{name} takes {arity} arguments, got {len(arguments)}")
    try:
        return function(*arguments)
    except (TypeError, ValueError, KeyError, IndexError, OverflowError) as problem:
        raise FunctionError(f"{name}: {problem}") from problem
