"""One run: how far it is, its curves, what the model wrote, its checkpoints, log and recipe."""

import math
from typing import Any, Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from studio.web.acts import Act
from studio.web.auth import may, require
from studio.web.choices import FINISHED, JobState
from studio.web.htmx import etag, render_page, target, unchanged
from training_app.charts.looks import AXIS_WORDS, look_of, name_of, recipe_of
from training_app.core.recipe import Recipe
from training_app.enums import Algorithm
from training_app.models import Checkpoint, DeviceTicket, MetricRow, TrainingRun
from training_app.queries import curves, devices, run_files, runs
from training_app.queries.results import Measured, success_of
from training_app.views.recipes import values_of
from training_app.views.run_curves import axes_of, figures_of, smoothing_of
from training_app.views.run_result import result_of
from training_app.views.run_samples import samples_of

QUIET: Final = 60.0
"""Seconds without a sign of life after which the page says so."""


class Stage(NamedTuple):
    """What a run is doing, in words, and how far that is; 0 of 0 where the words are all."""

    words: str
    done: int = 0
    total: int = 0


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
            {"run": row, **samples_of(request, row)},
        )  # fmt: skip
    if asked == "run-side":
        return render_page(
            request, "training/run.html", {asked: "training/_run_side.html"},
            {"run": row, **_side(request, row)},
        )  # fmt: skip
    if asked == "run-result":
        return render_page(
            request,
            "training/run.html",
            {asked: "training/_run_result.html"},
            result_of(request, row),
        )
    recipe = recipe_of(row)
    newest = curves.newest_row(row)
    drawn = figures_of(request, row, recipe, newest)
    if asked == "figures":
        return render_page(
            request, "training/run.html", {asked: "training/_run_figures.html"},
            {"run": row, "figures": drawn},
        )  # fmt: skip
    log = run_files.log_since(row)
    context = {
        **_state(request, row, recipe, newest),
        **_side(request, row),
        **samples_of(request, row),
        **result_of(request, row),
        "figures": drawn,
        "axes": axes_of(request),
        "smoothing": smoothing_of(request),
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
        "stage": _stage(row),
        "problems": _problems(row),
    }


def _stage(row: TrainingRun) -> Stage:
    """What it is doing besides its steps, as the engine says, or what its job says."""
    job = row.job
    if job is None:
        return Stage(row.message)
    if row.state == JobState.RUNNING and not row.message and row.step < row.steps:
        return Stage("")  # the line above has the step, and what is left
    if row.message != job.note:
        return Stage(row.message or job.note)
    if (job.done, job.total) == (row.step, row.steps):
        return Stage(job.note)
    return Stage(job.note, job.done, job.total or 0)


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
