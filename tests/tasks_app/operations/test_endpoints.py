"""Endpoints: what is kept, what is refused, what a probe finds, and that no key gets out."""

import logging
from typing import Any

import pytest
from django.conf import LazySettings

from studio.lib.chat import ChatAnswer, ChatRequest, ToolCall, Usage
from studio.web import jobs
from studio.web.errors import Invalid
from studio.web.jobs import JobEnded
from studio.web.models import AuditEntry
from tasks_app.jobs import PROBE
from tasks_app.models import ModelCall, ModelEndpoint
from tasks_app.operations.endpoints import (
    KeyMissing,
    create_endpoint,
    edit_endpoint,
    open_client,
    record_probe,
    set_active,
)
from tasks_app.operations.model_calls import Made, keep_calls, spent, stored_answers
from tests.factories.chat_stub import chat_stub, failed, said

pytestmark = pytest.mark.django_db
KEY = "sk-very-secret-9713"


def made(**changes: Any) -> ModelEndpoint:
    fields = {"name": "lab", "base_url": "https://api.example.com/v1/", "model": "tiny"}
    return create_endpoint(by=None, **{**fields, **changes})


def test_an_endpoint_is_kept_with_the_name_of_its_variable_and_audited() -> None:
    row = made(api_key_env="LAB_API_KEY", sampling={"temperature": 0.5})
    assert (row.base_url, row.api_key_env, row.roles, row.active) == (
        "https://api.example.com/v1",
        "LAB_API_KEY",
        ["teacher"],
        True,
    )
    assert AuditEntry.objects.get().act == "create_endpoint"


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"name": "Lab"}, "name"),
        ({"name": "a" * 41}, "name"),
        ({"base_url": "file:///etc/passwd"}, "base_url"),
        ({"base_url": "gopher://example.com/"}, "base_url"),
        ({"base_url": "https://user:sk-1@example.com/v1"}, "base_url"),
        ({"base_url": "https://example.com/v1?key=sk-1"}, "base_url"),
        ({"base_url": "https://[::1/v1"}, "base_url"),
        ({"base_url": "http:///v1"}, "base_url"),
        ({"model": " "}, "model"),
        ({"api_key_env": "sk-very-secret-9713"}, "api_key_env"),
        ({"api_key_env": "STUDIO_SECRET_API_KEY"}, "api_key_env"),
        ({"api_key_env": "DATABASE_URL"}, "api_key_env"),
        ({"roles": []}, "roles"),
        ({"roles": ["king"]}, "roles"),
        ({"sampling": {"temperature": 3}}, "sampling.temperature"),
        ({"sampling": {"max_tokens": True}}, "sampling.max_tokens"),
        ({"sampling": {"tool_choice": 1}}, "sampling.tool_choice"),
    ],
)
def test_what_cannot_be_is_refused_at_its_place_and_not_kept(
    changes: dict[str, Any], place: str
) -> None:
    with pytest.raises(Invalid) as refused:
        made(**changes)
    assert [problem.place for problem in refused.value.problems] == [place]
    assert not ModelEndpoint.objects.exists()


def test_a_name_is_taken_once() -> None:
    made()
    with pytest.raises(Invalid) as refused:
        made()
    assert [problem.message for problem in refused.value.problems] == ["is taken"]


def test_hosts_outside_the_list_are_refused_when_kept_and_when_used(
    settings: LazySettings,
) -> None:
    row = made()
    settings.STUDIO_ENDPOINT_HOSTS = ["models.lab.example"]
    with pytest.raises(Invalid, match="cannot be kept") as refused:
        made(name="other", base_url="http://169.254.169.254/v1")
    assert refused.value.problems[0].message == "the host 169.254.169.254 is not allowed here"
    with pytest.raises(Invalid, match="cannot be used"):
        open_client(row)


def test_another_server_forgets_what_the_probe_found() -> None:
    row = made()
    ModelEndpoint.objects.update(abilities={"tools": False}, latency=0.2)
    same = edit_endpoint(
        by=None, endpoint=row, base_url=row.base_url, model=row.model, api_key_env="",
        roles=["teacher"], sampling={"top_p": 0.9},
    )  # fmt: skip
    assert (same.abilities, same.sampling) == ({"tools": False}, {"top_p": 0.9})
    other = edit_endpoint(
        by=None, endpoint=row, base_url="http://localhost:9/v1", model=row.model, api_key_env="",
        roles=["teacher"], sampling={},
    )  # fmt: skip
    assert (other.abilities, other.latency) == ({}, None)


