"""Gate R3: values make sense, each by itself and beside the others of its record."""

import functools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tasks_app.core.instants import ISO_DAY, is_date, is_instant, parse_date, parse_instant
from tasks_app.core.predicates import read_number
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import Finding
from tasks_app.core.validation.contradictions import contradictions
from tasks_app.core.validation.gate import finding, operation, pointer
from tasks_app.core.validation.habits import Habits, habits_of, is_heading, table_of
from tasks_app.core.validation.known import nearest, record_fields
from tasks_app.core.validation.record_types import ANYTHING, Misfit, called, record_shapes
from tasks_app.core.values import LISTS, is_column

EMAIL: Final = re.compile(r"[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+")
_EMAIL_FIELDS: Final = frozenset({"email", "reply_to"})
_SENDERS: Final = frozenset({"from", "reporter"})
"""Fields that name somebody, perhaps with the address in angle brackets."""
_PAST_FIELDS: Final = frozenset(
    {"created_at", "updated_at", "placed_on", "delivered_on", "received_on", "date"}
)


def _misfits(
    field: str, misfits: Sequence[Misfit], place: str, spec: TaskSpec
) -> Iterator[Finding]:
    for misfit in misfits[:3]:
        inside = f" at {pointer(*misfit.path)}" if misfit.path else ""
        yield finding(
            "R3",
            f"{place}{pointer(*misfit.path)}",
            f"{field}{inside} is {misfit.found}, where the service keeps {misfit.wanted}",
            hint=f"write {misfit.wanted}",
            severity="warn" if spec.evaluation_only else "block",
        )


def domain_values(spec: TaskSpec) -> Iterator[Finding]:
    """R3: dates are days that exist, mail addresses look like some, created is not after updated
    or now, and what stands beside each other agrees.
    """
    now = parse_instant(spec.clock.start)
    for service, named in spec.services.items():
        for name, records in named.items():
            known = record_fields().get(f"{service}/{name}", {})
            allowed = {field: values for field, values in known.items() if values}
            habits = habits_of(f"{service}/{name}", records)
            shapes = record_shapes().get(f"{service}/{name}", {})
            home = pointer("services", service, name)
            for i, record in enumerate(records):
                place = f"{home}/{i}"
                heading = is_heading(service, record)
                own = habits[table_of(record)]
                for field, value in record.items():
                    shape = shapes.get(field, ANYTHING)
                    if type(value) not in shape.plain:  # nearly always it is plain
                        misfits = list(shape.misfits(value))
                        if misfits and not (type(value) is str and field in own.figures):
                            yield from _misfits(field, misfits, f"{place}{pointer(field)}", spec)
                            continue
                    past = field in _PAST_FIELDS
                    if heading and is_column(field):
                        continue
                    if type(value) is str and field in own.figures:
                        yield _no_number(field, value, f"{place}{pointer(field)}")
                        continue
                    odd = _odd_kind(field, value, own)
                    if odd:
                        yield finding(
                            "R3",
                            f"{place}{pointer(field)}",
                            f"{field} is {called(value)}, where the other records have {odd}",
                            hint=f"write {odd}",
                            severity="warn" if spec.evaluation_only else "block",
                        )
                        continue
                    if type(value) is str and field in own.dated and not ISO_DAY.match(value):
                        yield _no_day(value, f"{place}{pointer(field)}")
                        continue
                    telling = _says_much(field)
                    if not telling and type(value) is str and value[4:5] == value[7:8] == "-":
                        yield from _day_of_calendar(value, f"{place}{pointer(field)}")
                    if value is None or not (past or field in allowed or telling):
                        continue  # nearly always: nothing is known of such a field
                    at = f"{place}{pointer(field)}"
                    yield from _value(field, value, at, allowed.get(field, ()))
                    if past and isinstance(value, str):
                        moment, day = parse_instant(value), parse_date(value)
                        late = (moment is not None and now is not None and moment > now) or (
                            day is not None and value > spec.clock.start[:10]
                        )
                        if late:
                            yield finding(
                                "R3",
                                at,
                                f"{field} is {value}, after the task's own clock "
                                f"({spec.clock.start})",
                                hint="nothing has happened yet that the records could know",
                            )
                created, updated = record.get("created_at"), record.get("updated_at")
                if isinstance(created, str) and isinstance(updated, str):
                    first, second = parse_instant(created), parse_instant(updated)
                    if first is not None and second is not None and first > second:
                        yield finding(
                            "R3",
                            f"{place}/updated_at",
                            f"updated at {updated}, before it was created at {created}",
                            hint="set it to the creation",
                            rule="snap_to_created",
                            patch=[operation("replace", f"{place}/updated_at", created)],
                        )
    earlier = spec.clock.start
    for i, stage in enumerate(spec.timeline):
        first, second = parse_instant(earlier), parse_instant(stage.at)
        if first is not None and second is not None and second < first:
            yield finding(
                "R3", pointer("timeline", i, "at"), f"{stage.id} begins before the stage before it"
            )
        earlier = stage.at
    yield from contradictions(spec)


