"""Gate R3, values beside each other: a zone's name and its offset, the lines of a record and their
sum.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, Final, TypeGuard

from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.gate import finding, pointer
from tasks_app.core.values import LISTS, NUMBERS, OBJECTS
from tasks_app.core.zones import KNOWN, changes_on, offset_hours

_TOTALS: Final = ("amount", "total")
_BESIDE: Final = ("charge", "voucher", "discount", "tax", "vat", "shipping", "fee", "deposit")
"""In names of fields: what comes to the lines, or off them."""
_CENT: Final = 0.011


def contradictions(spec: TaskSpec) -> Iterator[Finding]:
    """R3: the clock's zone has its offset on that day; lines add up to the sum of their record."""
    yield from _zone(spec)
    for service, named in spec.services.items():
        for name, records in named.items():
            if records and any("lines" in record for record in records):
                yield from _sums(pointer("services", service, name), records)


def _zone(spec: TaskSpec) -> Iterator[Finding]:
    zone, start = KNOWN.get(spec.clock.zone), spec.clock.start
    if zone is None:
        return
    day = date.fromisoformat(start[:10])
    wanted = timedelta(hours=offset_hours(zone, day))
    if changes_on(zone, day) or datetime.fromisoformat(start).utcoffset() == wanted:
        return
    sign = "-" if wanted.days < 0 else "+"
    hours = abs(offset_hours(zone, day))
    yield finding(
        "R3",
        "/clock/zone",
        f"{zone.name} is at {sign}{hours:02d}:00 on {start[:10]}, and the clock starts at {start}",
        hint="name the zone that has this offset",
        severity="warn" if spec.evaluation_only else "block",
    )


def _sums(home: str, records: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    for i, record in enumerate(records):
        total = next((record[name] for name in _TOTALS if _is_number(record.get(name))), None)
        added = None if total is None else _added(record)
        if total is None or added is None or abs(total - added) < _CENT:
            continue
        yield finding(
            "R3",
            f"{home}/{i}/lines",
            f"the lines come to {added:.2f}, and the record to {total:.2f}",
            hint="let them add up, unless this is what is to be found out",
            severity="warn",
        )


def _added(record: Mapping[str, Any]) -> float | None:
    """Return what the lines come to; None where they have no prices, or more than they count."""
    lines = record.get("lines")
    if not isinstance(lines, LISTS) or not lines:
        return None
    if any(value and any(word in name for word in _BESIDE) for name, value in record.items()):
        return None
    added = 0.0
    for line in lines:
        if not isinstance(line, OBJECTS):
            return None
        quantity, price = line.get("quantity"), line.get("unit_price")
        if not _is_number(quantity) or not _is_number(price):
            return None
        added += quantity * price
    return added


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, NUMBERS) and not isinstance(value, bool)
