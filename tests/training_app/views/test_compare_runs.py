"""Runs beside each other on one page."""

import re

import pytest
from django.test import Client

from studio.web.choices import JobState
from tests.factories.pages import page, words
from tests.factories.runs import log_steps, made_run
from tests.training_app.conftest import SHARES
from training_app.core.recipe import preset
from training_app.enums import Algorithm

pytestmark = pytest.mark.django_db


def test_without_runs_the_comparison_says_how_to_begin(editor: Client, viewer: Client) -> None:
    assert 'href="/runs/new/"' in page(editor, "/runs/compare/")
    assert "No run has logged a step yet." in page(viewer, "/runs/compare/")


def test_the_comparison_takes_the_newest_of_each_and_draws_the_grid(viewer: Client) -> None:
    old = made_run(Algorithm.GRPO, steps=20)
    runs = [made_run(a, steps=20) for a in (Algorithm.GRPO, Algorithm.GDPO)]
    control = made_run(Algorithm.GRPO, steps=20, recipe=preset("cpu-tiny-control"))
    html = page(viewer, "/runs/compare/")
    assert re.findall(r'data-figure="([^"]+)"', html) == [
        "grpo-reward", "grpo-loss", "grpo-length", "gdpo-reward", "gdpo-loss", "gdpo-length",
        "overlay",
    ]  # fmt: skip
    head = html[html.index('class="meta"') : html.index("data-curves")]
    assert re.findall(r"RUN-\w+(?=</a>)", head) == [r.code for r in (*runs, control)]
    assert old.code not in head
    assert "One seed each" not in words(html)  # the control is GRPO too
    body = viewer.get("/runs/compare/curves.json").json()
    assert [figure["id"] for figure in body["figures"]][-1] == "overlay"


def test_recipes_are_told_apart_place_by_place(viewer: Client) -> None:
    a = made_run(Algorithm.GRPO, steps=5)
    b = made_run(Algorithm.GIGPO, steps=5, recipe=preset("cpu-tiny-gigpo", steps=40))
    text = words(page(viewer, f"/runs/compare/?runs={a.code},{b.code}"))
    assert "algorithm grpo gigpo" in text
    assert "steps 78 40" in text
    assert "2 of" in text


@pytest.mark.parametrize(
    ("runs", "status"),
    [("RUN-0000", 404), ("x", 400), ("T-0000", 400), (",".join(["RUN-0000"] * 1), 404),
     (",".join(f"RUN-000{n}" for n in "123456789ABCD"), 400)],
)  # fmt: skip
def test_a_comparison_of_what_does_not_exist_is_refused(
    viewer: Client, runs: str, status: int
) -> None:
    for path in ("", "curves.json", "sheet.json", "curves.csv"):
        page(viewer, f"/runs/compare/{path}?runs={runs}", status)


def test_the_comparison_is_304_until_a_run_moves(viewer: Client) -> None:
    run = made_run(steps=5, state=JobState.RUNNING)
    first = viewer.get("/runs/compare/curves.json")
    headers = {"If-None-Match": first["ETag"]}
    assert viewer.get("/runs/compare/curves.json", headers=headers).status_code == 304
    log_steps(run, 6, 6)
    assert viewer.get("/runs/compare/curves.json", headers=headers).status_code == 200


def test_success_of_each_run_stands_under_its_kind_of_tasks(viewer: Client) -> None:
    made_run(
        steps=5,
        result={
            "before": {"split_kind": "new_instances", "greedy": SHARES},
            "after": {"split_kind": "new_instances", "greedy": {**SHARES, "success": 0.7}},
            "after_new_families": {"split_kind": "new_families", "greedy": {**SHARES, "n": 8}},
        },
    )
    html = page(viewer, "/runs/compare/")
    table = words(html[html.index('aria-labelledby="came"') :])
    assert "New instances New families" in table
    assert "GRPO greedy 50 % 35–65 %, n 40 70 % 35–65 %, n 40 +0.20" in table
