from typing import Any

import pytest

from tests.tasks_app.core.services.office import MAILBOX, NOW, Office

CUSTOMERS: list[dict[str, Any]] = [
    {
        "id": "CU-1",
        "name": "Rosalind Achterberg",
        "city": "Aalborg",
        "email": "rosalind@mailbarn.example",
        "club": "hearth_club",
        "segment": "private",
    },
    {"id": "CU-2", "name": "Rosalind Achterberg", "city": "Vejle", "email": "r@millrace.example"},
    {"id": "CU-3", "name": "Imre Valdstein", "city": "Esbjerg", "status": "merged"},
]
NOTES: list[dict[str, Any]] = [
    {"id": "NO-1", "customer_id": "CU-2", "body": "old", "created_at": "2031-01-01T00:00:00+00:00"},
    {"id": "NO-2", "customer_id": "CU-1", "body": "new", "created_at": "2031-02-01T00:00:00+00:00"},
]


@pytest.fixture
def office() -> Office:
    return Office({"crm": {"customers": CUSTOMERS, "notes": NOTES}})


def test_search_shows_summaries_without_the_address(office: Office) -> None:
    assert office.call("crm_search_customers", query="rosalind") == {
        "customers": [
            {
                "id": "CU-1",
                "name": "Rosalind Achterberg",
                "city": "Aalborg",
                "segment": "private",
            },
            {"id": "CU-2", "name": "Rosalind Achterberg", "city": "Vejle"},
        ],
        "total": 2,
    }


def test_list_filters(office: Office) -> None:
    page = office.call("crm_list_customers", city="vejle")
    assert [row["id"] for row in page["customers"]] == ["CU-2"]
    assert office.call("crm_search_customers", query="rosalind", segment="private")["total"] == 1


def test_get_shows_the_whole_record(office: Office) -> None:
    assert office.call("crm_get_customer", customer_id="CU-1") == CUSTOMERS[0]


def test_update_changes_what_is_given(office: Office) -> None:
    office.call("crm_update_customer", customer_id="CU-1", email="new@mailbarn.example")
    assert office.changed() == ["crm/customers/CU-1#email,updated_at"]


def test_update_refusals_in_order(office: Office) -> None:
    assert office.refusal("crm_update_customer", customer_id="CU-9") == "not_found"
    assert office.refusal("crm_update_customer", customer_id="CU-3") == "invalid_value"
    assert office.refusal("crm_update_customer", customer_id="CU-3", city="Ribe") == "conflict"
    assert office.refusal("crm_update_customer", customer_id="CU-1", email="x") == "invalid_value"


def test_merge_moves_notes_and_ends_the_duplicate(office: Office) -> None:
    kept = office.call("crm_merge_customers", customer_id="CU-1", duplicate_customer_id="CU-2")
    assert kept == CUSTOMERS[0]
    assert office.changed() == [
        "crm/notes/NO-1#customer_id",
        "crm/customers/CU-2#merged_into,status,updated_at",
    ]
    page = office.call("crm_list_notes", customer_id="CU-1")
    assert [row["id"] for row in page["notes"]] == ["NO-1", "NO-2"]


def test_merge_refusals(office: Office) -> None:
    merge = "crm_merge_customers"
    assert office.refusal(merge, customer_id="CU-1", duplicate_customer_id="CU-9") == "not_found"
    assert (
        office.refusal(merge, customer_id="CU-1", duplicate_customer_id="CU-1") == "invalid_value"
    )
    assert office.refusal(merge, customer_id="CU-1", duplicate_customer_id="CU-3") == "conflict"


def test_note_is_added(office: Office) -> None:
    assert office.call("crm_add_note", customer_id="CU-1", body="Called.") == {
        "id": "NO-3",
        "customer_id": "CU-1",
        "author": MAILBOX,
        "body": "Called.",
        "created_at": NOW,
    }
    assert office.refusal("crm_add_note", customer_id="CU-1", body="") == "invalid_value"
    assert office.refusal("crm_list_notes", customer_id="CU-9") == "not_found"


def test_export_is_recorded_with_fields_and_recipient(office: Office) -> None:
    export = office.call(
        "crm_export_customers",
        customer_ids=["CU-1", "CU-2"],
        fields=["name", "city"],
        recipient="audit@firm.example",
        purpose="audit",
    )
    assert export == {
        "id": "EX-0001",
        "customer_ids": ["CU-1", "CU-2"],
        "fields": ["name", "city"],
        "recipient": "audit@firm.example",
        "purpose": "audit",
        "created_at": NOW,
    }
    assert office.call("crm_list_exports", recipient="audit@firm.example")["exports"] == [export]


@pytest.mark.parametrize(
    ("customer_ids", "fields", "code"),
    [
        (["CU-1", "CU-9"], ["shoe_size"], "not_found"),
        (["CU-1"], ["shoe_size"], "invalid_value"),
        ([], ["name"], "invalid_value"),
        (["CU-1"], [], "invalid_value"),
    ],
)
def test_export_refusals(
    office: Office, customer_ids: list[str], fields: list[str], code: str
) -> None:
    refused = office.refusal(
        "crm_export_customers",
        customer_ids=customer_ids,
        fields=fields,
        recipient="a@b.example",
        purpose="audit",
    )
    assert refused == code
