"""Spreadsheets: ranges, appending, and what a cell's address is."""

from typing import Any

import pytest

from tasks_app.core.values import column_name, column_number
from tests.tasks_app.core.services.office import NOW, Office

SHEETS: list[dict[str, Any]] = [
    {"id": "SH-01", "title": "Costs"},
    {"id": "SH-02", "title": "Plan", "locked": True},
]
ROWS: list[dict[str, Any]] = [
    {"id": "SH-01!1", "sheet_id": "SH-01", "row": 1, "A": "Item", "B": "Q1", "C": "Q2"},
    {"id": "SH-01!2", "sheet_id": "SH-01", "row": 2, "A": "Rent", "B": 100, "C": 110.5},
    {"id": "SH-01!10", "sheet_id": "SH-01", "row": 4, "A": "Power", "C": 40},
]


@pytest.fixture
def office() -> Office:
    return Office({"sheets": {"sheets": SHEETS, "rows": ROWS}})


@pytest.mark.parametrize(
    ("number", "name"), [(1, "A"), (26, "Z"), (27, "AA"), (52, "AZ"), (53, "BA")]
)
def test_columns_are_counted_as_spreadsheets_do(number: int, name: str) -> None:
    assert (column_name(number), column_number(name)) == (name, number)


@pytest.mark.parametrize(
    ("cells", "named", "values"),
    [
        (
            None,
            "A1:C4",
            [["Item", "Q1", "Q2"], ["Rent", 100, 110.5], [None] * 3, ["Power", None, 40]],
        ),
        ("B2", "B2:B2", [[100]]),
        ("$B$2:$C$2", "B2:C2", [[100, 110.5]]),
        ("b2:c4", "B2:C4", [[100, 110.5], [None, None], [None, 40]]),
        ("C:C", "C1:C4", [["Q2"], [110.5], [None], [40]]),
        ("2:2", "A2:C2", [["Rent", 100, 110.5]]),
        ("B4:Z9", "B4:C4", [[None, 40]]),
        ("D9", "D9:D9", [[None]]),
    ],
)
def test_a_range_is_read_row_by_row(
    office: Office, cells: str | None, named: str, values: list[list[Any]]
) -> None:
    given = {} if cells is None else {"cells": cells}
    answer = office.call("sheets_read_range", sheet_id="SH-01", **given)
    assert answer == {"range": named, "values": values, "rows": 4}


def test_a_written_cell_changes_its_address_alone(office: Office) -> None:
    answer = office.call("sheets_write_range", sheet_id="SH-01", cells="C2", values=[[111]])
    assert answer == {"range": "C2:C2", "rows_changed": 1}
    assert office.changed() == ["sheets/rows/SH-01!2#C", "sheets/sheets/SH-01#updated_at"]
    assert office.record("sheets/rows", "SH-01!2") == {
        "id": "SH-01!2",
        "sheet_id": "SH-01",
        "row": 2,
        "A": "Rent",
        "B": 100,
        "C": 111,
    }


def test_a_block_is_written_and_null_empties(office: Office) -> None:
    office.call("sheets_write_range", sheet_id="SH-01", cells="B2:C3", values=[[None, 1], [2, 3]])
    read = office.call("sheets_read_range", sheet_id="SH-01", cells="A2:C3")
    assert read["values"] == [["Rent", None, 1], [None, 2, 3]]


def test_rows_are_added_below_the_last_one(office: Office) -> None:
    answer = office.call(
        "sheets_append_rows", sheet_id="SH-01", values=[["Tea", 1], ["Ink", None, 2]]
    )
    assert answer == {"first_row": 5, "rows_added": 2}
    assert office.changed() == [
        "add sheets/rows/SH-01!5",
        "add sheets/rows/SH-01!6",
        "sheets/sheets/SH-01#updated_at",
    ]
    assert office.record("sheets/rows", "SH-01!6") == {
        "id": "SH-01!6",
        "sheet_id": "SH-01",
        "row": 6,
        "A": "Ink",
        "C": 2,
    }
    assert office.record("sheets/sheets", "SH-01")["updated_at"] == NOW


def test_sheets_are_listed_with_their_size_and_rows_found_by_word(office: Office) -> None:
    listed = office.call("sheets_list_sheets", query="costs")
    assert listed == {"sheets": [{**SHEETS[0], "rows": 4, "columns": 3}], "total": 1}
    found = office.call("sheets_find_rows", sheet_id="SH-01", query="power")
    assert [row["row"] for row in found["rows"]] == [4]
    empty = office.call("sheets_read_range", sheet_id="SH-02")
    assert empty == {"range": "A1:A1", "values": [], "rows": 0}


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("read_range", {"sheet_id": "SH-9"}, "not_found"),
        ("read_range", {"sheet_id": "SH-01", "cells": "C3:B1"}, "invalid_value"),
        ("read_range", {"sheet_id": "SH-01", "cells": "hello"}, "invalid_value"),
        ("read_range", {"sheet_id": "SH-01", "cells": ":"}, "invalid_value"),
        ("write_range", {"sheet_id": "SH-02", "cells": "A1", "values": [[1]]}, "forbidden"),
        ("write_range", {"sheet_id": "SH-01", "cells": "A1:B1", "values": [[1]]}, "invalid_value"),
        (
            "write_range",
            {"sheet_id": "SH-01", "cells": "A1", "values": [[1], [1, 2]]},
            "invalid_value",
        ),
        ("write_range", {"sheet_id": "SH-01", "cells": "A1", "values": [[]]}, "invalid_value"),
        ("write_range", {"sheet_id": "SH-01", "cells": "A1", "values": [["Item"]]}, "conflict"),
        ("write_range", {"sheet_id": "SH-01", "cells": "A10001", "values": [[1]]}, "invalid_value"),
        ("write_range", {"sheet_id": "SH-01", "cells": "CW1", "values": [[1]]}, "invalid_value"),
        ("append_rows", {"sheet_id": "SH-01", "values": [[None]]}, "invalid_value"),
        ("append_rows", {"sheet_id": "SH-01", "values": [[{"a": 1}]]}, "wrong_type"),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(f"sheets_{name}", **arguments) == code
