"""One run: how far it is, its curves, what the model wrote, its checkpoints, log and recipe."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.web.acts import Act
from studio.web.auth import may, require
from studio.web.choices import FINISHED, JobState
from studio.web.errors import BadRequest, NotFound
from studio.web.htmx import etag, render_page, target, unchanged
from training_app.charts import (
    AXIS_WORDS,
    Mark,
    later,
    look_of,
    loss_note,
    name_of,
    recipe_of,
    run_figure,
)
from training_app.core.recipe import Recipe
from training_app.enums import Algorithm
from training_app.models import Checkpoint, DeviceTicket, MetricRow, TrainingRun
from training_app.queries import curves, devices, run_files, runs
from training_app.queries.curves import AXES, Axis, Place
from training_app.queries.results import Measured, change, measured, success_of
from training_app.views.recipes import values_of
from training_app.views.tables import csv_response

QUIET: Final = 60.0
"""Seconds without a sign of life after which the page says so."""
SAMPLES: Final = 12
"""Samples of a step that are shown at first."""
MOST_SAMPLES: Final = 400


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few views of the curves: a link."""

    name: str
    value: str
    label: str
    url: str
    current: bool


class Sample(NamedTuple):
    """One rollout that was kept."""

    number: int
    """Its line in the file, from 0."""
    task: str
    state: str
    words: str
    reward: float | None
    turns: int | None
    turns_text: tuple["Turn", ...]


class Turn(NamedTuple):
    """What was said, by whom."""

    who: str
    text: str


class Held(NamedTuple):
    """A checkpoint as the table draws it."""

    row: Checkpoint
    greedy: Measured | None
    sampled: Measured | None
    kept: str


@never_cache
@require_GET
@require(Act.READ)
def run(request: HttpRequest, code: str) -> HttpResponse:
    """The page, or the part of it that htmx asks for."""
    row = runs.get_run(code)
    asked = target(request)
    if asked == "run-live":
        return _live(request, row)
    if asked == "run-samples":
        return render_page(
            request, "training/run.html", {asked: "training/_run_samples.html"},
            {"run": row, **_samples(request, row)},
        )  # fmt: skip
    if asked == "run-side":
        return render_page(
            request, "training/run.html", {asked: "training/_run_side.html"},
            {"run": row, **_side(request, row)},
        )  # fmt: skip
    if asked == "run-result":
        return render_page(
            request, "training/run.html", {asked: "training/_run_result.html"}, _result(row)
        )
    recipe = recipe_of(row)
    newest = curves.newest_row(row)
    drawn = _figures(request, row, recipe, newest)
    if asked == "figures":
        return render_page(
            request, "training/run.html", {asked: "training/_run_figures.html"},
            {"run": row, "figures": drawn},
        )  # fmt: skip
    log = run_files.log_since(row)
    context = {
        **_state(request, row, recipe, newest),
        **_side(request, row),
        **_samples(request, row),
        **_result(row),
        "figures": drawn,
        "axes": _axes(request),
        "smoothing": _smoothing(request),
        "axis_words": AXIS_WORDS[curves.axis_of(request.GET.get("x"))],
        "log": log,
        "recipe": recipe,
        "values": values_of(recipe) if recipe is not None else [],
        "manifest": run_files.manifest_of(row),
        "look": look_of(row),
        "title": title_of(row),
    }
    return render_page(request, "training/run.html", {}, context)


def title_of(row: TrainingRun) -> str:
    """What a run is called on its page."""
    what = name_of(row) if curves.is_control(row) else Algorithm(row.algorithm).label
    on = f"on {row.dataset.name}" if row.dataset is not None else "on the pocket suite"
    return f"{what} {on}, seed {row.seed}"


# --- how far it is -------------------------------------------------------------------------------


def _live(request: HttpRequest, row: TrainingRun) -> HttpResponse:
    newest = curves.newest_row(row)
    token = _token(row, newest)
    same = unchanged(request, token)
    if same is not None:
        return same
    response = render_page(
        request, "training/run.html", {"run-live": "training/_run_live.html"},
        _state(request, row, recipe_of(row), newest),
    )  # fmt: skip
    response["ETag"] = etag(token)
    return response


def _token(row: TrainingRun, newest: MetricRow | None) -> list[object]:
    """What decides the moving part."""
    return [
        row.code,
        row.state,
        row.step,
        row.message,
        row.halvings,
        row.job and [row.job.state, row.job.note],
        newest and [newest.step, newest.seconds, len(newest.values)],
        _marks(row),
        [(ticket.pk, ticket.job.state) for ticket in _queue(row)],
        _silence(row) is not None,
    ]


def _marks(row: TrainingRun) -> str:
    """Changes where checkpoints, samples or the result do."""
    kept = row.checkpoints.values_list("step", "promoted", "removed_at").order_by("step")
    token = [list(kept), row.state, bool(row.result), len(row.result or {})]
    return etag(token).strip('"')


