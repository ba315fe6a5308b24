"""Lists of the API: opaque cursors in, a page out.

::

    @router.get("", response=PageOut[JobOut])
    def list_jobs(request, paging: Paging = Query(...)):
        return page_out(keyset(queryset, cursor=paging.cursor, size=paging.size), JobOut.from_row)
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from django.db.models import Model
from ninja import Schema
from pydantic import Field

from studio.web.pagination import MAX_SIZE, Page

Row = TypeVar("Row", bound=Model)
Item = TypeVar("Item")


class Paging(Schema):
    """Where to go on, and how many rows at most."""

    cursor: str | None = Field(None, description="What the previous page gave as next_cursor.")
    size: int = Field(50, ge=1, le=MAX_SIZE)


class PageOut(Schema, Generic[Item]):
    """Rows and the cursors of their neighbours; null where there are none."""

    items: list[Item]
    next_cursor: str | None
    previous_cursor: str | None


def page_out(page: Page[Row], item: Callable[[Row], Item]) -> PageOut[Item]:
    """A keyset page as the API gives it."""
    return PageOut(
        items=[item(row) for row in page.rows],
        next_cursor=page.next_cursor,
        previous_cursor=page.previous_cursor,
    )
