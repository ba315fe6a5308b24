"""Curves of runs: what the engine logged, at most a thousand points a series, spikes included.

``read(run, families_of(run.algorithm))`` draws a point for every bucket of all rows: its mean and
its extremes. A bucket is a fixed stretch of steps, by the planned length of the run, so that what
is drawn once does not move while the run goes on.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from django.db.models import Exists, FloatField, OuterRef, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from studio.web.choices import JobState
from training_app.enums import Algorithm
from training_app.models import MetricRow, TrainingRun
from training_app.queries.buckets import Bucket, bucket_width, buckets_of
from training_app.queries.curve_families import CurveName, Family, names_of

Axis = Literal["samples", "step", "seconds"]
AXES: Final[tuple[Axis, ...]] = get_args(Axis)
SMOOTHED_SHARE: Final = 0.05
"""Share of the planned steps that one smoothed point looks back on."""
SHORTEST_WINDOW: Final = 3
"""Values that it looks back on at least."""
_DOWN: Final = 2.0**-64
"""Sums are of values this much smaller: it changes no digit, and the largest floats add up."""
MARKS: Final = 12
"""Gaps that are marked one by one; beyond, only their number is told."""


class Point(NamedTuple):
    """A bucket of steps; where the run is short, one step."""

    step: int
    """Its last."""
    x: float
    mean: float
    low: float
    high: float
    smooth: float
    """Mean over the window that ends here, weighted by the steps behind each bucket."""


class Gap(NamedTuple):
    """Steps that logged no finite number."""

    first: int
    last: int
    x: float
    """Where the last of them stands."""
    steps: int


@dataclass(frozen=True, slots=True)
class Curve:
    """One line."""

    id: str
    label: str
    points: tuple[Point, ...]
    gaps: tuple[Gap, ...] = ()

    @property
    def last(self) -> float | None:
        """Its newest value; None of an empty line."""
        return self.points[-1].mean if self.points else None


@dataclass(frozen=True, slots=True)
class Chart:
    """The lines of one family that have something to show."""

    family: Family
    curves: tuple[Curve, ...]


class Place(NamedTuple):
    """How far a reader of the curves is: a step, and how that step looked."""

    step: int
    seconds: float
    width: int


def axis_of(text: str | None) -> Axis:
    """The axis that a page asks for; the paper's own where it asks for none or another."""
    return next((axis for axis in AXES if axis == text), "samples")


def newest_row(run: TrainingRun) -> MetricRow | None:
    """The last step that was read in; None before the first."""
    return run.metrics.order_by("-step").first()


def place_of(run: TrainingRun, row: MetricRow | None) -> Place | None:
    """Where one stands who has read everything up to a row."""
    return None if row is None else Place(row.step, row.seconds, bucket_width(run, row.step))


def goes_on(run: TrainingRun, since: Place) -> bool:
    """Whether what somebody read still stands, so that they need only what came later.

    A resumed run is cut back and writes its steps anew, in other seconds.
    """
    newest = newest_row(run)
    if newest is None or bucket_width(run, newest.step) != since.width:
        return False
    return run.metrics.filter(step=since.step, seconds=since.seconds).exists()


def read(
    run: TrainingRun, families: Sequence[Family], *, axis: Axis = "samples"
) -> tuple[Chart, ...]:
    """Return the charts of a run that have something to show.

    Args:
        run: Whose.
        families: What to draw.
        axis: What x is.
    """
    newest = newest_row(run)
    if newest is None:
        return ()
    names = names_of(families)
    buckets = list(buckets_of(run, names, newest.step))
    window = round(max(run.steps, newest.step) * SMOOTHED_SHARE)
    charts = []
    for family in families:
        found = [_curve(name, family, buckets, names, axis, window) for name in family.curves]
        shown = tuple(curve for curve in found if curve.points or curve.gaps)
        if shown:
            charts.append(Chart(family, shown))
    return tuple(charts)


def _curve(
    name: CurveName,
    family: Family,
    buckets: Sequence[Bucket],
    names: Sequence[str],
    axis: Axis,
    window: int,
) -> Curve:
    places = [names.index(metric) for metric in name.metrics]
    used = next((p for p in places if any(one.values[4 * p] for one in buckets)), places[-1])
    points: list[Point] = []
    gaps: list[Gap] = []
    behind = _Behind(window)
    for one in buckets:
        x = float(one.last if axis == "step" else getattr(one, axis))
        cell = one.cell(used)
        missing = one.missing(family.scope, cell.steps if cell is not None else 0)
        if missing > 0:
            gaps.append(Gap(one.first, one.last, x, missing))
        if cell is None:
            continue
        smooth = behind.smoothed(one.last, cell.steps, cell.mean)
        points.append(Point(one.last, x, cell.mean, cell.low, cell.high, smooth))
    # A metric that the engine does not log at all is not one that broke.
    known = bool(behind) or (family.id == "loss" and name.metrics[-1] == "loss")
    return Curve(name.id, name.label, tuple(points), tuple(_joined(gaps)) if known else ())


