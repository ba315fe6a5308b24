"""Spreadsheets: cells in rows, read and written by ranges such as `B2:D10`.

A row is a record `SHEET!NUMBER` whose fields are its columns `A`, `B`, …, so that each cell has an
address of its own: `sheets/rows/SH-01!7#C`. Row 1 usually holds the headings. A text that begins
with `=` is kept as it is; nothing is calculated.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, cast

from pydantic import Field, StringConstraints
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.services.base import Limit, Query, RecordId, Service, collection, tool
from tasks_app.core.services.listing import DEFAULT_LIMIT, Page, page, search, select
from tasks_app.core.values import column_name, column_number, is_column

Range = Annotated[str, StringConstraints(min_length=1, max_length=30)]
Cell = Annotated[str, StringConstraints(max_length=20_000)] | float | int | bool | None
Line = Annotated[Sequence[Cell], Field(max_length=100)]
Lines = Annotated[Sequence[Line], Field(min_length=1, max_length=500)]

MOST_COLUMNS: Final = 100
MOST_ROWS: Final = 10_000
MOST_CELLS: Final = 20_000
"""Cells of one answer."""
_RANGE: Final = re.compile(r"([A-Z]{1,2})?([1-9][0-9]{0,5})?(?::([A-Z]{1,2})?([1-9][0-9]{0,5})?)?")


class Sheet(TypedDict, total=False):
    """A spreadsheet."""

    id: ReadOnly[str]
    title: ReadOnly[str]
    owner: ReadOnly[str | None]
    note: ReadOnly[str | None]
    locked: ReadOnly[bool]
    updated_at: ReadOnly[str]


class SheetRow(TypedDict, total=False):
    """One row; besides these fields one a column: A, B, C …"""

    id: ReadOnly[str]
    sheet_id: ReadOnly[str]
    row: ReadOnly[int]


class Sheets(Service):
    """Spreadsheets."""

    name = "sheets"
    function = "finance"
    purpose = "Read and write ranges of spreadsheets, and append rows."

    sheets = collection(Sheet, prefix="SH", width=2)
    rows = collection(SheetRow, prefix="ROW")

    @tool()
    def list_sheets(self, query: Query | None = None, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List spreadsheets with their size.

        Args:
            query: Only spreadsheets in whose title or note every word occurs.
            limit: How many to show at most.
        """
        found = [
            {**sheet, **self._size(str(sheet.get("id")))} for sheet in search(self.sheets, query)
        ]
        return page("sheets", found, limit)

    @tool()
    def read_range(self, sheet_id: RecordId, cells: Range | None = None) -> Mapping[str, Any]:
        """Read the cells of a range, row by row; empty cells are null.

        Args:
            sheet_id: The spreadsheet to read.
            cells: Such as A1:D20, B:B or 3:3; everything if left out.
        """
        _ = self.sheets[sheet_id]
        lines = self._cells(sheet_id)
        height = max(lines, default=0)
        width = max((column_number(c) for line in lines.values() for c in line), default=0)
        top, bottom, left, right = _span(cells, height, width)
        bottom, right = min(bottom, max(height, top)), min(right, max(width, left))
        if (bottom - top + 1) * (right - left + 1) > MOST_CELLS:
            raise ToolError("invalid_value", f"cells: more than {MOST_CELLS} cells")
        names = [column_name(number) for number in _count(left, right)]
        values = [[lines.get(row, {}).get(name) for name in names] for row in _count(top, bottom)]
        if not lines:
            values = []
        return {
            "range": f"{column_name(left)}{top}:{column_name(right)}{bottom}",
            "values": values,
            "rows": height,
        }

    @tool()
    def find_rows(self, sheet_id: RecordId, query: Query, limit: Limit = DEFAULT_LIMIT) -> Page:
        """Find the rows of a spreadsheet in which every word occurs.

        Args:
            sheet_id: The spreadsheet to look in.
            query: Words that must all occur somewhere in the row.
            limit: How many to show at most.
        """
        _ = self.sheets[sheet_id]
        rows = search(select(self.rows, sheet_id=sheet_id), query)
        rows.sort(key=lambda row: _number(row) or 0)
        return page("rows", rows, limit)

    @tool(
        writes=True,
        text=("values",),
        inside=True,
        fills=("sheets#updated_at", "rows#sheet_id", "rows#row"),
    )
    def write_range(self, sheet_id: RecordId, cells: Range, values: Lines) -> Mapping[str, Any]:
        """Write cells; null empties one. Cells outside the range stay.

        Args:
            sheet_id: The spreadsheet to write to.
            cells: Where: its upper left cell, such as B2, or a range of the values' own size.
            values: Row by row, all of one length.
        """
        sheet = self._writable(sheet_id)
        width = len(values[0])
        if not width or any(len(line) != width for line in values):
            raise ToolError("invalid_value", "values: all rows have the same length, at least 1")
        top, bottom, left, right = _span(cells, 0, 0)
        single = ":" not in cells
        if single:
            bottom, right = top + len(values) - 1, left + width - 1
        if (bottom - top + 1, right - left + 1) != (len(values), width):
            raise ToolError(
                "invalid_value",
                f"values: {len(values)} rows of {width} do not fill {cells}",
            )
        _limits(bottom, right)
        written = 0
        lines = self._cells(sheet_id)
        for at, line in enumerate(values):
            names = [column_name(left + i) for i in _count(0, width - 1)]
            before = lines.get(top + at, {})
            after = {**before, **dict(zip(names, line, strict=True))}
            kept = {name: value for name, value in after.items() if value is not None}
            if kept != before:
                written += 1
                self._put(sheet_id, top + at, kept)
        if not written:
            raise ToolError("conflict", f"{cells} holds these values already")
        self._touch(sheet)
        return {
            "range": f"{column_name(left)}{top}:{column_name(right)}{bottom}",
            "rows_changed": written,
        }

    @tool(
        writes=True,
        text=("values",),
        inside=True,
        fills=("sheets#updated_at", "rows#sheet_id", "rows#row"),
    )
    def append_rows(self, sheet_id: RecordId, values: Lines) -> Mapping[str, Any]:
        """Add rows below the last one that holds anything.

        Args:
            sheet_id: The spreadsheet to add to.
            values: Row by row, from column A on.
        """
        sheet = self._writable(sheet_id)
        lines = [
            {column_name(i + 1): value for i, value in enumerate(line) if value is not None}
            for line in values
        ]
        if not all(lines):
            raise ToolError("invalid_value", "values: a row is empty")
        first = max(self._cells(sheet_id), default=0) + 1
        _limits(first + len(lines) - 1, max(len(line) for line in values))
        for at, line in enumerate(lines):
            self._put(sheet_id, first + at, line)
        self._touch(sheet)
        return {"first_row": first, "rows_added": len(lines)}

    def _writable(self, sheet_id: str) -> Sheet:
        sheet = self.sheets[sheet_id]
        if sheet.get("locked") is True:
            raise ToolError("forbidden", f"{sheet_id} is locked")
        return sheet

    def _cells(self, sheet_id: str) -> dict[int, dict[str, Any]]:
        """Row number → column → value; rows and cells that hold nothing are left out."""
        found: dict[int, dict[str, Any]] = {}
        for record in select(self.rows, sheet_id=sheet_id):
            number = _number(record)
            cells = {k: v for k, v in record.items() if v is not None and is_column(k)}
            if number is not None and cells:
                found[number] = cells
        return found

    def _size(self, sheet_id: str) -> dict[str, int]:
        cells = self._cells(sheet_id)
        width = max((column_number(c) for line in cells.values() for c in line), default=0)
        return {"rows": max(cells, default=0), "columns": width}

    def _put(self, sheet_id: str, number: int, cells: Mapping[str, Any]) -> None:
        record_id = f"{sheet_id}!{number}"
        known = self.rows.get(record_id)
        rest = {k: v for k, v in (known or {}).items() if not is_column(k)}
        ordered = dict(sorted(cells.items(), key=lambda item: column_number(item[0])))
        record = {**rest, "id": record_id, "sheet_id": sheet_id, "row": number, **ordered}
        self.rows.put(cast(SheetRow, record))

    def _touch(self, sheet: Sheet) -> None:
        if sheet.get("updated_at") != self.now:
            self.sheets.put(cast(Sheet, {**sheet, "updated_at": self.now}))


