"""The curves of a run: figures, cursors, smoothing, steps that are no number."""

import re

import pytest
from django.test import Client

from studio.web.choices import JobState
from tests.factories.pages import page
from tests.factories.runs import log_steps, made_run
from training_app.core.recipe import preset

pytestmark = pytest.mark.django_db


def test_curves_come_as_figures_then_only_what_is_new_then_304(viewer: Client) -> None:
    run = made_run(steps=10, state=JobState.RUNNING)
    url = f"/runs/{run.code}/curves.json"
    first = viewer.get(url)
    body = first.json()
    loss = next(figure for figure in body["figures"] if figure["id"] == "loss")
    assert (body["again"], len(loss["data"][0]["x"])) == (False, 10)
    since = viewer.get(f"{url}?since={body['cursor']}")
    same = viewer.get(f"{url}?since={body['cursor']}", headers={"If-None-Match": since["ETag"]})
    assert same.status_code == 304
    log_steps(run, 11, 14)
    later = viewer.get(f"{url}?since={body['cursor']}", headers={"If-None-Match": since["ETag"]})
    loss = next(figure for figure in later.json()["figures"] if figure["id"] == "loss")
    # The last step comes again: it may have got more values.
    assert loss["data"][0]["customdata"] == [10, 11, 12, 13, 14]


def test_a_run_that_was_cut_back_sends_everything_again(viewer: Client) -> None:
    run = made_run(steps=30, state=JobState.RUNNING)
    cursor = viewer.get(f"/runs/{run.code}/curves.json").json()["cursor"]
    run.metrics.filter(step__gt=20).delete()
    body = viewer.get(f"/runs/{run.code}/curves.json?since={cursor}").json()
    loss = next(figure for figure in body["figures"] if figure["id"] == "loss")
    assert (body["again"], len(loss["data"][0]["x"])) == (True, 20)


@pytest.mark.parametrize("since", ["x", "1:2", "1:nan:1", "-1:2:1", "1:2:0", "9" * 30 + ":1:1"])
def test_a_cursor_of_somebody_else_is_refused(viewer: Client, since: str) -> None:
    run = made_run(steps=3)
    page(viewer, f"/runs/{run.code}/curves.json?since={since}", 400)


def test_steps_samples_or_seconds_smoothed_or_not_are_addresses(viewer: Client) -> None:
    run = made_run(steps=10)
    body = viewer.get(f"/runs/{run.code}/curves.json?x=step&smooth=off").json()
    loss = next(figure for figure in body["figures"] if figure["id"] == "loss")
    assert [(t["uid"], t["x"][-1]) for t in loss["data"]] == [("loss-raw", 10.0)]
    html = page(viewer, f"/runs/{run.code}/?x=seconds&smooth=off")
    assert re.findall(r'data-value="(\w+)"[^>]*aria-current="true"', html) == ["seconds", "off"]


def test_a_flat_loss_is_explained_on_its_chart(viewer: Client) -> None:
    flat = preset("cpu-tiny-grpo", rollouts={"steps_per_generation": 1})
    assert flat.flat_loss in page(viewer, f"/runs/{made_run(steps=9, recipe=flat).code}/")


def test_a_step_that_is_no_number_is_told(viewer: Client) -> None:
    run = made_run()
    log_steps(run, 1, 12, {8: {"loss": None}})
    assert "NaN at step 8" in page(viewer, f"/runs/{run.code}/")
