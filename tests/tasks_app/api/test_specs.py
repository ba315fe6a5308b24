"""Specs without storing them, and the catalogue of services."""

import json
from typing import Any

import pytest
from django.test import Client

from studio.web.choices import Role
from tasks_app.core.services.catalog import SERVICES, tools
from tasks_app.models import Task
from tests.factories.people import person
from tests.factories.specs import small_spec, small_written

pytestmark = pytest.mark.django_db


@pytest.fixture
def viewer() -> Client:
    """A client of somebody who may only read."""
    client = Client()
    client.force_login(person("vera", Role.VIEWER))
    return client


def post(client: Client, path: str, body: Any) -> Any:
    return client.post(f"/api/v1/{path}", json.dumps(body), content_type="application/json")


SOLVED = [
    {
        "tool": "helpdesk_close_ticket",
        "arguments": {"ticket_id": "TK-2", "resolution": "answered"},
    },
    {"reply": "TK-2 is closed."},
]


def test_the_right_calls_earn_everything(viewer: Client) -> None:
    answer = post(viewer, "specs/grade", {"spec": small_written(), "calls": SOLVED}).json()
    assert (answer["reward"], answer["passed"], answer["violations"]) == (1.0, True, [])
    assert answer["checks"] == {"closed": 1.0}
    assert len(answer["state_key"]) == 32


def test_nothing_done_earns_nothing(viewer: Client) -> None:
    answer = post(viewer, "specs/grade", {"spec": small_written(), "calls": []}).json()
    assert (answer["reward"], answer["passed"]) == (0.0, False)


def test_a_broken_gate_is_named(viewer: Client) -> None:
    twice = [
        SOLVED[0],
        {
            "tool": "helpdesk_close_ticket",
            "arguments": {"ticket_id": "TK-1", "resolution": "answered"},
        },
    ]
    answer = post(viewer, "specs/grade", {"spec": small_written(), "calls": twice}).json()
    assert (answer["reward"], answer["violations"]) == (0.0, ["K1"])


def test_calls_that_cannot_be_read_name_their_place(viewer: Client) -> None:
    answer = post(viewer, "specs/grade", {"spec": small_written(), "calls": [{"fool": 1}]})
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"].startswith("[0] is neither")


def test_records_that_make_no_world_are_refused(viewer: Client) -> None:
    spec = small_written(services={"helpdesk": {"tickets": [{"subject": "no id"}]}})
    answer = post(viewer, "specs/grade", {"spec": spec, "calls": []})
    assert (answer.status_code, answer.json()["problems"][0]["place"]) == (422, "/services")


def test_a_spec_is_proven_and_nothing_stored(viewer: Client) -> None:
    answer = post(viewer, "specs/validate", {"spec": small_written()}).json()
    assert (answer["valid"], answer["problems"], answer["hash"]) == (True, [], small_spec().hash)
    assert answer["card"]["spec_hash"] == small_spec().hash
    assert answer["proven"] == answer["card"]["proven"]
    assert not Task.objects.exists()


def test_a_text_that_is_no_spec_names_its_faults(viewer: Client) -> None:
    answer = post(viewer, "specs/validate", {"spec": {**small_written(), "seed": -1}}).json()
    assert answer["valid"] is False
    assert [problem["place"] for problem in answer["problems"]] == ["/seed"]


def test_the_catalogue_lists_every_tool_with_its_schema(viewer: Client) -> None:
    answer = viewer.get("/api/v1/services").json()
    assert [service["name"] for service in answer] == [service.name for service in SERVICES]
    listed = {tool["name"]: tool for service in answer for tool in service["tools"]}
    assert set(listed) == set(tools())
    assert listed["helpdesk_close_ticket"]["kind"] == "write"
    assert "ticket_id" in listed["helpdesk_close_ticket"]["parameters"]["properties"]


@pytest.mark.parametrize("path", ["specs/validate", "specs/grade"])
def test_an_anonymous_visitor_is_told_to_sign_in(path: str) -> None:
    assert post(Client(), path, {"spec": {}, "calls": []}).status_code == 401


def test_the_catalogue_is_for_people_with_an_account() -> None:
    assert Client().get("/api/v1/services").status_code == 401
