"""The whole grid as one figure, for a file."""

from collections.abc import Sequence
from typing import Any, Final

from training_app.charts.grid import Cell
from training_app.charts.looks import AXIS_WORDS, LOOKS
from training_app.charts.parts import layout_of
from training_app.queries.curve_families import PAPER
from training_app.queries.curves import Axis

GRID_WIDTH: Final = 1180
GRID_ROW: Final = 150


def paper_sheet(cells: Sequence[Cell], *, axis: Axis = "samples") -> dict[str, Any]:
    """The whole grid as one figure, for a file: the cells keep their scales."""
    rows = list(dict.fromkeys(cell.row for cell in cells))
    data: list[dict[str, Any]] = []
    shapes: list[dict[str, Any]] = []
    annotations: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        **layout_of(axis, "score"),
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