def _queue(row: TrainingRun) -> list[DeviceTicket]:
    """Who holds or waits for the device of a run that is not over."""
    recipe = recipe_of(row)
    if recipe is None or row.adopted or row.state in FINISHED:
        return []
    return list(devices.queue_of(devices.device_of(recipe)))


def _silence(row: TrainingRun) -> float | None:
    """Seconds since the engine's last sign of life, where that is too long."""
    if row.state not in (JobState.RUNNING, JobState.STOPPING) or row.heartbeat_at is None:
        return None
    seconds = (timezone.now() - row.heartbeat_at).total_seconds()
    return seconds if seconds > QUIET else None


def _state(
    request: HttpRequest, row: TrainingRun, recipe: Recipe | None, newest: MetricRow | None
) -> dict[str, Any]:
    queue = _queue(row)
    place = next((n for n, ticket in enumerate(queue) if ticket.job_id == row.job_id), None)
    open_ = row.state not in FINISHED
    epoch = newest.values.get("epoch") if newest is not None else None
    return {
        "run": row,
        "open": open_,
        "poll": open_ and not (row.adopted and row.finished_at),
        "etag": etag(_token(row, newest)),
        "marks": _marks(row),
        "left": _left(row, newest),
        "epoch": epoch if isinstance(epoch, int | float) else None,
        "planned": row.steps * recipe.batch if recipe is not None else None,
        "silence": _silence(row),
        "ahead": queue[:place] if place else [],
        "device": devices.device_of(recipe) if recipe is not None else "",
        "waits": bool(place),
        "may_train": may(request, Act.TRAIN),
        "can_cancel": runs.can_cancel(row),
        "can_resume": runs.can_resume(row),
        "stage": row.message or (row.job.note if row.job is not None else ""),
        "problems": _problems(row),
    }


def _problems(row: TrainingRun) -> list[str]:
    """Why it failed, one thing a line."""
    if row.state not in (JobState.FAILED, JobState.LOST) or not row.message:
        return []
    return [line for line in row.message.splitlines() if line.strip()]


def _left(row: TrainingRun, newest: MetricRow | None) -> float | None:
    """Seconds until the last step, at the pace of the last steps."""
    if row.state != JobState.RUNNING or newest is None or row.steps <= newest.step:
        return None
    earlier = row.metrics.filter(step__lt=newest.step).order_by("-step")[:20]
    first = list(earlier)[-1:]
    if not first:
        return None
    pace = (newest.seconds - first[0].seconds) / (newest.step - first[0].step)
    return (row.steps - newest.step) * pace if pace > 0 and math.isfinite(pace) else None


# --- curves --------------------------------------------------------------------------------------


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
    figures = _figures(request, row, recipe_of(row), newest)
    if since is not None and goes_on:
        figures = [later(figure, since.step) for figure in figures]
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


def _figures(
    request: HttpRequest,
    row: TrainingRun,
    recipe: Recipe | None,
    newest: MetricRow | None,
) -> list[dict[str, Any]]:
    axis = curves.axis_of(request.GET.get("x"))
    marks = _checkpoint_marks(row, axis)
    end = _end(row, recipe, axis, newest)
    found = []
    for chart in curves.read(row, curves.families_of(row.algorithm), axis=axis):
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


def _axes(request: HttpRequest) -> list[Choice]:
    chosen = curves.axis_of(request.GET.get("x"))
    words = {"samples": "Samples", "step": "Steps", "seconds": "Time"}
    return [Choice("x", axis, words[axis], _url(request, x=axis), axis == chosen) for axis in AXES]


def _smoothing(request: HttpRequest) -> list[Choice]:
    smooth = is_smooth(request)
    return [
        Choice("smooth", "on", "Smoothed", _url(request, smooth="on"), smooth),
        Choice("smooth", "off", "Every step", _url(request, smooth="off"), not smooth),
    ]


def _url(request: HttpRequest, **changes: str) -> str:
    return "?" + urlencode({**request.GET.dict(), **changes})


# --- samples, checkpoints, result ----------------------------------------------------------------


def _samples(request: HttpRequest, row: TrainingRun) -> dict[str, Any]:
    steps = runs.sample_steps(row)
    asked = request.GET.get("step", "")
    wanted = int(asked) if asked.isdecimal() and len(asked) < 10 else None
    step = _nearest(steps, wanted)
    kept: list[dict[str, Any]] = []
    damaged = ""
    if step is not None:
        try:
            kept = runs.samples_at(row, step)
        except NotFound as problem:
            damaged = problem.detail
    every = request.GET.get("all") == "1"
    shown = kept[: MOST_SAMPLES if every else SAMPLES]
    place = steps.index(step) if step is not None else 0
    return {
        "open": row.state not in FINISHED,
        "samples": [_sample(number, body) for number, body in enumerate(shown)],
        "samples_total": len(kept),
        "samples_damaged": damaged,
        "sample_step": step,
        "sample_steps": steps,
        "sample_asked": wanted if wanted != step else None,
        "earlier_step": steps[place - 1] if place > 0 else None,
        "later_step": steps[place + 1] if place + 1 < len(steps) else None,
        "view_pairs": [(k, v) for k, v in request.GET.items() if k in ("x", "smooth")],
        "may_open": may(request, Act.ROLL_OUT),
    }


