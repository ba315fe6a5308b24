"""Measuring and serving: what is run, what is stored, what is left behind."""

import json
import os
import signal
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.conf import LazySettings
from django.utils import timezone

from rollouts_app.enums import EpisodeState, Purpose
from rollouts_app.jobs import MODEL_KIND, start_batch
from rollouts_app.models import Episode
from studio.web import jobs
from studio.web.choices import JobState
from studio.web.errors import Conflict, Invalid
from studio.web.jobs import JobEnded
from studio.web.models import AuditEntry, Job
from tasks_app.models import ModelCall, ModelEndpoint
from tasks_app.operations.endpoints import create_endpoint
from tests.factories import serve_stub
from tests.factories.chat_stub import chat_stub, failed, said
from tests.factories.runs import made_run
from tests.factories.specs import small_spec
from tests.rollouts_app.conftest import stored
from tests.training_app.served import checkpoint, folder_of, measured, suite
from training_app.enums import Algorithm
from training_app.jobs.evaluations import (
    EVALUATE,
    arguments_of,
    start_evaluation,
    start_serving,
)
from training_app.jobs.serving import health
from training_app.models import Checkpoint, DeviceTicket, Evaluation, TrainingRun
from training_app.operations.devices import take_ticket
from training_app.operations.evaluations import open_evaluation
from training_app.operations.servings import retire_dead
from training_app.queries.servings import SERVE, servings

