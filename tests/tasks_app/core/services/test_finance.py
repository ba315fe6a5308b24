from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office


def invoice(number: int, status: str, **more: Any) -> dict[str, Any]:
    return {
        "id": f"IN-{number}",
        "payee_id": "PY-210",
        "supplier_ref": str(4400 + number),
        "amount": 100.0 + number,
        "currency": "EUR",
        "due_on": f"2031-06-{30 - number:02d}",
        "status": status,
        "hold_reason": None,
        **more,
    }


INVOICES = [
    invoice(1, "approved"),
    invoice(2, "paid"),
    invoice(3, "on_hold", hold_reason="disputed"),
    invoice(4, "received", payee_id="PY-211"),
    invoice(5, "rejected"),
]
PAYEES: list[dict[str, Any]] = [
    {
        "id": "PY-210",
        "name": "Tarnwick Castings",
        "country": "FI",
        "iban": "FI21 0000 7100 0088 42",
        "email": "petra@tarnwick-castings.example",
        "status": "active",
    },
    {"id": "PY-211", "name": "Tarnwick Castings Nordic", "country": "SE", "status": "active"},
    {"id": "PY-244", "name": "Tarnwick (old)", "iban": "FI55 0000", "status": "closed"},
]
TRANSACTIONS: list[dict[str, Any]] = [
    {"id": "TX-2", "date": "2031-03-02", "amount": 150.0, "merchant": "Taxi", "status": "new"},
    {"id": "TX-1", "date": "2031-03-09", "amount": -40.0, "merchant": "Hotel Vej", "status": "new"},
]
ORDERS: list[dict[str, Any]] = [
    {
        "id": "OR-1",
        "currency": "DKK",
        "status": "delivered",
        "lines": [{"line": 1, "sku": "A", "quantity": 1, "unit_price": 74.0}],
    },
    {"id": "OR-2", "status": "cancelled"},
]


@pytest.fixture
def office() -> Office:
    return Office(
        {
            "finance": {
                "invoices": INVOICES,
                "payees": PAYEES,
                "transactions": TRANSACTIONS,
                "refunds": [],
                "reports": [],
            },
            "orders": {"orders": ORDERS},
        }
    )


def ids(page: dict[str, Any], noun: str) -> list[str]:
    return [row["id"] for row in page[noun]]


def test_invoices_are_listed_by_due_date_with_filters(office: Office) -> None:
    listed = office.call("finance_list_invoices")
    assert ids(listed, "invoices") == ["IN-5", "IN-4", "IN-3", "IN-2", "IN-1"]
    assert office.call("finance_list_invoices", payee_id="PY-210", status="approved") == {
        "invoices": [
            {
                "id": "IN-1",
                "payee_id": "PY-210",
                "supplier_ref": "4401",
                "amount": 101,
                "currency": "EUR",
                "due_on": "2031-06-29",
                "status": "approved",
                "hold_reason": None,
            }
        ],
        "total": 1,
    }
    assert ids(office.call("finance_list_invoices", supplier_ref="4403"), "invoices") == ["IN-3"]
    due = office.call("finance_list_invoices", due_from="2031-06-26", due_until="2031-06-27")
    assert ids(due, "invoices") == ["IN-4", "IN-3"]


def test_a_supplier_number_kept_as_a_number_is_found() -> None:
    office = Office({"finance": {"invoices": [{"id": "IN-1", "supplier_ref": 4417}]}})
    assert office.call("finance_list_invoices", supplier_ref="4417")["total"] == 1


def test_get_shows_one_invoice(office: Office) -> None:
    assert office.call("finance_get_invoice", invoice_id="IN-1") == INVOICES[0]


def test_hold_sets_status_and_reason(office: Office) -> None:
    office.call("finance_hold_invoice", invoice_id="IN-1", reason="fraud_suspected")
    assert office.changed() == ["finance/invoices/IN-1#hold_reason,status"]
    again = office.refusal("finance_hold_invoice", invoice_id="IN-1", reason="fraud_suspected")
    assert again == "conflict"
    office.call("finance_hold_invoice", invoice_id="IN-1", reason="callback_pending")
    assert office.changed() == ["finance/invoices/IN-1#hold_reason"]


