"""Datasets over the API: preview, freeze, read, take away; scopes and wrong bodies."""

from typing import Any

import orjson
import pytest
from django.test import Client

from studio.lib.hashing import bytes_hash
from studio.web import access, jobs
from studio.web.choices import Role, Scope
from studio.web.models import Job
from tasks_app.models import Task
from tests.factories.people import person
from tests.factories.runs import made_run
from tests.training_app.library import frozen, rolled_out_library
from training_app.enums import Algorithm
from training_app.models import Dataset

pytestmark = pytest.mark.django_db
URL = "/api/v1/datasets"


def token(role: Role, *scopes: Scope) -> Client:
    """A client with a token of a role."""
    secret = access.issue_token(person(f"a-{role.value}", role), "t", frozenset(scopes)).secret
    return Client(headers={"authorization": f"Bearer {secret}"})


def post(client: Client, body: Any, path: str = URL, status: int = 201) -> Any:
    """POST a JSON body and read the answer."""
    answer = client.post(path, orjson.dumps(body), content_type="application/json")
    assert answer.status_code == status, answer.content
    return answer.json()


def get(client: Client, path: str) -> Any:
    """GET and read."""
    answer = client.get(path)
    assert answer.status_code == 200, answer.content
    return answer.json()


@pytest.fixture
def library(db: None) -> list[Task]:
    """Two pocket tasks to train on and one of held-out names."""
    return rolled_out_library(2, 1)


BODY = {"kind": "demonstrations", "name": "first", "filter": "policy:reference"}


def test_a_lead_previews_freezes_reads_and_takes_away(library: list[Task]) -> None:
    lead = token(Role.LEAD, Scope.READ, Scope.WRITE)
    preview = post(
        lead, {"kind": "demonstrations", "rules": {"errors": "none"}}, f"{URL}/preview", 200
    )
    assert preview == {
        "selected": 9,
        "more": False,
        "train": 2,
        "held_out": 1,
        "dropped": {"passed": 3, "duplicates": 3},
        "alone": {"passed": 3, "duplicates": 3},
    }
    mix = {
        "source": "chat.jsonl",
        "rows": '{"messages": [{"role": "user", "content": "?"},'
        ' {"role": "assistant", "content": "!"}]}',
        "weight": 2,
        "license": "CC0",
    }
    made = post(lead, {**BODY, "mix": [mix]})
    code = made["code"]
    assert (made["state"], made["frozen_at"], made["rows"]) == ("queued", None, 0)
    assert lead.get(f"{URL}/{code}/download/jsonl").status_code == 409
    jobs.run_job(Job.objects.get(code=made["job"]).pk)
    whole = get(lead, f"{URL}/{code}")
    assert whole == {
        "code": code,
        "name": "first",
        "kind": "demonstrations",
        "filter": "policy:reference",
        "rules": {
            "passed": True,
            "finished": True,
            "usable_tasks": True,
            "turns": None,
            "tokens": None,
            "errors": "recovered",
            "duplicates": "shortest",
            "quote": False,
        },
        "held_families": [],
        "split_kind": "new_instances",
        "rows": 4,
        "held_out": 1,
        "dropped": {"duplicates": 3},
        "sha256": whole["manifest"]["sha256"],
        "job": made["job"],
        "state": "succeeded",
        "error": "",
        "author": "a-lead",
        "created_at": made["created_at"],
        "frozen_at": whole["frozen_at"],
        "manifest": Dataset.objects.get().manifest,
        "composition": {
            "portion": {"held_out": 1, "train": 4},
            "family": whole["composition"]["family"],
            "subtype": whole["composition"]["subtype"],
            "difficulty": {"1": 3},
            "policy": {"reference": 3},
            "source": {"chat.jsonl": 2},
        },
        "lint": [],
        "mixes": [
            {
                "source": "chat.jsonl",
                "weight": "2",
                "license": "CC0",
                "rows": 2,
                "sha256": bytes_hash(str(mix["rows"]).encode()),
            }
        ],
    }
    assert [row["code"] for row in get(lead, URL)["items"]] == [code]
    rows = get(lead, f"{URL}/{code}/rows?size=2&first=1")
    assert [(row["position"], row["copies"]) for row in rows["items"]] == [(1, 1), (3, 2)]
    assert rows["items"][1]["origin"] == {"source": "chat.jsonl", "source_line": 1}
    assert rows["next_first"] is None
    assert get(lead, f"{URL}/{code}/rows?size=1")["next_first"] == 1
    held = get(lead, f"{URL}/{code}/rows?portion=held_out")["items"]
    assert [row["origin"]["task"] for row in held] == [library[2].code]
    answer = lead.get(f"{URL}/{code}/download/jsonl")
    data = b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a streaming answer
    assert bytes_hash(data) == whole["manifest"]["files"]["demonstrations.jsonl"]["sha256"]
    assert data.count(b"\n") == 4


