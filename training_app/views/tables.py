"""Tables as CSV files, streamed."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from django.http import StreamingHttpResponse

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet would take for a formula where a text begins with it."""


class _Line:
    """Gives back what a CSV writer writes."""

    def write(self, text: str) -> str:
        """The line."""
        return text


def csv_response(
    head: Sequence[str], rows: Iterable[Sequence[Any]], *, name: str
) -> StreamingHttpResponse:
    """A download called ``name``.csv; no text in it is a formula."""
    return StreamingHttpResponse(
        csv_lines(head, rows),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="{name}.csv"',
            "Cache-Control": "no-store",
            "X-Accel-Buffering": "no",
        },
    )


def csv_lines(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """The lines of the file."""
    writer = csv.writer(_Line())
    yield writer.writerow([_safe(cell) for cell in head])
    for row in rows:
        yield writer.writerow([_safe(cell) for cell in row])


def _safe(cell: Any) -> Any:
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
