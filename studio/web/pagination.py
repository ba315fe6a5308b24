"""Keyset pages: as quick at row 900,000 as at row 1, and steady while rows are added.

::

    page = keyset(Task.objects.filter(condition), order="-created_at",
                  cursor=request.GET.get("cursor"), filter_hash=TASKS.hash(text))
    page.rows, page.next_cursor, page.previous_cursor
    count = capped_count(queryset)      # str(count) == "10,000+"

``order`` is one field (``-`` for descending); the primary key in the same direction breaks ties,
so an index on (field, id) serves both ways. A cursor is signed and holds the sort values, the id
and the filter hash: one of another list, order or filter is a BadRequest, never a wrong page.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Generic, TypeVar

from django.core import signing
from django.db.models import F, Field, Model, Q, QuerySet
from django.db.models.expressions import OrderBy

from studio.lib.hashing import content_hash
from studio.web.errors import BadRequest

COUNT_CAP = 10_000
MAX_SIZE = 1000
_SALT = "studio.web.pagination"

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Count:
    """A number of rows, exact up to the cap."""

    number: int
    capped: bool

    def __str__(self) -> str:
        return f"{self.number:,}{'+' if self.capped else ''}"


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Some rows and the way to their neighbours; None where there are none."""

    rows: list[Row]
    next_cursor: str | None
    previous_cursor: str | None


def capped_count(queryset: QuerySet[Any], cap: int = COUNT_CAP) -> Count:
    """How many rows, looking at no more than ``cap`` + 1 of them."""
    number = queryset.order_by()[: cap + 1].count()
    return Count(min(number, cap), capped=number > cap)


def keyset(
    queryset: QuerySet[Row],
    *,
    order: str = "-id",
    cursor: str | None = None,
    size: int = 50,
    filter_hash: str = "",
) -> Page[Row]:
    """One page of ``queryset``, whose own ordering is replaced."""
    if not 1 <= size <= MAX_SIZE:
        raise BadRequest(f"A page has 1 to {MAX_SIZE} rows, not {size}.")
    descending = order.startswith("-")
    name = order.lstrip("-")
    field = queryset.model._meta.get_field(name)
    if not isinstance(field, Field):
        raise TypeError(f"{name} is not a column of {queryset.model.__name__}")
    identity = content_hash([queryset.model._meta.label, order, filter_hash])[:12]
    place = _read(cursor, identity, field, queryset.model._meta.pk) if cursor else None
    backwards = place is not None and place.backwards
    # Reading backwards turns both directions round, and the rows are turned back at the end.
    down = descending != backwards
    rows_query = queryset.order_by(*_ordering(field, down=down, backwards=backwards))
    if place is not None:
        rows_query = rows_query.filter(_beyond(field, place, down=down))
    rows = list(rows_query[: size + 1])
    more = len(rows) > size
    rows = rows[:size]
    if backwards:
        rows.reverse()
    # The side one came from has rows; the side one goes to has them where one too many was read.
    ahead, behind = (True, more) if backwards else (more, place is not None)
    return Page(
        rows,
        _write(rows[-1], name, identity, backwards=False) if rows and ahead else None,
        _write(rows[0], name, identity, backwards=True) if rows and behind else None,
    )


def keyset_all(queryset: QuerySet[Row], *, chunk: int = 2000, after: int = 0) -> Iterator[Row]:
    """All rows by ascending id, in chunks: flat memory, no long transaction, resumable by id."""
    last = after
    while True:
        rows = list(queryset.order_by("pk").filter(pk__gt=last)[:chunk])
        yield from rows
        if len(rows) < chunk:
            return
        last = rows[-1].pk


@dataclass(frozen=True)
class _Place:
    value: Any
    pk: Any
    backwards: bool


def _ordering(field: "Field[Any, Any]", *, down: bool, backwards: bool) -> list[OrderBy | str]:
    """Nulls stand last on the way forwards whatever the direction, hence first backwards."""
    expression = F(field.attname)
    if not field.null:
        nulls: dict[str, Any] = {}
    elif backwards:
        nulls = {"nulls_first": True}
    else:
        nulls = {"nulls_last": True}
    first = expression.desc(**nulls) if down else expression.asc(**nulls)
    if field.primary_key:
        return [first]
    return [first, "-pk" if down else "pk"]


def _beyond(field: "Field[Any, Any]", place: _Place, *, down: bool) -> Q:
    name = field.attname
    sign = "lt" if down else "gt"
    if field.primary_key:
        return Q(**{f"pk__{sign}": place.pk})
    tie = Q(**{f"pk__{sign}": place.pk})
    if place.value is None:
        same = Q(**{f"{name}__isnull": True}) & tie
        return same | Q(**{f"{name}__isnull": False}) if place.backwards else same
    # "at or beyond, and (beyond, or tied and later)" rather than a plain or: the first part is a
    # range that an index on (field, id) can start from.
    strict = Q(**{f"{name}__{sign}": place.value})
    condition = Q(**{f"{name}__{sign}e": place.value}) & (strict | tie)
    if field.null and not place.backwards:
        condition |= Q(**{f"{name}__isnull": True})
    return condition


def _write(row: Model, name: str, identity: str, *, backwards: bool) -> str:
    return signing.dumps(
        [identity, _plain(getattr(row, name)), _plain(row.pk), int(backwards)],
        salt=_SALT,
        compress=True,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value)
    return value


def _read(cursor: str, identity: str, field: "Field[Any, Any]", pk: "Field[Any, Any]") -> _Place:
    try:
        written, value, key, backwards = signing.loads(cursor, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise BadRequest("This cursor is not one of ours. Start from the first page.") from error
    if written != identity:
        raise BadRequest(
            "This cursor belongs to another filter or order. Start from the first page."
        )
    return _Place(
        None if value is None else field.to_python(value), pk.to_python(key), bool(backwards)
    )