def _odd_kind(field: str, value: Any, own: Habits) -> str:
    """Return what the other records have where a value is a list among single ones, or a text among
    lists; empty where it is neither.
    """
    if type(value) is str:
        return "a list" if value and field in own.listed else ""
    if field in own.single and isinstance(value, LISTS):
        return "a single value"
    return ""


@functools.lru_cache(maxsize=4096)
def _says_much(field: str) -> bool:
    """Say whether a field's name tells what it holds."""
    return field.endswith(("_at", "_on")) or field in _EMAIL_FIELDS or field in _SENDERS


def _day_of_calendar(value: str, at: str) -> Iterator[Finding]:
    found = ISO_DAY.match(value)
    if found is not None and not is_date(found.group()):
        yield _no_day(value, at)


def _no_day(value: str, at: str) -> Finding:
    return finding("R3", at, f"{value!r} is no day of the calendar", hint=_DAY_HINT)


_DAY_HINT: Final = "2031-03-20, or 2031-03-20T09:10:00+01:00"


def _no_number(field: str, value: str, at: str) -> Finding:
    one = read_number(value)
    return finding(
        "R3",
        at,
        f"{field} is the text {value!r}, where a number belongs",
        hint=f"write {one}" if one is not None else "write a number",
        rule="snap_to_number",
        title=f"make it {one}",
        patch=[operation("replace", at, one)] if one is not None else (),
    )


def _value(field: str, value: Any, at: str, allowed: tuple[str, ...]) -> Iterator[Finding]:
    if field.endswith("_at") and not (isinstance(value, str) and is_instant(value)):
        yield finding(
            "R3", at, f"{value!r} is no timestamp with offset", hint="2031-03-20T09:10:00+01:00"
        )
    elif field.endswith("_on") and not (
        isinstance(value, str) and (is_date(value) or is_instant(value))
    ):
        yield finding("R3", at, f"{value!r} is no day of the calendar", hint="2031-03-20")
    elif field in _EMAIL_FIELDS and not (
        isinstance(value, str) and (value == "" or EMAIL.fullmatch(value))
    ):
        yield finding("R3", at, f"{value!r} is no mail address", hint="name@firm.example")
    elif field == "from" and isinstance(value, str) and not EMAIL.search(value):
        yield finding("R3", at, f"{value!r} holds no mail address", hint="name@firm.example")
    elif allowed and isinstance(value, str) and value not in allowed:
        close = nearest(value, allowed)
        yield finding(
            "R3",
            at,
            f"{value!r} is none of {', '.join(allowed)}",
            hint=f"did you mean {close}?" if close else "choose one of them",
            rule="snap_to_enum",
            patch=[operation("replace", at, close)] if close else (),
        )
