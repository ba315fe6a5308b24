from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office


def order(number: int, status: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"OR-{number}",
        "customer_id": "CU-1",
        "placed_on": f"2031-03-{number:02d}",
        "delivered_on": None,
        "status": status,
        "lines": [
            {"line": 1, "sku": "KTL", "quantity": 2, "unit_price": 74.0},
            {"line": 2, "sku": "CUP", "quantity": 1, "unit_price": 18.5},
        ],
        **more,
    }


ORDERS = [
    order(1, "placed"),
    order(2, "packing", customer_id="CU-2"),
    order(3, "shipped"),
    order(4, "delivered", delivered_on="2031-03-09"),
    order(5, "cancelled"),
]


@pytest.fixture
def office() -> Office:
    return Office({"orders": {"orders": ORDERS, "shipments": [], "returns": []}})


def ids(page: dict[str, Any], noun: str = "orders") -> list[str]:
    return [row["id"] for row in page[noun]]


def test_search_shows_summaries_without_lines(office: Office) -> None:
    assert office.call("orders_search_orders", customer_id="CU-2") == {
        "orders": [
            {
                "id": "OR-2",
                "customer_id": "CU-2",
                "placed_on": "2031-03-02",
                "delivered_on": None,
                "status": "packing",
            }
        ],
        "total": 1,
    }


def test_search_filters(office: Office) -> None:
    assert ids(office.call("orders_search_orders", query="ktl", status="shipped")) == ["OR-3"]
    chosen = office.call(
        "orders_search_orders", placed_from="2031-03-02", placed_until="2031-03-03"
    )
    assert ids(chosen) == ["OR-2", "OR-3"]


def test_get_shows_the_lines(office: Office) -> None:
    assert office.call("orders_get_order", order_id="OR-1") == ORDERS[0]
    assert office.refusal("orders_get_order", order_id="OR-10") == "not_found"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("orders_cancel_order", {"reason": "customer_request"}),
        ("orders_cancel_line", {"line": 1}),
        ("orders_change_quantity", {"line": 1, "quantity": 1}),
        ("orders_change_address", {"address": "Vej 4, Aalborg"}),
    ],
)
def test_only_what_has_not_left_the_house_changes(
    office: Office, tool: str, arguments: dict[str, Any]
) -> None:
    answers = {row["id"]: office.call(tool, order_id=row["id"], **arguments) for row in ORDERS}
    errors = {order_id: answer.get("error") for order_id, answer in answers.items()}
    assert errors == {
        "OR-1": None,
        "OR-2": None,
        "OR-3": "conflict",
        "OR-4": "conflict",
        "OR-5": "conflict",
    }
    assert answers["OR-1"]["updated_at"] == NOW


def test_cancelled_line_is_marked_and_the_last_one_stays(office: Office) -> None:
    changed = office.call("orders_cancel_line", order_id="OR-1", line=1)
    assert changed["lines"] == [
        {"line": 1, "sku": "KTL", "quantity": 2, "unit_price": 74, "status": "cancelled"},
        {"line": 2, "sku": "CUP", "quantity": 1, "unit_price": 18.5},
    ]
    assert office.changed() == ["orders/orders/OR-1#lines,updated_at"]
    assert office.refusal("orders_cancel_line", order_id="OR-1", line=1) == "conflict"
    assert office.refusal("orders_cancel_line", order_id="OR-1", line=2) == "conflict"
    refused = office.refusal("orders_change_quantity", order_id="OR-1", line=1, quantity=5)
    assert refused == "conflict"


def test_an_unknown_line_comes_before_a_forbidden_state(office: Office) -> None:
    assert office.refusal("orders_cancel_line", order_id="OR-5", line=9) == "not_found"


def test_reship_sends_as_many_as_were_ordered(office: Office) -> None:
    sent = office.call("orders_reship_line", order_id="OR-4", line=1, sku="KTL")
    assert sent == {
        "id": "SH-0001",
        "order_id": "OR-4",
        "line": 1,
        "sku": "KTL",
        "quantity": 2,
        "status": "preparing",
        "created_at": NOW,
    }
    assert office.call("orders_list_shipments", order_id="OR-4")["shipments"] == [sent]
    assert office.call("orders_get_shipment", shipment_id="SH-0001") == sent


@pytest.mark.parametrize(
    ("order_id", "line", "quantity", "code"),
    [
        ("OR-9", 1, None, "not_found"),
        ("OR-1", 3, None, "not_found"),
        ("OR-1", 1, 3, "invalid_value"),
        ("OR-1", 1, None, "conflict"),
        ("OR-1", 0, None, "invalid_value"),
    ],
)
def test_reship_and_return_refusals(
    office: Office, order_id: str, line: int, quantity: int | None, code: str
) -> None:
    common: dict[str, Any] = {"order_id": order_id, "line": line, "quantity": quantity}
    assert office.refusal("orders_reship_line", sku="KTL", **common) == code
    assert office.refusal("orders_create_return", reason="damaged", **common) == code


def test_return_is_announced_for_what_was_delivered(office: Office) -> None:
    made = office.call(
        "orders_create_return", order_id="OR-4", line=1, reason="damaged", quantity=1
    )
    assert made == {
        "id": "RT-0001",
        "order_id": "OR-4",
        "line": 1,
        "quantity": 1,
        "reason": "damaged",
        "status": "announced",
        "created_at": NOW,
    }
    assert ids(office.call("orders_list_returns", status="announced"), "returns") == ["RT-0001"]
    refused = office.refusal("orders_create_return", order_id="OR-3", line=1, reason="damaged")
    assert refused == "conflict"