def test_an_endpoint_is_withdrawn_and_offered_again() -> None:
    row = made()
    assert set_active(by=None, endpoint=row, active=False).active is False
    assert set_active(by=None, endpoint=row, active=True).active is True
    acts = AuditEntry.objects.order_by("pk").values_list("act", flat=True)
    assert list(acts) == ["create_endpoint", "deactivate_endpoint", "activate_endpoint"]


def test_without_its_variable_an_endpoint_says_which_one_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LAB_API_KEY", raising=False)
    with pytest.raises(KeyMissing, match="LAB_API_KEY is not set"):
        open_client(made(api_key_env="LAB_API_KEY"))


def test_a_probe_keeps_what_the_server_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    two = said(calls=[("clock_get_time", "{}"), ("clock_get_time", "{}")])
    with chat_stub(said("yes"), two, failed(400, "no images")) as stub:
        row = made(base_url=stub.url, api_key_env="LAB_API_KEY")
        jobs.run_inline(PROBE, {"endpoint": "lab"})
        assert set(stub.keys) == {f"Bearer {KEY}"}
    row.refresh_from_db()
    found = row.found()
    assert (found.tools, found.parallel_calls, found.images, found.seed) == (
        True,
        True,
        False,
        True,
    )
    assert row.latency is not None
    assert row.probe_words == ""


def test_a_refused_key_is_told_in_the_servers_words_and_never_repeated(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("LAB_API_KEY", KEY)
    caplog.set_level(logging.DEBUG)
    with chat_stub(failed(401, f"Incorrect API key provided: {KEY}.")) as stub:
        row = made(base_url=stub.url, api_key_env="LAB_API_KEY")
        with pytest.raises(JobEnded) as ended:
            jobs.run_inline(PROBE, {"endpoint": "lab"})
    row.refresh_from_db()
    assert row.probe_words == "the endpoint refused the key (401): Incorrect API key provided: …."
    assert ended.value.job.error == row.probe_words
    details = list(AuditEntry.objects.values_list("detail", flat=True))
    assert KEY not in f"{details} {caplog.text} {vars(row)}"


def test_a_server_that_is_away_keeps_earlier_findings() -> None:
    row = made(base_url="http://127.0.0.1:9/v1")
    record_probe(by=None, endpoint=row, found=row.found())
    with pytest.raises(JobEnded, match="cannot be reached"):
        jobs.run_inline(PROBE, {"endpoint": "lab"})
    row.refresh_from_db()
    assert row.abilities["tools"] is True
    assert "cannot be reached" in row.probe_words


def test_a_probe_of_an_endpoint_that_is_gone_ends_quietly() -> None:
    assert jobs.run_inline(PROBE, {"endpoint": "gone"}).result is None


def test_an_allowed_host_cannot_send_a_request_on() -> None:
    with chat_stub(said("secret")) as other:
        moved = failed(307, "moved", {"location": f"{other.url}/chat/completions"})
        with chat_stub(moved) as stub:
            made(base_url=stub.url)
            with pytest.raises(JobEnded, match="refused the request"):
                jobs.run_inline(PROBE, {"endpoint": "lab"})
        assert other.asked == []


def test_a_stored_answer_is_read_as_it_was_said() -> None:
    request = ChatRequest(messages=[{"role": "user", "content": "hello"}], draw="E-1/0")
    answer = ChatAnswer(
        text="nul \x00 and half a \ud83d pair",
        calls=(ToolCall("c1", "mail_list", "{broken"),),
        reasoning="so",
        finish="length",
        usage=Usage(11, 7),
        seconds=0.5,
    )
    call = Made("k" * 64, "lab", "tiny", "B-0001", "E-0001", request, answer)
    keep_calls(made=[call])
    keep_calls(made=[call._replace(answer=ChatAnswer("another"))])
    assert stored_answers("B-0001", "E-0001") == {"k" * 64: answer}
    assert stored_answers("B-0001", "E-0002") == {}
    assert spent("B-0001") == (1, 11, 7)
    assert spent("B-0001").tokens == 18
    assert ModelCall.objects.count() == 1
