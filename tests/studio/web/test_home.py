import datetime as dt
from collections.abc import Callable

from django.test import Client
from django.utils import timezone

from studio.home import gather
from studio.web import audit, workers
from studio.web.auth import Principal
from studio.web.choices import JobState, Role
from studio.web.models import Job, User
from tests.studio.web.conftest import MakeUser

AsUser = Callable[[User], Client]


def test_an_empty_studio_shows_the_first_steps(make_user: MakeUser, as_user: AsUser) -> None:
    user = make_user()
    found = gather(Principal(user))
    assert (found["is_new"], found["jobs"], found["alerts"], found["queue"]) == (True, [], [], [])
    page = as_user(user).get("/").content.decode()
    assert "Three steps to a first result" in page


def test_waiting_jobs_without_a_worker_are_the_first_alert(make_user: MakeUser) -> None:
    user = make_user()
    Job.objects.create(kind="generate_tasks", user=user)
    alerts = gather(Principal(user))["alerts"]
    assert [(alert["kind"], alert["title"]) for alert in alerts] == [
        ("bad", "1 job and no worker.")
    ]
    workers.say("light@mill", ["light"])
    found = gather(Principal(user))
    assert found["alerts"] == []
    assert [(row["name"], row["doing"]) for row in found["workers"]] == [("light@mill", "light")]


def test_ones_own_failed_jobs_are_told_with_their_reason(make_user: MakeUser) -> None:
    mira, nora = make_user("mira"), make_user("nora")
    ended = {"state": JobState.FAILED, "finished_at": timezone.now(), "error": "Why.\nMore."}
    job = Job.objects.create(kind="prove_tasks", user=mira, **ended)
    assert [alert["text"] for alert in gather(Principal(mira))["alerts"]] == ["Why."]
    assert gather(Principal(mira))["alerts"][0]["url"] == f"/jobs/{job.code}/"
    assert gather(Principal(nora))["alerts"] == []


def test_open_jobs_come_first_and_say_what_is_left(make_user: MakeUser) -> None:
    user = make_user()
    now = timezone.now()
    running = Job.objects.create(
        kind="prove_tasks",
        state=JobState.RUNNING,
        done=25,
        total=100,
        note="T-4F7K",
        created_at=now - dt.timedelta(hours=1),
        started_at=now - dt.timedelta(seconds=10),
        heartbeat_at=now,
    )
    done = Job.objects.create(
        kind="prove_tasks",
        state=JobState.SUCCEEDED,
        done=3,
        total=3,
        started_at=now - dt.timedelta(seconds=90),
        finished_at=now,
    )
    found = gather(Principal(user))
    shown = [
        (row["code"], row["what"], row["how_far"], row["left"], row["total"])
        for row in found["jobs"]
    ]
    assert shown == [
        (running.code, "Prove tasks: T-4F7K", "25 of 100", "30 s left", 100),
        (done.code, "Prove tasks", "3 of 3", "2 min", None),
    ]
    assert found["is_live"]


def test_a_viewer_has_no_queue(make_user: MakeUser) -> None:
    found = gather(Principal(make_user(role=Role.VIEWER)))
    assert (found["queue"], found["main_action"]) == ([], None)


def test_hostile_names_are_text(make_user: MakeUser, as_user: AsUser) -> None:
    user = make_user()
    audit.record(user, "approve_task", "<script>alert(1)</script>")
    Job.objects.create(kind="<img src=x>", error="<b>", state=JobState.FAILED, user=user)
    body = as_user(user).get("/").content.decode()
    assert "<script>alert" not in body
    assert "<img src=x" not in body.lower()
