"""Curves of runs: what the engine logged, at most a thousand points a series, spikes included.

``read(run, families_of(run.algorithm))`` buckets in SQL over all rows: a bucket keeps its mean and
its extremes. A bucket is a fixed stretch of steps, by the planned length of the run, so that what
is drawn once does not move while the run goes on.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, get_args

from django.db import connection
from django.db.models import Exists, FloatField, OuterRef, QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from psycopg import sql

from studio.web.choices import JobState
from tasks_app.core.results import GRADED
from training_app.enums import Algorithm
from training_app.models import MetricRow, TrainingRun

Axis = Literal["samples", "step", "seconds"]
AXES: Final[tuple[Axis, ...]] = get_args(Axis)
MOST_POINTS: Final = 1000
"""Points of a series: more than a screen is wide."""
SMOOTHED_SHARE: Final = 0.05
"""Share of the planned steps that one smoothed point looks back on."""
SHORTEST_WINDOW: Final = 3
"""Values that it looks back on at least."""
MARKS: Final = 12
"""Gaps that are marked one by one; beyond, only their number is told."""

Scope = Literal["step", "generation", "measure"]
_ALWAYS: Final[dict[Scope, str]] = {"step": "learning_rate", "generation": "num_tokens"}
"""What the engine logs whenever it logs the scope at all: where it stands and a value of the same
scope does not, the value was no finite number."""
Form = Literal["score", "share", "tokens", "seconds", "plain"]


@dataclass(frozen=True, slots=True)
class CurveName:
    """One line of a chart and the metrics that can be it, the better one first."""

    id: str
    label: str
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """What belongs into one chart."""

    id: str
    title: str
    what: str
    """The unit, and over what it is a mean."""
    curves: tuple[CurveName, ...]
    scope: Scope
    form: Form = "plain"


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


def _one(id_: str, label: str, *metrics: str) -> tuple[CurveName, ...]:
    return (CurveName(id_, label, metrics or (id_,)),)


REWARD: Final = Family(
    "reward", "Reward", "mean of a step’s rollouts", _one("reward", "reward"),
    "generation", "score",
)  # fmt: skip
LOSS: Final = Family(
    "loss", "Policy loss", "mean of an optimizer step", _one("loss", "loss", "policy_loss", "loss"),
    "step",
)  # fmt: skip
LENGTH: Final = Family(
    "length", "Response length", "tokens a rollout, all of it",
    _one("length", "tokens", "completions/mean_length"), "generation", "tokens",
)  # fmt: skip
_COMPONENTS: Final = Family(
    "components",
    "Reward by component",
    "what each adds to the reward",
    tuple(
        CurveName(f"component-{name}", name, (f"contributions/{name}", f"rewards/{name}/mean"))
        for name in GRADED
        if name != "constraint"  # it takes away and never adds: always 0
    ),
    "generation",
    "score",
)
_ONLINE: Final[tuple[Family, ...]] = (
    REWARD,
    LOSS,
    LENGTH,
    _COMPONENTS,
    Family("passed", "Passed", "share of a step’s rollouts", _one("passed", "passed"),
           "generation", "share"),
    Family("violations", "Rules broken", "share of rollouts that break one",
           _one("violations", "violations"), "generation", "share"),
    Family("clipped", "Cut replies", "share cut by the budget",
           _one("clipped", "cut", "truncated", "completions/clipped_ratio"), "generation", "share"),
    Family("zero", "Groups without variance", "share that teaches nothing",
           _one("zero", "share", "frac_reward_zero_std"), "generation", "share"),
    Family("entropy", "Entropy", "nats a token", _one("entropy", "entropy"), "step"),
    Family("kl", "KL to the start", "nats a token", _one("kl", "KL"), "step"),
    Family("anchors", "Shared anchors", "share of turns compared",
           _one("anchors", "share", "gigpo/shared_anchors"), "generation", "share"),
    Family("time", "Step time", "seconds a step", _one("time", "seconds", "step_time"),
           "step", "seconds"),
)  # fmt: skip
_TAUGHT: Final[tuple[Family, ...]] = (
    Family("loss", "SFT loss", "nats a learnt token", _one("loss", "loss"), "step"),
    Family("accuracy", "Token accuracy", "share of learnt tokens guessed right",
           _one("accuracy", "accuracy", "mean_token_accuracy"), "step", "share"),
    Family("success", "Success on held-out tasks", "new instances, at checkpoints",
           (CurveName("greedy", "greedy", ("success/greedy",)),
            CurveName("sampled", "sampled", ("success/sampled",))), "measure", "share"),
    Family("entropy", "Entropy", "nats a token", _one("entropy", "entropy"), "step"),
    Family("gradient", "Gradient norm", "before clipping", _one("gradient", "norm", "grad_norm"),
           "step"),
    Family("time", "Step time", "seconds a step", _one("time", "seconds", "step_time"),
           "step", "seconds"),
)  # fmt: skip
PAPER: Final = (REWARD, LOSS, LENGTH)
"""The columns of the paper's figure 3."""


def families_of(algorithm: str) -> tuple[Family, ...]:
    """The charts of a run, the telling ones first."""
    return _TAUGHT if algorithm == Algorithm.SFT else _ONLINE


def axis_of(text: str | None) -> Axis:
    """The axis that a page asks for; the paper's own where it asks for none or another."""
    return next((axis for axis in AXES if axis == text), "samples")


