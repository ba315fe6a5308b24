"""Batches on a model behind real HTTP: nothing is bought twice, no failure becomes a reward."""

import json
import threading
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from rollouts_app.enums import EpisodeState
from rollouts_app.jobs import MODEL_KIND, start_batch
from rollouts_app.models import Episode, RolloutBatch
from rollouts_app.operations.batches import open_batch, set_budget
from rollouts_app.queries import matching_episodes, selected
from studio.web import claims, jobs
from studio.web.choices import Role
from studio.web.errors import Invalid
from studio.web.jobs import JobEnded
from studio.web.models import Job
from tasks_app.models import ModelCall, ModelEndpoint, Task
from tasks_app.operations.endpoints import create_endpoint, edit_endpoint, set_active
from tests.factories.chat_stub import Entry, Handler, Stub, chat_stub, cut, failed, raw, said
from tests.factories.pages import ClientOf
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored

CLOSE = ("helpdesk_close_ticket", '{"ticket_id": "TK-2", "resolution": "answered"}')
NOW = {"retry-after": "0"}


def solving(*troubles: Entry) -> Callable[[Handler], None]:
    """A model that closes the ticket and says so; in between the troubles, each once."""
    waiting = list(troubles)
    lock = threading.Lock()

    def answer(handler: Handler) -> None:
        with lock:
            trouble = waiting.pop(0) if waiting else None
        usual = said("Closed.") if acted(handler) else said(calls=[CLOSE])
        (trouble or usual)(handler)

    return answer


def acted(handler: Handler) -> bool:
    """Whether the conversation in this request holds a tool's answer."""
    return any(message["role"] == "tool" for message in handler.body["messages"])


def lab(stub: Stub, **more: Any) -> ModelEndpoint:
    return create_endpoint(by=None, name="lab", base_url=stub.url, model="tiny", **more)


def opened(n: int = 1, **more: Any) -> RolloutBatch:
    return open_batch(
        policy="endpoint:lab",
        chosen=selected(""),
        filter_text="",
        group_size=n,
        seed=0,
        by=None,
        **more,
    )


def run(batch: RolloutBatch) -> RolloutBatch:
    jobs.run_inline(MODEL_KIND, {"batch": batch.code}, subject=batch.code)
    batch.refresh_from_db()
    return batch


@pytest.fixture
def task(db: None) -> Task:
    """The small task, proven."""
    return stored(small_spec())


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def stub() -> Iterator[Stub]:
    """A model that solves the small task."""
    with chat_stub(solving()) as running:
        yield running


def test_a_model_that_solves_the_task_earns_everything_and_is_counted(
    task: Task, stub: Stub
) -> None:
    lab(stub, sampling={"temperature": 0.5})
    batch = run(opened(n=6, concurrency=4))
    assert (batch.mean_reward, batch.passed, batch.failed, batch.tokens) == (1.0, 6, 0, 84)
    assert batch.usage == {"calls": 12, "prompt_tokens": 132, "completion_tokens": 84}
    assert {body["temperature"] for body in stub.asked} == {0.5}
    episode = batch.episodes.order_by("pk")[0]
    assert (episode.turns, episode.calls, episode.tokens) == (2, 1, 14)
    calls = ModelCall.objects.filter(subject=batch.code, part=episode.code)
    assert [call.said().text for call in calls.order_by("pk")] == ["", "Closed."]
    assert matching_episodes("policy:endpoint:lab passed:yes").count() == 6


def test_busy_servers_cut_lines_and_broken_answers_are_retried_and_never_a_reward(
    task: Task,
) -> None:
    troubles = [
        failed(429, "slow down", NOW), cut, raw(b"{broken"), failed(500, "oops"),
        failed(429, "slow down", NOW), cut, raw(b'{"choices": []}'),
    ]  # fmt: skip
    with chat_stub(solving(*troubles)) as stub:
        lab(stub)
        batch = run(opened(n=4, concurrency=4))
        assert len(stub.asked) == 8 + len(troubles)
    assert (batch.graded, batch.failed, batch.mean_reward) == (4, 0, 1.0)


def test_after_a_crash_not_one_stored_call_is_asked_again(task: Task, stub: Stub) -> None:
    lab(stub)
    batch = run(opened(n=3))
    assert len(stub.asked) == 6
    # as a worker that was killed leaves it: answers are stored, the last results are not
    Episode.objects.filter(batch=batch).update(state=EpisodeState.QUEUED, reward=None, attempts=0)
    late = ModelCall.objects.filter(part=batch.episodes.order_by("pk")[2].code).order_by("-pk")[0]
    late.delete()
    run(batch)
    assert len(stub.asked) == 7
    assert (batch.graded, batch.mean_reward) == (3, 1.0)
    run(batch)
    assert len(stub.asked) == 7
    assert batch.usage["calls"] == ModelCall.objects.count() == 6


