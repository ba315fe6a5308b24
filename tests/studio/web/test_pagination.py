import datetime as dt
from typing import Any

import pytest
from django.core import signing

from studio.web.errors import BadRequest
from studio.web.models import Job
from studio.web.pagination import Count, Page, capped_count, keyset, keyset_all

pytestmark = pytest.mark.django_db

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@pytest.fixture
def jobs() -> list[Job]:
    """Ten rows, pairs of which share a moment and a total; every third has no total."""
    return Job.objects.bulk_create(
        Job(
            kind="x",
            code=f"JOB-000{number}",
            created_at=START + dt.timedelta(days=number // 2),
            total=None if number % 3 == 2 else number // 2,
        )
        for number in range(10)
    )


def _walk(size: int, **arguments: Any) -> tuple[list[str], list[str]]:
    """Codes in order on the way to the end, and on the way back from there to the beginning."""
    there: list[str] = []
    page: Page[Job] = keyset(Job.objects.all(), size=size, **arguments)
    assert page.previous_cursor is None
    there.extend(row.code for row in page.rows)
    while page.next_cursor is not None:
        page = keyset(Job.objects.all(), size=size, cursor=page.next_cursor, **arguments)
        there.extend(row.code for row in page.rows)
    back = [row.code for row in page.rows]
    while page.previous_cursor is not None:
        page = keyset(Job.objects.all(), size=size, cursor=page.previous_cursor, **arguments)
        back = [row.code for row in page.rows] + back
    return there, back


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9, 10, 11])
@pytest.mark.parametrize(
    "order", ["id", "-id", "created_at", "-created_at", "total", "-total", "code", "-code"]
)
@pytest.mark.usefixtures("jobs")
def test_pages_show_each_row_once_in_order_both_ways(order: str, size: int) -> None:
    descending = order.startswith("-")

    def place(job: Job) -> tuple[bool, Any, int]:
        value = getattr(job, order.lstrip("-"))
        return (value is None, value if value is not None else 0, job.pk)

    rows = sorted(Job.objects.all(), key=place, reverse=descending)
    # Rows without a value stand last in both directions.
    rows.sort(key=lambda job: getattr(job, order.lstrip("-")) is None)
    expected = [row.code for row in rows]
    assert _walk(size, order=order) == (expected, expected)


def test_a_page_is_steady_while_rows_are_added_and_removed(jobs: list[Job]) -> None:
    first = keyset(Job.objects.all(), order="-created_at", size=4)
    Job.objects.create(kind="x")
    Job.objects.filter(pk=jobs[7].pk).delete()
    second = keyset(Job.objects.all(), order="-created_at", size=4, cursor=first.next_cursor)
    assert [row.pk for row in second.rows] == [job.pk for job in reversed(jobs[2:6])]


def test_a_cursor_of_another_list_order_or_filter_is_refused(jobs: list[Job]) -> None:
    cursor = keyset(Job.objects.all(), order="id", size=2, filter_hash="a").next_cursor
    assert cursor is not None
    for order, filter_hash in (("-id", "a"), ("id", "b"), ("created_at", "a")):
        with pytest.raises(BadRequest, match="another filter or order"):
            keyset(Job.objects.all(), cursor=cursor, order=order, filter_hash=filter_hash)
    assert keyset(Job.objects.all(), cursor=cursor, order="id", filter_hash="a").rows == jobs[2:]


@pytest.mark.parametrize("cursor", ["x", "a:b:c", "\x00", "é"])
def test_a_forged_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(BadRequest, match="not one of ours"):
        keyset(Job.objects.all(), cursor=cursor)


@pytest.mark.parametrize("value", [["a"], [1, 2, 3, 4]])
def test_a_cursor_that_we_signed_for_another_purpose_is_refused(value: list[object]) -> None:
    # Signed inside the test: a signature holds the second, and a test's name must not.
    with pytest.raises(BadRequest, match="not one of ours"):
        keyset(Job.objects.all(), cursor=signing.dumps(value))


@pytest.mark.parametrize("size", [0, -1, 1001])
def test_a_page_has_a_sane_size(size: int) -> None:
    with pytest.raises(BadRequest):
        keyset(Job.objects.all(), size=size)


@pytest.mark.usefixtures("jobs")
def test_a_count_stops_at_its_cap() -> None:
    assert capped_count(Job.objects.all(), 10) == Count(10, capped=False)
    assert str(capped_count(Job.objects.all(), 9)) == "9+"
    assert str(Count(10_000, capped=True)) == "10,000+"


def test_all_rows_come_in_chunks_and_can_be_resumed(jobs: list[Job]) -> None:
    assert list(keyset_all(Job.objects.all(), chunk=3)) == jobs
    assert list(keyset_all(Job.objects.all(), chunk=5, after=jobs[3].pk)) == jobs[4:]