def _number(record: Any) -> int | None:
    number = record.get("row")
    return number if type(number) is int and 0 < number <= MOST_ROWS else None


def _count(first: int, last: int) -> Sequence[int]:
    """From first to last, both included."""
    return range(first, last + 1)


def _span(text: str | None, height: int, width: int) -> tuple[int, int, int, int]:
    """Return top, bottom, left, right of a range, counted from 1."""
    if text is None:
        return 1, max(height, 1), 1, max(width, 1)
    found = _RANGE.fullmatch(text.strip().upper().replace("$", ""))
    if found is None or not (found[1] or found[2]):
        raise ToolError("invalid_value", f"cells: {text[:40]!r} is none, such as A1:D20")
    single = ":" not in text
    left = column_number(found[1]) if found[1] else 1
    top = int(found[2]) if found[2] else 1
    if single:
        right = left if found[1] else max(width, left)
        bottom = top if found[2] else max(height, top)
    else:
        right = column_number(found[3]) if found[3] else max(width, left)
        bottom = int(found[4]) if found[4] else max(height, top)
    if bottom < top or right < left:
        raise ToolError("invalid_value", f"cells: {text[:40]!r} ends before it begins")
    return top, bottom, left, right


def _limits(bottom: int, right: int) -> None:
    if bottom > MOST_ROWS or right > MOST_COLUMNS:
        raise ToolError(
            "invalid_value", f"a sheet has at most {MOST_ROWS} rows and {MOST_COLUMNS} columns"
        )
