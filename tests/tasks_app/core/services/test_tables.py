"""Typed tables: conditions, types, required and protected columns."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import Office

TABLES: list[dict[str, Any]] = [
    {
        "id": "TB-01",
        "name": "claims",
        "columns": [
            {"name": "claimant", "type": "text", "required": True},
            {"name": "amount", "type": "number"},
            {"name": "state", "type": "choice", "options": ["open", "paid"]},
            {"name": "filed_on", "type": "date"},
            {"name": "seen_at", "type": "timestamp"},
            {"name": "urgent", "type": "boolean"},
            {"name": "visits", "type": "integer"},
            {"name": "policy_no", "type": "text", "read_only": True},
        ],
    },
]
ROWS: list[dict[str, Any]] = [
    {
        "id": "RW-0001",
        "table_id": "TB-01",
        "claimant": "Ada Lind",
        "amount": 120.5,
        "state": "open",
        "filed_on": "2031-03-01",
        "seen_at": "2031-03-02T10:00:00+02:00",
        "urgent": True,
        "visits": 2,
        "policy_no": "P-1",
    },
    {
        "id": "RW-0002",
        "table_id": "TB-01",
        "claimant": "Ben Oaks",
        "amount": 90,
        "state": "paid",
        "filed_on": "2031-02-01",
        "seen_at": "2031-03-02T09:30:00Z",
        "urgent": False,
        "visits": 1,
    },
    {"id": "RW-0003", "table_id": "TB-01", "claimant": "Cy Marr", "amount": None, "state": "open"},
    {"id": "RW-0004", "table_id": "TB-02", "claimant": "Ada Elsewhere", "amount": 7},
]


@pytest.fixture
def office() -> Office:
    return Office({"tables": {"tables": TABLES, "rows": ROWS}})


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["rows"]]


def where(column: str, op: str, value: Any) -> list[dict[str, Any]]:
    return [{"column": column, "op": op, "value": value}]


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([], ["RW-0001", "RW-0002", "RW-0003"]),
        ([{"column": "state", "value": "OPEN"}], ["RW-0001", "RW-0003"]),
        (where("state", "ne", "open"), ["RW-0002"]),
        (where("amount", "gt", 90), ["RW-0001"]),
        (where("amount", "ge", 90), ["RW-0001", "RW-0002"]),
        (where("amount", "lt", 100), ["RW-0002"]),
        (where("amount", "eq", None), ["RW-0003"]),
        (where("filed_on", "le", "2031-02-01"), ["RW-0002"]),
        (where("seen_at", "eq", "2031-03-02T08:00:00Z"), ["RW-0001"]),
        (where("seen_at", "gt", "2031-03-02T11:00:00+02:00"), ["RW-0002"]),
        (where("urgent", "eq", True), ["RW-0001"]),
        (where("urgent", "eq", 1), []),
        (where("claimant", "contains", "oak"), ["RW-0002"]),
        (where("id", "eq", "RW-0003"), ["RW-0003"]),
        (where("amount", "lt", "a"), []),
        (where("state", "eq", "open") + where("visits", "ge", 2), ["RW-0001"]),
    ],
)
def test_rows_that_meet_all_conditions_are_shown(
    office: Office, conditions: list[dict[str, Any]], expected: list[str]
) -> None:
    assert ids(office.call("tables_query_rows", table_id="TB-01", where=conditions)) == expected


def test_rows_are_ordered_by_a_column_nothing_first(office: Office) -> None:
    up = office.call("tables_query_rows", table_id="TB-01", order_by="amount")
    assert ids(up) == ["RW-0003", "RW-0002", "RW-0001"]
    down = office.call("tables_query_rows", table_id="TB-01", order_by="seen_at", descending=True)
    assert ids(down) == ["RW-0002", "RW-0001", "RW-0003"]
    assert ids(office.call("tables_search_rows", query="ada")) == ["RW-0001", "RW-0004"]


def test_a_new_row_has_every_column(office: Office) -> None:
    made = office.call(
        "tables_insert_row", table_id="TB-01", values={"claimant": "Di", "visits": 1}
    )
    assert made == {
        "id": "RW-0005",
        "table_id": "TB-01",
        "claimant": "Di",
        "amount": None,
        "state": None,
        "filed_on": None,
        "seen_at": None,
        "urgent": None,
        "visits": 1,
        "policy_no": None,
    }


def test_a_change_has_the_address_of_its_value(office: Office) -> None:
    office.call("tables_update_row", row_id="RW-0001", values={"state": "paid", "amount": 120.5})
    assert office.changed() == ["tables/rows/RW-0001#state"]
    office.call("tables_update_row", row_id="RW-0001", values={"amount": None})
    assert office.record("tables/rows", "RW-0001")["amount"] is None
    assert office.call("tables_delete_row", row_id="RW-0003")["claimant"] == "Cy Marr"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"amount": "12"}, "invalid_value"),
        ({"amount": True}, "invalid_value"),
        ({"visits": 1.5}, "invalid_value"),
        ({"urgent": "yes"}, "invalid_value"),
        ({"state": "lost"}, "invalid_value"),
        ({"filed_on": "2031-02-30"}, "invalid_value"),
        ({"seen_at": "2031-03-02"}, "invalid_value"),
        ({"claimant": None}, "invalid_value"),
        ({"claimant": 5}, "invalid_value"),
        ({"colour": "red"}, "invalid_value"),
        ({"id": "RW-9"}, "invalid_value"),
        ({"policy_no": "P-2"}, "forbidden"),
        ({"state": "open"}, "conflict"),
        ({}, "invalid_value"),
        ({"amount": [1]}, "wrong_type"),
    ],
)
def test_values_that_do_not_fit_are_refused(
    office: Office, values: dict[str, Any], code: str
) -> None:
    assert office.refusal("tables_update_row", row_id="RW-0001", values=values) == code


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("tables_query_rows", {"table_id": "TB-9"}, "not_found"),
        (
            "tables_query_rows",
            {"table_id": "TB-01", "where": where("hue", "eq", 1)},
            "invalid_value",
        ),
        (
            "tables_query_rows",
            {"table_id": "TB-01", "where": where("state", "like", 1)},
            "invalid_value",
        ),
        ("tables_query_rows", {"table_id": "TB-01", "order_by": "hue"}, "invalid_value"),
        ("tables_insert_row", {"table_id": "TB-01", "values": {"amount": 1}}, "invalid_value"),
        ("tables_insert_row", {"table_id": "TB-9", "values": {"amount": 1}}, "not_found"),
        ("tables_update_row", {"row_id": "RW-0004", "values": {"amount": 1}}, "not_found"),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(name, **arguments) == code
