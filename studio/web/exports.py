"""Streamed exports: JSON Lines with a closing line, so that a short file is seen to be short.

::

    return jsonl_response(
        (row_of(task) for task in keyset_all(queryset)), name="tasks", filter_text=text
    )

The last line is ``{"closing":{"count":N,"sha256":"…",…}}`` (``lib.jsonl.read_closed`` checks it).
An error on the way breaks the connection off: no closing line, never a quiet end. Each row should
carry its own code; ``keyset_all(queryset, after=id)`` goes on where a broken export ended.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from django.db import connection
from django.http import StreamingHttpResponse

from studio.lib.jsonl import Writer
from studio.lib.jsonvalue import JsonObject, JsonValue

EXPORT_TIMEOUT = dt.timedelta(minutes=10)
#: Small rows leave in packets of this size: a million write calls cost more than their content.
PACKET_BYTES = 64 * 1024


def jsonl_response(
    rows: Iterable[JsonValue], *, name: str, filter_text: str = "", left_out: int = 0
) -> StreamingHttpResponse:
    """The rows as a download called ``name``.jsonl; the closing line says how many were left out,
    where any were.
    """
    safe = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-") or "export"
    return StreamingHttpResponse(
        jsonl_stream(rows, filter_text=filter_text, left_out=left_out),
        content_type="application/x-ndjson",
        headers={
            "Content-Disposition": f'attachment; filename="{safe}.jsonl"',
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        },
    )


def jsonl_stream(
    rows: Iterable[JsonValue], *, filter_text: str = "", left_out: int = 0
) -> Iterator[bytes]:
    """The bytes of the export in packets; the last one ends with the closing line."""
    writer = Writer()
    packet: list[bytes] = []
    size = 0
    with statement_timeout(EXPORT_TIMEOUT):
        for row in rows:
            line = writer.line(row)
            packet.append(line)
            size += len(line)
            if size >= PACKET_BYTES:
                yield b"".join(packet)
                packet, size = [], 0
    more: JsonObject = {"left_out": left_out} if left_out else {}
    packet.append(writer.closing(filter=filter_text, **more))
    yield b"".join(packet)


@contextmanager
def statement_timeout(limit: dt.timedelta) -> Iterator[None]:
    """Let statements of this connection run as long as ``limit``, then as before."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('statement_timeout')")
        before = cursor.fetchone()[0]
        cursor.execute(
            "SELECT set_config('statement_timeout', %s, false)",
            [str(int(limit.total_seconds() * 1000))],
        )
    try:
        yield
    finally:
        if not connection.needs_rollback and connection.is_usable():
            with connection.cursor() as cursor:
                cursor.execute("SELECT set_config('statement_timeout', %s, false)", [before])
