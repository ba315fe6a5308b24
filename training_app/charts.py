"""Figures of runs as Plotly reads them: plain values, so that a page need not import Plotly.

Colours are names of our tokens (``--s-grpo``, with a share ``--s-grpo 13%``): the page puts in what
they are in its theme. Beside ``data`` and ``layout`` a figure carries what stands around it: title,
unit, last value, a sentence for those who do not see it, notes.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from studio.web.words import NONE, duration, number, percent, score
from training_app.core.recipe import Recipe, RecipeError, load_recipe
from training_app.enums import Algorithm
from training_app.models import TrainingRun
from training_app.queries.curves import (
    MARKS,
    PAPER,
    Axis,
    Chart,
    Curve,
    Form,
    Point,
    is_control,
)


class Look(NamedTuple):
    """Hue, dash and weight of a series: the same in every chart, table and legend."""

    css: str
    """The class of the legend's stroke."""
    token: str
    dash: str
    width: float


LOOKS: Final = {
    Algorithm.GRPO: Look("grpo", "--s-grpo", "solid", 1.75),
    Algorithm.GDPO: Look("gdpo", "--s-gdpo", "7px,2px", 1.75),
    Algorithm.GIGPO: Look("gigpo", "--s-gigpo", "solid", 2.5),
    Algorithm.DR_GRPO: Look("drgrpo", "--s-drgrpo", "2px,2px", 1.75),
    Algorithm.SFT: Look("sft", "--ink", "solid", 1.75),
}
CONTROL: Final = Look("basel", "--s-base", "solid", 1.75)
_OTHERS: Final = ("solid", "6px,3px", "2px,2px", "8px,2px,2px,2px")
"""Dashes of further lines in one chart; each has its name at its end too."""
AXIS_WORDS: Final[dict[Axis, str]] = {
    "samples": "processed training samples",
    "step": "optimizer steps",
    "seconds": "seconds",
}
_FONT: Final = {
    "family": "ui-sans-serif, -apple-system, Segoe UI, Helvetica Neue, Liberation Sans, Arial",
    "size": 11,
    "color": "--ink-3",
}
_TICKS: Final[dict[Form, str]] = {
    "score": ".2~f",
    "share": ".0%",
    "tokens": ",.0f",
    "seconds": "~r",
    "plain": "~g",
}
_HOVER: Final[dict[Form, str]] = {
    "score": ".3f",
    "share": ".1%",
    "tokens": ",.1f",
    "seconds": ".2f",
    "plain": ".4~g",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A checkpoint on the axis."""

    x: float
    step: int
    code: str


def look_of(run: TrainingRun) -> Look:
    """How a run is drawn."""
    return CONTROL if is_control(run) else LOOKS[Algorithm(run.algorithm)]


def name_of(run: TrainingRun) -> str:
    """What its lines are called."""
    return "Control" if is_control(run) else Algorithm(run.algorithm).label


def recipe_of(run: TrainingRun) -> Recipe | None:
    """The recipe as a value; None for one of another format."""
    try:
        return load_recipe(run.recipe)
    except RecipeError:
        return None


def loss_note(run: TrainingRun, recipe: Recipe | None) -> str:
    """Why the curve of the policy loss says little, where it does."""
    if recipe is None:
        return ""
    if recipe.flat_loss:
        return recipe.flat_loss
    if is_control(run):
        return "Learning rate 0: nothing is learnt, the loss only shows how batches are cut."
    return ""


def value_words(value: float | None, form: Form) -> str:
    """A value as people read it in that form."""
    if value is None:
        return NONE
    if form == "share":
        return percent(value)
    if form == "score":
        return score(value)
    if form == "tokens":
        return number(round(value))
    if form == "seconds":
        return duration(value)
    return _short(value)


def _short(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.2e}" if abs(value) < 1e-3 or abs(value) >= 1e5 else f"{value:#.3g}"


# --- one run -------------------------------------------------------------------------------------


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
    """
    family = chart.family
    many = len(chart.curves) > 1
    data = [
        trace
        for place, curve in enumerate(chart.curves)
        for trace in _lines(
            curve,
            look_of(run)._replace(dash=_OTHERS[place % len(_OTHERS)]) if many else look_of(run),
            family.form,
            smooth=smooth and family.scope != "measure",
            dots=family.scope == "measure",
            label=curve.label if many else "",
        )
    ]
    layout = _layout(axis, family.form, end=end)
    shapes, annotations = _gaps(chart.curves)
    shapes += [_line(x, "--line-2", "2px,3px") for x in epochs]
    annotations += [_triangle(mark) for mark in marks]
    if many:
        annotations += _ends(chart.curves)
        layout["margin"]["r"] = 62
    return {
        "id": family.id,
        "title": family.title,
        "what": family.what,
        "last": _last_words(chart, smooth=smooth and family.scope != "measure"),
        "words": _sentence(chart, axis),
        "note": note,
        "data": data,
        "layout": {**layout, "shapes": shapes, "annotations": annotations},
    }


def later(figure: dict[str, Any], step: int) -> dict[str, Any]:
    """The figure with the points from a step on alone; all that stands around them is whole."""
    data = []
    for trace in figure["data"]:
        first = bisect_left(trace["customdata"], step)
        columns = {part: trace[part][first:] for part in ("x", "y", "customdata")}
        data.append({**trace, **columns})
    return {**figure, "data": data}


def _lines(
    curve: Curve, look: Look, form: Form, *, smooth: bool, dots: bool = False, label: str = ""
) -> list[dict[str, Any]]:
    """Band, values and, where it is wanted, the mean over a window, as traces."""
    points = curve.points
    if not points:
        return []
    x = [_number(point.x) for point in points]
    steps = [point.step for point in points]
    spread = any(point.low != point.high for point in points)
    name = label or curve.label
    found: list[dict[str, Any]] = []
    if spread:
        edge = {
            "type": "scatter",
            "mode": "lines",
            "x": x,
            "customdata": steps,
            "line": {"width": 0, "color": look.token},
            "hoverinfo": "skip",
            "showlegend": False,
        }
        found += [
            {**edge, "uid": f"{curve.id}-low", "y": _column(points, "low")},
            {
                **edge,
                "uid": f"{curve.id}-high",
                "y": _column(points, "high"),
                "fill": "tonexty",
                "fillcolor": f"{look.token} 13%",
            },
        ]
    line = {"color": look.token, "dash": look.dash, "width": look.width, "shape": "linear"}
    hover = f"%{{y:{_HOVER[form]}}}<extra>{name}</extra>"
    raw: dict[str, Any] = {
        "type": "scatter",
        "mode": "lines+markers" if dots or len(points) == 1 else "lines",
        "uid": f"{curve.id}-raw",
        "name": name,
        "x": x,
        "y": _column(points, "mean"),
        "customdata": steps,
        "marker": {"size": 6, "color": look.token},
        "line": line,
        "hovertemplate": hover,
        "showlegend": False,
    }
    if not smooth or len(points) == 1:
        return [*found, raw]
    raw["line"] = {"color": f"{look.token} 34%", "width": 1, "dash": "solid"}
    return [
        *found,
        raw,
        {
            **raw,
            "uid": f"{curve.id}-smooth",
            "name": f"{name}, smoothed",
            "y": _column(points, "smooth"),
            "line": line,
            "hovertemplate": f"%{{y:{_HOVER[form]}}} smoothed<extra></extra>",
        },
    ]


def _column(points: Iterable[Point], part: str) -> list[float]:
    return [_number(getattr(point, part)) for point in points]


def _number(value: float) -> float:
    """Six digits: more than a screen shows, and half the bytes."""
    return float(f"{value:.6g}")


def _layout(axis: Axis, form: Form, *, end: float | None = None) -> dict[str, Any]:
    x_axis: dict[str, Any] = {
        "showgrid": False,
        "zeroline": False,
        "showline": True,
        "linecolor": "--line-2",
        "ticks": "",
        "nticks": 5,
        "tickformat": ",.0f" if axis != "seconds" else "~s",
        "automargin": False,
        "fixedrange": False,
        "rangemode": "tozero",
    }
    if end:
        x_axis["range"] = [0, _number(end)]
    y_axis: dict[str, Any] = {
        "gridcolor": "--line",
        "zeroline": False,
        "nticks": 4,
        "tickformat": _TICKS[form],
        "fixedrange": False,
        "automargin": False,
    }
    if form in ("share", "seconds"):
        y_axis["rangemode"] = "tozero"
    return {
        "margin": {"l": 42, "r": 10, "t": 8, "b": 20, "pad": 0},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": dict(_FONT),
        "showlegend": False,
        "hovermode": "x",
        "dragmode": "zoom",
        "uirevision": axis,
        "hoverlabel": {
            "bgcolor": "--sheet",
            "bordercolor": "--line-2",
            "font": {**_FONT, "color": "--ink"},
        },
        "xaxis": x_axis,
        "yaxis": y_axis,
    }


def _line(x: float, token: str, dash: str) -> dict[str, Any]:
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": _number(x),
        "x1": _number(x),
        "y0": 0,
        "y1": 1,
        "line": {"color": token, "width": 1, "dash": dash},
    }


