import datetime as dt
from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.utils import OperationalError

from studio.lib.jsonl import JsonlError, read_closed
from studio.lib.jsonvalue import JsonValue
from studio.web.exports import jsonl_response, jsonl_stream, statement_timeout

pytestmark = pytest.mark.django_db


def _rows(count: int) -> Iterator[JsonValue]:
    for number in range(count):
        yield {"code": f"T-{number}", "text": "x" * 1000}


def test_an_export_comes_in_packets_and_proves_that_it_is_whole() -> None:
    response = jsonl_response(_rows(500), name="tasks of/../today", filter_text="state:draft")
    assert response["Content-Disposition"] == 'attachment; filename="tasks-of-today.jsonl"'
    packets = list(response)
    assert 5 < len(packets) < 20
    lines = b"".join(packets).splitlines(keepends=True)
    assert list(read_closed(lines)) == list(_rows(500))
    assert b'"filter":"state:draft"' in lines[-1]


def test_an_export_that_breaks_has_no_closing_line() -> None:
    def broken() -> Iterator[JsonValue]:
        yield from _rows(200)
        raise OperationalError("gone")

    got: list[bytes] = []
    with pytest.raises(OperationalError):
        got.extend(jsonl_stream(broken()))
    assert got
    with pytest.raises(JsonlError):
        list(read_closed(b"".join(got).splitlines(keepends=True)))


def test_statements_may_run_longer_during_an_export_and_not_after_it() -> None:
    def limit() -> str:
        with connection.cursor() as cursor:
            cursor.execute("SHOW statement_timeout")
            return str(cursor.fetchone()[0])

    before = limit()
    with statement_timeout(dt.timedelta(minutes=10)):
        assert limit() == "10min"
    assert limit() == before
    stream = jsonl_stream(_rows(200))
    next(stream)
    assert limit() == "10min"
    stream.close()  # type: ignore[attr-defined]  # a generator, as after a broken connection
    assert limit() == before
