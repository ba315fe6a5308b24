"""Steps of a run counted up by stretches: what a curve of a long run is drawn from.

A bucket is a fixed stretch of steps, by the planned length of the run. Those that are over are kept
as rows (operations/buckets.py), so that a reader who follows a run counts up the last one alone.
"""

import math
import struct
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from django.db import connection
from psycopg import sql

from studio.lib.hashing import content_hash
from training_app.models import MetricBucket, MetricRow, TrainingRun
from training_app.queries.curve_families import ALWAYS, Scope, families_of, names_of

MOST_POINTS: Final = 1000
"""Points of a series: more than a screen is wide."""
_LAYOUT_LENGTH: Final = 12


class Cell(NamedTuple):
    """One metric over a stretch."""

    steps: int
    """How many logged it; at least one."""
    mean: float
    low: float
    high: float


class Bucket(NamedTuple):
    """A stretch of steps; where the run is short, one step."""

    number: int
    """From 0."""
    first: int
    """The first step that was logged."""
    last: int
    samples: int
    seconds: float
    scopes: tuple[int, ...]
    """Steps that logged what a scope always logs, in the order of ``ALWAYS``."""
    values: tuple[float | None, ...]
    """Count, mean, least and greatest of every metric, in the order of the names that were asked
    for; flat, because a run has tens of thousands of them."""

    def cell(self, place: int) -> Cell | None:
        """One metric; None where no step logged it."""
        count, mean, low, high = self.values[4 * place : 4 * place + 4]
        if not count or mean is None or low is None or high is None:
            return None
        return Cell(int(count), mean, low, high)

    def missing(self, scope: Scope, count: int) -> int:
        """Steps of a scope beyond those that logged a metric."""
        return self.scopes[_SCOPES.index(scope)] - count if scope in ALWAYS else 0


_SCOPES: Final = tuple(ALWAYS)


def bucket_width(run: TrainingRun, last_step: int) -> int:
    """Steps a point stands for."""
    return max(1, math.ceil(max(run.steps, last_step) / MOST_POINTS))


def names_kept(run: TrainingRun) -> tuple[str, ...]:
    """The metrics that are kept of a run, in the order in which they are packed."""
    return names_of(families_of(run.algorithm))


def layout_of(names: Sequence[str]) -> str:
    """Tells whether kept figures are of these metrics; another list is counted up anew."""
    return content_hash([*ALWAYS.values(), *names])[:_LAYOUT_LENGTH]


def buckets_of(run: TrainingRun, names: Sequence[str], last_step: int) -> Iterator[Bucket]:
    """All buckets of a run in order.

    Args:
        run: Whose.
        names: The metrics that are looked at.
        last_step: The last step that was read in.
    """
    width = bucket_width(run, last_step)
    if width == 1:
        yield from _steps(run, names)
        return
    # The last stretch may still grow: it is never taken from what is kept.
    rows = MetricBucket.objects.filter(
        run=run, width=width, layout=layout_of(names), number__lt=(last_step - 1) // width
    )
    next_number = 0
    for row in rows.order_by("number"):
        next_number = row.number + 1
        yield _unpacked(row, len(names))
    yield from stretches(run, names, width, first=next_number)


def _steps(run: TrainingRun, names: Sequence[str]) -> Iterator[Bucket]:
    """A bucket a step: nothing to count up, so the rows are read as they are."""
    rows = run.metrics.order_by("step").values_list("step", "samples", "seconds", "values")
    for step, samples, seconds, values in rows:
        found: list[float | None] = []
        for name in names:
            value = values.get(name)
            found += (int(value is not None), value, value, value)
        scopes = tuple(int(metric in values) for metric in ALWAYS.values())
        yield Bucket(step, step, step, samples, seconds, scopes, tuple(found))


_SUMMED: Final = """
    SELECT bucket, min(step), max(step), max(samples), max(seconds), {parts}
    FROM (
        SELECT step, samples, seconds, (step - 1) / %s AS bucket, {values}
        FROM {table} WHERE run_id = %s AND step > %s AND step <= %s
        OFFSET 0
    ) AS each
    GROUP BY bucket ORDER BY bucket
"""
"""OFFSET 0 keeps the planner from taking each value out of its JSON four times over. Sums add up in
the order of steps: floats added in another order, as the rows happen to lie, differ in their last
digit, and a point once drawn would move.
"""
_MEAN: Final = "sum(v{0} * 2^(-64) ORDER BY step) / count(v{0}) * 2^64"
"""A power of two changes no digit, and the sum of the largest floats stays one."""
_LAST: Final = 2**31 - 1


def stretches(
    run: TrainingRun, names: Sequence[str], width: int, *, first: int = 0, end: int | None = None
) -> Iterator[Bucket]:
    """Stretches counted up where the rows are, from one number on, up to another one."""
    numbers = [sql.SQL(str(place)) for place in range(len(names))]
    parts = [sql.SQL("sum({})").format(sql.Identifier(f"of_{scope}")) for scope in ALWAYS]
    for number in numbers:
        parts += [
            sql.SQL(part).format(number) for part in ("count(v{})", _MEAN, "min(v{})", "max(v{})")
        ]
    values = [sql.SQL("(values ? %s)::int AS {}").format(sql.Identifier(f"of_{s}")) for s in ALWAYS]
    values += [sql.SQL("(values ->> %s)::float8 AS v{}").format(number) for number in numbers]
    query = sql.SQL(_SUMMED).format(
        parts=sql.SQL(", ").join(parts),
        values=sql.SQL(", ").join(values),
        table=sql.Identifier(MetricRow._meta.db_table),
    )
    after = first * width if first else -1  # a run may log a step 0
    until = _LAST if end is None else end * width
    with connection.cursor() as cursor:
        cursor.execute(
            query.as_string(cursor.connection),
            [width, *ALWAYS.values(), *names, run.pk, after, until],
        )
        yield from map(_counted, cursor.fetchall())


def _counted(row: Sequence[Any]) -> Bucket:
    number, first, last, samples, seconds, *rest = row
    return Bucket(
        number, first, last, samples, seconds,
        tuple(rest[: len(ALWAYS)]), tuple(rest[len(ALWAYS) :]),
    )  # fmt: skip


def packed(bucket: Bucket) -> bytes:
    """The counts and cells of a bucket as doubles, which come back as they were."""
    parts = [*bucket.scopes, *(part or 0.0 for part in bucket.values)]
    return struct.pack(f"<{len(parts)}d", *parts)


def _unpacked(row: MetricBucket, names: int) -> Bucket:
    values = struct.unpack(f"<{len(ALWAYS) + 4 * names}d", row.figures)
    return Bucket(
        row.number, row.first, row.last, row.samples, row.seconds,
        tuple(map(int, values[: len(ALWAYS)])), values[len(ALWAYS) :],
    )  # fmt: skip
