"""Runs as files: metrics, the grid, the sheet, the recipe."""

import csv
import io

import pytest
from django.test import Client

from tests.factories.pages import page
from tests.factories.runs import log_steps, made_run
from training_app.core.recipe import preset
from training_app.enums import Algorithm

pytestmark = pytest.mark.django_db


def rows_of(answer: object) -> list[list[str]]:
    text = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    return list(csv.reader(io.StringIO(text)))


def test_every_metric_of_a_run_is_a_column_and_no_name_is_a_formula(viewer: Client) -> None:
    run = made_run(steps=2)
    log_steps(run, 3, 3, {3: {"=cmd()": 1.5}})
    answer = viewer.get(f"/runs/{run.code}/metrics.csv")
    head, *rows = rows_of(answer)
    assert head[:3] == ["step", "samples", "seconds"]
    assert "'=cmd()" in head
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert rows[2][head.index("'=cmd()")] == "1.5"
    assert rows[1][head.index("reward")] == ""


def test_the_grid_is_exported_row_by_row_with_the_control_marked(viewer: Client) -> None:
    run = made_run(Algorithm.GIGPO, steps=2)
    control = made_run(Algorithm.GRPO, steps=1, recipe=preset("cpu-tiny-control"))
    head, *rows = rows_of(viewer.get("/runs/compare/curves.csv"))
    assert head == [
        "run", "algorithm", "control", "seed", "step", "samples", "seconds", "reward",
        "policy_loss", "response_length",
    ]  # fmt: skip
    assert [row[:6] for row in rows] == [
        [run.code, "gigpo", "no", "0", "1", "32"],
        [run.code, "gigpo", "no", "0", "2", "64"],
        [control.code, "grpo", "yes", "0", "1", "32"],
    ]
    first = run.metrics.get(step=1).values
    assert rows[0][7:] == [
        str(first["reward"]), str(first["loss"]), str(first["completions/mean_length"]),
    ]  # fmt: skip
    assert rows[1][7] == ""


def test_the_sheet_is_one_figure_of_the_whole_grid(viewer: Client) -> None:
    made_run(Algorithm.GIGPO, steps=20)
    body = viewer.get("/runs/compare/sheet.json").json()
    assert {"xaxis", "xaxis2", "xaxis3"} <= set(body["layout"])
    run = made_run(Algorithm.SFT, steps=20)
    page(viewer, f"/runs/compare/sheet.json?runs={run.code}", 404)


def test_the_recipe_is_a_file(viewer: Client) -> None:
    run = made_run(steps=2)
    answer = viewer.get(f"/runs/{run.code}/recipe.json")
    assert answer.json() == run.recipe
    assert run.code in answer["Content-Disposition"]
