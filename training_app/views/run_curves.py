"""The curves of a run: as figures of its page, and as JSON that follows it."""

import math
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.web.acts import Act
from studio.web.auth import require
from studio.web.choices import FINISHED
from studio.web.errors import BadRequest
from studio.web.htmx import etag, unchanged
from training_app.charts.looks import loss_note, recipe_of
from training_app.charts.parts import Mark
from training_app.charts.run import run_figure
from training_app.core.recipe import Recipe
from training_app.enums import Algorithm
from training_app.models import MetricRow, TrainingRun
from training_app.queries import curves, runs
from training_app.queries.curve_families import families_of
from training_app.queries.curves import AXES, Axis, Place


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few views of the curves: a link."""

    name: str
    value: str
    label: str
    url: str
    current: bool


@never_cache
@require_GET
@require(Act.READ)
def run_curves(request: HttpRequest, code: str) -> HttpResponse:
    """The figures as JSON; with ``since`` only what came after it. 304 where nothing did."""
    row = runs.get_run(code)
    newest = curves.newest_row(row)
    axis, smooth = curves.axis_of(request.GET.get("x")), is_smooth(request)
    token = [row.code, axis, smooth, row.checkpoints.count(), _since(request) is None,
             newest and [newest.step, newest.seconds, len(newest.values)]]  # fmt: skip
    same = unchanged(request, token)
    if same is not None:
        return same
    since = _since(request)
    goes_on = since is not None and curves.goes_on(row, since)
    known = since.step if since is not None and goes_on else 0
    figures = figures_of(request, row, recipe_of(row), newest, since=known)
    place = curves.place_of(row, newest)
    response = JsonResponse(
        {
            "again": since is not None and not goes_on,
            "cursor": "" if place is None else ":".join(map(str, place)),
            "figures": figures,
        }
    )
    response["ETag"] = etag(token)
    return response


def _since(request: HttpRequest) -> Place | None:
    text = request.GET.get("since", "")
    if not text:
        return None
    try:
        step, seconds, width = text.split(":")
        found = Place(int(step), float(seconds), int(width))
    except ValueError as error:
        raise BadRequest("This cursor is not one of ours. Ask without one.") from error
    if not (0 <= found.step < 2**31 and math.isfinite(found.seconds) and found.width > 0):
        raise BadRequest("This cursor is not one of ours. Ask without one.")
    return found


def is_smooth(request: HttpRequest) -> bool:
    """Whether curves are drawn smoothed, which they are unless one asks for each step."""
    return request.GET.get("smooth") != "off"


def figures_of(
    request: HttpRequest,
    row: TrainingRun,
    recipe: Recipe | None,
    newest: MetricRow | None,
    *,
    since: int = 0,
) -> list[dict[str, Any]]:
    """The charts of a run by the axis and the smoothing that are asked for.

    ``since``: without the points before that step.
    """
    axis = curves.axis_of(request.GET.get("x"))
    marks = _checkpoint_marks(row, axis)
    end = _end(row, recipe, axis, newest)
    found = []
    for chart in curves.read(row, families_of(row.algorithm), axis=axis):
        about_loss = chart.family.id == "loss" and row.algorithm != Algorithm.SFT
        found.append(
            run_figure(
                row,
                chart,
                axis=axis,
                smooth=is_smooth(request),
                marks=marks if chart.family.id in ("reward", "loss", "success") else (),
                epochs=_epochs(row, recipe, axis, end),
                end=end,
                note=loss_note(row, recipe) if about_loss else "",
                since=since,
            )
        )
    return found


def _end(
    row: TrainingRun, recipe: Recipe | None, axis: Axis, newest: MetricRow | None
) -> float | None:
    """Where the axis ends: with the plan while the run is open, with the data afterwards."""
    if newest is None or axis == "seconds":
        return None
    open_ = row.state not in FINISHED
    steps = max(row.steps, newest.step) if open_ else newest.step
    if axis == "step":
        return float(steps)
    return float(steps * recipe.batch) if recipe is not None and open_ else float(newest.samples)


def _epochs(row: TrainingRun, recipe: Recipe | None, axis: Axis, end: float | None) -> list[float]:
    """Where each prompt has been used once, twice …; only RL by samples or steps has such."""
    if recipe is None or not recipe.online or axis == "seconds" or end is None:
        return []
    prompts = row.dataset.rows if row.dataset is not None else recipe.rollouts.tasks
    size = prompts * recipe.rollouts.group * recipe.rollouts.iterations
    length = size if axis == "samples" else size / recipe.batch
    if length <= 0:
        return []
    return [length * n for n in range(1, min(int(end // length), 20) + 1)]


def _checkpoint_marks(row: TrainingRun, axis: Axis) -> list[Mark]:
    kept = {c.step: c.code for c in row.checkpoints.filter(removed_at=None)}
    at = row.metrics.filter(step__in=list(kept)).values_list("step", axis)
    return [Mark(float(x), step, kept[step]) for step, x in at]


def axes_of(request: HttpRequest) -> list[Choice]:
    """What x can be."""
    chosen = curves.axis_of(request.GET.get("x"))
    words = {"samples": "Samples", "step": "Steps", "seconds": "Time"}
    return [Choice("x", axis, words[axis], _url(request, x=axis), axis == chosen) for axis in AXES]


def smoothing_of(request: HttpRequest) -> list[Choice]:
    """Whether each step is drawn, or a mean over some."""
    smooth = is_smooth(request)
    return [
        Choice("smooth", "on", "Smoothed", _url(request, smooth="on"), smooth),
        Choice("smooth", "off", "Every step", _url(request, smooth="off"), not smooth),
    ]


def _url(request: HttpRequest, **changes: str) -> str:
    return "?" + urlencode({**request.GET.dict(), **changes})
