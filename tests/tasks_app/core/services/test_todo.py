"""To-do items: order, states, and what a finished one allows."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office

ITEMS: list[dict[str, Any]] = [
    {
        "id": "TD-001",
        "title": "Send offer",
        "owner": "Ada",
        "status": "open",
        "due_on": "2031-04-02",
    },
    {"id": "TD-002", "title": "Call Ben", "owner": "Cy", "status": "done", "due_on": "2031-03-01"},
    {"id": "TD-003", "title": "Order paper", "status": "blocked", "priority": "low"},
]


@pytest.fixture
def office() -> Office:
    return Office({"todo": {"items": ITEMS}})


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["items"]]


def test_items_come_by_due_day_those_without_one_first(office: Office) -> None:
    assert ids(office.call("todo_list_items")) == ["TD-003", "TD-002", "TD-001"]
    assert ids(office.call("todo_list_items", due_from="2031-03-02")) == ["TD-001"]
    assert ids(office.call("todo_list_items", owner="ada", status="OPEN")) == ["TD-001"]
    assert ids(office.call("todo_search_items", query="paper")) == ["TD-003"]


def test_an_item_is_added_open_and_dated(office: Office) -> None:
    made = office.call("todo_create_item", title="File minutes", due_on="2031-03-31", tags=["q1"])
    assert made == {
        "id": "TD-004",
        "title": "File minutes",
        "description": None,
        "owner": None,
        "status": "open",
        "priority": "normal",
        "due_on": "2031-03-31",
        "tags": ["q1"],
        "created_at": NOW,
        "updated_at": NOW,
    }
    assert office.changed() == ["add todo/items/TD-004"]


def test_a_change_touches_only_what_was_named(office: Office) -> None:
    office.call("todo_update_item", item_id="TD-001", status="in_progress")
    assert office.changed() == ["todo/items/TD-001#status,updated_at"]
    office.call("todo_update_item", item_id="TD-001", status="done")
    assert office.record("todo/items", "TD-001")["status"] == "done"


def test_a_finished_item_changes_only_together_with_its_status(office: Office) -> None:
    assert office.refusal("todo_update_item", item_id="TD-002", title="x") == "conflict"
    same = {"title": "x", "status": "done"}
    assert office.refusal("todo_update_item", item_id="TD-002", **same) == "conflict"
    again = office.call("todo_update_item", item_id="TD-002", status="open", title="Call him")
    assert (again["status"], again["title"]) == ("open", "Call him")


def test_a_deleted_item_is_gone_and_its_number_is_not_given_again(office: Office) -> None:
    assert office.call("todo_delete_item", item_id="TD-003")["title"] == "Order paper"
    assert office.changed() == ["delete todo/items/TD-003"]
    assert office.call("todo_create_item", title="New")["id"] == "TD-004"


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("todo_get_item", {"item_id": "TD-9"}, "not_found"),
        ("todo_update_item", {"item_id": "TD-001"}, "invalid_value"),
        ("todo_update_item", {"item_id": "TD-001", "status": "lost"}, "invalid_value"),
        ("todo_create_item", {"title": ""}, "invalid_value"),
        ("todo_create_item", {}, "missing_argument"),
        ("todo_create_item", {"title": "x", "due_on": "2031-02-30"}, "invalid_value"),
        ("todo_create_item", {"title": "x", "due_date": "2031-03-30"}, "unknown_argument"),
        ("todo_create_item", {"title": 7}, "wrong_type"),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(name, **arguments) == code