pytestmark = [pytest.mark.django_db(transaction=True)]
PROJECT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _stub(settings: LazySettings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = [sys.executable, str(serve_stub.__file__)]


def served_processes(row: Checkpoint) -> list[psutil.Process]:
    """Servers of a checkpoint that still run."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if row.code in (process.info["cmdline"] or ()) and process.status() != "zombie"
    ]


def test_a_checkpoint_is_served_measured_and_gone() -> None:
    row = checkpoint()
    found = measured(row, suite(tasks=3))
    report: Any = found.report
    assert {name: report[name] for name in ("score", "tasks", "graded", "failed", "n")} == {
        "score": 1.0,
        "tasks": 3,
        "graded": 3,
        "failed": 0,
        "n": 1,
    }
    batch = found.batch
    assert batch is not None
    assert (batch.purpose, batch.policy, batch.passed) == (
        Purpose.EVALUATION,
        f"checkpoint:{row.code}",
        3,
    )
    assert batch.sampling == {"model": row.code, "temperature": 0.0}
    assert found.job is not None
    assert found.job.result == {
        "evaluation": found.code,
        "score": 1.0,
        "low": pytest.approx(0.4385, abs=5e-5),
        "high": 1.0,
        "pass_3": None,
        "n": 3,
        "split_kind": "new_families",
    }
    endpoint = ModelEndpoint.objects.get(name=row.code.lower())
    assert (endpoint.active, endpoint.model, endpoint.api_key_env) == (False, row.code, "")
    assert endpoint.abilities["tools"] is True
    assert served_processes(row) == []
    assert DeviceTicket.objects.get().released_at is not None
    acts = AuditEntry.objects.filter(subject=row.code).order_by("pk")
    assert [entry.act for entry in acts] == ["serve_checkpoint", "end_serving"]


def test_how_fast_this_machine_answers_costs_a_checkpoint_nothing() -> None:
    on = suite(tasks=1)
    found = measured(checkpoint(), on)
    with chat_stub(said("I cannot.")) as stub:
        create_endpoint(by=None, name="lab", base_url=stub.url, model="tiny")
        other = open_evaluation(suite=on, endpoint="lab", by=None)
    assert found.batch is not None
    assert other.batch is not None
    # a day for a checkpoint, the tasks' own limits for an endpoint
    assert (found.batch.limits, other.batch.limits) == ({"seconds": 86_400}, {})


def test_sampled_groups_have_pass_hat_three_and_each_episode_its_own_seed() -> None:
    found = measured(checkpoint(), suite(tasks=1), greedy=False, group_size=3, seed=5)
    assert (found.report["pass_3"], found.report["pass_at_3"]) == (1.0, 1.0)
    assert found.batch is not None
    assert found.batch.sampling["temperature"] == 1.0
    assert sorted(found.batch.episodes.values_list("seed", flat=True)) == [5, 6, 7]


def test_a_later_step_is_compared_with_the_earliest_of_its_run() -> None:
    first = checkpoint(100, talk=True)
    later = checkpoint(200, run=first.run)
    on = suite(tasks=2)
    before, after = measured(first, on), measured(later, on)
    assert (before.baseline, after.baseline) == (None, before)
    change: Any = after.report["baseline"]
    assert {name: change[name] for name in ("evaluation", "tasks", "difference", "better")} == {
        "evaluation": before.code,
        "tasks": 2,
        "difference": 1.0,
        "better": 2,
    }
    assert change["regressions"] == []


def test_a_run_that_starts_from_a_checkpoint_is_compared_with_that() -> None:
    base = checkpoint(100, talk=True)
    on = suite(tasks=1)
    before = measured(base, on)
    run = made_run(Algorithm.GRPO, parent=base)
    TrainingRun.objects.filter(pk=run.pk).update(path=run.code)
    run.refresh_from_db()
    assert measured(checkpoint(20, run=run), on).baseline == before


def test_one_that_was_killed_on_the_way_asks_nothing_twice() -> None:
    row, on = checkpoint(), suite(tasks=2)
    found = measured(row, on)
    asked = ModelCall.objects.count()
    assert found.batch is not None
    # as a worker that was killed leaves it: answers are stored, the last results are not
    Episode.objects.filter(batch=found.batch).update(
        state=EpisodeState.QUEUED, reward=None, attempts=0
    )
    Evaluation.objects.filter(pk=found.pk).update(report={}, finished_at=None)
    jobs.run_inline(EVALUATE, arguments_of(found), subject=found.code)
    found.refresh_from_db()
    assert (found.report["score"], ModelCall.objects.count()) == (1.0, asked)


@pytest.mark.parametrize(
    ("plan", "words"),
    [({"mute": 3}, "ended at once: the weights are damaged")],
)
def test_a_server_that_does_not_come_up_fails_with_its_own_words(
    plan: dict[str, Any], words: str
) -> None:
    row = checkpoint(**plan)
    evaluation = open_evaluation(suite=suite(tasks=1), checkpoint=row, by=None)
    with pytest.raises(JobEnded, match=words):
        jobs.run_inline(EVALUATE, arguments_of(evaluation), subject=evaluation.code)
    assert DeviceTicket.objects.get().released_at is not None
    assert Episode.objects.get().state == EpisodeState.QUEUED


def test_weights_that_are_gone_start_nothing() -> None:
    row, on = checkpoint(), suite(tasks=1)
    (folder_of(row) / "config.json").unlink()
    with pytest.raises(Invalid) as refused:
        open_evaluation(suite=on, checkpoint=row, by=None)
    assert [problem.place for problem in refused.value.problems] == ["policy"]
    assert "are not on this machine: take another checkpoint" in refused.value.problems[0].message
    with pytest.raises(Invalid, match="cannot be started"):
        start_batch(policy=f"checkpoint:{row.code}", filter_text="", group_size=1, seed=0, by=None)
    assert (Evaluation.objects.count(), Job.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("changes", "places"),
    [
        ({"endpoint": "nobody"}, ["policy"]),
        ({}, ["model"]),
        ({"endpoint": "nobody", "group_size": 0, "seed": -1}, ["n", "seed"]),
    ],
)
def test_what_cannot_be_measured_names_its_places(
    changes: dict[str, Any], places: list[str]
) -> None:
    with pytest.raises(Invalid) as refused:
        open_evaluation(suite=suite(tasks=1), by=None, **changes)
    assert [problem.place for problem in refused.value.problems] == places


def test_a_baseline_on_another_suite_is_refused() -> None:
    row = checkpoint()
    other = measured(row, suite("lamps", 1))
    with pytest.raises(Invalid) as refused:
        open_evaluation(suite=suite("more-lamps", 1), checkpoint=row, baseline=other, by=None)
    assert [problem.place for problem in refused.value.problems] == ["baseline"]


def test_a_dead_endpoint_ends_it_with_its_episodes_open() -> None:
    create_endpoint(by=None, name="gone", base_url="http://127.0.0.1:9/v1", model="tiny")
    row = open_evaluation(suite=suite(tasks=1), endpoint="gone", by=None)
    with pytest.raises(JobEnded, match="gone has answered nothing"):
        jobs.run_inline(EVALUATE, arguments_of(row), subject=row.code)
    row.refresh_from_db()
    assert (row.report, row.finished_at) == ({}, None)


def test_a_refused_key_ends_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_API_KEY", "sk-made-up")
    with chat_stub(failed(401, "unknown key")) as stub:
        create_endpoint(
            by=None, name="lab", base_url=stub.url, model="tiny", api_key_env="LAB_API_KEY"
        )
        row = open_evaluation(suite=suite(tasks=1), endpoint="lab", by=None)
        with pytest.raises(JobEnded, match=r"refused the key \(401\).*LAB_API_KEY"):
            jobs.run_inline(EVALUATE, arguments_of(row), subject=row.code)


def test_an_endpoint_is_measured_like_a_checkpoint() -> None:
    on = suite(tasks=2)
    with chat_stub(said("I cannot.")) as stub:
        create_endpoint(
            by=None, name="lab", base_url=stub.url, model="tiny", sampling={"temperature": 0.7}
        )
        row = open_evaluation(suite=on, endpoint="lab", greedy=False, by=None)
        jobs.run_inline(EVALUATE, arguments_of(row), subject=row.code)
        row.refresh_from_db()
        assert {body["temperature"] for body in stub.asked} == {0.7}
    assert (row.report["score"], row.report["graded"]) == (0.0, 2)


def test_a_batch_of_a_checkpoint_serves_it_too() -> None:
    stored(small_spec())
    row = checkpoint()
    batch = start_batch(
        policy=f"checkpoint:{row.code}", filter_text="", group_size=2, seed=0, by=None
    )
    assert batch.job is not None
    assert batch.job.kind == MODEL_KIND
    jobs.run_job(batch.job.pk)
    batch.refresh_from_db()
    assert (batch.passed, batch.failed, batch.usage["calls"]) == (2, 0, 4)
    assert served_processes(row) == []


def test_a_served_checkpoint_is_an_endpoint_until_its_job_is_stopped() -> None:
    row = checkpoint()
    seen: list[str] = []

    def look(done: int, total: int | None, note: str) -> None:
        if note.startswith("serves at ") and not seen:
            found = servings().get()
            seen.append(found.base_url)
            assert health(found.base_url) is not None
            assert found.job is not None
            Job.objects.filter(pk=found.job.pk).update(cancel_requested=True)

    with pytest.raises(JobEnded, match="stopped"):
        jobs.run_inline(SERVE, {"checkpoint": row.code, "idle": 60}, on_progress=look)
    assert health(seen[0]) is None
    assert (list(servings()), served_processes(row)) == ([], [])
    assert ModelEndpoint.objects.get().active is False


def test_a_server_that_nobody_asks_ends_by_itself() -> None:
    job = jobs.run_inline(SERVE, {"checkpoint": checkpoint().code, "idle": 1})
    assert (job.state, ModelEndpoint.objects.get().active) == (JobState.SUCCEEDED, False)


def test_a_server_waits_for_the_device_and_says_who_has_it() -> None:
    row = checkpoint()
    soon = timezone.now() + timedelta(hours=1)
    other = Job.objects.create(kind="x", state=JobState.RUNNING, lease_until=soon)
    ticket = take_ticket(device="cpu", job_id=other.pk, what="RUN-4K7Q")
    notes: list[str] = []

    def look(done: int, total: int | None, note: str) -> None:
        if note.startswith("waiting for cpu"):
            Job.objects.filter(pk=other.pk).update(state=JobState.STOPPED)
        if not notes or notes[-1] != note:
            notes.append(note)

    jobs.run_inline(SERVE, {"checkpoint": row.code, "idle": 1}, on_progress=look)
    ticket.refresh_from_db()
    assert notes[0] == "waiting for cpu: RUN-4K7Q trains"
    assert notes[-1].startswith("serves at ")
    assert ticket.released_at is not None


def test_a_server_ends_with_a_process_that_is_killed() -> None:
    row = checkpoint()
    code = (
        "import os, signal, subprocess, sys;"
        "p = subprocess.Popen([sys.executable, *sys.argv[1:], '--parent', str(os.getpid())]);"
        "sys.stdout.write(str(p.pid)); sys.stdout.flush();"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    words = ["--name", row.code, "--port", "0", "--device", "cpu", "--threads", "1"]
    done = subprocess.run(
        [sys.executable, "-c", code, str(serve_stub.__file__), str(folder_of(row)), *words],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    assert done.returncode == -signal.SIGKILL
    process = psutil.Process(int(done.stdout)) if psutil.pid_exists(int(done.stdout)) else None
    assert process is None or process.wait(20) is not None or not process.is_running()


def test_endpoints_of_servers_whose_job_is_over_are_withdrawn() -> None:
    row = checkpoint()
    dead = Job.objects.create(kind=SERVE, state=JobState.LOST)
    served = create_endpoint(
        by=None, name=row.code.lower(), base_url="http://127.0.0.1:9/v1", model=row.code
    )
    ModelEndpoint.objects.filter(pk=served.pk).update(job=dead)
    kept = create_endpoint(by=None, name="own", base_url="http://127.0.0.1:9/v1", model="own")
    assert retire_dead() == 1
    kept.refresh_from_db()
    served.refresh_from_db()
    assert (kept.active, served.active) == (True, False)


def test_an_endpoint_of_a_person_under_that_name_is_left_alone() -> None:
    row = checkpoint()
    mine = create_endpoint(
        by=None, name=row.code.lower(), base_url="http://127.0.0.1:9/v1", model="mine"
    )
    with pytest.raises(JobEnded, match="is not this checkpoint"):
        measured(row, suite(tasks=1))
    mine.refresh_from_db()
    assert (mine.model, mine.active) == ("mine", True)
    assert served_processes(row) == []


def test_starting_one_queues_a_job_that_its_page_finds() -> None:
    row = start_evaluation(suite=suite(tasks=1), checkpoint=checkpoint(), by=None)
    assert row.job is not None
    assert (row.job.kind, row.job.queue, row.job.subject) == (EVALUATE, "chat", row.code)
    assert row.batch is not None
    assert row.batch.job == row.job
    assert json.loads(json.dumps(row.job.arguments)) == {
        "evaluation": row.code,
        "batch": row.batch.code,
    }


def test_a_job_whose_evaluation_is_gone_does_nothing() -> None:
    assert jobs.run_inline(EVALUATE, {"evaluation": "EV-0000"}).result is None


def test_weights_that_are_gone_are_not_served() -> None:
    row = checkpoint()
    Checkpoint.objects.filter(pk=row.pk).update(removed_at=timezone.now())
    row.refresh_from_db()
    with pytest.raises(Conflict, match=r"were removed: take another checkpoint of RUN-"):
        start_serving(checkpoint=row, by=None)
