import math

import pytest
from django.db.models import F

from tests.factories.runs import log_steps, made_run
from training_app.core.recipe import preset
from training_app.enums import Algorithm
from training_app.models import MetricRow, TrainingRun
from training_app.queries import curves
from training_app.queries.curve_families import families_of
from training_app.queries.curves import Chart, Curve, Gap, read

pytestmark = pytest.mark.django_db


def chart(charts: tuple[Chart, ...], family: str) -> Chart:
    return next(one for one in charts if one.family.id == family)


def line(run: TrainingRun, family: str, **how: object) -> Curve:
    return chart(read(run, families_of(run.algorithm), **how), family).curves[0]  # type: ignore[arg-type]


def test_a_run_without_steps_has_no_charts() -> None:
    run = made_run()
    assert read(run, families_of(run.algorithm)) == ()


def test_a_short_run_keeps_each_step_as_it_was_logged() -> None:
    run = made_run(steps=20)
    points = line(run, "loss", axis="step").points
    rows = list(run.metrics.order_by("step"))
    assert [(p.step, p.x, p.mean, p.low, p.high) for p in points] == [
        (row.step, row.step, row.values["loss"], row.values["loss"], row.values["loss"])
        for row in rows
    ]


def test_what_a_generation_measures_stands_at_its_step_and_is_not_missing_in_the_next() -> None:
    reward = line(made_run(steps=20), "reward", axis="step")
    assert [point.step for point in reward.points] == list(range(1, 20, 2))
    assert reward.gaps == ()


@pytest.mark.parametrize(("axis", "end"), [("step", 20.0), ("samples", 640.0), ("seconds", 40.0)])
def test_the_axis_is_steps_samples_or_seconds(axis: str, end: float) -> None:
    assert line(made_run(steps=20), "loss", axis=axis).points[-1].x == end


