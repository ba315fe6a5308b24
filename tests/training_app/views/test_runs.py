"""The list of training runs, and the ways that lead to one."""

import re

import pytest
from django.test import Client

from studio.web.choices import JobState
from studio.web.models import Job
from tests.factories.pages import page, words
from tests.factories.runs import made_run
from tests.training_app.conftest import SHARES
from training_app.enums import Algorithm
from training_app.models import Checkpoint, TrainingRun

pytestmark = pytest.mark.django_db


def test_an_empty_list_says_that_the_cpu_preset_works_at_once(editor: Client) -> None:
    html = page(editor, "/runs/")
    assert "The CPU preset works at once" in html
    assert 'href="/runs/new/"' in html


def test_a_reader_of_an_empty_list_is_not_offered_what_they_may_not_do(viewer: Client) -> None:
    assert 'href="/runs/new/"' not in page(viewer, "/runs/")


def test_the_list_shows_state_method_progress_reward_success_and_checkpoint(
    viewer: Client,
) -> None:
    run = made_run(
        Algorithm.GIGPO,
        steps=78,
        result={
            "reward_first_fifth": 0.41,
            "reward_last_fifth": 0.79,
            "after": {"split_kind": "new_instances", "greedy": SHARES},
        },
    )
    Checkpoint.objects.create(run=run, step=40)
    last = Checkpoint.objects.create(run=run, step=78)
    text = words(page(viewer, "/runs/"))
    for expected in ("GiGPO", "succeeded", "78 of 78", "0.41 → 0.79", "50 %", f"{last.code} +1"):
        assert expected in text, expected


def test_a_run_that_goes_on_shows_its_reward_up_to_here_and_the_list_follows_it(
    viewer: Client,
) -> None:
    run = made_run(steps=20, state=JobState.RUNNING)
    html = page(viewer, "/runs/")
    assert 'data-poll="3"' in html
    assert "20 of 78" in words(html)
    etag = viewer.get("/runs/")["ETag"]
    fragment = {"HX-Request": "true", "HX-Target": "runs"}
    same = viewer.get("/runs/", headers={**fragment, "If-None-Match": etag})
    assert same.status_code == 304
    TrainingRun.objects.filter(pk=run.pk).update(step=21)
    later = viewer.get("/runs/", headers={**fragment, "If-None-Match": etag})
    assert later.status_code == 200
    assert later.content.decode().startswith('<div id="runs"')


def test_the_list_filters_and_says_what_to_drop(viewer: Client) -> None:
    gigpo, sft = made_run(Algorithm.GIGPO, steps=3), made_run(Algorithm.SFT, steps=3)
    html = page(viewer, "/runs/?q=algorithm:gigpo")
    assert gigpo.code in html
    assert sft.code not in html
    assert "Drop" in page(viewer, "/runs/?q=algorithm:gigpo+state:failed")
    wrong = page(viewer, "/runs/?q=algoritm:gigpo", 400)
    assert "algorithm" in wrong


@pytest.mark.parametrize(
    "path", ["", "curves.json", "metrics.csv", "recipe.json", "log/", "log.txt"]
)
def test_a_run_that_does_not_exist_is_404_in_words(viewer: Client, path: str) -> None:
    assert "RUN-0000" in page(viewer, f"/runs/RUN-0000/{path}", 404)


def test_home_leads_from_a_running_job_to_its_run_and_a_code_is_found(viewer: Client) -> None:
    run = made_run(state=JobState.RUNNING)
    Job.objects.create(kind="train_run", subject=run.code, state=JobState.RUNNING)
    assert f'href="/runs/{run.code}/">{run.code}</a>' in page(viewer, "/")
    found = viewer.get(f"/search/?q={run.code.lower()}")
    assert found["Location"] == f"/runs/{run.code}/"


def test_the_rail_leads_to_training_with_keys(viewer: Client) -> None:
    html = page(viewer, "/runs/compare/")
    for key, path in (("g n", "/runs/"), ("g k", "/runs/compare/"), ("g s", "/datasets/")):
        assert re.search(rf'href="{path}" data-key="{key}"', html), key
    assert 'data-key="g k" title="Compare runs (g k)" aria-current="page"' in html