def test_a_spent_budget_stops_the_batch_with_its_reason_and_a_larger_one_goes_on(
    task: Task, stub: Stub
) -> None:
    lab(stub)
    batch = opened(n=4, concurrency=1, budget_calls=5)
    with pytest.raises(JobEnded, match="the budget of 5 calls is spent"):
        run(batch)
    batch.refresh_from_db()
    assert len(stub.asked) == 5
    assert (batch.graded, batch.failed, batch.finished_at) == (2, 0, None)
    assert batch.episodes.filter(state=EpisodeState.QUEUED).count() == 2
    set_budget(batch=batch, by=None, calls=8, tokens=None)
    batch.refresh_from_db()
    run(batch)
    assert len(stub.asked) == 8
    assert (batch.graded, batch.mean_reward) == (4, 1.0)


def test_a_budget_of_tokens_stops_it_too(task: Task, stub: Stub) -> None:
    lab(stub)
    with pytest.raises(JobEnded, match="the budget of 40 tokens is spent"):
        run(opened(n=4, concurrency=1, budget_tokens=40))
    assert len(stub.asked) == 3


def test_a_refused_key_stops_the_batch_and_leaves_its_episodes_open(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_API_KEY", "sk-secret-77")
    with chat_stub(failed(401, "unknown key sk-secret-77")) as stub:
        lab(stub, api_key_env="LAB_API_KEY")
        batch = opened(n=5, concurrency=1)
        with pytest.raises(JobEnded, match=r"refused the key \(401\): unknown key …"):
            run(batch)
        assert len(stub.asked) == 1
    assert batch.episodes.filter(state=EpisodeState.QUEUED).count() == 5


def test_a_server_that_never_answers_stops_the_batch_soon(task: Task) -> None:
    with chat_stub(failed(400, "this model has no tool template")) as stub:
        lab(stub)
        batch = opened(n=20, concurrency=1)
        with pytest.raises(JobEnded, match=r"has answered nothing: .*no tool template"):
            run(batch)
        assert len(stub.asked) == 3
    assert batch.episodes.filter(state=EpisodeState.QUEUED).count() == 20


def test_a_failure_that_stays_is_marked_and_its_siblings_are_graded(task: Task) -> None:
    stored(small_spec(request={"text": "Please close the ticket about the poison lamp."}))

    def answer(handler: Handler) -> None:
        if "poison" in json.dumps(handler.body):
            failed(400, "too long")(handler)
            return
        solving()(handler)

    with chat_stub(answer) as stub:
        lab(stub)
        batch = run(opened(n=2, concurrency=1))
    assert (batch.graded, batch.failed, batch.mean_reward) == (2, 2, 1.0)
    broken = batch.episodes.filter(state=EpisodeState.FAILED).order_by("pk")[0]
    assert (broken.boundary, broken.reward, broken.attempts) == ("endpoint", None, 3)
    assert "too long" in broken.failure


def test_a_cancelled_batch_keeps_what_it_bought_and_goes_on_when_resumed(task: Task) -> None:
    job_of: list[Job] = []
    resumed = threading.Event()

    def answer(handler: Handler) -> None:
        # A wish to stop is seen twice a second: once it is said, the model takes its time.
        if job_of:
            resumed.wait(0.3)
        solving()(handler)

    with chat_stub(answer) as stub:
        lab(stub)
        batch = opened(n=30, concurrency=2)

        def stop_after_ten(done: int, total: int | None, note: str) -> None:
            if done >= 10 and not job_of:
                job_of.append(claims.request_cancel(Job.objects.get(subject=batch.code)))

        with pytest.raises(JobEnded, match="stopped"):
            jobs.run_inline(
                MODEL_KIND, {"batch": batch.code}, subject=batch.code, on_progress=stop_after_ten
            )
        batch.refresh_from_db()
        assert 10 <= batch.graded < 30
        resumed.set()
        run(batch)
        assert batch.graded == 30
        # whatever was asked is stored, and nothing that is stored was asked again
        assert len(stub.asked) == ModelCall.objects.count() == 60


def test_another_model_behind_the_name_does_not_go_on_with_the_batch(
    task: Task, stub: Stub
) -> None:
    row = lab(stub)
    batch = opened()
    edit_endpoint(
        by=None, endpoint=row, base_url=row.base_url, model="other", api_key_env="",
        roles=["teacher"], sampling={},
    )  # fmt: skip
    with pytest.raises(JobEnded, match="was started with the model tiny"):
        run(batch)
    assert stub.asked == []


@pytest.mark.parametrize(
    ("change", "said_of_it"),
    [
        ({"active": False}, "there is no policy “endpoint:lab”"),
        ({"roles": ["judge"]}, "there is no policy “endpoint:lab”"),
        ({"abilities": {"tools": False}}, "takes no tools"),
    ],
)
def test_an_endpoint_that_cannot_act_is_refused_in_words(
    task: Task, stub: Stub, change: dict[str, Any], said_of_it: str
) -> None:
    lab(stub)
    ModelEndpoint.objects.update(**change)
    with pytest.raises(Invalid) as refused:
        opened()
    assert said_of_it in refused.value.problems[0].message


def test_limits_of_a_model_batch_are_checked(task: Task, stub: Stub) -> None:
    set_active(by=None, endpoint=lab(stub), active=True)
    with pytest.raises(Invalid) as refused:
        opened(concurrency=65, budget_calls=0)
    places = [problem.place for problem in refused.value.problems]
    assert places == ["concurrency", "budget_calls"]


def test_a_model_waits_on_workers_of_its_own(task: Task, stub: Stub) -> None:
    lab(stub)
    batch = start_batch(policy="endpoint:lab", filter_text="", group_size=1, seed=0, by=None)
    assert batch.job is not None
    assert (batch.job.kind, batch.job.queue) == (MODEL_KIND, "chat")


def test_the_command_rolls_a_model_out_and_counts_its_tokens(task: Task, stub: Stub) -> None:
    lab(stub)
    out = StringIO()
    call_command(
        "run_rollouts", "--policy", "endpoint:lab", "--tasks", "", "--n", "2", "--concurrency", "2",
        "--json", stdout=out,
    )  # fmt: skip
    line = json.loads(out.getvalue().splitlines()[-1])
    assert line.pop("seconds") >= 0
    assert line == {
        "batch": RolloutBatch.objects.get().code,
        "episodes": 2,
        "mean_reward": 1.0,
        "passed": 2,
        "violations": 0,
        "failed_infrastructure": 0,
        "tokens": 28,
    }
    assert Job.objects.get().kind == MODEL_KIND


def test_the_command_says_why_a_batch_stopped(task: Task, stub: Stub) -> None:
    lab(stub)
    words = ["--policy", "endpoint:lab", "--tasks", "", "--n", "2", "--budget-calls", "1"]
    with pytest.raises(CommandError, match="the budget of 1 calls is spent"):
        call_command("run_rollouts", *words)


def test_the_form_offers_endpoints_and_starts_a_batch_on_one(
    task: Task, stub: Stub, client_of: ClientOf
) -> None:
    editor = client_of(Role.EDITOR)
    before = editor.get("/rollouts/").content.decode()
    assert "none is offered yet" in before
    lab(stub)
    page = editor.get("/rollouts/?policy=endpoint:lab").content.decode()
    assert '<option value="endpoint:lab" selected>endpoint:lab: tiny</option>' in page
    form = {"policy": "endpoint:lab", "tasks": "", "n": "2", "seed": "0"}
    wrong = editor.post("/rollouts/", {**form, "concurrency": "65", "budget_calls": "0"})
    assert wrong.status_code == 422
    assert wrong.content.decode().count('aria-invalid="true"') == 2
    answer = editor.post("/rollouts/", {**form, "concurrency": "4", "budget_calls": "3"})
    batch = RolloutBatch.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/rollouts/{batch.code}/")
    assert (batch.concurrency, batch.budget_calls, batch.budget_tokens) == (4, 3, None)


def test_the_page_of_a_stopped_batch_says_why_and_resumes_with_more(
    task: Task, stub: Stub, client_of: ClientOf
) -> None:
    lab(stub)
    batch = opened(n=2, concurrency=1, budget_calls=3)
    with pytest.raises(JobEnded):
        run(batch)
    editor = client_of(Role.EDITOR)
    page = editor.get(f"/rollouts/{batch.code}/").content.decode()
    assert "the budget of 3 calls is spent" in page
    assert "answered <b>3</b> calls of at most 3" in page
    refused = editor.post(f"/rollouts/{batch.code}/resume/", {"calls": "-1", "tokens": ""})
    assert refused.status_code == 422
    resumed = editor.post(f"/rollouts/{batch.code}/resume/", {"calls": "9", "tokens": ""})
    assert resumed.status_code == 303
    batch.refresh_from_db()
    assert (batch.budget_calls, batch.state) == (9, "queued")


def test_the_api_starts_and_shows_a_model_batch_and_its_budget(
    task: Task, stub: Stub, client_of: ClientOf
) -> None:
    lab(stub)
    editor = client_of(Role.EDITOR)
    body = {"policy": "endpoint:lab", "concurrency": 64, "budget_tokens": 1000}
    made = editor.post("/api/v1/rollout-batches", body, "application/json").json()
    assert (made["concurrency"], made["budget_tokens"], made["usage"]) == (64, 1000, {})
    path = f"/api/v1/rollout-batches/{made['code']}"
    running = editor.put(f"{path}/budget", {"calls": 5}, "application/json")
    assert running.status_code == 409
    editor.post(f"{path}/cancel")
    assert client_of(Role.VIEWER).put(f"{path}/budget", {}, "application/json").status_code == 403
    changed = editor.put(f"{path}/budget", {"calls": 5}, "application/json").json()
    assert (changed["budget_calls"], changed["budget_tokens"]) == (5, None)