def test_a_long_run_is_drawn_with_a_thousand_points_and_its_spikes_survive() -> None:
    run = made_run(recipe=preset("cpu-tiny-grpo", steps=12_000))
    log_steps(run, 1, 12_000, {777: {"loss": 99.0}, 8_001: {"loss": -98.0}})
    points = line(run, "loss").points
    assert len(points) == 1000
    assert max(point.high for point in points) == 99.0
    assert min(point.low for point in points) == -98.0
    bucket = points[777 // 12]
    values = [
        row.values["loss"] for row in MetricRow.objects.filter(step__in=range(769, 781), run=run)
    ]
    assert (bucket.step, len(values)) == (780, 12)
    assert bucket.mean == pytest.approx(math.fsum(values) / 12)


def test_what_was_drawn_does_not_move_when_the_run_goes_on() -> None:
    run = made_run(recipe=preset("cpu-tiny-grpo", steps=4_000))
    log_steps(run, 1, 1_600)
    before = line(run, "loss").points
    log_steps(run, 1_601, 2_000)
    assert line(run, "loss").points[: len(before)] == before


def test_what_was_drawn_does_not_move_when_rows_come_to_lie_in_another_order() -> None:
    run = made_run(recipe=preset("cpu-tiny-grpo", steps=4_000))
    log_steps(run, 1, 1_600)
    before = line(run, "loss").points
    # a row that is written again lies behind the others
    run.metrics.filter(step__in=range(1, 1_600, 4)).update(seconds=F("seconds"))
    assert line(run, "loss").points == before


def test_a_smoothed_point_is_the_mean_of_the_last_twentieth_of_the_planned_steps() -> None:
    run = made_run(recipe=preset("cpu-tiny-grpo", steps=200))
    log_steps(run, 1, 60)
    points = line(run, "loss").points
    values = [row.values["loss"] for row in run.metrics.order_by("step")]
    assert points[0].smooth == values[0]
    assert points[-1].smooth == pytest.approx(math.fsum(values[-10:]) / 10)


def test_a_window_is_of_steps_also_where_only_some_are_logged_but_never_of_too_few() -> None:
    run = made_run(recipe=preset("cpu-tiny-grpo", steps=200))
    log_steps(run, 1, 60)
    rewards = line(run, "reward").points
    assert rewards[-1].smooth == pytest.approx(math.fsum(p.mean for p in rewards[-5:]) / 5)
    run.metrics.exclude(step__in=range(10, 61, 10)).delete()
    points = line(run, "loss").points
    assert points[-1].smooth == pytest.approx(math.fsum(p.mean for p in points[-3:]) / 3)


def test_a_step_without_a_finite_loss_is_a_gap_and_neighbours_are_one() -> None:
    run = made_run()
    log_steps(run, 1, 40, {8: {"loss": None}, 9: {"loss": None}, 20: {"loss": None}})
    assert line(run, "loss", axis="step").gaps == (Gap(8, 9, 8.0, 2), Gap(20, 20, 20.0, 1))


def test_a_run_whose_every_loss_is_missing_says_so() -> None:
    run = made_run()
    log_steps(run, 1, 5, {step: {"loss": None} for step in range(1, 6)})
    loss = line(run, "loss", axis="step")
    assert (loss.points, loss.gaps) == ((), (Gap(1, 5, 1.0, 5),))


def test_what_an_engine_never_logs_is_left_out() -> None:
    run = made_run(steps=10)
    assert [one.family.id for one in read(run, families_of(run.algorithm))] == [
        "reward", "loss", "length", "components", "passed", "violations", "clipped", "zero",
        "entropy", "time",
    ]  # fmt: skip


def test_components_have_one_line_each_under_every_algorithm() -> None:
    for algorithm in (Algorithm.GRPO, Algorithm.GDPO):
        run = made_run(algorithm, steps=3)
        found = chart(read(run, families_of(algorithm)), "components").curves
        assert {c.label: round(c.points[0].mean, 6) for c in found} == {
            name: round(run.metrics.get(step=1).values["reward"] * part, 6)
            for name, part in
            {"outcome": 0.6, "process": 0.25, "report": 0.15, "collateral": 0.0}.items()
        }  # fmt: skip


def test_sft_shows_loss_accuracy_and_success_at_checkpoints() -> None:
    run = made_run(Algorithm.SFT, steps=200, recipe=preset("cpu-tiny-sft", steps=1600))
    charts = read(run, families_of(run.algorithm), axis="step")
    assert [one.family.id for one in charts] == [
        "loss", "accuracy", "success", "entropy", "gradient",
    ]  # fmt: skip
    greedy, sampled = chart(charts, "success").curves
    assert [(p.step, p.mean) for p in greedy.points] == [(100, 0.05625), (200, 0.1125)]
    assert [curve.gaps for curve in (greedy, sampled)] == [(), ()]


def test_a_reader_goes_on_unless_the_run_was_cut_back_and_written_anew() -> None:
    run = made_run(steps=40)
    place = curves.place_of(run, curves.newest_row(run))
    assert place is not None
    log_steps(run, 41, 44)
    assert curves.goes_on(run, place)
    run.metrics.filter(step__gt=20).delete()
    assert not curves.goes_on(run, place)
    log_steps(run, 21, 44)
    run.metrics.filter(step=40).update(seconds=95.5)
    assert not curves.goes_on(run, place)


def test_the_grid_takes_the_newest_of_each_algorithm_that_logged_and_the_newest_control() -> None:
    made_run(Algorithm.GRPO, steps=5)
    newer = made_run(Algorithm.GRPO, steps=5)
    gigpo = made_run(Algorithm.GIGPO, steps=5)
    made_run(Algorithm.DR_GRPO, steps=0)
    made_run(Algorithm.SFT, steps=5)
    control = made_run(Algorithm.GRPO, steps=5, recipe=preset("cpu-tiny-control"))
    assert [run.code for run in curves.newest_of_each()] == [newer.code, gigpo.code, control.code]


def test_fifths_are_means_of_the_first_and_the_last_logged_values() -> None:
    run = made_run(steps=20)
    rewards = [
        row.values["reward"] for row in run.metrics.order_by("step") if "reward" in row.values
    ]
    assert curves.fifths(run) == pytest.approx((sum(rewards[:2]) / 2, sum(rewards[-2:]) / 2))
    assert curves.fifths(made_run(steps=4)) is None


def test_every_row_and_name_is_exported() -> None:
    run = made_run(steps=5)
    assert [row.step for row in curves.all_rows(run, chunk=2)] == [1, 2, 3, 4, 5]
    assert {"loss", "reward", "contributions/outcome"} <= set(curves.metric_names(run))
