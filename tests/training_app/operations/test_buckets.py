"""Stretches that are kept: the same curves as from the rows, and gone where the rows change."""

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext

from tests.factories.runs import log_steps, made_run
from training_app.core.recipe import preset
from training_app.core.run_dir import Metrics
from training_app.enums import Algorithm
from training_app.models import MetricBucket, TrainingRun
from training_app.operations.absorbing import absorb
from training_app.operations.buckets import keep_buckets
from training_app.operations.runs import open_run, rewind
from training_app.queries.curve_families import families_of
from training_app.queries.curves import Chart, read
from training_app.queries.runs import run_dir

pytestmark = pytest.mark.django_db


def long_run(steps: int = 4_000, logged: int = 1_601) -> TrainingRun:
    """Four steps a stretch; each second one logs what a generation measures."""
    run = made_run(recipe=preset("cpu-tiny-grpo", steps=steps))
    log_steps(run, 1, logged, {8: {"loss": None}, 9: {"loss": 1e308}, 10: {"loss": 1.7e308}})
    return run


def charts(run: TrainingRun) -> tuple[tuple[Chart, ...], ...]:
    return tuple(
        read(run, families_of(run.algorithm), axis=axis) for axis in ("samples", "step", "seconds")
    )


def kept(run: TrainingRun) -> list[tuple[int, int, int]]:
    return list(run.buckets.order_by("number").values_list("number", "first", "last"))


def test_curves_are_the_same_from_kept_stretches_and_from_rows() -> None:
    run = long_run()
    from_rows = charts(run)
    assert keep_buckets(run=run) == 400
    assert charts(run) == from_rows
    assert [len(curve.points) for chart in from_rows[0] for curve in chart.curves][:2] == [401, 401]


def test_only_stretches_that_are_over_are_kept_and_each_is_counted_once() -> None:
    run = long_run(logged=1_600)  # the last step may still get more values
    assert keep_buckets(run=run) == 399
    log_steps(run, 1_601, 1_601)
    assert keep_buckets(run=run, since=1_601) == 1
    assert keep_buckets(run=run, since=1_601) == 0
    assert kept(run)[-1] == (399, 1_597, 1_600)


def test_what_is_kept_is_not_counted_again() -> None:
    run = long_run()
    keep_buckets(run=run)
    # one row is taken away behind everybody's back: what is drawn is what was kept
    before = charts(run)
    run.metrics.filter(step=5).delete()
    assert charts(run) == before
    keep_buckets(run=run, since=5)
    assert charts(run) != before


def test_what_was_drawn_does_not_move_when_it_is_kept_or_rows_lie_in_another_order() -> None:
    run = long_run()
    before = charts(run)
    run.metrics.filter(step__in=range(1, 1_600, 4)).update(seconds=F("seconds"))
    keep_buckets(run=run)
    assert charts(run) == before


def test_a_longer_plan_makes_wider_stretches() -> None:
    run = long_run()
    keep_buckets(run=run)
    run.steps = 8_000
    run.save()
    wider = charts(run)
    assert keep_buckets(run=run, since=1_601) == 200
    assert set(run.buckets.values_list("width", flat=True)) == {8}
    assert charts(run) == wider


def test_a_short_run_keeps_none() -> None:
    run = made_run(steps=60)
    assert keep_buckets(run=run) == 0
    assert not MetricBucket.objects.exists()


def test_stretches_of_other_metrics_are_counted_anew() -> None:
    run = long_run()
    keep_buckets(run=run)
    before = charts(run)
    MetricBucket.objects.update(layout="of before")
    assert charts(run) == before
    assert keep_buckets(run=run, since=1_601) == 400


def test_a_follower_asks_for_the_rows_of_the_last_stretch_alone() -> None:
    run = long_run()
    keep_buckets(run=run)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        read(run, families_of(Algorithm.GRPO))
    [counting] = [query["sql"] for query in asked if "GROUP BY bucket" in query["sql"]]
    assert f"run_id = {run.pk} AND step > 1600" in counting


# With their rows


def grown(run: TrainingRun, first: int, last: int, loss: float = 1.0) -> None:
    directory = run_dir(run)
    for step in range(first, last + 1):
        values = {"loss": loss / step, "learning_rate": 0.1}
        directory.append(Metrics(step, step * 4, step * 0.5, values))
    absorb(run=run)


@pytest.fixture
def growing(studio: object) -> TrainingRun:
    return open_run(preset="cpu-tiny-sft", changes={"steps": 2_000, "save_every": 2}, by=None)


def test_reading_a_directory_keeps_what_is_over(growing: TrainingRun) -> None:
    grown(growing, 1, 9)
    assert kept(growing) == [(0, 1, 2), (1, 3, 4), (2, 5, 6), (3, 7, 8)]
    grown(growing, 10, 11)
    assert kept(growing)[4:] == [(4, 9, 10)]


def test_a_run_that_is_cut_back_loses_what_was_kept_of_it(growing: TrainingRun) -> None:
    grown(growing, 1, 9)
    rewind(run=growing, step=3)
    assert kept(growing) == []
    grown(growing, 4, 7, loss=9.0)
    assert kept(growing) == [(0, 1, 2), (1, 3, 4), (2, 5, 6)]
    fresh = charts(growing)
    MetricBucket.objects.all().delete()
    assert charts(growing) == fresh


def test_a_file_that_was_cut_back_counts_anew(growing: TrainingRun) -> None:
    grown(growing, 1, 9)
    run_dir(growing).cut_back(3)
    grown(growing, 4, 12, loss=9.0)
    followed = charts(growing)
    MetricBucket.objects.all().delete()
    assert charts(growing) == followed
