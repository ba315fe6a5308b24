"""The list of runs, and what one can do with a run."""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from studio.web.acts import Act
from studio.web.auth import may, principal, require
from studio.web.choices import FINISHED
from studio.web.filter_line import drops, filter_line, list_url
from studio.web.htmx import etag, render_page, see_other, unchanged
from studio.web.pagination import capped_count
from training_app.charts.looks import Look, look_of
from training_app.jobs.runs import cancel_run, resume_run
from training_app.models import Checkpoint, TrainingRun
from training_app.operations.runs import promote
from training_app.operations.samples import open_sample
from training_app.queries import curves, runs
from training_app.queries.results import Measured, part, reward_fifths

SIZE: Final = 50
VIEWS: Final = (
    ("All", ""),
    ("Going on", "state:queued,starting,running,stopping"),
    ("SFT", "algorithm:sft"),
    ("RL", "-algorithm:sft"),
    ("Need a look", "state:failed,lost,stopped"),
)
"""Views of the list that every reader needs: words and filter."""


@dataclass(frozen=True, slots=True)
class Row:
    """A run as the list draws it."""

    run: TrainingRun
    look: Look
    control: bool
    open: bool
    reward: tuple[float, float] | None
    """First and last fifth of the training reward."""
    success: Measured | None
    """Of its end, on new instances."""
    checkpoint: Checkpoint | None
    """The last one that is still there."""
    kept: int


@never_cache
@require_GET
@require(Act.READ)
def run_list(request: HttpRequest) -> HttpResponse:
    """Runs under a filter; 400 with the good terms' rows where a term is wrong."""
    line = filter_line(request, runs.RUNS, noun="runs")
    page = runs.run_page(line.good, cursor=request.GET.get("cursor"), size=SIZE)
    rows = _rows(page.rows)
    token = [line.text, [_token(row.run) for row in rows], page.next_cursor is None]
    same = unchanged(request, token)
    if same is not None:
        return same
    nothing = not rows
    context: dict[str, Any] = {
        "filter": line,
        "rows": rows,
        "total": str(capped_count(runs.matching_runs(line.good))),
        "tabs": [
            {"label": label, "url": list_url(line.action, text), "current": line.text == text}
            for label, text in VIEWS
        ],
        "going_on": any(row.run.state not in FINISHED for row in rows),
        "etag": etag(token),
        "poll_url": request.get_full_path(),
        "newer_url": _page_url(line.action, line.good, page.previous_cursor),
        "older_url": _page_url(line.action, line.good, page.next_cursor),
        "nothing_yet": nothing and not line.text and not TrainingRun.objects.exists(),
        "drops": drops(line, runs.RUNS, runs.all_runs()) if nothing and line.text else [],
        "may_train": may(request, Act.TRAIN),
        "comparable": curves.with_curves()[:1].exists(),
    }
    response = render_page(
        request, "training/runs.html", {"runs": "training/_runs.html"}, context,
        status=400 if line.problems else 200,
    )  # fmt: skip
    response["ETag"] = etag(token)
    return response


def _page_url(path: str, text: str, cursor: str | None) -> str:
    return list_url(path, text, cursor=cursor) if cursor else ""


def _token(run: TrainingRun) -> list[object]:
    return [run.code, run.state, run.step, run.steps, bool(run.result), run.message]


def _rows(found: list[TrainingRun]) -> list[Row]:
    """The rows of a page; checkpoints of all of them in one query."""
    kept: dict[int, list[Checkpoint]] = {}
    chosen = Checkpoint.objects.filter(run__in=found, removed_at=None).order_by("step")
    for checkpoint in chosen:
        kept.setdefault(checkpoint.run_id, []).append(checkpoint)
    return [
        Row(
            run=run,
            look=look_of(run),
            control=curves.is_control(run),
            open=run.state not in FINISHED,
            # A result states it; of a run that goes on it is counted up to here.
            reward=reward_fifths(run)
            or (curves.fifths(run) if run.algorithm != "sft" and run.step else None),
            success=part(run, "after"),
            checkpoint=kept[run.pk][-1] if run.pk in kept else None,
            kept=len(kept.get(run.pk, ())),
        )
        for run in found
    ]


@require_POST
@require(Act.TRAIN)
def run_cancel(request: HttpRequest, code: str) -> HttpResponse:
    """Ask the engine to stop: within one step, with a checkpoint."""
    row = runs.get_run(code)
    cancel_run(run=row, by=principal(request))
    messages.success(request, f"{row.code} is asked to stop; its last checkpoint stays.")
    return see_other(request, reverse("run", args=[row.code]))


@require_POST
@require(Act.TRAIN)
def run_resume(request: HttpRequest, code: str) -> HttpResponse:
    """Go on from the last checkpoint."""
    row = runs.get_run(code)
    resume_run(run=row, by=principal(request))
    messages.success(request, f"{row.code} goes on from its last checkpoint.")
    return see_other(request, reverse("run", args=[row.code]))


@require_POST
@require(Act.TRAIN)
def checkpoint_promote(request: HttpRequest, code: str, checkpoint: str) -> HttpResponse:
    """Keep a checkpoint whatever its age, or no longer."""
    row = runs.get_run(code)
    found = runs.get_checkpoint(checkpoint)
    promote(checkpoint=found, promoted=request.POST.get("promoted") == "1", by=principal(request))
    return see_other(request, f"{reverse('run', args=[row.code])}#checkpoints")


@require_POST
@require(Act.ROLL_OUT)
def sample_open(request: HttpRequest, code: str, step: int, number: int) -> HttpResponse:
    """Play a sample again in a world of ours and show it as a replay."""
    row = runs.get_run(code)
    episode = open_sample(run=row, step=step, index=number, by=principal(request))
    return see_other(request, reverse("episode", args=[episode.code]))
