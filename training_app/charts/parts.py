"""What figures are put together from: traces, axes, marks, names at the ends, a sentence."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from training_app.charts.looks import AXIS_WORDS, Look, value_words
from training_app.queries.curve_families import Form
from training_app.queries.curves import MARKS, Axis, Chart, Curve, Point

DASHES: Final = ("solid", "6px,3px", "2px,2px", "8px,2px,2px,2px")
"""Dashes of further lines in one chart; each has its name at its end too."""
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


def traces_of(
    curve: Curve,
    look: Look,
    form: Form,
    *,
    smooth: bool,
    dots: bool = False,
    label: str = "",
    since: int = 0,
) -> list[dict[str, Any]]:
    """Band, values and, where it is wanted, the mean over a window, as traces.

    Args:
        curve: The line.
        look: How it is drawn.
        form: What its values are.
        smooth: Draw the mean over a window, the values faint behind it.
        dots: Draw a dot at every value.
        label: What it is called, where that is not the line's own name.
        since: A reader has the points before this step: only later ones are given.
    """
    if not curve.points:
        return []
    points = curve.points[bisect_left(curve.points, since, key=lambda point: point.step) :]
    x = [six_digits(point.x) for point in points]
    steps = [point.step for point in points]
    spread = any(point.low != point.high for point in curve.points)
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
        "mode": "lines+markers" if dots or len(curve.points) == 1 else "lines",
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
    if not smooth or len(curve.points) == 1:
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
    return [six_digits(getattr(point, part)) for point in points]


def six_digits(value: float) -> float:
    """Six digits: more than a screen shows, and half the bytes."""
    return float(f"{value:.6g}")


def layout_of(
    axis: Axis, form: Form, *, end: float | None = None, flat: bool = False
) -> dict[str, Any]:
    """Axes, margins and colours of a chart.

    Args:
        axis: What x is.
        form: How values of y are written.
        end: Where x ends; None lets it end with the data.
        flat: Nothing but 0 was measured. A share then gets its whole scale: the little scale that
            Plotly would make up reads 0 % at every mark.
    """
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
        x_axis["range"] = [0, six_digits(end)]
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
    if flat and form == "share":
        y_axis["range"] = [0, 1]
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


def upright(x: float, token: str, dash: str) -> dict[str, Any]:
    """A line from the bottom to the top."""
    return {
        "type": "line",
        "xref": "x",
        "yref": "paper",
        "x0": six_digits(x),
        "x1": six_digits(x),
        "y0": 0,
        "y1": 1,
        "line": {"color": token, "width": 1, "dash": dash},
    }


def triangle(mark: Mark) -> dict[str, Any]:
    """A checkpoint at the bottom of a chart."""
    return {
        "xref": "x",
        "yref": "paper",
        "x": six_digits(mark.x),
        "y": 0,
        "yanchor": "bottom",
        "text": "▼",
        "font": {"size": 8, "color": "--ink-2"},
        "showarrow": False,
        "borderpad": 0,
        "hovertext": f"{mark.code} at step {mark.step:,}",
        "captureevents": True,
    }


def gap_marks(curves: Iterable[Curve]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A red line where steps logged no finite number, and the words beside the first of them."""
    gaps = [gap for curve in curves for gap in curve.gaps]
    shapes = [upright(gap.x, "--bad", "3px,2px") for gap in gaps[:MARKS]]
    if not gaps:
        return shapes, []
    words = gap_words(curves)
    return shapes, [
        {
            "xref": "x",
            "yref": "paper",
            "x": six_digits(gaps[0].x),
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


def end_names(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    """Each line's name at its end, above the axis; those that would meet move apart, in order."""
    drawn = sorted((c for c in curves if c.points), key=lambda c: c.points[-1].mean)
    if not drawn:
        return []
    values = [point.mean for curve in drawn for point in curve.points]
    step = (max(values) - min(values) or 1) * 0.1
    reach = max(curve.points[-1].x for curve in drawn) * 0.25
    found: list[dict[str, Any]] = []
    for curve in drawn:
        end = curve.points[-1]
        near = [other["y"] for other in found if abs(other["x"] - end.x) < reach]
        y = max([end.mean, min(values) + step / 2, *(other + step for other in near)])
        found.append(
            {
                "xref": "x",
                "x": six_digits(end.x),
                "xanchor": "left",
                "xshift": 3,
                "yref": "y",
                "y": six_digits(y),
                "text": curve.label,
                "font": {"size": 11, "color": "--ink-2"},
                "bgcolor": "--paper",
                "borderpad": 1,
                "showarrow": False,
            }
        )
    return found


def last_words(chart: Chart, *, smooth: bool) -> str:
    """The value at the end of the line; several lines have their names there."""
    if len(chart.curves) > 1:
        return ""
    return value_words(end_of(chart.curves[0], smooth=smooth), chart.family.form)


def end_of(curve: Curve, *, smooth: bool) -> float | None:
    """The value at the end of a line; None of an empty one."""
    if not curve.points:
        return None
    return curve.points[-1].smooth if smooth else curve.points[-1].mean


def sentence(chart: Chart, axis: Axis) -> str:
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