@pytest.mark.parametrize(
    ("tool", "refused"),
    [
        ("finance_hold_invoice", {"IN-2", "IN-5"}),
        ("finance_release_invoice", {"IN-1", "IN-2", "IN-4", "IN-5"}),
        ("finance_approve_invoice", {"IN-1", "IN-2", "IN-3", "IN-5"}),
        ("finance_reject_invoice", {"IN-2", "IN-5"}),
    ],
)
def test_invoice_states(office: Office, tool: str, refused: set[str]) -> None:
    more = {
        "finance_hold_invoice": {"reason": "over_limit"},
        "finance_reject_invoice": {"reason": "over_limit"},
    }.get(tool, {})
    start = office.store.snapshot()
    for row in INVOICES:
        office.store.restore(start)
        answer = office.call(tool, invoice_id=row["id"], **more)
        assert (answer.get("error") == "conflict") is (row["id"] in refused), answer
    assert office.refusal(tool, invoice_id="IN-9", **more) == "not_found"


def test_release_makes_a_held_invoice_approved(office: Office) -> None:
    released = office.call("finance_release_invoice", invoice_id="IN-3")
    assert (released["status"], released["hold_reason"]) == ("approved", None)


def test_payees_are_found_without_bank_details(office: Office) -> None:
    page = office.call("finance_search_payees", query="tarnwick castings")
    assert page == {
        "payees": [
            {"id": "PY-210", "name": "Tarnwick Castings", "country": "FI", "status": "active"},
            {
                "id": "PY-211",
                "name": "Tarnwick Castings Nordic",
                "country": "SE",
                "status": "active",
            },
        ],
        "total": 2,
    }
    assert office.call("finance_get_payee", payee_id="PY-210") == PAYEES[0]


def test_compare_tells_same_or_different_without_the_number(office: Office) -> None:
    compare = "finance_compare_account"
    assert office.call(compare, payee_id="PY-210", iban="fi2100007100008842") == {
        "payee_id": "PY-210",
        "matches": True,
        "result": "same",
    }
    other = office.call(compare, payee_id="PY-210", iban="FI21 0000 7100 0088 43")
    assert other["result"] == "different"
    assert office.refusal(compare, payee_id="PY-211", iban="FI21 0000") == "conflict"


def test_change_bank_replaces_the_number_and_its_verification(office: Office) -> None:
    change = "finance_change_payee_bank"
    office.call(change, payee_id="PY-210", iban="LT12 0099", reference="CB-1")
    assert office.changed() == ["finance/payees/PY-210#bank_reference,bank_verified_on,iban"]
    assert office.refusal(change, payee_id="PY-210", iban="lt120099") == "conflict"
    assert office.refusal(change, payee_id="PY-244", iban="LT12 0099") == "conflict"
    assert office.refusal(change, payee_id="PY-244", iban="- - -") == "invalid_value"
    assert office.refusal(change, payee_id="PY-9", iban="- - -") == "not_found"


def test_refund_takes_the_currency_of_the_order(office: Office) -> None:
    made = office.call(
        "finance_create_refund", order_id="OR-1", line=1, amount=76.604, reason="goodwill"
    )
    assert made == {
        "id": "RF-0001",
        "order_id": "OR-1",
        "line": 1,
        "amount": 76.6,
        "currency": "DKK",
        "reason": "goodwill",
        "created_at": NOW,
    }
    assert office.changed() == ["add finance/refunds/RF-0001"]
    assert office.call("finance_list_refunds", order_id="OR-1") == {"refunds": [made], "total": 1}
    assert office.call("finance_list_refunds", order_id="OR-2") == {"refunds": [], "total": 0}


