"""Several runs: laid over, and beside each other as in the paper's figure 3."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from training_app.charts.looks import look_of, loss_note, name_of, recipe_of, value_words
from training_app.charts.parts import (
    DASHES,
    end_names,
    end_of,
    gap_marks,
    layout_of,
    sentence,
    six_digits,
    traces_of,
)
from training_app.enums import Algorithm
from training_app.models import TrainingRun
from training_app.queries.curve_families import PAPER
from training_app.queries.curves import Axis, Chart, Curve, is_control


class Drawn(NamedTuple):
    """A run and its charts."""

    run: TrainingRun
    charts: tuple[Chart, ...]

    def curve(self, family: str) -> Curve | None:
        """Its one line of a family."""
        for chart in self.charts:
            if chart.family.id == family and chart.curves:
                return chart.curves[0]
        return None


class Cell(NamedTuple):
    """One cell of the paper's grid."""

    row: Algorithm
    column: str
    figure: dict[str, Any]


def overlay_figure(
    runs: Sequence[Drawn], family_id: str, *, axis: Axis, smooth: bool
) -> dict[str, Any]:
    """One line a run, each with its name at its end."""
    drawn = [(one.run, curve) for one in runs if (curve := one.curve(family_id)) is not None]
    chart = next(c for one in runs for c in one.charts if c.family.id == family_id)
    named = [
        Curve(
            run.code,
            f"{name_of(run)} {value_words(end_of(curve, smooth=smooth), chart.family.form)}",
            tuple(p._replace(mean=p.smooth) for p in curve.points) if smooth else curve.points,
        )
        for run, curve in drawn
    ]
    data: list[dict[str, Any]] = []
    seen: dict[str, int] = {}
    for (run, _), curve in zip(drawn, named, strict=True):
        again = seen[look_of(run).css] = seen.get(look_of(run).css, -1) + 1
        look = look_of(run)
        if again:  # two runs of one algorithm: same hue, another dash
            look = look._replace(dash=DASHES[again % len(DASHES)])
        traces = traces_of(curve, look, chart.family.form, smooth=False, label=run.code)
        data += traces[-1:]
    layout = layout_of(
        axis, chart.family.form, end=max((c.points[-1].x for c in named if c.points), default=None)
    )
    layout["margin"]["r"] = 96
    return {
        "id": "overlay",
        "title": f"{chart.family.title}, laid over",
        "what": chart.family.what,
        "last": "",
        "words": sentence(Chart(chart.family, tuple(named)), axis),
        "note": "",
        "data": data,
        "layout": {**layout, "annotations": end_names(named), "shapes": []},
    }


def paper_cells(
    runs: Sequence[Drawn], *, axis: Axis = "samples", smooth: bool = True
) -> list[Cell]:
    """The paper's figure 3: a row an algorithm; reward, policy loss and response length.

    Rewards share one scale, and so do lengths, so that rows can be compared by eye. A loss means
    something else under each algorithm and has a scale of its own. The control, which learns
    nothing, stands grey behind every reward and every length.
    """
    controls = [one for one in runs if is_control(one.run)]
    learning = [one for one in runs if not is_control(one.run)]
    rows = [
        (algorithm, [one for one in learning if one.run.algorithm == algorithm])
        for algorithm in (Algorithm.GRPO, Algorithm.GDPO, Algorithm.GIGPO, Algorithm.DR_GRPO)
    ]
    end = max((p.x for one in runs for c in one.charts for k in c.curves for p in k.points),
              default=None)  # fmt: skip
    cells = []
    for algorithm, own in rows:
        if not own:
            continue
        for family in PAPER:
            shared = family.id != "loss"
            drawn = [*(controls if shared else ()), *own]
            cells.append(
                Cell(
                    algorithm,
                    family.id,
                    _cell(
                        f"{algorithm.value}-{family.id}",
                        family.id,
                        drawn,
                        axis=axis,
                        smooth=smooth,
                        end=end,
                        span=_span(runs, family.id, smooth=smooth) if shared else None,
                    ),
                )
            )
    return cells


def _cell(
    id_: str,
    family_id: str,
    drawn: Sequence[Drawn],
    *,
    axis: Axis,
    smooth: bool,
    end: float | None,
    span: tuple[float, float] | None,
) -> dict[str, Any]:
    family = next(f for f in PAPER if f.id == family_id)
    data: list[dict[str, Any]] = []
    curves: list[Curve] = []
    note = ""
    last = ""
    for one in drawn:
        curve = one.curve(family_id)
        if curve is None:
            continue
        control = is_control(one.run)
        name = f"{name_of(one.run)} {one.run.code}"
        traces = traces_of(curve, look_of(one.run), family.form, smooth=smooth, label=name)
        if control:
            traces = [_grey(traces[-1])]
        for trace in traces:
            trace["uid"] = f"{one.run.code}-{trace['uid']}"
        data += traces
        curves.append(Curve(curve.id, name, curve.points, () if control else curve.gaps))
        if not control:
            last = value_words(end_of(curve, smooth=smooth), family.form)
            if family_id == "loss":
                note = loss_note(one.run, recipe_of(one.run))
    layout = layout_of(axis, family.form, end=end)
    if span is not None:
        layout["yaxis"]["range"] = [six_digits(span[0]), six_digits(span[1])]
    shapes, annotations = gap_marks(curves)
    return {
        "id": id_,
        "title": f"{drawn[-1].run.get_algorithm_display()} {family.title.lower()}",
        "what": family.what,
        "last": last,
        "words": sentence(Chart(family, tuple(curves)), axis),
        "note": note,
        "data": data,
        "layout": {**layout, "shapes": shapes, "annotations": annotations},
    }


def _grey(trace: dict[str, Any]) -> dict[str, Any]:
    return {**trace, "line": {**trace["line"], "color": "--s-base", "width": 1.25}}


def _span(runs: Sequence[Drawn], family_id: str, *, smooth: bool) -> tuple[float, float] | None:
    """One scale for a column, with a little room."""
    curves = [curve for one in runs if (curve := one.curve(family_id)) is not None]
    values = [v for curve in curves for p in curve.points for v in (p.low, p.high)]
    if smooth and values:
        values += [p.smooth for curve in curves for p in curve.points]
    if not values:
        return None
    low, high = min(values), max(values)
    room = (high - low) * 0.06 or max(abs(high) * 0.06, 0.01)
    return low - room, high + room
