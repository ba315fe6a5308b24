from typing import Any

import pytest

from tests.tasks_app.core.services.office import MAILBOX, NOW, Office

MESSAGES: list[dict[str, Any]] = [
    {
        "id": "M-10",
        "from": "petra@tarnwick-castings.example",
        "reply_to": "petra@tarnwick-castings.example",
        "to": [MAILBOX],
        "subject": "Statement May",
        "date": "2031-03-18T23:30:00-05:00",
        "body": "Our bank details are as they were.",
        "labels": ["inbox"],
        "is_read": True,
    },
    {
        "id": "M-11",
        "from": "accounts@tarnwick-casting.example",
        "reply_to": "x@quickpost.example",
        "to": [MAILBOX],
        "subject": "Updated bank details",
        "date": "2031-03-19T01:00:00+01:00",
        "body": "Pay to LT12 from now on.",
        "labels": ["inbox", "urgent"],
        "is_read": False,
    },
    {"id": "M-12", "subject": "Re: Opening hours"},
]


@pytest.fixture
def office() -> Office:
    return Office({"mail": {"messages": MESSAGES, "drafts": [], "outbox": []}})


def ids(page: dict[str, Any], noun: str = "messages") -> list[str]:
    return [row["id"] for row in page[noun]]


def test_search_wants_every_word_in_any_case(office: Office) -> None:
    assert office.call("mail_search_messages", query="TARNWICK bank") == {
        "messages": [
            {
                "id": "M-10",
                "from": "petra@tarnwick-castings.example",
                "subject": "Statement May",
                "date": "2031-03-18T23:30:00-05:00",
                "labels": ["inbox"],
                "is_read": True,
            },
            {
                "id": "M-11",
                "from": "accounts@tarnwick-casting.example",
                "subject": "Updated bank details",
                "date": "2031-03-19T01:00:00+01:00",
                "labels": ["inbox", "urgent"],
                "is_read": False,
            },
        ],
        "total": 2,
    }


def test_search_does_not_join_words_across_fields(office: Office) -> None:
    assert office.call("mail_search_messages", query="exampleM-11") == {"messages": [], "total": 0}


def test_list_orders_by_instant_across_offsets(office: Office) -> None:
    page = office.call("mail_list_messages")
    assert ids(page) == ["M-12", "M-11", "M-10"]


def test_list_filters(office: Office) -> None:
    assert ids(office.call("mail_list_messages", label="URGENT")) == ["M-11"]
    assert ids(office.call("mail_list_messages", is_read=False)) == ["M-12", "M-11"]
    assert ids(office.call("mail_list_messages", since="2031-03-19")) == ["M-11"]
    assert ids(office.call("mail_list_messages", until="2031-03-18")) == ["M-10"]
    assert ids(office.call("mail_list_messages", sender="petra@tarnwick-castings.example")) == [
        "M-10"
    ]


def test_limit_caps_and_total_tells_how_many_there_are(office: Office) -> None:
    page = office.call("mail_list_messages", limit=1)
    assert (ids(page), page["total"]) == (["M-12"], 3)


def test_get_returns_the_whole_message_and_marks_nothing(office: Office) -> None:
    assert office.call("mail_get_message", message_id="M-11") == MESSAGES[1]
    assert office.changes == ()


def test_send_puts_one_message_into_the_outbox(office: Office) -> None:
    sent = office.call(
        "mail_send_message", to=["a@b.example"], subject="Held", body="Two are held."
    )
    assert sent == {
        "id": "SENT-0001",
        "from": MAILBOX,
        "to": ["a@b.example"],
        "cc": [],
        "subject": "Held",
        "body": "Two are held.",
        "date": NOW,
    }
    assert office.changed() == ["add mail/outbox/SENT-0001"]
    assert office.call("mail_get_message", message_id="SENT-0001") == sent


def test_outbox_lists_by_recipient_copies_included(office: Office) -> None:
    office.call("mail_send_message", to=["a@b.example"], subject="1", body="x")
    office.call("mail_send_message", to=["c@b.example"], cc=["a@b.example"], subject="2", body="x")
    office.call("mail_send_message", to=["d@b.example"], subject="3", body="x")
    page = office.call("mail_list_outbox", recipient="A@b.example")
    assert ids(page) == ["SENT-0001", "SENT-0002"]


@pytest.mark.parametrize("to", [[], ["nobody"], ["a b@c.example"], ["a@b"], ["<a@b.example>"]])
def test_send_refuses_what_is_no_address(office: Office, to: list[str]) -> None:
    assert office.refusal("mail_send_message", to=to, subject="s", body="b") == "invalid_value"


def test_reply_goes_to_the_named_addresses_under_the_subject(office: Office) -> None:
    reply = office.call(
        "mail_reply_message", message_id="M-11", to=["petra@b.example"], body="Thank you."
    )
    assert (reply["to"], reply["subject"], reply["in_reply_to"]) == (
        ["petra@b.example"],
        "Re: Updated bank details",
        "M-11",
    )
    again = office.call("mail_reply_message", message_id="M-12", to=["p@b.example"], body="x")
    assert again["subject"] == "Re: Opening hours"


def test_reply_to_an_unknown_message_is_not_found(office: Office) -> None:
    code = office.refusal("mail_reply_message", message_id="M-99", to=["a@b.example"], body="x")
    assert code == "not_found"


def test_draft_is_saved_shown_and_deleted(office: Office) -> None:
    draft = office.call("mail_save_draft", to=["a@b.example"], subject="s", body="b")
    assert office.changed() == ["add mail/drafts/DR-0001"]
    assert office.call("mail_get_draft", draft_id="DR-0001") == draft
    assert ids(office.call("mail_list_drafts"), "drafts") == ["DR-0001"]
    assert office.call("mail_delete_draft", draft_id="DR-0001") == draft
    assert office.changed() == ["delete mail/drafts/DR-0001"]
    assert office.refusal("mail_delete_draft", draft_id="DR-0001") == "not_found"
    office.call("mail_save_draft", to=["a@b.example"], subject="s", body="b")
    assert office.changed() == ["add mail/drafts/DR-0002"]


def test_draft_for_an_unknown_message_is_not_found(office: Office) -> None:
    code = office.refusal(
        "mail_save_draft", to=["a@b.example"], subject="s", body="b", message_id="M-99"
    )
    assert code == "not_found"


def test_move_and_mark_change_one_field(office: Office) -> None:
    office.call("mail_move_message", message_id="M-11", label="archive")
    assert office.changed() == ["mail/messages/M-11#labels"]
    assert office.refusal("mail_move_message", message_id="M-11", label="archive") == "conflict"
    office.call("mail_mark_message", message_id="M-11", is_read=True)
    assert office.changed() == ["mail/messages/M-11#is_read"]
    assert office.refusal("mail_mark_message", message_id="M-11") == "invalid_value"
    assert office.refusal("mail_mark_message", message_id="M-99") == "not_found"