@pytest.mark.parametrize(
    ("order_id", "line", "code"),
    [("OR-9", 1, "not_found"), ("OR-1", 2, "not_found"), ("OR-2", None, "conflict")],
)
def test_refund_needs_an_order_and_a_line_that_exist(
    office: Office, order_id: str, line: int | None, code: str
) -> None:
    refused = office.refusal(
        "finance_create_refund", order_id=order_id, line=line, amount=1, reason="goodwill"
    )
    assert refused == code


@pytest.mark.parametrize("amount", [0, -5, 0.001, 1e9])
def test_refund_needs_a_sensible_amount(office: Office, amount: float) -> None:
    refused = office.refusal(
        "finance_create_refund", order_id="OR-1", amount=amount, reason="goodwill"
    )
    assert refused == "invalid_value"


def test_refund_works_where_no_orders_are_kept() -> None:
    office = Office({"finance": {"refunds": []}})
    made = office.call("finance_create_refund", order_id="X", amount=5, reason="goodwill")
    assert (made["currency"], made["line"]) == ("EUR", None)


def test_report_records_only_what_is_given(office: Office) -> None:
    made = office.call(
        "finance_submit_report",
        kind="payee_change",
        payee_id="PY-210",
        verdict="fraud_suspected",
        exposure=27463.1499999,
        callback="CB-0731",
    )
    assert made == {
        "id": "RP-001",
        "kind": "payee_change",
        "payee_id": "PY-210",
        "verdict": "fraud_suspected",
        "exposure": 27463.15,
        "callback": "CB-0731",
        "created_at": NOW,
    }
    assert office.call("finance_list_reports", kind="payee_change")["reports"] == [made]


def test_report_refusals(office: Office) -> None:
    submit = "finance_submit_report"
    assert office.refusal(submit, kind="x", payee_id="PY-9", text="x") == "not_found"
    assert office.refusal(submit, kind="x", invoice_id="IN-9", text="x") == "not_found"
    assert office.refusal(submit, kind="x") == "invalid_value"
    assert office.refusal(submit, kind="Payee change", text="x") == "invalid_value"
    assert office.refusal(submit, kind="x", verdict="maybe") == "invalid_value"


def test_transactions_are_listed_and_decided(office: Office) -> None:
    assert ids(office.call("finance_list_transactions"), "transactions") == ["TX-2", "TX-1"]
    assert ids(office.call("finance_list_transactions", query="hotel"), "transactions") == ["TX-1"]
    review = "finance_review_transaction"
    assert office.refusal(review, transaction_id="TX-1", status="rejected") == "invalid_value"
    assert office.refusal(review, transaction_id="TX-9", status="rejected") == "not_found"
    office.call(review, transaction_id="TX-1", status="rejected", reason="duplicate")
    assert office.changed() == ["finance/transactions/TX-1#status,verdict_reason"]
    assert office.call("finance_get_transaction", transaction_id="TX-1")["status"] == "rejected"


def test_payment_settles_invoices_until_it_is_used_up(office: Office) -> None:
    allocate = "finance_allocate_payment"
    first = office.call(allocate, transaction_id="TX-2", invoice_id="IN-1", amount=101)
    assert (first["status"], first["paid_amount"]) == ("paid", 101)
    assert office.changed() == [
        "finance/transactions/TX-2#allocated_amount",
        "finance/invoices/IN-1#paid_amount,status",
    ]
    over = office.refusal(allocate, transaction_id="TX-2", invoice_id="IN-4", amount=49.01)
    assert over == "invalid_value"
    part = office.call(allocate, transaction_id="TX-2", invoice_id="IN-4", amount=49)
    assert (part["status"], part["paid_amount"]) == ("received", 49)
    assert (
        office.refusal(allocate, transaction_id="TX-1", invoice_id="IN-2", amount=5) == "conflict"
    )
    assert (
        office.refusal(allocate, transaction_id="TX-1", invoice_id="IN-9", amount=5) == "not_found"
    )