def bucket_width(run: TrainingRun, last_step: int) -> int:
    """Steps a point stands for."""
    return max(1, math.ceil(max(run.steps, last_step) / MOST_POINTS))


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
    width = bucket_width(run, newest.step)
    names = list(dict.fromkeys(m for f in families for c in f.curves for m in c.metrics))
    buckets = list(_buckets(run, names, width, axis))
    window = round(max(run.steps, newest.step) * SMOOTHED_SHARE)
    charts = []
    for family in families:
        found = [_curve(name, family, buckets, names, window) for name in family.curves]
        shown = tuple(curve for curve in found if curve.points or curve.gaps)
        if shown:
            charts.append(Chart(family, shown))
    return tuple(charts)


def _buckets(
    run: TrainingRun, names: Sequence[str], width: int, axis: Axis
) -> Iterator[dict[str, Any]]:
    """One row a bucket, in order: its ends, and n, mean, low and high of every metric."""
    return _steps(run, names, axis) if width == 1 else _stretches(run, names, width, axis)


def _steps(run: TrainingRun, names: Sequence[str], axis: Axis) -> Iterator[dict[str, Any]]:
    """A bucket a step: nothing to count up, so the rows are read as they are."""
    for step, x, values in run.metrics.order_by("step").values_list("step", axis, "values"):
        row: dict[str, Any] = {"first": step, "last": step, "x": x}
        for scope, metric in _ALWAYS.items():
            row[f"of_{scope}"] = int(metric in values)
        for place, name in enumerate(names):
            value = values.get(name)
            row[f"n{place}"] = int(value is not None)
            row[f"mean{place}"] = row[f"low{place}"] = row[f"high{place}"] = value
        yield row


_SUMMED: Final = """
    SELECT min(step) AS first, max(step) AS last, max(x) AS x, {parts}
    FROM (
        SELECT step, {axis} AS x, (step - 1) / %s AS bucket, {values}
        FROM {table} WHERE run_id = %s
        OFFSET 0
    ) AS each
    GROUP BY bucket ORDER BY bucket
"""
"""OFFSET 0 keeps the planner from taking each value out of its JSON four times over. The means add
up in the order of steps: floats added in another order, as the rows happen to lie, differ in their
last digit, and a point once drawn would move.
"""


def _stretches(
    run: TrainingRun, names: Sequence[str], width: int, axis: Axis
) -> Iterator[dict[str, Any]]:
    """A bucket a stretch of steps, counted up where the rows are."""
    numbers = [sql.SQL(str(place)) for place in range(len(names))]
    parts = [
        sql.SQL(
            "count(v{0}) AS n{0}, avg(v{0} ORDER BY step) AS mean{0}, min(v{0}) AS low{0}, max(v{0}) AS high{0}"
        ).format(number)
        for number in numbers
    ]
    parts += [sql.SQL("sum({0}) AS {0}").format(sql.Identifier(f"of_{s}")) for s in _ALWAYS]
    values = [sql.SQL("(values ->> %s)::float8 AS v{0}").format(number) for number in numbers]
    values += [
        sql.SQL("(values ? %s)::int AS {0}").format(sql.Identifier(f"of_{scope}"))
        for scope in _ALWAYS
    ]
    query = sql.SQL(_SUMMED).format(
        parts=sql.SQL(", ").join(parts),
        axis=sql.Identifier(axis),
        values=sql.SQL(", ").join(values),
        table=sql.Identifier(MetricRow._meta.db_table),
    )
    with connection.cursor() as cursor:
        cursor.execute(
            query.as_string(cursor.connection), [width, *names, *_ALWAYS.values(), run.pk]
        )
        heads = [column.name for column in cursor.description]
        yield from (dict(zip(heads, row, strict=True)) for row in cursor.fetchall())


def _curve(
    name: CurveName,
    family: Family,
    buckets: Sequence[dict[str, Any]],
    names: Sequence[str],
    window: int,
) -> Curve:
    places = [names.index(metric) for metric in name.metrics]
    used = next((p for p in places if any(row[f"n{p}"] for row in buckets)), places[-1])
    points: list[Point] = []
    gaps: list[Gap] = []
    behind = _Behind(window)
    for row in buckets:
        count = row[f"n{used}"]
        missing = row.get(f"of_{family.scope}", count) - count
        if missing > 0:
            gaps.append(Gap(row["first"], row["last"], float(row["x"]), missing))
        if not count:
            continue
        smooth = behind.smoothed(row["last"], count, row[f"mean{used}"])
        points.append(
            Point(
                row["last"],
                float(row["x"]),
                row[f"mean{used}"],
                row[f"low{used}"],
                row[f"high{used}"],
                smooth,
            )
        )
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
        self._sums.append(self._sums[-1] + count * mean)
        first = bisect_right(self._steps, step - self._window)
        first = min(first, max(len(self._steps) - SHORTEST_WINDOW, 0))
        return (self._sums[-1] - self._sums[first]) / (self._counts[-1] - self._counts[first])


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


def with_curves() -> QuerySet[TrainingRun]:
    """Runs that have logged something, newest first."""
    logged = MetricRow.objects.filter(run=OuterRef("pk"))
    return TrainingRun.objects.filter(Exists(logged)).order_by("-created_at", "-id")


PAPER_ORDER: Final = (Algorithm.GRPO, Algorithm.GDPO, Algorithm.GIGPO, Algorithm.DR_GRPO)
"""The rows of the paper's figure 3."""


def newest_of_each() -> list[TrainingRun]:
    """The newest run of each algorithm that learns by RL, and the newest control.

    One that broke off is taken only where there is no other.
    """
    rows = with_curves()
    learning = rows.exclude(recipe__learning_rate=0)
    wanted = [learning.filter(algorithm=algorithm) for algorithm in PAPER_ORDER]
    wanted.append(rows.exclude(algorithm=Algorithm.SFT).filter(recipe__learning_rate=0))
    broken = (JobState.FAILED, JobState.LOST)
    chosen = [some.exclude(state__in=broken).first() or some.first() for some in wanted]
    return [run for run in chosen if run is not None]


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
