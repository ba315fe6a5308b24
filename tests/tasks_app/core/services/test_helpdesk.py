from typing import Any

import pytest

from tests.tasks_app.core.services.office import MAILBOX, NOW, Office

TICKETS: list[dict[str, Any]] = [
    {
        "id": "TK-20",
        "customer_id": "CU-1",
        "reporter": "Rosalind <rosa@inkpot.example>",
        "subject": "Still no word about the cracked kettle",
        "description": "Nothing heard.",
        "status": "open",
        "queue": "support",
        "severity": "normal",
        "created_at": "2031-03-19T20:15:00+01:00",
        "updated_at": "2031-03-19T20:15:00+01:00",
        "resolution": None,
        "reference": None,
    },
    {
        "id": "TK-21",
        "customer_id": "CU-1",
        "subject": "Kettle arrived cracked",
        "status": "open",
        "queue": "support",
        "severity": "high",
        "created_at": "2031-03-14T19:32:00+01:00",
        "resolution": None,
        "reference": None,
        "colour": "graphite",
    },
    {
        "id": "TK-22",
        "customer_id": "CU-2",
        "subject": "Lid loose",
        "status": "closed",
        "created_at": "2031-01-22T11:05:00+01:00",
        "resolution": "replaced",
        "reference": "SH-1",
    },
]
COMMENTS: list[dict[str, Any]] = [
    {"id": "CM-702", "ticket_id": "TK-21", "body": "b", "created_at": "2031-03-17T09:02:00+01:00"},
    {"id": "CM-703", "ticket_id": "TK-21", "body": "a", "created_at": "2031-03-16T09:02:00+01:00"},
    {"id": "CM-704", "ticket_id": "TK-20", "body": "c", "created_at": "2031-03-17T09:02:00+01:00"},
]


@pytest.fixture
def office() -> Office:
    return Office({"helpdesk": {"tickets": TICKETS, "comments": COMMENTS}})


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["tickets"]]


def test_search_keeps_record_order_and_shows_summaries(office: Office) -> None:
    page = office.call("helpdesk_search_tickets", query="cracked kettle")
    assert ids(page) == ["TK-20", "TK-21"]
    assert page["tickets"][1] == {
        "id": "TK-21",
        "subject": "Kettle arrived cracked",
        "customer_id": "CU-1",
        "queue": "support",
        "status": "open",
        "severity": "high",
        "created_at": "2031-03-14T19:32:00+01:00",
    }


def test_search_filters(office: Office) -> None:
    assert ids(office.call("helpdesk_search_tickets", query="", status="closed")) == ["TK-22"]
    assert ids(office.call("helpdesk_search_tickets", query="kettle", customer_id="CU-2")) == []
    assert ids(office.call("helpdesk_search_tickets", query="lid", queue="support")) == []


def test_list_is_oldest_first_and_filters(office: Office) -> None:
    assert ids(office.call("helpdesk_list_tickets")) == ["TK-22", "TK-21", "TK-20"]
    assert ids(office.call("helpdesk_list_tickets", severity="high")) == ["TK-21"]
    assert ids(office.call("helpdesk_list_tickets", since="2031-03-15")) == ["TK-20"]
    assert ids(office.call("helpdesk_list_tickets", until="2031-03-14", status="open")) == ["TK-21"]


def test_get_shows_the_record_and_its_comments(office: Office) -> None:
    shown = office.call("helpdesk_get_ticket", ticket_id="TK-21")
    assert shown == {**TICKETS[1], "comments": COMMENTS[:2]}


def test_get_keeps_comments_that_the_record_holds_itself() -> None:
    own = {"id": "TK-1", "comments": ["imported"]}
    office = Office({"helpdesk": {"tickets": [own]}})
    assert office.call("helpdesk_get_ticket", ticket_id="TK-1") == own


def test_comments_are_listed_by_time(office: Office) -> None:
    page = office.call("helpdesk_list_comments", ticket_id="TK-21")
    assert [row["id"] for row in page["comments"]] == ["CM-703", "CM-702"]
    assert office.refusal("helpdesk_list_comments", ticket_id="TK-99") == "not_found"


def test_comment_is_internal_unless_said_otherwise(office: Office) -> None:
    added = office.call("helpdesk_add_comment", ticket_id="TK-22", body="Seen.")
    assert added == {
        "id": "CM-705",
        "ticket_id": "TK-22",
        "author": MAILBOX,
        "internal": True,
        "body": "Seen.",
        "created_at": NOW,
    }
    public = office.call("helpdesk_add_comment", ticket_id="TK-22", body="x", internal=False)
    assert public["internal"] is False
    assert office.refusal("helpdesk_add_comment", ticket_id="TK-22", body="\n ") == "invalid_value"


def test_create_opens_a_ticket(office: Office) -> None:
    made = office.call(
        "helpdesk_create_ticket", subject="Pump stops", description="Twice", queue="plant"
    )
    assert made == {
        "id": "TK-23",
        "customer_id": None,
        "reporter": MAILBOX,
        "subject": "Pump stops",
        "description": "Twice",
        "queue": "plant",
        "status": "open",
        "severity": "normal",
        "resolution": None,
        "reference": None,
        "created_at": NOW,
        "updated_at": NOW,
    }


