"""table_rows: a sheet, a typed table or a csv file holds certain rows, and no others if exact."""

import csv
import functools
import io
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from pydantic import Field, field_validator, model_validator

from tasks_app.core.checks.base import BaseCheck
from tasks_app.core.checks.scopes import FILES, read_file
from tasks_app.core.evidence import (
    Evidence,
    EvidenceError,
    has_reference,
    referenced,
    without_references,
)
from tasks_app.core.predicates import Test, compile_predicate, compile_where, read_number, same
from tasks_app.core.results import Judgement
from tasks_app.core.values import NUMBERS, PLAIN, address, column_number, is_column

SHEETS: Final = "sheets/sheets"
CELLS: Final = "sheets/rows"
REGISTERS: Final = "tables/rows"


class Table(NamedTuple):
    """Header and rows, and where they stand."""

    header: tuple[str, ...]
    rows: list[Mapping[str, Any]]
    cite: str


class TableRows(BaseCheck):
    """Holds if every row listed is there once, with these values; other columns are free."""

    kind: Literal["table_rows"]
    sheet: str | None = None
    """Id of a sheet; its first row is the header."""
    table: str | None = None
    """Id of a register of the service `tables`."""
    path: str | None = None
    """Path of a csv file with a header."""
    key: str
    """The column that names a row."""
    rows: tuple[Mapping[str, Any], ...] = Field(min_length=1)
    """Column → predicate or literal; each row has the key as a literal."""
    exact: bool = False
    """Whether no other rows may be there."""
    columns: tuple[str, ...] = ()
    """Columns that the header must hold."""

    @field_validator("rows")
    @classmethod
    def _compiles(cls, value: tuple[Mapping[str, Any], ...]) -> tuple[Mapping[str, Any], ...]:
        for row in value:
            compile_where(without_references(row))
        return value

    @model_validator(mode="after")
    def _one_source(self) -> "TableRows":
        if sum(source is not None for source in (self.sheet, self.table, self.path)) != 1:
            raise ValueError("table_rows needs one of sheet, table and path")
        for row in self.rows:
            if not isinstance(row.get(self.key), PLAIN):
                raise ValueError(f"every row needs its {self.key} as a literal")
        return self

    @functools.cached_property
    def _tests(self) -> tuple[tuple[tuple[str, Test], ...], ...] | None:
        if has_reference(self.rows):
            return None
        return tuple(_tests_of(row) for row in self.rows)

    def judge(self, evidence: Evidence) -> Judgement:
        """Find each row by its key and compare its columns."""
        table = self._table(evidence)
        lacking = [name for name in self.columns if name not in table.header]
        if lacking:
            return Judgement(0.0, f"column {lacking[0]} is missing", (table.cite,))
        tests = self._tests or tuple(
            _tests_of(row) for row in evidence.resolve(self.rows, self.stage)
        )
        for wanted, columns in zip(self.rows, tests, strict=True):
            name = wanted[self.key]
            found = [row for row in table.rows if agrees(row.get(self.key), name)]
            if len(found) != 1:
                return Judgement(0.0, f"{len(found)} rows {self.key} {name}", (table.cite,))
            for column, test in columns:
                value = found[0].get(column)
                if not test(value):
                    return Judgement(0.0, f"row {name}: {column} is {value!r}", (table.cite,))
        if self.exact and len(table.rows) != len(self.rows):
            return Judgement(
                0.0, f"{len(table.rows)} rows instead of {len(self.rows)}", (table.cite,)
            )
        return Judgement(1.0, "", (table.cite,))

    def _table(self, evidence: Evidence) -> Table:
        if self.table is not None:
            every = evidence.rows(REGISTERS, self.stage).values()
            rows: list[Mapping[str, Any]] = [
                row for row in every if same(row.get("table_id"), self.table)
            ]
            header = tuple(dict.fromkeys(name for row in rows for name in row))
            return Table(header, rows, address("tables/tables", self.table))
        if self.sheet is not None:
            if self.sheet not in evidence.rows(SHEETS, self.stage):
                raise EvidenceError(f"there is no sheet {self.sheet}")
            lines = [
                row
                for row in evidence.rows(CELLS, self.stage).values()
                if row.get("sheet_id") == self.sheet and isinstance(row.get("row"), int)
            ]
            lines.sort(key=lambda row: row["row"])
            return _grid([_cells(row) for row in lines], address(SHEETS, self.sheet))
        passage = read_file(self.path or "", evidence, self.stage)
        return _grid(list(csv.reader(io.StringIO(passage.text))), passage.cites[0])

    def reads(self) -> tuple[str, ...]:
        """The collections its table stands in, and what its references look into."""
        if self.table is not None:
            own: tuple[str, ...] = (REGISTERS,)
        else:
            own = (SHEETS, CELLS) if self.sheet is not None else (FILES,)
        return (*own, *(place for row in self.rows for place in referenced(row)))


def agrees(value: Any, literal: Any) -> bool:
    """Say whether a cell states a literal: numbers also as text, figures also as numbers."""
    if same(value, literal):
        return True
    if isinstance(literal, bool):
        return False
    if isinstance(literal, NUMBERS):
        number = read_number(value)
        return number is not None and same(number, literal)
    if isinstance(literal, str) and isinstance(value, NUMBERS) and not isinstance(value, bool):
        return same(str(value), literal)
    return isinstance(value, str) and isinstance(literal, str) and same(value.strip(), literal)


def _tests_of(row: Mapping[str, Any]) -> tuple[tuple[str, Test], ...]:
    return tuple((column, _test_of(predicate)) for column, predicate in row.items())


def _test_of(predicate: Any) -> Test:
    if not isinstance(predicate, Mapping):
        return lambda value: agrees(value, predicate)
    test = compile_predicate(predicate)
    return lambda value: test(value) or (isinstance(value, str) and test(read_number(value)))


def _cells(row: Mapping[str, Any]) -> list[Any]:
    """Return the cells of a sheet's row: its fields A, B, … in their order, None between them."""
    filled = {column_number(name): value for name, value in row.items() if is_column(name)}
    return [filled.get(number) for number in range(1, max(filled, default=0) + 1)]


def _grid(cells: list[Any], cite: str) -> Table:
    lists = [row for row in cells if isinstance(row, list)]
    filled = [row for row in lists if any(cell not in ("", None) for cell in row)]
    if not filled:
        return Table((), [], cite)
    header = tuple(str(name).strip() for name in filled[0])
    rows: list[Mapping[str, Any]] = [dict(zip(header, row, strict=False)) for row in filled[1:]]
    return Table(header, rows, cite)
