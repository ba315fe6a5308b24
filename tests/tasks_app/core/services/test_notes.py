"""Notes: reading, writing, sharing."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import MAILBOX, NOW, Office

ADA, BEN = "ada@firm.example", "ben@firm.example"
NOTES: list[dict[str, Any]] = [
    {
        "id": "NT-001",
        "title": "Steering",
        "body": "Budget agreed.",
        "date": "2031-03-10",
        "participants": ["Ada", "Ben"],
        "tags": ["budget"],
        "shared_with": [BEN],
    },
    {"id": "NT-002", "title": "Stand-up", "body": "All well.", "date": "2031-03-02"},
]


@pytest.fixture
def office() -> Office:
    return Office({"notes": {"notes": NOTES}})


def ids(page: dict[str, Any]) -> list[str]:
    return [row["id"] for row in page["notes"]]


def test_notes_come_by_day_and_by_who_took_part(office: Office) -> None:
    assert ids(office.call("notes_list_notes")) == ["NT-002", "NT-001"]
    assert ids(office.call("notes_list_notes", participant="ben")) == ["NT-001"]
    assert ids(office.call("notes_list_notes", tag="budget", since="2031-03-05")) == ["NT-001"]
    assert "body" not in office.call("notes_list_notes")["notes"][0]
    assert office.call("notes_get_note", note_id="NT-001")["body"] == "Budget agreed."


def test_a_new_note_is_of_today_and_shared_with_nobody(office: Office) -> None:
    made = office.call("notes_create_note", title="Call", body="Ada will send it.", tags=["call"])
    assert made == {
        "id": "NT-003",
        "title": "Call",
        "body": "Ada will send it.",
        "date": NOW[:10],
        "author": MAILBOX,
        "participants": [],
        "tags": ["call"],
        "shared_with": [],
        "updated_at": NOW,
    }


def test_a_paragraph_is_added_below_what_stood_there(office: Office) -> None:
    added = office.call("notes_append_text", note_id="NT-001", text="Ben reports in May.")
    assert added["body"] == "Budget agreed.\n\nBen reports in May."


def test_sharing_leaves_a_record_and_names_each_reader_once(office: Office) -> None:
    shared = office.call(
        "notes_share_note", note_id="NT-001", recipients=[ADA, BEN, ADA], message="As promised."
    )
    assert shared == {
        "id": "SH-001",
        "note_id": "NT-001",
        "recipients": [ADA, BEN],
        "message": "As promised.",
        "date": NOW,
    }
    assert office.changed() == [
        "add notes/shares/SH-001",
        "notes/notes/NT-001#shared_with,updated_at",
    ]
    assert office.record("notes/notes", "NT-001")["shared_with"] == [BEN, ADA]


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("notes_get_note", {"note_id": "NT-9"}, "not_found"),
        ("notes_create_note", {"title": "x", "body": " "}, "invalid_value"),
        ("notes_append_text", {"note_id": "NT-001", "text": ""}, "invalid_value"),
        ("notes_share_note", {"note_id": "NT-001", "recipients": []}, "invalid_value"),
        ("notes_share_note", {"note_id": "NT-001", "recipients": ["Ada"]}, "invalid_value"),
        ("notes_share_note", {"note_id": "NT-001"}, "missing_argument"),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(name, **arguments) == code
