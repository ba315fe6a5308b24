"""Typed tables: a register of a trade (staff, claims, patients, clauses) with columns of its own.

A table says which columns it has and of which type; a row holds a value a column beside `id` and
`table_id`, so that every value has an address of its own. What does not fit is refused, never
bent.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal, NotRequired, cast

from pydantic import Field
from typing_extensions import ReadOnly, TypedDict

from tasks_app.core.calls import ToolError
from tasks_app.core.instants import is_date, is_instant, parse_instant
from tasks_app.core.services.base import Limit, Query, RecordId, Service, collection, tool
from tasks_app.core.services.listing import (
    DEFAULT_LIMIT,
    Page,
    Word,
    objects,
    page,
    search,
    select,
)

ColumnType = Literal["text", "number", "integer", "boolean", "date", "timestamp", "choice"]
Operator = Literal["eq", "ne", "lt", "le", "gt", "ge", "contains"]
Scalar = str | float | int | bool | None
Values = Annotated[Mapping[Word, Scalar], Field(min_length=1, max_length=100)]

_OWN: Final = ("id", "table_id")
LONGEST_VALUE: Final = 20_000


class Condition(TypedDict):
    """A condition on one column."""

    column: Word
    op: NotRequired[Operator]
    value: Scalar


Where = Annotated[Sequence[Condition], Field(max_length=10)]


class Column(TypedDict, total=False):
    """What a column holds."""

    name: ReadOnly[str]
    type: ReadOnly[ColumnType]
    required: ReadOnly[bool]
    options: ReadOnly[Sequence[str]]
    read_only: ReadOnly[bool]
    note: ReadOnly[str | None]


class Table(TypedDict, total=False):
    """A register and its columns."""

    id: ReadOnly[str]
    name: ReadOnly[str]
    description: ReadOnly[str | None]
    columns: ReadOnly[Sequence[Column]]
    prefix: ReadOnly[str | None]


class Row(TypedDict, total=False):
    """A row: besides these two fields a value for each of its table's columns."""

    id: ReadOnly[str]
    table_id: ReadOnly[str]


class Tables(Service):
    """Registers with typed columns."""

    name = "tables"
    function = "knowledge"
    purpose = "Query, add to and correct the registers of a trade."

    tables = collection(Table, prefix="TB", width=2)
    rows = collection(Row, prefix="RW")

    @tool()
    def list_tables(self, limit: Limit = DEFAULT_LIMIT) -> Page:
        """List the tables and their columns.

        Args:
            limit: How many to show at most.
        """
        return page("tables", list(self.tables), limit)

    @tool()
    def query_rows(
        self,
        table_id: RecordId,
        where: Where = (),
        order_by: Word | None = None,
        descending: bool = False,  # noqa: FBT001, FBT002 (a tool's argument, passed by name)
        limit: Limit = DEFAULT_LIMIT,
    ) -> Page:
        """Show the rows of a table that meet all conditions.

        Args:
            table_id: The table to look in.
            where: Conditions on one column each: eq, ne, lt, le, gt, ge, contains; eq if left out.
            order_by: The column that orders the rows; by id if left out.
            descending: Whether the largest come first.
            limit: How many to show at most.
        """
        columns = self._columns(table_id)
        chosen = select(self.rows, table_id=table_id)
        for condition in where:
            column = _column(columns, condition["column"])
            operator = condition.get("op", "eq")
            wanted = condition["value"]
            chosen = [r for r in chosen if _holds(column, r.get(column["name"]), operator, wanted)]
        if order_by is not None:
            column = _column(columns, order_by)
            chosen.sort(key=lambda row: _order(column, row.get(column["name"])))
        if descending:
            chosen.reverse()
        return page("rows", chosen, limit)

    @tool()
    def search_rows(
        self, query: Query, table_id: RecordId | None = None, limit: Limit = DEFAULT_LIMIT
    ) -> Page:
        """Find rows in which every word occurs.

        Args:
            query: Words that must all occur somewhere in the row.
            table_id: Only rows of this table.
            limit: How many to show at most.
        """
        return page("rows", search(select(self.rows, table_id=table_id), query), limit)

    @tool()
    def get_row(self, row_id: RecordId) -> Row:
        """Show one row.

        Args:
            row_id: The row to show.
        """
        return self.rows[row_id]

    @tool(writes=True, text=("values",), inside=True)
    def insert_row(self, table_id: RecordId, values: Values) -> Row:
        """Add a row to a table.

        Args:
            table_id: The table that gets it.
            values: A value for each column that is filled.
        """
        columns = self._columns(table_id)
        checked = _checked(columns, values)
        missing = [
            name
            for name, column in columns.items()
            if column.get("required") is True and checked.get(name) is None
        ]
        if missing:
            raise ToolError("invalid_value", f"values: {', '.join(missing)} must be filled")
        empty = dict.fromkeys(columns)
        made = {"id": self.rows.new_id(), "table_id": table_id, **empty, **checked}
        return self.rows.put(cast(Row, made))

    @tool(writes=True, text=("values",), inside=True)
    def update_row(self, row_id: RecordId, values: Values) -> Row:
        """Change values of a row; the others stay.

        Args:
            row_id: The row to change.
            values: The new value of each column that changes; null empties one.
        """
        row = self.rows[row_id]
        columns = self._columns(str(row.get("table_id")))
        checked = _checked(columns, values)
        for name, value in checked.items():
            if value is None and columns[name].get("required") is True:
                raise ToolError("invalid_value", f"values: {name} must be filled")
        changed = {**row, **checked}
        if changed == dict(row):
            raise ToolError("conflict", f"{row_id} has these values already")
        return self.rows.put(cast(Row, changed))

    @tool(writes=True)
    def delete_row(self, row_id: RecordId) -> Row:
        """Delete a row.

        Args:
            row_id: The row to delete.
        """
        row = self.rows[row_id]
        self.rows.remove(row_id)
        return row

    def _columns(self, table_id: str) -> dict[str, Column]:
        table = self.tables[table_id]
        return {
            str(column["name"]): cast(Column, column)
            for column in objects(table.get("columns"))
            if isinstance(column.get("name"), str) and column["name"] not in _OWN
        }