def _nearest(steps: list[int], wanted: int | None) -> int | None:
    """The kept step nearest to the wanted one; the last where none is wanted."""
    if not steps:
        return None
    return steps[-1] if wanted is None else min(steps, key=lambda step: abs(step - wanted))


def _sample(number: int, body: Mapping[str, Any]) -> Sample:
    """A line of a samples file; it may come from another machine, so nothing in it is believed."""
    reward = body.get("reward")
    broken = body.get("violations")
    if broken:
        state, words = "violated", "rule broken"
    elif body.get("truncated"):
        state, words = "lost", "cut"
    elif body.get("passed"):
        state, words = "passed", "passed"
    else:
        state, words = "none", "not passed"
    task = body.get("slug") or body.get("group") or body.get("spec_hash") or ""
    said = tuple(_turns(body.get("messages")))
    turns = body.get("turns")
    return Sample(
        number=number,
        task=str(task)[:120],
        state=state,
        words=words,
        reward=float(reward) if isinstance(reward, int | float) else None,
        turns=turns if isinstance(turns, int) else sum(turn.who == "assistant" for turn in said),
        turns_text=said,
    )


_LONGEST: Final = 4000
_MOST_TURNS: Final = 60


def _turns(messages: Any) -> Iterator[Turn]:
    """Messages as text, whatever shape they have."""
    if isinstance(messages, str):
        yield Turn("assistant", messages[:_LONGEST])
        return
    if not isinstance(messages, list):
        return
    for message in messages[:_MOST_TURNS]:
        if not isinstance(message, Mapping):
            continue
        parts = [_words(message.get("content"))]
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(function, Mapping):
                parts.append(f"{function.get('name')}({_words(function.get('arguments'))})")
        text = "\n".join(part for part in parts if part)
        yield Turn(str(message.get("role", ""))[:20], text[:_LONGEST])


def _words(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)


def _side(request: HttpRequest, row: TrainingRun) -> dict[str, Any]:
    kept = runs.checkpoints_of(row)
    last = max((c.step for c in kept if c.removed_at is None), default=None)
    return {
        "open": row.state not in FINISHED,
        "checkpoints": [_held(c, last) for c in reversed(kept)],
        "may_train": may(request, Act.TRAIN),
        "new_url": reverse("run-new"),
    }


def _held(checkpoint: Checkpoint, last: int | None) -> Held:
    found = {one.way: one for one in success_of(checkpoint)}
    if checkpoint.removed_at is not None:
        kept = "weights removed"
    elif checkpoint.promoted:
        kept = "promoted"
    else:
        kept = "latest" if checkpoint.step == last else "kept"
    return Held(checkpoint, found.get("greedy"), found.get("sampled"), kept)


def _result(row: TrainingRun) -> dict[str, Any]:
    return {
        "run": row,
        "open": row.state not in FINISHED,
        "measured": measured(row),
        "gain": change(row),
    }


# --- files ---------------------------------------------------------------------------------------


@never_cache
@require_GET
@require(Act.READ)
def run_log(request: HttpRequest, code: str) -> HttpResponse:
    """What the log has got since an offset, as JSON."""
    row = runs.get_run(code)
    asked = request.GET.get("offset", "")
    offset = int(asked) if asked.isdecimal() and len(asked) < 16 else None
    return JsonResponse(run_files.log_since(row, offset)._asdict())


@require_GET
@require(Act.READ)
def run_log_file(request: HttpRequest, code: str) -> HttpResponseBase:
    """The whole log as text."""
    row = runs.get_run(code)
    packets = run_files.whole_log(row)
    if packets is None:
        raise NotFound(f"{row.code} has no log here.")
    return StreamingHttpResponse(
        packets,
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{row.code}-log.txt"'},
    )


@require_GET
@require(Act.READ)
def run_recipe(request: HttpRequest, code: str) -> HttpResponse:
    """The recipe as a file that `train` and the API take."""
    row = runs.get_run(code)
    response = JsonResponse(row.recipe, json_dumps_params={"indent": 2})
    response["Content-Disposition"] = f'attachment; filename="{row.code}-recipe.json"'
    return response


@require_GET
@require(Act.EXPORT)
def run_csv(request: HttpRequest, code: str) -> HttpResponseBase:
    """Every step and every metric of a run, as CSV."""
    row = runs.get_run(code)
    names = curves.metric_names(row)
    return csv_response(
        ["step", "samples", "seconds", *names],
        (
            [one.step, one.samples, one.seconds, *(one.values.get(name, "") for name in names)]
            for one in curves.all_rows(row)
        ),
        name=f"{row.code}-metrics",
    )
