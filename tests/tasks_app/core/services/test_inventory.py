from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office

PRODUCTS: list[dict[str, Any]] = [
    {
        "id": "PR-11",
        "sku": "KTL-12-GRA",
        "name": "Kettle 1.2 l graphite",
        "supplier": "Hob",
        "on_hand": 12,
        "reserved": 2,
    },
    {
        "id": "PR-12",
        "sku": "KTL-15-GRA",
        "name": "Kettle 1.5 l graphite",
        "supplier": "Hob",
        "on_hand": 3,
        "reserved": 3,
    },
    {"id": "PR-13", "sku": "CUP", "name": "Cup", "supplier": "Klee"},
]
PURCHASES: list[dict[str, Any]] = [
    {
        "id": "PO-1",
        "supplier": "Hob",
        "status": "ordered",
        "lines": [
            {"sku": "KTL-15-GRA", "quantity": 10, "received": 4},
            {"sku": "X", "quantity": 1},
        ],
        "created_at": "2031-03-01T10:00:00+01:00",
    },
    {"id": "PO-2", "supplier": "Klee", "status": "received", "created_at": "2031-02-01T10:00:00Z"},
    {"id": "PO-3", "supplier": "Klee", "status": "ordered", "lines": [{"sku": "CUP"}]},
]


@pytest.fixture
def office() -> Office:
    return Office({"inventory": {"products": PRODUCTS, "purchase_orders": PURCHASES}})


def test_list_shows_articles_without_stock(office: Office) -> None:
    assert office.call("inventory_list_products", query="1.5 graphite") == {
        "products": [
            {
                "id": "PR-12",
                "sku": "KTL-15-GRA",
                "name": "Kettle 1.5 l graphite",
                "supplier": "Hob",
            }
        ],
        "total": 1,
    }
    assert office.call("inventory_list_products", supplier="hob")["total"] == 2


def test_product_is_found_by_id_or_by_article_number(office: Office) -> None:
    get = "inventory_get_product"
    assert office.call(get, product_id="PR-12") == PRODUCTS[1]
    assert office.call(get, sku="KTL-15-GRA") == PRODUCTS[1]
    assert office.refusal(get) == "invalid_value"
    assert office.refusal(get, product_id="PR-12", sku="KTL-15-GRA") == "invalid_value"
    assert office.refusal(get, sku="KTL") == "not_found"
    assert office.refusal(get, product_id="PR-1") == "not_found"


def test_stock_is_corrected_but_never_below_zero(office: Office) -> None:
    adjust = "inventory_adjust_stock"
    after = office.call(adjust, sku="KTL-15-GRA", difference=-3, reason="damage")
    assert after["on_hand"] == 0
    assert office.changed() == ["inventory/products/PR-12#on_hand"]
    assert office.refusal(adjust, product_id="PR-12", difference=-1, reason="loss") == "conflict"
    assert office.refusal(adjust, product_id="PR-12", difference=0, reason="loss") == (
        "invalid_value"
    )
    assert office.call(adjust, sku="CUP", difference=5, reason="found")["on_hand"] == 5


def test_only_free_stock_is_reserved(office: Office) -> None:
    reserve = "inventory_reserve_stock"
    assert office.call(reserve, product_id="PR-11", quantity=10)["reserved"] == 12
    assert office.refusal(reserve, product_id="PR-11", quantity=1) == "conflict"


def test_purchase_order_groups_lines(office: Office) -> None:
    lines = [{"sku": "KTL-12-GRA", "quantity": 4}, {"sku": "KTL-15-GRA", "quantity": 12}]
    made = office.call(
        "inventory_create_purchase_order", supplier="Hob", lines=lines, expected_on="2031-04-01"
    )
    assert made == {
        "id": "PO-4",
        "supplier": "Hob",
        "lines": lines,
        "status": "ordered",
        "expected_on": "2031-04-01",
        "created_at": NOW,
    }


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "invalid_value"),
        ([{"sku": "CUP"}], "missing_argument"),
        ([{"sku": "CUP", "quantity": 1, "price": 2}], "unknown_argument"),
        ([{"sku": "CUP", "quantity": "1"}], "wrong_type"),
        ("CUP", "wrong_type"),
        ([{"sku": "CUP", "quantity": 0}], "invalid_value"),
        ([{"sku": "CAP", "quantity": 1}, {"sku": "CAP", "quantity": 1}], "not_found"),
        ([{"sku": "CUP", "quantity": 1}, {"sku": "CUP", "quantity": 2}], "invalid_value"),
    ],
)
def test_purchase_order_refusals(office: Office, lines: Any, code: str) -> None:
    refused = office.refusal("inventory_create_purchase_order", supplier="Klee", lines=lines)
    assert refused == code


def test_purchase_orders_are_listed_oldest_first(office: Office) -> None:
    page = office.call("inventory_list_purchase_orders")
    assert [row["id"] for row in page["purchase_orders"]] == ["PO-3", "PO-2", "PO-1"]
    assert office.call("inventory_list_purchase_orders", query="ktl-15-gra")["total"] == 1


def test_arrival_fills_the_stock_by_what_was_awaited(office: Office) -> None:
    receive = "inventory_receive_purchase_order"
    order = office.call(receive, purchase_order_id="PO-1")
    assert order["lines"] == [
        {"sku": "KTL-15-GRA", "quantity": 10, "received": 10},
        {"sku": "X", "quantity": 1, "received": 1},
    ]
    assert office.changed() == [
        "inventory/products/PR-12#on_hand",
        "inventory/purchase_orders/PO-1#lines,status",
    ]
    assert office.record("inventory/products", "PR-12")["on_hand"] == 9
    assert office.refusal(receive, purchase_order_id="PO-1") == "conflict"


def test_only_what_nothing_has_come_of_is_cancelled(office: Office) -> None:
    cancel = "inventory_cancel_purchase_order"
    assert office.refusal(cancel, purchase_order_id="PO-1") == "conflict"
    assert office.refusal(cancel, purchase_order_id="PO-2") == "conflict"
    office.call(cancel, purchase_order_id="PO-3")
    assert office.changed() == ["inventory/purchase_orders/PO-3#status"]