def _column(columns: Mapping[str, Column], name: str) -> Column:
    if name in columns:
        return columns[name]
    if name in _OWN:
        return {"name": name, "type": "text"}
    raise ToolError("invalid_value", f"there is no column {name[:80]}: {', '.join(columns)}")


def _checked(columns: Mapping[str, Column], values: Mapping[str, Scalar]) -> dict[str, Scalar]:
    checked: dict[str, Scalar] = {}
    for name, value in values.items():
        if name not in columns:
            raise ToolError(
                "invalid_value", f"there is no column {name[:80]}: {', '.join(columns)}"
            )
        column = columns[name]
        if column.get("read_only") is True:
            raise ToolError("forbidden", f"the column {name} cannot be changed")
        problem = None if value is None else _misfit(column, value)
        if problem is not None:
            raise ToolError("invalid_value", f"{name}: {problem}")
        checked[name] = value
    return checked


def _misfit(column: Column, value: Scalar) -> str | None:
    kind = column.get("type", "text")
    if kind == "boolean":
        return None if isinstance(value, bool) else "must be true or false"
    if kind == "integer":
        return None if type(value) is int else "must be a whole number"
    if kind == "number":
        return None if type(value) in (int, float) else "must be a number"
    if not isinstance(value, str):
        return "must be text"
    if len(value) > LONGEST_VALUE:
        return f"is longer than {LONGEST_VALUE} characters"
    if kind == "date" and not is_date(value):
        return "must be a date, such as 2031-03-20"
    if kind == "timestamp" and not is_instant(value):
        return "must be a timestamp with offset, such as 2031-03-20T09:10:00+01:00"
    if kind == "choice":
        options = column.get("options")
        known = [str(option) for option in options] if isinstance(options, list) else []
        return None if value in known else f"must be one of {', '.join(known)}"
    return None


def _holds(column: Column, found: Any, operator: Operator, wanted: Scalar) -> bool:
    if operator == "contains":
        return str(wanted).casefold() in str(found).casefold() if found is not None else False
    same = _same(column, found, wanted)
    if operator in ("eq", "ne"):
        return same == (operator == "eq")
    mine, theirs = _order(column, found), _order(column, wanted)
    if mine[0] != theirs[0] or found is None:
        return False
    if operator in ("le", "ge") and same:
        return True
    return mine < theirs if operator in ("lt", "le") else mine > theirs


def _same(column: Column, found: Any, wanted: Scalar) -> bool:
    if isinstance(found, str) and isinstance(wanted, str):
        if column.get("type") == "timestamp":
            mine, theirs = parse_instant(found), parse_instant(wanted)
            if mine is not None and theirs is not None:
                return mine == theirs
        return found.casefold() == wanted.casefold()
    if isinstance(found, bool) or isinstance(wanted, bool):
        return found is wanted
    return bool(found == wanted)


def _order(column: Column, value: Any) -> tuple[int, float, str]:
    """Numbers before texts, nothing first; timestamps by their instant."""
    if isinstance(value, bool) or value is None:
        return (0, float(value or 0), "")
    if isinstance(value, int | float):
        return (1, float(value), "")
    if isinstance(value, str) and column.get("type") == "timestamp":
        instant = parse_instant(value)
        if instant is not None:
            return (1, instant.timestamp(), "")
    return (2, 0.0, str(value).casefold())
