from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office

PEOPLE: list[dict[str, Any]] = [
    {"id": "PE-001", "name": "Ilse Marchetti", "role": "plant manager", "site": "Veld"},
    {
        "id": "PE-002",
        "name": "Bram Oosterling",
        "role": "controller",
        "team": "finance",
        "email": "bram@veldhoek.example",
        "status": "on_leave",
        "deputy_id": "PE-001",
    },
    {"id": "PE-003", "name": "王 明", "role": "controller", "team": "Finance", "site": "Noord"},
]


@pytest.fixture
def office() -> Office:
    return Office({"contacts": {"people": PEOPLE}})


def test_search_shows_summaries_without_the_address(office: Office) -> None:
    assert office.call("contacts_search", query="controller bram") == {
        "people": [
            {
                "id": "PE-002",
                "name": "Bram Oosterling",
                "role": "controller",
                "team": "finance",
                "status": "on_leave",
            }
        ],
        "total": 1,
    }


def test_search_finds_other_scripts(office: Office) -> None:
    assert office.call("contacts_search", query="王")["total"] == 1


def test_filters_ignore_case(office: Office) -> None:
    page = office.call("contacts_list_people", team="FINANCE", role="Controller")
    assert [row["id"] for row in page["people"]] == ["PE-002", "PE-003"]
    assert office.call("contacts_search", query="controller", site="noord")["total"] == 1
    assert office.call("contacts_list_people", status="on_leave")["total"] == 1


def test_get_shows_the_whole_entry(office: Office) -> None:
    assert office.call("contacts_get_person", person_id="PE-002") == PEOPLE[1]
    assert office.refusal("contacts_get_person", person_id="PE-2") == "not_found"


def test_message_notes_person_address_and_time(office: Office) -> None:
    sent = office.call("contacts_send_message", person_id="PE-002", text="Please call.")
    assert sent == {
        "id": "CN-0001",
        "person_id": "PE-002",
        "to": "bram@veldhoek.example",
        "text": "Please call.",
        "date": NOW,
    }
    assert office.call("contacts_list_messages", person_id="PE-002") == {
        "messages": [sent],
        "total": 1,
    }
    assert office.call("contacts_send_message", person_id="PE-001", text="x")["to"] is None


def test_message_to_nobody_or_without_words_is_refused(office: Office) -> None:
    assert office.refusal("contacts_send_message", person_id="PE-9", text=" ") == "not_found"
    assert office.refusal("contacts_send_message", person_id="PE-001", text=" ") == "invalid_value"
