"""The page of a run: what it shows live, how it stands, its result."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from studio.web import workers
from studio.web.choices import JobState
from studio.web.models import Job
from tests.factories.pages import HOSTILE, page, words
from tests.factories.runs import log_steps, made_run
from tests.training_app.conftest import SHARES, in_folder
from training_app.core.recipe import preset
from training_app.enums import Algorithm
from training_app.models import Checkpoint, DeviceTicket, TrainingRun

pytestmark = pytest.mark.django_db


def test_a_page_holds_a_chart_with_its_words_for_every_curve(viewer: Client) -> None:
    run = made_run(steps=40)
    html = page(viewer, f"/runs/{run.code}/")
    ids = re.findall(r'data-figure="([^"]+)"', html)
    assert ids == [
        "reward", "loss", "length", "components", "passed", "violations", "clipped", "zero",
        "entropy", "time",
    ]  # fmt: skip
    assert "Reward over processed training samples: from" in html
    assert 'aria-describedby="words-reward"' in html


def test_a_run_without_a_step_says_what_comes_first(viewer: Client) -> None:
    text = words(page(viewer, f"/runs/{made_run(state=JobState.STARTING).code}/"))
    assert "No step yet." in text
    assert "The first is saved at step 18." in text


def test_the_live_part_is_304_until_something_moves(viewer: Client) -> None:
    run = made_run(steps=10, state=JobState.RUNNING, heartbeat_at=timezone.now())
    path, fragment = f"/runs/{run.code}/", {"HX-Request": "true", "HX-Target": "run-live"}
    first = viewer.get(path, headers=fragment)
    assert first.content.decode().strip().startswith('<div id="run-live"')
    assert 'data-poll="2"' in first.content.decode()
    again = viewer.get(path, headers={**fragment, "If-None-Match": first["ETag"]})
    assert again.status_code == 304
    log_steps(run, 11, 11)
    TrainingRun.objects.filter(pk=run.pk).update(step=11)
    later = viewer.get(path, headers={**fragment, "If-None-Match": first["ETag"]})
    assert (later.status_code, "step 11 of 78" in words(later.content.decode())) == (200, True)


def test_what_comes_before_the_first_step_is_told_with_its_own_bar(viewer: Client) -> None:
    stage = "teaching the base: step 120 of 500"
    run = made_run(state=JobState.STARTING, message=stage)
    path = f"/runs/{run.code}/"
    without_job = page(viewer, path)
    assert (stage in words(without_job), f'aria-label="{stage}"' in without_job) == (True, False)
    job = Job.objects.create(
        kind="train_run", subject=run.code, note=stage, done=120, total=500, state=JobState.RUNNING
    )
    TrainingRun.objects.filter(pk=run.pk).update(job=job)
    bar = f'<progress class="inl" max="500" value="120" aria-label="{stage}"></progress>'
    assert bar in page(viewer, path)


def test_a_run_that_steps_says_once_how_far_it_is_and_how_long_that_takes(viewer: Client) -> None:
    job = Job.objects.create(
        kind="train_run", subject="RUN-X", note="step 34 of 78, about 49 s left", done=34, total=78,
        state=JobState.RUNNING,
    )  # fmt: skip
    run = made_run(steps=34, state=JobState.RUNNING, heartbeat_at=timezone.now(), job=job)
    html = page(viewer, f"/runs/{run.code}/")
    assert ("step 34 of 78" in words(html), 'id="run-stage"' in html) == (True, False)
    Job.objects.filter(pk=job.pk).update(note="checking the run")
    TrainingRun.objects.filter(pk=run.pk).update(state=JobState.STARTING)
    resumed = page(viewer, f"/runs/{run.code}/")
    assert ('id="run-stage"' in resumed, 'aria-label="checking the run"' in resumed) == (
        True,
        False,
    )


def test_an_ended_run_is_not_asked_for_again(viewer: Client) -> None:
    html = page(viewer, f"/runs/{made_run(steps=10).code}/")
    assert "data-poll" not in html[html.index("<main") :]


def test_a_lost_run_can_be_resumed_and_says_so(editor: Client, tmp_path: Path) -> None:
    run = made_run(steps=4, state=JobState.LOST)
    in_folder(run, tmp_path)
    html = page(editor, f"/runs/{run.code}/")
    assert "Nobody watches this run any more." in html
    assert f'action="/runs/{run.code}/resume/"' in html
    assert f'action="/runs/{run.code}/cancel/"' not in html


def test_a_failed_run_shows_each_reason_and_how_to_mend_it(viewer: Client) -> None:
    run = made_run(
        steps=4,
        state=JobState.FAILED,
        message="dataset: no rows. To mend it: freeze again.\ndisk: full. To mend it: make room.",
        halvings=2,
    )
    text = words(page(viewer, f"/runs/{run.code}/"))
    assert "The run failed." in text
    assert "dataset: no rows. To mend it: freeze again." in text
    assert "Memory ran out 2 times." in text


def test_a_silent_engine_and_an_adopted_run_are_told(viewer: Client) -> None:
    long_ago = timezone.now() - timedelta(minutes=5)
    quiet = made_run(steps=4, state=JobState.RUNNING, heartbeat_at=long_ago)
    assert "No sign of life for 5 min." in words(page(viewer, f"/runs/{quiet.code}/"))
    adopted = made_run(steps=4, adopted=True, host="gpu-01.example")
    assert "Run elsewhere on gpu-01.example and read here" in words(
        page(viewer, f"/runs/{adopted.code}/")
    )


def test_a_run_that_waits_for_its_device_says_who_is_before_it(viewer: Client) -> None:
    first, waiting = made_run(state=JobState.RUNNING), made_run(state=JobState.QUEUED)
    workers.say("train@here", ["train"])
    for run in (first, waiting):
        job = Job.objects.create(kind="train_run", subject=run.code)
        TrainingRun.objects.filter(pk=run.pk).update(job=job)
        DeviceTicket.objects.create(device="cpu", job=job, what=run.code)
    text = words(page(viewer, f"/runs/{waiting.code}/"))
    assert f"Waits for cpu. Before it: {first.code} queued" in text
    assert "Waits for" not in words(page(viewer, f"/runs/{first.code}/"))


def test_a_run_of_an_unknown_format_still_has_a_page(viewer: Client) -> None:
    run = made_run(steps=5)
    TrainingRun.objects.filter(pk=run.pk).update(recipe={"format": "training-recipe/9"})
    assert "of a format that is not known here" in page(viewer, f"/runs/{run.code}/")
    page(viewer, f"/runs/compare/?runs={run.code}")
    page(viewer, "/runs/")


def test_before_and_after_print_the_kind_of_split_beside_each_number(viewer: Client) -> None:
    run = made_run(
        Algorithm.SFT,
        steps=10,
        result={
            "before": {"split_kind": "new_instances", "greedy": {**SHARES, "success": 0.02,
                       "low": 0.0, "high": 0.1}},
            "after": {"split_kind": "new_instances",
                      "greedy": {**SHARES, "families": {"ticket_triage": {**SHARES, "n": 10}}}},
            "after_new_families": {"split_kind": "new_families", "greedy": {**SHARES, "n": 8}},
        },
    )  # fmt: skip
    html = page(viewer, f"/runs/{run.code}/")
    table = words(html[html.index('id="run-result"') :])
    assert "new instances greedy 40 2 % 0–10 % 50 % 35–65 % +0.48 +0.31 to +0.63" in table
    assert "new families greedy 8 not measured 50 % 35–65 % –" in table
    assert "ticket_triage new instances greedy 10 not measured 50 %" in table
    assert "Training reward" not in table


def test_reward_stands_beside_the_control_of_the_same_start_and_seed(viewer: Client) -> None:
    start = Checkpoint.objects.create(run=made_run(Algorithm.SFT, steps=4), step=4)
    run = made_run(steps=78, parent=start, seed=1)
    control = preset("cpu-tiny-control")
    made_run(steps=78, recipe=control, parent=start, seed=2)
    alike = made_run(steps=78, recipe=control, parent=start, seed=1)
    made_run(steps=78, recipe=control, parent=start, seed=3)
    made_run(steps=78, recipe=control, seed=1)
    html = page(viewer, f"/runs/{run.code}/")
    panel = words(html[html.index('id="run-result"') :])
    assert "GRPO, this run 1 0.55 0.71 +0.16" in panel
    assert f"Control {alike.code} 1 0.50 0.50 −0.01" in panel
    assert "Its last fifth lies 0.21 above the control’s" in panel
    assert "This is a control: learning rate 0." in words(page(viewer, f"/runs/{alike.code}/"))


def test_a_run_without_a_control_says_how_to_get_one(viewer: Client) -> None:
    made_run(steps=78, recipe=preset("cpu-tiny-control"), parent=None, state=JobState.FAILED)
    run = made_run(steps=78)
    assert "No control starts where this run does" in words(page(viewer, f"/runs/{run.code}/"))


def test_a_result_with_impossible_values_is_not_scored(viewer: Client) -> None:
    run = made_run(
        steps=5,
        result={
            "before": "x",
            "after": {"split_kind": HOSTILE, "greedy": {"n": -1, "success": 7, "low": "x",
                      "families": [1]}},
            "reward_first_fifth": "x",
            "seconds": HOSTILE,
        },
    )  # fmt: skip
    assert "tasks of no named kind greedy – not measured – – –" in words(
        page(viewer, f"/runs/{run.code}/")
    )
    page(viewer, "/runs/")
    page(viewer, f"/runs/compare/?runs={run.code}")
