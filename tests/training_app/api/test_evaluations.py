"""The API of suites, evaluations and served checkpoints: shapes, refusals, who may."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from studio.web import jobs
from studio.web.choices import JobState, Role
from studio.web.models import Job
from tests.factories import serve_stub
from tests.factories.people import person
from tests.training_app.served import checkpoint, suite
from training_app.jobs.evaluations import EVALUATE
from training_app.models import Evaluation, Suite
from training_app.operations.evaluations import open_evaluation

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _stub(settings: LazySettings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = [sys.executable, str(serve_stub.__file__)]


@pytest.fixture
def client_of() -> Callable[[Role], Client]:
    def make(role: Role) -> Client:
        client = Client()
        client.force_login(person(f"a-{role.value}", role))
        return client

    return make


def post(client: Client, path: str, body: Any, status: int) -> Any:
    answer = client.post(f"/api/v1{path}", body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def read(client: Client, path: str, status: int = 200) -> Any:
    answer = client.get(f"/api/v1{path}")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_model_is_measured_and_its_report_read(client_of: Callable[[Role], Client]) -> None:
    row, on = checkpoint(), suite(tasks=2)
    client = client_of(Role.EDITOR)
    made = post(client, "/evaluations", {"suite": on.code, "checkpoint": row.code, "n": 3}, 201)
    assert {name: made[name] for name in ("suite", "checkpoint", "n", "state", "score")} == {
        "suite": "lamps",
        "checkpoint": row.code,
        "n": 3,
        "state": "queued",
        "score": None,
    }
    jobs.run_job(Job.objects.get(kind=EVALUATE).pk)
    found = read(client, f"/evaluations/{made['code']}")
    assert (found["score"], found["pass_3"], found["split_kind"], found["state"]) == (
        1.0,
        1.0,
        "new_families",
        "succeeded",
    )
    assert found["report"]["families"][0]["graded"] == 6
    listed = read(client, f"/evaluations?model={row.code}&suite=lamps")
    assert [one["code"] for one in listed["items"]] == [made["code"]]
    assert read(client, "/evaluations?model=nobody")["items"] == []
    assert read(client, "/evaluations?model=%00")["items"] == []
    assert read(client, "/evaluations?suite=%00")["items"] == []


def test_refusals_name_their_places(client_of: Callable[[Role], Client]) -> None:
    on = suite(tasks=1)
    client = client_of(Role.EDITOR)
    refused = post(client, "/evaluations", {"suite": on.name, "endpoint": "nobody"}, 422)
    assert [problem["place"] for problem in refused["problems"]] == ["policy"]
    refused = post(client, "/evaluations", {"suite": on.name}, 422)
    assert [problem["place"] for problem in refused["problems"]] == ["model"]
    refused = post(client, "/evaluations", {"suite": "nothing", "endpoint": "x"}, 404)
    assert "Known: pocket-held-out, pocket-new-families, lamps." in refused["detail"]
    post(client, "/evaluations", {"suite": "\0", "endpoint": "x"}, 404)
    post(client, "/evaluations", {"suite": on.name, "checkpoint": "CK-0000"}, 404)
    read(client, "/evaluations/EV-0000", 404)
    assert Evaluation.objects.count() == 0


def test_suites_are_frozen_and_listed(client_of: Callable[[Role], Client]) -> None:
    suite(tasks=1)
    client = client_of(Role.EDITOR)
    made = post(client, "/suites", {"name": "mine", "filter": "lamp"}, 201)
    assert (made["size"], made["split_kind"], made["author"]) == (1, "new_families", "a-editor")
    assert read(client, "/suites/mine") == made
    assert [one["name"] for one in read(client, "/suites")["items"]] == ["mine", "lamps"]
    refused = post(client, "/suites", {"name": "mine", "filter": "kettle"}, 422)
    assert [problem["place"] for problem in refused["problems"]] == ["name", "filter"]
    post(client, "/suites", {"name": "odd", "filter": "stat:x"}, 422)
    assert Suite.objects.count() == 2


def test_a_viewer_reads_and_starts_nothing(client_of: Callable[[Role], Client]) -> None:
    row, on = checkpoint(), suite(tasks=1)
    viewer = client_of(Role.VIEWER)
    post(viewer, "/evaluations", {"suite": on.name, "checkpoint": row.code}, 403)
    post(viewer, "/suites", {"name": "mine"}, 403)
    post(viewer, "/servings", {"checkpoint": row.code}, 403)
    assert read(viewer, "/servings") == []


def test_two_evaluations_are_compared_on_one_suite_alone(
    client_of: Callable[[Role], Client],
) -> None:
    row, on = checkpoint(), suite(tasks=2)
    before, after = (open_evaluation(suite=on, checkpoint=row, by=None) for _ in range(2))
    elsewhere = open_evaluation(suite=suite("kettles", 1), checkpoint=row, by=None)
    client = client_of(Role.VIEWER)
    found = read(client, f"/evaluations/{before.code}/compare/{after.code}")
    assert (found["before"], found["after"], found["suite"]) == (before.code, after.code, "lamps")
    assert (found["difference"]["tasks"], found["difference"]["unpaired"]) == (0, 2)
    refused = read(client, f"/evaluations/{before.code}/compare/{elsewhere.code}", 409)
    assert "Compare two evaluations on one suite." in refused["detail"]


def test_serving_is_queued_and_stopped(client_of: Callable[[Role], Client]) -> None:
    row = checkpoint()
    client = client_of(Role.EDITOR)
    made = post(client, "/servings", {"checkpoint": row.code}, 202)
    assert (made["checkpoint"], made["state"]) == (row.code, "queued")
    stopped = post(client, f"/servings/{made['job']}/stop", {}, 200)
    assert (stopped["state"], Job.objects.get().state) == ("stopped", JobState.STOPPED)
    post(client, f"/servings/{made['job']}/stop", {}, 409)
    post(client, "/servings/JOB-00000/stop", {}, 404)
    post(client, "/servings/%00/stop", {}, 404)


def test_a_built_in_suite_is_made_once(
    client_of: Callable[[Role], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(Role.EDITOR)
    made = post(client, "/suites", {"name": "pocket-new-families"}, 201)
    assert (made["size"], made["split_kind"]) == (24, "new_families")
    assert post(client, "/suites", {"name": "pocket-new-families"}, 201) == made
