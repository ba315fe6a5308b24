"""Integrations: who sees a secret, and what a rotation does."""

from typing import Any

import pytest

from tests.tasks_app.core.services.office import NOW, Office

SECRET = "sk-Xq81mZ00aaTT4521"
INTEGRATIONS: list[dict[str, Any]] = [
    {
        "id": "INT-001",
        "name": "Mail relay",
        "kind": "smtp",
        "owner": "Platform",
        "status": "active",
        "secret": SECRET,
        "url": "smtp.relay.example",
    },
    {"id": "INT-002", "name": "Old CRM", "status": "disabled", "secret": "abc"},
]


@pytest.fixture
def office() -> Office:
    return Office({"config": {"integrations": INTEGRATIONS}})


def test_lists_and_answers_to_changes_hide_the_secret_and_one_read_shows_it(
    office: Office,
) -> None:
    listed = office.call("config_list_integrations")
    assert listed["total"] == 2
    assert SECRET not in str(listed)
    assert SECRET not in str(office.call("config_search_integrations", query="relay"))
    assert office.call("config_get_integration", integration_id="INT-001")["secret"] == SECRET
    changed = office.call("config_update_integration", integration_id="INT-001", status="paused")
    assert (changed["secret"], changed["status"]) == ("…4521", "paused")
    assert office.changed() == ["config/integrations/INT-001#status,updated_at"]


def test_a_rotated_secret_is_another_one_and_the_same_in_every_process(office: Office) -> None:
    shown = office.call("config_rotate_secret", integration_id="INT-001")
    fresh = office.record("config/integrations", "INT-001")
    assert fresh["secret"] != SECRET
    assert fresh["rotated_at"] == NOW
    assert shown["secret"] == f"…{fresh['secret'][-4:]}"
    again = Office({"config": {"integrations": INTEGRATIONS}})
    again.call("config_rotate_secret", integration_id="INT-001")
    assert again.record("config/integrations", "INT-001") == fresh


def test_a_short_secret_is_masked_whole(office: Office) -> None:
    changed = office.call("config_update_integration", integration_id="INT-002", owner="Ada")
    assert changed["secret"] == "…"


def test_people_are_told_about_an_integration(office: Office) -> None:
    sent = office.call(
        "config_notify_people",
        recipients=["ops@firm.example"],
        text="The relay is paused.",
        integration_id="INT-001",
    )
    assert sent == {
        "id": "NF-001",
        "integration_id": "INT-001",
        "channel": None,
        "recipients": ["ops@firm.example"],
        "text": "The relay is paused.",
        "date": NOW,
    }


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("config_get_integration", {"integration_id": "INT-9"}, "not_found"),
        ("config_rotate_secret", {"integration_id": "INT-002"}, "conflict"),
        ("config_update_integration", {"integration_id": "INT-001"}, "invalid_value"),
        (
            "config_update_integration",
            {"integration_id": "INT-001", "secret": "x"},
            "unknown_argument",
        ),
        (
            "config_notify_people",
            {"recipients": ["ops@firm.example"], "text": " "},
            "invalid_value",
        ),
        (
            "config_notify_people",
            {"recipients": ["ops@firm.example"], "text": "x", "integration_id": "INT-9"},
            "not_found",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    office: Office, name: str, arguments: dict[str, Any], code: str
) -> None:
    assert office.refusal(name, **arguments) == code