def _triangle(mark: Mark) -> dict[str, Any]:
    return {
        "xref": "x",
        "yref": "paper",
        "x": _number(mark.x),
        "y": 0,
        "yanchor": "bottom",
        "text": "▼",
        "font": {"size": 8, "color": "--ink-2"},
        "showarrow": False,
        "borderpad": 0,
        "hovertext": f"{mark.code} at step {mark.step:,}",
        "captureevents": True,
    }


def _gaps(curves: Iterable[Curve]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A red line where steps logged no finite number, and the words beside the first of them."""
    gaps = [gap for curve in curves for gap in curve.gaps]
    shapes = [_line(gap.x, "--bad", "3px,2px") for gap in gaps[:MARKS]]
    if not gaps:
        return shapes, []
    words = gap_words(curves)
    return shapes, [
        {
            "xref": "x",
            "yref": "paper",
            "x": _number(gaps[0].x),
            "y": 1,
            "xanchor": "auto",
            "yanchor": "top",
            "text": f"■ {words}",
            "font": {"size": 11, "color": "--bad"},
            "showarrow": False,
            "bgcolor": "--paper",
        }
    ]


def gap_words(curves: Iterable[Curve]) -> str:
    """ "NaN at step 36", "NaN at steps 36–40 and 3 more places"; empty where all is finite."""
    gaps = [gap for curve in curves for gap in curve.gaps]
    if not gaps:
        return ""
    first = gaps[0]
    where = (
        f"step {first.first:,}"
        if first.first == first.last
        else f"steps {first.first:,}–{first.last:,}"
    )
    more = len(gaps) - 1
    return f"NaN at {where}" + (f" and {more} more place{'s' * (more > 1)}" if more else "")


def _ends(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Each line's name at its end; names that would meet are moved apart, in the order of ends."""
    drawn = sorted((c for c in curves if c.points), key=lambda c: c.points[-1].mean)
    if not drawn:
        return []
    values = [point.mean for curve in drawn for point in curve.points]
    step = max(max(values) - min(values), 1e-9) * 0.1
    reach = max(curve.points[-1].x for curve in drawn) * 0.25
    found: list[dict[str, Any]] = []
    for curve in drawn:
        end = curve.points[-1]
        near = [other["y"] for other in found if abs(other["x"] - end.x) < reach]
        y = max([end.mean, *(other + step for other in near)])
        found.append(
            {
                "xref": "x",
                "x": _number(end.x),
                "xanchor": "left",
                "xshift": 3,
                "yref": "y",
                "y": _number(y),
                "text": curve.label,
                "font": {"size": 11, "color": "--ink-2"},
                "bgcolor": "--paper",
                "borderpad": 1,
                "showarrow": False,
            }
        )
    return found


def _last_words(chart: Chart, *, smooth: bool) -> str:
    """The value at the end of the line; several lines have their names there."""
    if len(chart.curves) > 1:
        return ""
    return value_words(_end(chart.curves[0], smooth=smooth), chart.family.form)


def _end(curve: Curve, *, smooth: bool) -> float | None:
    if not curve.points:
        return None
    return curve.points[-1].smooth if smooth else curve.points[-1].mean


def _sentence(chart: Chart, axis: Axis) -> str:
    """What the chart shows, for those who do not see it."""
    form = chart.family.form
    parts = []
    for curve in chart.curves:
        name = f"{curve.label}: " if len(chart.curves) > 1 else ""
        if not curve.points:
            parts.append(f"{name}no finite value yet")
            continue
        first, last = curve.points[0], curve.points[-1]
        low = min(point.low for point in curve.points)
        high = max(point.high for point in curve.points)
        parts.append(
            f"{name}from {value_words(first.mean, form)} to {value_words(last.mean, form)} "
            f"at step {last.step:,}, between {value_words(low, form)} and "
            f"{value_words(high, form)}"
        )
    gaps = gap_words(chart.curves)
    said = f"{chart.family.title} over {AXIS_WORDS[axis]}: {'; '.join(parts)}."
    return f"{said} {gaps}." if gaps else said


# --- several runs --------------------------------------------------------------------------------


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
            f"{name_of(run)} {value_words(_end(curve, smooth=smooth), chart.family.form)}",
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
            look = look._replace(dash=_OTHERS[again % len(_OTHERS)])
        traces = _lines(curve, look, chart.family.form, smooth=False, label=run.code)
        data += traces[-1:]
    layout = _layout(
        axis, chart.family.form, end=max((c.points[-1].x for c in named if c.points), default=None)
    )
    layout["margin"]["r"] = 96
    return {
        "id": "overlay",
        "title": f"{chart.family.title}, laid over",
        "what": chart.family.what,
        "last": "",
        "words": _sentence(Chart(chart.family, tuple(named)), axis),
        "note": "",
        "data": data,
        "layout": {**layout, "annotations": _ends(named), "shapes": []},
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
        traces = _lines(curve, look_of(one.run), family.form, smooth=smooth, label=name)
        if control:
            traces = [_grey(traces[-1])]
        for trace in traces:
            trace["uid"] = f"{one.run.code}-{trace['uid']}"
        data += traces
        curves.append(Curve(curve.id, name, curve.points, () if control else curve.gaps))
        if not control:
            last = value_words(_end(curve, smooth=smooth), family.form)
            if family_id == "loss":
                note = loss_note(one.run, recipe_of(one.run))
    layout = _layout(axis, family.form, end=end)
    if span is not None:
        layout["yaxis"]["range"] = [_number(span[0]), _number(span[1])]
    shapes, annotations = _gaps(curves)
    return {
        "id": id_,
        "title": f"{drawn[-1].run.get_algorithm_display()} {family.title.lower()}",
        "what": family.what,
        "last": last,
        "words": _sentence(Chart(family, tuple(curves)), axis),
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


GRID_WIDTH: Final = 1180
GRID_ROW: Final = 150


def paper_sheet(cells: Sequence[Cell], *, axis: Axis = "samples") -> dict[str, Any]:
    """The whole grid as one figure, for a file: the cells keep their scales."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    data: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        **_layout(axis, "score"),
        "width": GRID_WIDTH,
        "height": 90 + GRID_ROW * len(rows),
        "margin": {"l": 96, "r": 20, "t": 50, "b": 40, "pad": 0},
        "paper_bgcolor": "--sheet",
        "plot_bgcolor": "--sheet",
    }
    del layout["xaxis"], layout["yaxis"]
    wide, high = 1 / 3, 1 / max(len(rows), 1)
    for number_, cell in enumerate(cells, 1):
        across = [family.id for family in PAPER].index(cell.column)
        down = rows.index(cell.row)
        left, top = across * wide, 1 - down * high
        box = {
            "x": [left + (0.045 if across else 0), left + wide - 0.01],
            "y": [top - high * 0.8, top],
        }
        tail = "" if number_ == 1 else str(number_)
        figure = cell.figure
        layout[f"xaxis{tail}"] = {
            **figure["layout"]["xaxis"], "domain": box["x"], "anchor": f"y{tail}",
        }  # fmt: skip
        layout[f"yaxis{tail}"] = {
            **figure["layout"]["yaxis"], "domain": box["y"], "anchor": f"x{tail}",
        }  # fmt: skip
        data += [{**t, "xaxis": f"x{tail}", "yaxis": f"y{tail}"} for t in figure["data"]]
        shapes += [
            {**shape, "xref": f"x{tail}", "yref": f"y{tail} domain"}
            for shape in figure["layout"]["shapes"]
        ]
        annotations += [
            {**text, "xref": f"x{tail}", "yref": f"y{tail} domain"}
            for text in figure["layout"]["annotations"]
        ]
        if figure["note"]:
            annotations.append(
                _words_at(box["x"][0], box["y"][0], figure["note"], size=9, shift=4, lift=14)
            )
        if not across:
            annotations.append(
                _words_at(0, top, cell.row.label, bold=True, hue=LOOKS[cell.row].token, shift=-88)
            )
        if not down:
            family = PAPER[across]
            annotations.append(
                _words_at(box["x"][0], 1, f"{family.title}, {family.what}", bold=True, lift=22)
            )
    annotations.append(
        _words_at(0, 0, f"x: cumulative {AXIS_WORDS[axis]}. Grey: the control, learning rate 0.",
                  lift=-14)
    )  # fmt: skip
    return {"data": data, "layout": {**layout, "shapes": shapes, "annotations": annotations}}


def _words_at(
    x: float,
    y: float,
    text: str,
    *,
    bold: bool = False,
    hue: str = "--ink-2",
    size: int = 11,
    shift: int = 0,
    lift: int = 0,
) -> dict[str, Any]:
    return {
        "xref": "paper",
        "yref": "paper",
        "x": x,
        "y": y,
        "xanchor": "left",
        "yanchor": "top",
        "xshift": shift,
        "yshift": lift,
        "text": text,
        # by weight: a tag in the text would become an inline style, which our policy forbids
        "font": {"size": size, "color": hue, "weight": 600 if bold else 400},
        "showarrow": False,
        "align": "left",
    }