class _Behind:
    """Running sums over the buckets so far, so that a window costs the same however long it is."""

    def __init__(self, window: int) -> None:
        self._window = window
        self._steps: list[int] = []
        self._counts = [0]
        self._sums = [0.0]

    def __bool__(self) -> bool:
        return bool(self._steps)

    def smoothed(self, step: int, count: int, mean: float) -> float:
        """Add a bucket; the mean over the window that ends with it.

        The window holds some buckets at least, also where few steps log a value.
        """
        self._steps.append(step)
        self._counts.append(self._counts[-1] + count)
        self._sums.append(self._sums[-1] + count * (mean * _DOWN))
        first = bisect_right(self._steps, step - self._window)
        first = min(first, max(len(self._steps) - SHORTEST_WINDOW, 0))
        summed = self._sums[-1] - self._sums[first]
        return summed / (self._counts[-1] - self._counts[first]) / _DOWN


def _joined(gaps: Sequence[Gap]) -> Iterator[Gap]:
    """Neighbouring gaps as one, marked where it begins."""
    open_: Gap | None = None
    for gap in gaps:
        if open_ is not None and gap.first <= open_.last + 1:
            open_ = open_._replace(last=gap.last, steps=open_.steps + gap.steps)
            continue
        if open_ is not None:
            yield open_
        open_ = gap
    if open_ is not None:
        yield open_


# --- choices of runs -----------------------------------------------------------------------------


def is_control(run: TrainingRun) -> bool:
    """Whether it learns nothing: what its curve shows is chance and repeated tasks."""
    return run.algorithm != Algorithm.SFT and run.recipe.get("learning_rate") == 0


_UNPROVEN: Final = Q(recipe__has_key="rollouts", recipe__rollouts__contains={"checks": "unproven"})
"""Other than the comparison of a value, it is false, and never unknown, where there is no value."""


def is_unproven(run: TrainingRun) -> bool:
    """Whether its tasks pay silence and echoes too (the experiment on proof)."""
    rollouts = run.recipe.get("rollouts")
    return isinstance(rollouts, dict) and rollouts.get("checks") == "unproven"


def with_curves() -> QuerySet[TrainingRun]:
    """Runs that have logged something, newest first."""
    logged = MetricRow.objects.filter(run=OuterRef("pk"))
    return TrainingRun.objects.filter(Exists(logged)).order_by("-created_at", "-id")


PAPER_ORDER: Final = (Algorithm.GRPO, Algorithm.GDPO, Algorithm.GIGPO, Algorithm.DR_GRPO)
"""The rows of the paper's figure 3."""


def newest_of_each() -> list[TrainingRun]:
    """The newest run of each algorithm that learns by RL, and the newest control.

    One that broke off is taken only where there is no other; one that is paid by unproven checks
    never, since its reward is another quantity.
    """
    rows = with_curves().exclude(_UNPROVEN)
    learning = rows.exclude(recipe__learning_rate=0)
    wanted = [learning.filter(algorithm=algorithm) for algorithm in PAPER_ORDER]
    wanted.append(rows.exclude(algorithm=Algorithm.SFT).filter(recipe__learning_rate=0))
    broken = (JobState.FAILED, JobState.LOST)
    chosen = [some.exclude(state__in=broken).first() or some.first() for some in wanted]
    return [run for run in chosen if run is not None]


def control_of(run: TrainingRun) -> TrainingRun | None:
    """What learnt nothing from the same start and data: with the same seed, else the newest.

    None for SFT and for a control, and where there is no other run to stand beside it.
    """
    if run.algorithm == Algorithm.SFT or is_control(run):
        return None
    alike = (
        with_curves()
        .exclude(algorithm=Algorithm.SFT)
        .filter(_UNPROVEN if is_unproven(run) else ~_UNPROVEN)
        .filter(recipe__learning_rate=0, parent=run.parent_id, dataset=run.dataset_id)
        .exclude(state__in=(JobState.FAILED, JobState.LOST))
    )
    return alike.filter(seed=run.seed).first() or alike.first()


def fifths(run: TrainingRun, metric: str = "reward") -> tuple[float, float] | None:
    """Mean of a metric over the first and the last fifth of what was logged; None below five."""
    value = Cast(KeyTextTransform(metric, "values"), FloatField())
    known = list(
        run.metrics.annotate(v=value)
        .filter(v__isnull=False)
        .order_by("step")
        .values_list("v", flat=True)
    )
    part = len(known) // 5
    if not part:
        return None
    return math.fsum(known[:part]) / part, math.fsum(known[-part:]) / part


def all_rows(run: TrainingRun, chunk: int = 2000) -> Iterator[MetricRow]:
    """Every step that was read in, in order, in chunks: for exports."""
    after = -1
    while True:
        rows = list(run.metrics.filter(step__gt=after).order_by("step")[:chunk])
        yield from rows
        if len(rows) < chunk:
            return
        after = rows[-1].step


def metric_names(run: TrainingRun) -> list[str]:
    """Every name that any step of a run logged."""
    names: set[str] = set()
    for row in all_rows(run):
        names.update(row.values)
    return sorted(names)
