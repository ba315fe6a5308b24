"""Requirements and generation runs over the API."""

import json
from typing import Any

import pytest
from django.test import Client

from studio.web.choices import JobState, Role
from studio.web.models import Job
from tasks_app.models import GenerationRun, WorkflowRequirement
from tests.factories.people import person

pytestmark = pytest.mark.django_db
WISH = {"title": "Refunds", "families": ["support_resolution"], "count": 3, "seed": 5}


def client_of(role: Role) -> Client:
    client = Client()
    client.force_login(person(role.value, role))
    return client


def post(client: Client, path: str, body: Any = None) -> Any:
    return client.post(f"/api/v1/{path}", json.dumps(body or {}), content_type="application/json")


def test_a_requirement_is_kept_and_started() -> None:
    client = client_of(Role.EDITOR)
    wish = post(client, "requirements", WISH)
    assert wish.status_code == 201
    code = wish.json()["code"]
    assert client.get(f"/api/v1/requirements/{code}").json() == wish.json()
    assert [row["code"] for row in client.get("/api/v1/requirements").json()["items"]] == [code]
    run = post(client, "generation-runs", {"requirement": code})
    assert run.status_code == 202
    expected = {"asked": 3, "seed": 5, "requirement": code, "state": "queued", "drafted": 0}
    assert {key: run.json()[key] for key in expected} == expected
    job = Job.objects.get()
    assert (job.kind, job.subject) == ("generate_tasks", run.json()["code"])
    read = client.get(f"/api/v1/generation-runs/{run.json()['code']}").json()
    assert (read["job"], read["losses"]) == (job.code, [])
    assert client.get(f"/api/v1/generation-runs/{run.json()['code']}/attempts").json() == []
    assert len(client.get("/api/v1/generation-runs").json()["items"]) == 1


def test_a_fill_chooses_families_by_itself() -> None:
    run = post(client_of(Role.EDITOR), "generation-runs", {"fill": True, "count": 2, "seed": 3})
    assert run.status_code == 202
    assert (run.json()["asked"], len(run.json()["families"])) == (2, 2)
    assert len(GenerationRun.objects.get().shares) == 2


def test_a_run_can_be_stopped_once() -> None:
    client = client_of(Role.EDITOR)
    run = post(client, "generation-runs", {"families": ["support_resolution"], "count": 2}).json()
    path = f"generation-runs/{run['code']}/cancel"
    assert post(client, path).json()["state"] == JobState.STOPPED
    assert post(client, path).status_code == 409


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({}, ["families"]),
        ({"families": ["no_such"]}, ["families"]),
        ({"fill": True, "families": ["support_resolution"]}, ["families"]),
        ({"fill": True, "count": 2, "difficulty": [6]}, ["difficulty"]),
        ({"families": ["support_resolution"], "difficulty": [6]}, ["difficulty"]),
    ],
)
def test_a_run_that_cannot_be_names_each_wrong_field(body: Any, places: list[str]) -> None:
    answer = post(client_of(Role.EDITOR), "generation-runs", body)
    assert answer.status_code == 422
    assert [problem["place"] for problem in answer.json()["problems"]] == places
    assert not GenerationRun.objects.exists()


def test_unknown_capabilities_and_services_are_named() -> None:
    wish = {**WISH, "capabilities": ["C1", "C99"], "services": ["fax"]}
    answer = post(client_of(Role.EDITOR), "requirements", wish)
    assert [problem["place"] for problem in answer.json()["problems"]] == [
        "capabilities",
        "services",
    ]
    assert not WorkflowRequirement.objects.exists()


@pytest.mark.parametrize(
    ("path", "wish"),
    [("requirements", WISH), ("generation-runs", {"families": ["support_resolution"]})],
)
def test_only_editors_start_work_and_everybody_with_an_account_reads(path: str, wish: Any) -> None:
    reviewer = client_of(Role.REVIEWER)
    assert post(reviewer, path, wish).status_code == 403
    assert reviewer.get(f"/api/v1/{path}").status_code == 200
    assert Client().get(f"/api/v1/{path}").status_code == 401
    assert post(Client(), path, wish).status_code == 401
    assert not Job.objects.exists()


def test_a_colleague_stops_a_run_and_a_viewer_does_not() -> None:
    run = post(client_of(Role.EDITOR), "generation-runs", {"families": ["support_resolution"]})
    path = f"generation-runs/{run.json()['code']}/cancel"
    assert post(client_of(Role.VIEWER), path).status_code == 403
    assert post(client_of(Role.LEAD), path).status_code == 200
