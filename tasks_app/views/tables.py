"""Tables as CSV files."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from django.http import HttpResponse

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def csv_response(
    columns: Sequence[str], rows: Iterable[Mapping[str, Any]], *, name: str
) -> HttpResponse:
    """The rows as a download called ``name``.csv; no text in it is taken for a formula."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns)
    writer.writeheader()
    for row in rows:
        writer.writerow({key: _harmless(value) for key, value in row.items()})
    response = HttpResponse(text.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula, made a text."""
    return f"'{value}" if isinstance(value, str) and value[:1] in _FORMULA else value
