"""The pages of evaluations: what they show, to whom, and what they refuse."""

import csv
import sys
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.test import Client

from rollouts_app.enums import EpisodeState
from rollouts_app.models import Episode
from studio.web.choices import JobState, Role
from studio.web.models import Job
from tests.factories import serve_stub
from tests.factories.pages import HOSTILE, ClientOf, page, words
from tests.factories.runs import made_run
from tests.training_app.served import checkpoint, suite
from training_app.models import Checkpoint, Evaluation, Suite
from training_app.operations.evaluations import open_evaluation, record_report
from training_app.queries.evaluations import before_after, get_evaluation
from training_app.queries.servings import SERVE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _stub(settings: LazySettings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"
    settings.STUDIO_ENGINE = [sys.executable, str(serve_stub.__file__)]


def ended(row: Evaluation, *rewards: float | None) -> Evaluation:
    """Grade the episodes of an evaluation by hand, in order; None: broke outside the model."""
    assert row.batch is not None
    episodes = row.batch.episodes.order_by("version_id", "group_index")
    for episode, reward in zip(episodes, rewards, strict=True):
        columns = (
            {"state": EpisodeState.FAILED, "boundary": "endpoint", "failure": "gone"}
            if reward is None
            else {"state": EpisodeState.GRADED, "reward": reward, "passed": reward == 1.0}
        )
        Episode.objects.filter(pk=episode.pk).update(**columns)
    return record_report(evaluation=row)


def compared() -> tuple[Evaluation, Evaluation]:
    """Two steps of a run on three tasks: one better, one worse, one broken."""
    first = checkpoint(100)
    later = checkpoint(200, run=first.run)
    on = suite(tasks=3)
    before = ended(open_evaluation(suite=on, checkpoint=first, by=None), 0.0, 1.0, 1.0)
    after = ended(open_evaluation(suite=on, checkpoint=later, by=None), 1.0, 0.5, None)
    return before, after


def test_nothing_yet_says_what_to_do_first(client_of: ClientOf) -> None:
    said = words(page(client_of(Role.EDITOR), "/evaluations/"))
    assert "Nothing was measured yet." in said
    assert "There is no checkpoint and no endpoint yet." in said
    assert "pocket-held-out" in said


def test_a_viewer_reads_and_starts_nothing(client_of: ClientOf) -> None:
    _, after = compared()
    viewer = client_of(Role.VIEWER)
    assert "needs the role editor" in words(page(viewer, "/evaluations/"))
    assert '<form method="post" action="/evaluations/' not in page(
        viewer, f"/evaluations/{after.code}/"
    )
    posts = [
        "/evaluations/", "/evaluations/suites/", "/evaluations/served/",
        f"/evaluations/{after.code}/cancel/", f"/evaluations/{after.code}/resume/",
        f"/evaluations/{after.code}/baseline/",
    ]  # fmt: skip
    assert {viewer.post(path).status_code for path in posts} == {403}
    assert Client().get(f"/evaluations/{after.code}/").status_code == 302


def test_the_form_starts_one_and_leads_to_it(client_of: ClientOf) -> None:
    row, on = checkpoint(), suite(tasks=2)
    asked = {
        "model": f"checkpoint:{row.code}", "suite": on.name, "way": "sampled", "n": "3",
        "seed": "4", "baseline": "none",
    }  # fmt: skip
    answer = client_of(Role.EDITOR).post("/evaluations/", asked)
    made = Evaluation.objects.get()
    assert (answer.status_code, answer["Location"]) == (303, f"/evaluations/{made.code}/")
    assert (made.checkpoint, made.greedy, made.group_size, made.seed, made.baseline) == (
        row, False, 3, 4, None,
    )  # fmt: skip
    assert made.job is not None
    assert made.job.state == JobState.QUEUED


def test_an_address_fills_the_form_in(client_of: ClientOf) -> None:
    first, second = checkpoint(100), checkpoint(200)
    client = client_of(Role.EDITOR)
    for address in (f"?checkpoint={first.code}", f"?model=checkpoint:{first.code}"):
        html = page(client, f"/evaluations/{address}&suite=pocket-held-out&n=3")
        assert f'<option value="checkpoint:{first.code}" selected>' in html
        assert f'<option value="checkpoint:{second.code}">' in html
        assert 'value="3"' in html


def test_a_wrong_form_says_what_is_wrong_and_keeps_what_was_written(
    client_of: ClientOf,
) -> None:
    row, on = checkpoint(), suite(tasks=1)
    other = ended(open_evaluation(suite=suite("other", 1), checkpoint=row, by=None), 1.0, 1.0)
    client = client_of(Role.EDITOR)
    asked = {"model": f"checkpoint:{row.code}", "suite": on.name, "way": "greedy", "n": "1",
             "seed": "0", "baseline": other.code}  # fmt: skip
    answer = client.post("/evaluations/", asked)
    assert answer.status_code == 422
    assert "was measured on other, not on lamps" in words(answer.content.decode())
    answer = client.post("/evaluations/", {**asked, "baseline": "EV-0000"})
    assert "There is no evaluation EV-0000" in words(answer.content.decode())
    answer = client.post("/evaluations/", {**asked, "model": "checkpoint:CK-0000"})
    assert "There is no checkpoint CK-0000" in words(answer.content.decode())
    assert Evaluation.objects.count() == 1


def test_the_page_shows_scores_what_is_new_and_the_worst_first(
    client_of: ClientOf,
) -> None:
    before, after = compared()
    html = page(client_of(Role.EDITOR), f"/evaluations/{after.code}/")
    said = words(html)
    assert "tasks are new families" in said
    assert "Score 50 %" in said
    assert "Not every task is scored." in said
    assert f"Against {before.code} 0.00 −1.00 to +1.00 on 2 tasks: 1 worse, 1 better" in said
    assert after.batch is not None
    assert before.batch is not None
    worse = after.batch.episodes.get(reward=0.5)
    was = before.batch.episodes.get(version=worse.version_id)
    assert html.index(f"/episodes/{was.code}/") < html.index(f"/episodes/{worse.code}/")
    assert f"batch%3A{after.batch.code}+stop%3Afailed" in html
    assert after.checkpoint is not None
    # the address that starts it again carries its settings
    assert f"?model=checkpoint%3A{after.checkpoint.code}&amp;suite=lamps&amp;way=greedy" in html


def test_words_of_people_stay_text(client_of: ClientOf) -> None:
    _, after = compared()
    assert after.batch is not None
    episode = after.batch.episodes.get(reward=0.5)
    episode.task.title = HOSTILE
    episode.task.save(update_fields=["title"])
    record_report(evaluation=after)
    html = page(client_of(Role.EDITOR), f"/evaluations/{after.code}/")
    assert HOSTILE not in html
    assert "&lt;script&gt;alert(1)" in html


def test_a_running_one_shows_what_there_is_so_far(client_of: ClientOf) -> None:
    row = open_evaluation(suite=suite(tasks=2), checkpoint=checkpoint(), by=None)
    assert row.batch is not None
    first = row.batch.episodes.order_by("version_id")[0]
    Episode.objects.filter(pk=first.pk).update(state=EpisodeState.GRADED, reward=1.0, passed=True)
    job = Job.objects.create(kind="evaluate", state=JobState.RUNNING, subject=row.code)
    Evaluation.objects.filter(pk=row.pk).update(job=job)
    client = client_of(Role.VIEWER)
    assert f"{row.code} " in words(page(client, "/evaluations/"))
    said = words(page(client, f"/evaluations/{row.code}/"))
    assert "so far" in said
    assert "1 of 2" in said
    assert "1 not run" in said


def test_another_baseline_is_chosen_on_the_page(client_of: ClientOf) -> None:
    before, after = compared()
    client = client_of(Role.EDITOR)
    path = f"/evaluations/{after.code}/"
    assert client.post(f"{path}baseline/", {"baseline": ""}).status_code == 303
    assert "Compared with nothing" in words(page(client, path))
    assert client.post(f"{path}baseline/", {"baseline": before.code}).status_code == 303
    assert get_evaluation(after.code).report["baseline"]["evaluation"] == before.code
    assert client.post(f"{path}baseline/", {"baseline": after.code}).status_code == 422


def test_files_hold_the_report_and_every_task(client_of: ClientOf) -> None:
    _, after = compared()
    client = client_of(Role.VIEWER)
    body = client.get(f"/evaluations/{after.code}/export/report.json/").json()
    assert (body["evaluation"], body["suite"]["name"], body["step"]) == (after.code, "lamps", 200)
    assert body["report"] == after.report
    stream = client.get(f"/evaluations/{after.code}/export/tasks.csv/")
    rows = list(csv.DictReader(b"".join(stream).decode().splitlines()))
    assert [(row["graded"], row["score"]) for row in rows] == [
        ("1", "1.0"),
        ("1", "0.0"),
        ("0", ""),
    ]
    assert client.get(f"/evaluations/{after.code}/export/x.exe/").status_code == 404


def test_a_suite_is_frozen_shown_and_never_overwritten(
    client_of: ClientOf,
) -> None:
    on = suite(tasks=2)
    client = client_of(Role.EDITOR)
    answer = client.post("/evaluations/suites/", {"name": "mine", "filter": "lamp"})
    made = Suite.objects.get(name="mine")
    assert (answer.status_code, answer["Location"]) == (
        303,
        f"/evaluations/suites/{made.code}/",
    )
    assert made.sha256 == on.sha256
    assert "2 tasks declared new families frozen from lamp" in words(
        page(client, answer["Location"])
    )
    for name, filter_text, place in (
        ("mine", "lamp", "Is taken. A suite never changes"),
        ("pocket-held-out", "lamp", "Is taken"),
        ("Mine!", "lamp", "small letters"),
        ("none", "kettle", "No task matches"),
        ("wrong", "stat:proven", "stat"),
    ):
        answer = client.post("/evaluations/suites/", {"name": name, "filter": filter_text})
        assert answer.status_code == 422
        assert place in words(answer.content.decode())
    assert Suite.objects.count() == 2


def test_a_run_has_a_table_of_before_and_after(client_of: ClientOf) -> None:
    before, after = compared()
    assert after.checkpoint is not None
    run = after.checkpoint.run
    (line,) = before_after(run)
    assert (line.suite.name, line.greedy, line.split_kind) == ("lamps", True, "new_families")
    assert (line.before, line.after, line.report["score"]) == (before, after, 0.5)
    assert line.difference is not None
    assert (line.difference["tasks"], line.difference["difference"]) == (2, 0.0)
    viewer = client_of(Role.VIEWER)
    said = words(page(viewer, f"/evaluations/?by={run.code}"))
    assert f"Before and after {run.code}" in said
    assert "lamps new families greedy 50 % step 100 50 % step 200" in said
    on_its_page = words(page(viewer, f"/runs/{run.code}/"))
    assert "On frozen suites" in on_its_page
    assert "lamps new families greedy 50 % step 100 50 % step 200" in on_its_page
    assert "Measure on a suite" not in on_its_page
    assert "Measure on a suite" in words(page(client_of(Role.EDITOR), f"/runs/{run.code}/"))
    assert before_after(made_run()) == []


def test_two_evaluations_stand_beside_each_other_with_the_worst_first(
    client_of: ClientOf,
) -> None:
    before, after = compared()
    client = client_of(Role.VIEWER)
    html = page(client, f"/compare/{before.code}/{after.code}/")
    said = words(html)
    assert "Difference 0.00 −1.00 to +1.00" in said
    assert "Worse 1 of 2 tasks" in said
    assert "The same 0 0 passed, 0 failed in both" in said
    assert "Only in one 1" in said
    assert "All tasks new families 2 50 % 50 % 0.00 −1.00 to +1.00" in said
    assert after.batch is not None
    assert before.batch is not None
    worse = after.batch.episodes.get(reward=0.5)
    was = before.batch.episodes.get(version=worse.version_id)
    row = html[html.index('id="worse"') : html.index('id="better"')]
    assert row.index(f"/episodes/{was.code}/") < row.index(f"/episodes/{worse.code}/")
    assert f"/compare/{after.code}/{before.code}/" in html
    assert f"/compare/{before.code}/{after.code}/" in page(client, f"/evaluations/{after.code}/")


def test_what_else_differs_is_said(client_of: ClientOf) -> None:
    before, _ = compared()
    sampled = open_evaluation(
        suite=before.suite, checkpoint=before.checkpoint, greedy=False, group_size=3, by=None
    )
    said = words(page(client_of(Role.VIEWER), f"/compare/{before.code}/{sampled.code}/"))
    assert "Not only the model differs." in said
    assert f"{before.code} is greedy, {sampled.code} is sampled." in said
    assert f"{before.code} has 1 episodes a task, {sampled.code} has 3." in said
    assert f"{sampled.code} is not finished" in said
    assert "Only in one 3" in said


def test_different_suites_are_explained_with_what_can_be_compared(
    client_of: ClientOf,
) -> None:
    before, after = compared()
    other = open_evaluation(suite=suite("kettles", 1), checkpoint=after.checkpoint, by=None)
    client = client_of(Role.VIEWER)
    html = page(client, f"/compare/{after.code}/{other.code}/")
    said = words(html)
    assert f"{after.code} was measured on lamps, {other.code} on kettles." in said
    assert f"/compare/{before.code}/{after.code}/" in html
    assert "Nothing else was measured on it." in said
    page(client, f"/compare/{after.code}/{after.code}/", 400)
    page(client, f"/compare/{after.code}/EV-0000/", 404)
    assert "is no code of an evaluation" in words(page(client, "/compare/RUN-AAAA/RUN-BBBB/", 404))


def test_a_checkpoint_is_served_and_stopped_from_the_page(
    client_of: ClientOf,
) -> None:
    row = checkpoint()
    client = client_of(Role.EDITOR)
    answer = client.post("/evaluations/served/", {"checkpoint": row.code})
    job = Job.objects.get()
    assert (answer.status_code, job.kind, job.subject, job.queue) == (303, SERVE, row.code, "train")
    assert f"{row.code} waiting for a worker" in words(page(client, "/evaluations/"))
    assert client.post(f"/evaluations/served/{job.code}/stop/").status_code == 303
    job.refresh_from_db()
    assert job.state == JobState.STOPPED
    assert client.post("/evaluations/served/JOB-00000/stop/").status_code == 404
    assert client.post("/evaluations/served/", {"checkpoint": ""}).status_code == 400
    Checkpoint.objects.filter(pk=row.pk).update(step=999)
    assert client.post("/evaluations/served/", {"checkpoint": row.code}).status_code == 409
