"""The API of batches and episodes: shapes, refusals, who may."""

from typing import Any

import pytest
from django.test import Client

from rollouts_app.models import Episode, RolloutBatch
from studio.web.choices import Role
from tasks_app.models import Task
from tests.factories.pages import ClientOf
from tests.rollouts_app.conftest import rolled_out


def read(client: Client, path: str, status: int = 200) -> Any:
    """GET and decode."""
    answer = client.get(f"/api/v1{path}")
    assert answer.status_code == status, answer.content
    return answer.json()


def test_a_batch_is_started_with_201(support_task: Task, client_of: ClientOf) -> None:
    body = {"policy": "reference", "tasks": "family:support_resolution", "n": 2}
    answer = client_of(Role.EDITOR).post(
        "/api/v1/rollout-batches", body, content_type="application/json"
    )
    assert answer.status_code == 201
    made = answer.json()
    assert (made["policy"], made["episodes_planned"], made["state"], made["author"]) == (
        "reference",
        2,
        "queued",
        "a-editor",
    )


def test_what_cannot_be_started_is_a_problem_document(db: None, client_of: ClientOf) -> None:
    answer = client_of(Role.EDITOR).post(
        "/api/v1/rollout-batches", {"policy": "oracle"}, content_type="application/json"
    )
    assert answer.status_code == 422
    assert [problem["place"] for problem in answer.json()["problems"]] == ["policy", "filter"]


def test_episodes_are_listed_under_a_filter(
    support_task: Task, payment_task: Task, client_of: ClientOf
) -> None:
    rolled_out("reference")
    rolled_out("null")
    found = read(client_of(Role.VIEWER), "/episodes?q=policy:null%20passed:no&size=1")
    assert [item["policy"] for item in found["items"]] == ["null"]
    again = read(
        client_of(Role.REVIEWER),
        f"/episodes?q=policy:null%20passed:no&size=1&cursor={found['next_cursor']}",
    )
    assert (len(again["items"]), again["next_cursor"]) == (1, None)


def test_a_wrong_filter_is_422_with_its_place(db: None, client_of: ClientOf) -> None:
    body = read(client_of(Role.VIEWER), "/episodes?q=rewrd:1", 422)
    assert (body["problems"][0]["start"], body["problems"][0]["hint"]) == (
        0,
        "Did you mean “reward”?",
    )


def test_turns_come_as_recorded_and_frames_as_replayed(
    episode: Episode, client_of: ClientOf
) -> None:
    client = client_of(Role.VIEWER)
    turns = read(client, f"/episodes/{episode.code}/turns?size=2")
    assert (len(turns["items"]), turns["next_turn"], turns["stop"]) == (2, 2, "finished")
    assert turns["items"][1]["calls"][0]["name"] == "helpdesk_get_ticket"
    frames = read(client, f"/episodes/{episode.code}/frames?first=8&size=1")
    (frame,) = frames["items"]
    assert [change["address"] for change in frame["changes"]] == ["finance/refunds/RF-5167"]
    assert [flip["check"] for flip in frame["flips"]][:1] == ["o_refund"]
    assert (frames["divergence"], frames["other_spec"], frames["reward"]) == (None, False, 1.0)


def test_an_episode_without_trajectory_is_404_in_words(
    support_task: Task, client_of: ClientOf
) -> None:
    row = rolled_out().episodes.get()
    row.payload.delete()
    body = read(client_of(Role.VIEWER), f"/episodes/{row.code}/turns", 404)
    assert "has no trajectory" in body["detail"]


def test_curation_is_kept_and_needs_a_reviewer(episode: Episode, client_of: ClientOf) -> None:
    path = f"/api/v1/episodes/{episode.code}/curation"
    refused = client_of(Role.VIEWER).post(path, {"curation": "kept"}, "application/json")
    assert refused.status_code == 403
    kept = client_of(Role.REVIEWER).post(path, {"curation": "kept"}, "application/json")
    assert (kept.status_code, kept.json()["curation"]) == (200, "kept")


READS = ["/rollout-batches", "/rollout-batches/{batch}", "/episodes", "/episodes/{episode}",
         "/episodes/{episode}/turns", "/episodes/{episode}/frames"]  # fmt: skip


@pytest.mark.parametrize("path", READS)
@pytest.mark.parametrize(("role", "status"), [(None, 401), (Role.VIEWER, 200), (Role.ADMIN, 200)])
def test_reading_needs_an_account(
    episode: Episode, client_of: ClientOf, path: str, role: Role | None, status: int
) -> None:
    code = RolloutBatch.objects.get().code
    read(client_of(role), path.format(batch=code, episode=episode.code), status)


@pytest.mark.parametrize(
    ("role", "status"),
    [(None, 401), (Role.VIEWER, 403), (Role.REVIEWER, 403), (Role.EDITOR, 201), (Role.LEAD, 201)],
)
def test_rolling_out_needs_an_editor(
    support_task: Task, client_of: ClientOf, role: Role | None, status: int
) -> None:
    answer = client_of(role).post(
        "/api/v1/rollout-batches", {"policy": "null"}, content_type="application/json"
    )
    assert answer.status_code == status


def test_a_batch_is_stopped_while_it_waits_and_resumed(
    support_task: Task, client_of: ClientOf
) -> None:
    client = client_of(Role.EDITOR)
    body = {"policy": "null"}
    code = client.post("/api/v1/rollout-batches", body, "application/json").json()["code"]
    stopped = client.post(f"/api/v1/rollout-batches/{code}/cancel")
    assert (stopped.status_code, stopped.json()["state"]) == (200, "stopped")
    assert client.post(f"/api/v1/rollout-batches/{code}/cancel").status_code == 409
    resumed = client.post(f"/api/v1/rollout-batches/{code}/resume")
    assert (resumed.status_code, resumed.json()["state"]) == (200, "queued")
