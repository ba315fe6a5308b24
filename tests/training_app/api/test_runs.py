"""The API of training runs: shapes, refusals, who may."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from studio.web import access
from studio.web.choices import JobState, Role, Scope
from studio.web.models import Job
from tests.factories.people import person
from tests.training_app.conftest import SMALL, opened
from training_app.core.run_dir import Metrics
from training_app.models import Checkpoint, TrainingRun
from training_app.operations.absorbing import absorb
from training_app.operations.runs import settle_run
from training_app.queries.runs import run_dir

pytestmark = pytest.mark.django_db
URL = "/api/v1/training-runs"
ClientOf = Callable[[Role | None], Client]


@pytest.fixture
def client_of(studio: Path) -> ClientOf:
    """A client signed in as somebody of a role; None: nobody."""

    def make(role: Role | None) -> Client:
        client = Client()
        if role is not None:
            client.force_login(person(f"a-{role.value}", role))
        return client

    return make


def read(client: Client, path: str = "", status: int = 200) -> Any:
    answer = client.get(URL + path)
    assert answer.status_code == status, answer.content
    return answer.json()


def write(client: Client, path: str, body: Any, status: int, verb: str = "post") -> Any:
    answer = getattr(client, verb)(URL + path, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def trained(steps: int = 3) -> TrainingRun:
    """A run whose directory holds some steps and a checkpoint."""
    run = opened()
    directory = run_dir(run)
    for step in range(1, steps + 1):
        directory.append(Metrics(step, step * 4, step * 0.5, {"loss": 1 / step}))
    directory.checkpoint_path(2).mkdir()
    directory.seal(2, {"greedy": {"success": 0.5}})
    directory.write_samples(2, [{"reward": 1.0, "messages": []}, {"reward": 0.0}])
    absorb(run=run)
    return run


def test_a_run_is_started_with_201(client_of: ClientOf) -> None:
    body = {"preset": "cpu-tiny-grpo", "changes": {"rollouts.group": 4}, "seed": 5}
    made = write(client_of(Role.EDITOR), "", body, 201)
    run = TrainingRun.objects.get()
    assert {key: made[key] for key in ("code", "state", "algorithm", "seed", "author", "job")} == {
        "code": run.code,
        "state": "queued",
        "algorithm": "grpo",
        "seed": 5,
        "author": "a-editor",
        "job": Job.objects.get().code,
    }
    assert made["recipe"]["rollouts"]["group"] == 4
    assert Job.objects.get().subject == run.code


@pytest.mark.parametrize(
    ("body", "places"),
    [
        ({"preset": "magic"}, ["preset"]),
        ({"preset": "cpu-tiny-sft", "changes": {"steps": 0, "batch": "x"}}, ["steps", "batch"]),
        ({"preset": "cpu-tiny-sft", "dataset": "DS-0000"}, ["dataset"]),
        ({"preset": "cpu-tiny-sft", "init": "CK-0000"}, ["init"]),
        ({"preset": "cpu-tiny-sft", "changes": {"warmup": 10**30}}, ["warmup"]),
        ({"preset": "cpu-tiny-sft", "changes": {"model.init": "a\0"}}, ["model.init"]),
        ({"recipe": {"algorithm": "magic"}}, ["algorithm"]),
        ({"recipe": {}}, ["algorithm"]),
        ({"preset": "cpu-tiny-sft", "seed": -1}, ["body.seed"]),
    ],
)
def test_what_cannot_be_started_names_its_places(
    client_of: ClientOf, body: dict[str, Any], places: list[str]
) -> None:
    problem = write(client_of(Role.EDITOR), "", body, 422)
    assert sorted(one["place"] for one in problem["problems"]) == sorted(places)
    assert not TrainingRun.objects.exists()


def test_runs_are_listed_under_a_filter(client_of: ClientOf) -> None:
    run, other = trained(), opened(seed=9)
    client = client_of(Role.VIEWER)
    assert [item["code"] for item in read(client)["items"]] == [other.code, run.code]
    assert [item["code"] for item in read(client, "?q=seed:9")["items"]] == [other.code]
    assert read(client, "?q=sead:9", 422)["problems"][0]["hint"] == "Did you mean “seed”?"
    assert read(client, "/presets")[0]["name"] == "cpu-tiny-sft"


def test_a_curve_is_read_on_by_its_cursor(client_of: ClientOf) -> None:
    run = trained()
    client = client_of(Role.VIEWER)
    first = read(client, f"/{run.code}/metrics?size=2")
    assert ([row["step"] for row in first["items"]], first["more"]) == ([1, 2], True)
    assert first["items"][1] == {"step": 2, "samples": 8, "seconds": 1.0, "values": {"loss": 0.5}}
    rest = read(client, f"/{run.code}/metrics?cursor={first['cursor']}")
    assert ([row["step"] for row in rest["items"]], rest["again"]) == ([2, 3], False)
    read(client, f"/{run.code}/metrics?cursor=forged", 400)


def test_samples_and_checkpoints_are_read(client_of: ClientOf) -> None:
    run = trained()
    client = client_of(Role.VIEWER)
    assert read(client, f"/{run.code}/samples") == {"steps": [2]}
    page = read(client, f"/{run.code}/samples/2?size=1")
    assert (page["total"], page["items"], page["next_first"]) == (
        2,
        [{"reward": 1.0, "messages": []}],
        1,
    )
    read(client, f"/{run.code}/samples/3", 404)
    (checkpoint,) = read(client, f"/{run.code}/checkpoints")
    assert (checkpoint["step"], checkpoint["evaluation"]) == (2, {"greedy": {"success": 0.5}})


def test_a_checkpoint_is_promoted_and_released(client_of: ClientOf) -> None:
    run = trained()
    client = client_of(Role.EDITOR)
    path = f"/{run.code}/checkpoints/2/promoted"
    assert write(client, path, {"promoted": True}, 200, "put")["promoted"] is True
    admin = client_of(Role.ADMIN)
    write(admin, f"/{run.code}/checkpoints/2/weights", {}, 409, "delete")
    assert write(client, path, {"promoted": False}, 200, "put")["promoted"] is False
    settle_run(run=run, state=JobState.SUCCEEDED)
    gone = write(admin, f"/{run.code}/checkpoints/2/weights", {}, 200, "delete")
    assert gone["removed_at"] is not None
    assert not run_dir(run).checkpoint_path(2).exists()
    write(client, f"/{run.code}/checkpoints/3/promoted", {}, 404, "put")


def test_a_waiting_run_is_stopped_and_queued_again(client_of: ClientOf) -> None:
    client = client_of(Role.EDITOR)
    code = write(client, "", {"preset": "cpu-tiny-sft", "changes": SMALL}, 201)["code"]
    assert write(client, f"/{code}/cancel", {}, 200)["state"] == "stopped"
    write(client, f"/{code}/cancel", {}, 409)
    assert write(client, f"/{code}/resume", {}, 200)["state"] == "queued"
    write(client, f"/{code}/resume", {}, 409)
    assert Job.objects.get().state == JobState.QUEUED


def test_a_run_is_taken_away_as_a_zip(client_of: ClientOf) -> None:
    run = trained()
    answer = client_of(Role.VIEWER).get(f"{URL}/{run.code}/export")
    content = b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a FileResponse
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert "recipe.json" in archive.namelist()
    assert answer["Content-Disposition"] == f'attachment; filename="{run.code}.zip"'
    assert [file.name for file in run_dir(run).path.parent.iterdir()] == [run.code]
    (run_dir(run).path / "recipe.json").unlink()
    read(client_of(Role.EDITOR), f"/{run.code}/export", 409)


WRITES = [
    ("post", "", {"preset": "cpu-tiny-sft"}),
    ("post", "/{run}/cancel", {}),
    ("post", "/{run}/resume", {}),
    ("post", "/{run}/samples/2/0/open", {}),
    ("put", "/{run}/checkpoints/2/promoted", {"promoted": True}),
    ("delete", "/{run}/checkpoints/2/weights", {}),
]


@pytest.mark.parametrize(("verb", "path", "body"), WRITES)
def test_only_those_who_may_write(client_of: ClientOf, verb: str, path: str, body: Any) -> None:
    run = trained()
    where = path.format(run=run.code)
    write(client_of(None), where, body, 401, verb)
    for role in (Role.VIEWER, Role.REVIEWER):
        write(client_of(role), where, body, 403, verb)
    if verb == "delete":
        write(client_of(Role.LEAD), where, body, 403, verb)
    assert TrainingRun.objects.get().state == JobState.QUEUED
    assert not Checkpoint.objects.filter(promoted=True).exists()


@pytest.mark.parametrize(("verb", "path", "body"), WRITES)
def test_a_token_for_reading_writes_nothing(studio: Path, verb: str, path: str, body: Any) -> None:
    run = trained()
    token = access.issue_token(person("b", Role.ADMIN), "reader", frozenset({Scope.READ})).secret
    client = Client(headers={"Authorization": f"Bearer {token}"})
    read(client, f"/{run.code}")
    write(client, path.format(run=run.code), body, 403, verb)


@pytest.mark.parametrize("path", ["", "/presets", "/{run}", "/{run}/metrics", "/{run}/export"])
def test_nobody_reads_without_signing_in(client_of: ClientOf, path: str) -> None:
    read(client_of(None), path.format(run=trained().code), 401)


def test_a_run_that_is_not_there_is_404(client_of: ClientOf) -> None:
    client = client_of(Role.VIEWER)
    for path in ("/RUN-0000", "/nonsense", "/RUN-0000/metrics", "/RUN-0000/export"):
        read(client, path, 404)
