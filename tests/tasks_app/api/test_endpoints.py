"""Endpoints over the API: shapes, refusals, who may."""

import json
from typing import Any

import pytest
from django.test import Client

from studio.web.choices import Role
from studio.web.models import Job
from tasks_app.models import ModelEndpoint
from tests.factories.people import person

pytestmark = pytest.mark.django_db
SERVER = {"base_url": "https://api.example.com/v1", "model": "tiny", "top_p": 0.9}
LAB = {**SERVER, "name": "lab"}


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(person(role.value, role))
    return client


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    call = getattr(client, method)
    return call(f"/api/v1/{path}", json.dumps(body or {}), content_type="application/json")


def test_an_endpoint_is_added_changed_probed_and_withdrawn() -> None:
    admin = client_of(Role.ADMIN)
    added = send(admin, "post", "endpoints", LAB)
    assert added.status_code == 201
    expected = {
        "name": "lab", "roles": ["teacher"], "sampling": {"top_p": 0.9}, "abilities": {},
        "api_key_env": "", "latency": None, "probed_at": None, "active": True,
    }  # fmt: skip
    assert {key: added.json()[key] for key in expected} == expected
    changed = send(admin, "put", "endpoints/lab", {**SERVER, "model": "larger", "roles": ["judge"]})
    assert (changed.json()["model"], changed.json()["roles"]) == ("larger", ["judge"])
    probed = send(admin, "post", "endpoints/lab/probe")
    assert (probed.status_code, probed.json()) == (202, {"job": Job.objects.get().code})
    assert send(admin, "post", "endpoints/lab/deactivate").json()["active"] is False
    assert send(admin, "post", "endpoints/lab/activate").json()["active"] is True
    assert [row["name"] for row in admin.get("/api/v1/endpoints").json()] == ["lab"]


def test_what_cannot_be_is_a_problem_document() -> None:
    body = {**LAB, "base_url": "ftp://x", "api_key_env": "sk-1"}
    answer = send(client_of(Role.ADMIN), "post", "endpoints", body)
    assert answer.status_code == 422
    places = [problem["place"] for problem in answer.json()["problems"]]
    assert places == ["base_url", "api_key_env"]
    assert not ModelEndpoint.objects.exists()


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR, Role.LEAD])
def test_only_an_administrator_keeps_endpoints(role: Role) -> None:
    send(client_of(Role.ADMIN), "post", "endpoints", LAB)
    client = client_of(role)
    assert client.get("/api/v1/endpoints/lab").status_code == 200
    refused = [
        send(client, "post", "endpoints", {**LAB, "name": "mine"}),
        send(client, "put", "endpoints/lab", SERVER),
        send(client, "post", "endpoints/lab/probe"),
        send(client, "post", "endpoints/lab/activate"),
        send(client, "post", "endpoints/lab/deactivate"),
    ]
    assert [answer.status_code for answer in refused] == [403] * 5


def test_an_unknown_endpoint_is_404_in_words() -> None:
    answer = client_of(Role.VIEWER).get("/api/v1/endpoints/nobody")
    assert (answer.status_code, answer.json()["detail"]) == (404, "There is no endpoint nobody.")