def test_update_changes_what_is_given_and_keeps_unknown_fields(office: Office) -> None:
    office.call("helpdesk_update_ticket", ticket_id="TK-21", severity="low", tags=["a", "b"])
    assert office.changed() == ["helpdesk/tickets/TK-21#severity,tags,updated_at"]
    assert office.record("helpdesk/tickets", "TK-21") == {
        **TICKETS[1],
        "severity": "low",
        "tags": ["a", "b"],
        "updated_at": NOW,
    }


def test_update_needs_something_to_change(office: Office) -> None:
    assert office.refusal("helpdesk_update_ticket", ticket_id="TK-21") == "invalid_value"
    assert office.refusal("helpdesk_update_ticket", ticket_id="TK-99") == "not_found"


def test_update_cannot_close(office: Office) -> None:
    code = office.refusal("helpdesk_update_ticket", ticket_id="TK-21", status="closed")
    assert code == "invalid_value"


def test_assign_sets_the_assignee(office: Office) -> None:
    office.call("helpdesk_assign_ticket", ticket_id="TK-21", assignee="Maren", queue="support")
    assert office.changed() == ["helpdesk/tickets/TK-21#assignee,updated_at"]


def test_escalate_hands_over(office: Office) -> None:
    office.call(
        "helpdesk_escalate_ticket",
        ticket_id="TK-20",
        queue="security",
        severity="high",
        reference="CB-0731",
        note="denied",
    )
    assert office.changed() == [
        "helpdesk/tickets/TK-20#note,queue,reference,severity,status,updated_at"
    ]
    ticket = office.record("helpdesk/tickets", "TK-20")
    assert (ticket["status"], ticket["queue"]) == ("escalated", "security")


def test_escalate_leaves_out_what_is_not_given(office: Office) -> None:
    office.call("helpdesk_escalate_ticket", ticket_id="TK-20", queue="security")
    assert office.changed() == ["helpdesk/tickets/TK-20#queue,status,updated_at"]


def test_close_with_a_reference(office: Office) -> None:
    closed = office.call(
        "helpdesk_close_ticket", ticket_id="TK-21", resolution="refunded", reference="RF-5"
    )
    assert (closed["status"], closed["resolution"], closed["reference"]) == (
        "closed",
        "refunded",
        "RF-5",
    )
    assert office.changed() == ["helpdesk/tickets/TK-21#reference,resolution,status,updated_at"]


@pytest.mark.parametrize(
    ("ticket_id", "reference", "code"),
    [
        ("TK-20", None, "invalid_value"),
        ("TK-20", "TK-20", "invalid_value"),
        ("TK-20", "TK-99", "not_found"),
        ("TK-22", None, "invalid_value"),
        ("TK-22", "TK-99", "not_found"),
        ("TK-22", "TK-21", "conflict"),
    ],
)
def test_duplicate_names_another_ticket_that_exists(
    office: Office, ticket_id: str, reference: str | None, code: str
) -> None:
    refused = office.refusal(
        "helpdesk_close_ticket", ticket_id=ticket_id, resolution="duplicate", reference=reference
    )
    assert refused == code


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("helpdesk_close_ticket", {"resolution": "answered"}),
        ("helpdesk_escalate_ticket", {"queue": "security"}),
        ("helpdesk_assign_ticket", {"assignee": "Maren"}),
        ("helpdesk_update_ticket", {"severity": "low"}),
        ("helpdesk_merge_ticket", {"target_ticket_id": "TK-21"}),
    ],
)
def test_closed_ticket_stays_closed_until_reopened(
    office: Office, tool: str, arguments: dict[str, Any]
) -> None:
    assert office.refusal(tool, ticket_id="TK-22", **arguments) == "conflict"
    office.call("helpdesk_reopen_ticket", ticket_id="TK-22")
    assert office.changed() == ["helpdesk/tickets/TK-22#reference,resolution,status,updated_at"]
    assert "error" not in office.call(tool, ticket_id="TK-22", **arguments)


def test_merge_ends_one_ticket_in_another(office: Office) -> None:
    merge = "helpdesk_merge_ticket"
    assert office.refusal(merge, ticket_id="TK-20", target_ticket_id="TK-22") == "conflict"
    assert office.refusal(merge, ticket_id="TK-20", target_ticket_id="TK-20") == "invalid_value"
    office.call(merge, ticket_id="TK-20", target_ticket_id="TK-21")
    assert office.changed() == ["helpdesk/tickets/TK-20#reference,status,updated_at"]
    assert office.refusal(merge, ticket_id="TK-20", target_ticket_id="TK-21") == "conflict"


def test_only_what_has_ended_is_reopened(office: Office) -> None:
    assert office.refusal("helpdesk_reopen_ticket", ticket_id="TK-20") == "conflict"
    assert office.refusal("helpdesk_reopen_ticket", ticket_id="TK-99") == "not_found"