@pytest.mark.parametrize(
    ("role", "scopes"),
    [
        (Role.EDITOR, (Scope.READ, Scope.WRITE, Scope.RUN)),
        (Role.LEAD, (Scope.READ, Scope.RUN, Scope.REVIEW)),
    ],
)
def test_without_role_or_scope_nobody_freezes(
    library: list[Task], role: Role, scopes: tuple[Scope, ...]
) -> None:
    client = token(role, *scopes)
    post(client, BODY, status=403)
    post(client, {"kind": "prompts"}, f"{URL}/preview", 403)
    assert not Dataset.objects.exists()


def test_a_viewer_reads_and_exports(library: list[Task]) -> None:
    dataset = frozen()
    viewer = token(Role.VIEWER, Scope.READ)
    assert get(viewer, f"{URL}/{dataset.code}")["sha256"] == dataset.sha256
    for form in ("jsonl", "held_out.jsonl", "parquet", "zip"):
        answer = viewer.get(f"{URL}/{dataset.code}/download/{form}")
        assert answer.status_code == 200
        assert b"".join(answer.streaming_content)  # type: ignore[attr-defined]  # a streaming answer
    assert viewer.get(f"{URL}/{dataset.code}/download/csv").status_code == 404


@pytest.mark.parametrize(
    ("change", "places"),
    [
        ({"rules": {"pased": True}}, ["rules.pased"]),
        ({"filter": "colour:red"}, ["filter"]),
        ({"filter": "turns:>=500", "held_families": ["x"]}, ["filter", "held_families"]),
        ({"mix": [{"source": "a", "rows": "{}"}]}, ["mix a: line 1 at messages"]),
        ({"mix": [{"source": "a\u0000", "rows": "x"}]}, ["mix a\u0000", "mix a\u0000: line 1"]),
    ],
)
def test_what_cannot_be_is_named(
    library: list[Task], change: dict[str, Any], places: list[str]
) -> None:
    answer = post(token(Role.LEAD, Scope.WRITE), {**BODY, **change}, status=422)
    assert [problem["place"].split(" at character")[0] for problem in answer["problems"]] == places
    assert not Dataset.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "pictures"},
        {"name": ""},
        {"mix": [{"source": "a", "rows": "x", "weight": 0}]},
        {"mix": [{"source": "a", "rows": "x", "weight": "NaN"}]},
        {"mix": [{"source": "a", "rows": "x", "weight": 101}]},
        {"rules": [1]},
    ],
)
def test_bodies_of_another_shape_are_refused(change: dict[str, Any]) -> None:
    post(token(Role.LEAD, Scope.WRITE), {**BODY, **change}, status=422)


def test_an_unknown_code_is_not_found() -> None:
    client = token(Role.VIEWER, Scope.READ)
    for path in ("", "/rows", "/download/zip"):
        assert client.get(f"{URL}/DS-0000{path}").status_code == 404


def test_a_lead_deletes_one_with_name_and_reason(library: list[Task]) -> None:
    dataset = frozen()
    path = f"{URL}/{dataset.code}"
    lead = token(Role.LEAD, Scope.READ, Scope.WRITE)
    assert lead.delete(f"{path}?name=first").status_code == 422
    assert lead.delete(f"{path}?name=other&reason=slip").status_code == 422
    assert (
        token(Role.EDITOR, Scope.WRITE).delete(f"{path}?name=first&reason=slip").status_code == 403
    )
    run = made_run(Algorithm.SFT, dataset=dataset)
    refused = lead.delete(f"{path}?name=first&reason=slip")
    assert (refused.status_code, refused.json()["detail"]) == (
        409, f"{dataset.code} stays: {run.code} was trained on it.",
    )  # fmt: skip
    run.delete()
    assert lead.delete(f"{path}?name=first&reason=slip").status_code == 204
    assert not Dataset.objects.exists()
