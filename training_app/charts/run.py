"""The charts of one run."""

from collections.abc import Sequence
from typing import Any

from training_app.charts.looks import look_of
from training_app.charts.parts import (
    DASHES,
    Mark,
    end_names,
    gap_marks,
    last_words,
    layout_of,
    sentence,
    traces_of,
    triangle,
    upright,
)
from training_app.models import TrainingRun
from training_app.queries.curves import Axis, Chart


def run_figure(
    run: TrainingRun,
    chart: Chart,
    *,
    axis: Axis,
    smooth: bool,
    marks: Sequence[Mark] = (),
    epochs: Sequence[float] = (),
    end: float | None = None,
    note: str = "",
    since: int = 0,
) -> dict[str, Any]:
    """One chart of a run.

    Args:
        run: Whose.
        chart: Its lines.
        axis: What x is.
        smooth: Draw the mean over a window, the values themselves faint behind it.
        marks: Checkpoints.
        epochs: Where an epoch ends.
        end: Where the axis ends; None lets it end with the data.
        note: A sentence under the chart.
        since: Give the points from this step on alone; all that stands around them is whole.
    """
    family = chart.family
    many = len(chart.curves) > 1
    data = [
        trace
        for place, curve in enumerate(chart.curves)
        for trace in traces_of(
            curve,
            look_of(run)._replace(dash=DASHES[place % len(DASHES)]) if many else look_of(run),
            family.form,
            smooth=smooth and family.scope != "measure",
            dots=family.scope == "measure",
            label=curve.label if many else "",
            since=since,
        )
    ]
    flat = not any(point.high for curve in chart.curves for point in curve.points)
    layout = layout_of(axis, family.form, end=end, flat=flat)
    shapes, annotations = gap_marks(chart.curves)
    shapes += [upright(x, "--line-2", "2px,3px") for x in epochs]
    annotations += [triangle(mark) for mark in marks]
    if many:
        annotations += end_names(chart.curves)
        layout["margin"]["r"] = 62
    return {
        "id": family.id,
        "title": family.title,
        "what": family.what,
        "last": last_words(chart, smooth=smooth and family.scope != "measure"),
        "words": sentence(chart, axis),
        "note": note,
        "data": data,
        "layout": {**layout, "shapes": shapes, "annotations": annotations},
    }
