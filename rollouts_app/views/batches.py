"""Rollouts: the form that starts a batch, the list of batches, one batch."""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from rollouts_app import queries, reports
from rollouts_app.enums import EpisodeState
from rollouts_app.forms import BatchForm, BudgetForm
from rollouts_app.jobs import start_batch
from rollouts_app.models import RolloutBatch
from rollouts_app.operations.batches import CONCURRENCY, set_budget
from rollouts_app.policies import is_model
from rollouts_app.views.episodes import Row, row_of
from rollouts_app.views.failures import failure_table
from studio.lib.stats import pass_at_k, pass_hat_k
from studio.web import audit, claims, jobs
from studio.web.acts import Act
from studio.web.auth import ensure, may, principal, require
from studio.web.errors import Conflict, FilterError, Invalid
from studio.web.filter_line import list_url
from studio.web.htmx import etag, render_page, see_other, unchanged
from studio.web.models import Job

_FIELDS: Final = {
    "policy": "policy",
    "filter": "tasks",
    "group_size": "n",
    "seed": "seed",
    "concurrency": "concurrency",
    "budget_calls": "budget_calls",
    "budget_tokens": "budget_tokens",
}
"""Place of a problem → field of the form."""
_PREFILLED: Final = ("policy", "tasks", "n")


@dataclass(frozen=True)
class GroupRow:
    """One task of a batch and its episodes."""

    task: Any
    rows: tuple[Row, ...]
    graded: int
    passed: int
    mean: float | None
    at_k: float | None
    hat_k: float | None


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def batch_list(request: HttpRequest) -> HttpResponse:
    """All batches and the form; a POST starts one (303), or shows what is wrong (422)."""
    status = 200
    if request.method == "POST":
        form = BatchForm(request.POST)
        batch = _start(request, form)
        if batch is not None:
            return see_other(request, reverse("batch", args=[batch.code]))
        status = 422
    else:
        form = BatchForm(initial={n: request.GET[n] for n in _PREFILLED if n in request.GET})
    page = queries.batch_page(request.GET.get("cursor"))
    context = {
        "form": form,
        "batches": page.rows,
        "may_start": may(request, Act.ROLL_OUT),
        "newer_url": list_url(reverse("rollouts"), "", cursor=page.previous_cursor)
        if page.previous_cursor
        else "",
        "older_url": list_url(reverse("rollouts"), "", cursor=page.next_cursor)
        if page.next_cursor
        else "",
    }
    return render_page(
        request, "rollouts/batches.html", {"batches": "rollouts/_batches.html"}, context,
        status=status,
    )  # fmt: skip


def _start(request: HttpRequest, form: BatchForm) -> RolloutBatch | None:
    """Start what the form asks for; None, with errors in the form, where that cannot be."""
    ensure(principal(request), Act.ROLL_OUT)
    if not form.is_valid():
        return None
    try:
        return start_batch(
            policy=form.cleaned_data["policy"],
            filter_text=form.cleaned_data["tasks"],
            group_size=form.cleaned_data["n"],
            seed=form.cleaned_data["seed"],
            by=principal(request),
            concurrency=form.cleaned_data["concurrency"] or CONCURRENCY,
            budget_calls=form.cleaned_data["budget_calls"],
            budget_tokens=form.cleaned_data["budget_tokens"],
        )
    except FilterError as error:
        form.add_error("tasks", error.detail)
    except Invalid as error:
        for problem in error.problems:
            words = f"{problem.message}. {problem.hint}".strip(". ") + "."
            form.add_error(_FIELDS.get(problem.place), words[:1].upper() + words[1:])
    return None


@never_cache
@require_GET
@require(Act.READ)
def batch(request: HttpRequest, code: str) -> HttpResponse:
    """One batch: its progress, what was earned, every group with its episodes."""
    row = queries.get_batch(code)
    token = [row.code, row.state, row.done, row.job.done if row.job else 0]
    same = unchanged(request, token)
    if same is not None:
        return same
    after = request.GET.get("after", "0")
    groups = queries.groups_of(row, after=int(after) if after.isdigit() else 0)
    episodes_filter = f"batch:{row.code}"
    context = {
        "batch": row,
        **_scores(row),
        "table": failure_table(episodes_filter),
        "failures_url": list_url(reverse("failures"), episodes_filter),
        "failures_csv": list_url(reverse("failures-csv"), episodes_filter),
        "job": row.job,
        "job_open": row.job is not None and not row.job.is_finished,
        "groups": [_group(group, row.group_size) for group in groups],
        "k": row.group_size,
        "more_after": (
            groups[-1].episodes[0].version_id if len(groups) == queries.GROUPS_SHOWN else None
        ),
        "shown_groups": len(groups),
        "etag": etag(token),
        "may_run": may(request, Act.ROLL_OUT),
        "of_a_model": is_model(row.policy),
        "resumable": row.job is not None and row.job.state in ("stopped", "failed", "lost"),
        "episodes_url": list_url(reverse("episodes"), episodes_filter),
        "passed_url": list_url(reverse("episodes"), f"batch:{row.code} passed:yes"),
        "violations_url": list_url(reverse("episodes"), f"batch:{row.code} violation:any"),
        "failed_url": list_url(reverse("episodes"), f"batch:{row.code} stop:failed"),
    }
    response = render_page(
        request, "rollouts/batch.html", {"batch-live": "rollouts/_batch_live.html"}, context
    )
    response["ETag"] = etag(token)
    return response


@dataclass(frozen=True)
class ScoreRow:
    """How a family fares, or all of them."""

    family: str
    tasks: int
    graded: int
    passed: int
    mean_reward: float | None
    shares: tuple[reports.Share, ...]
    """pass@k for every k, then pass^k for every k above 1: both are the same for 1."""
    url: str
    passed_url: str


def _scores(batch: RolloutBatch) -> dict[str, Any]:
    """The table of pass@k and pass^k; of one family without groups the ledger says it all."""
    found = reports.passing(batch)
    rows = found[:1] if len(found) == 2 else found
    if batch.group_size == 1 and len(rows) == 1:
        return {"scores": ()}
    scores = [_score_row(batch, row) for row in rows]
    ks = reports.ks_of(batch.group_size)
    return {
        "scores": scores,
        "ks": ks,
        "more_ks": ks[1:],
        "of_many": batch.group_size > 1,
        "some_missing": any(
            share.value is not None and share.tasks < row.tasks
            for row in scores
            for share in row.shares
        ),
    }


def _score_row(batch: RolloutBatch, row: reports.Passing) -> ScoreRow:
    text = f"batch:{batch.code} family:{row.family}" if row.family else f"batch:{batch.code}"
    return ScoreRow(
        family=row.family,
        tasks=row.tasks,
        graded=row.graded,
        passed=row.passed,
        mean_reward=row.mean_reward,
        shares=(*row.at, *row.hat[1:]),
        url=list_url(reverse("episodes"), text),
        passed_url=list_url(reverse("episodes"), f"{text} passed:yes"),
    )


def _group(group: queries.Group, size: int) -> GroupRow:
    graded = [e for e in group.episodes if e.state == EpisodeState.GRADED]
    passed = sum(bool(e.passed) for e in graded)
    rewards = [e.reward for e in graded if e.reward is not None]
    return GroupRow(
        task=group.task,
        rows=tuple(row_of(e) for e in group.episodes),
        graded=len(graded),
        passed=passed,
        mean=sum(rewards) / len(rewards) if rewards else None,
        at_k=pass_at_k(len(graded), passed, size),
        hat_k=pass_hat_k(len(graded), passed, size),
    )


@require_POST
@require(Act.ROLL_OUT)
def cancel(request: HttpRequest, code: str) -> HttpResponse:
    """Stop the batch's job; graded episodes stay."""
    row = queries.get_batch(code)
    claims.request_cancel(_job(row))
    audit.record(principal(request), "cancel_batch", row.code)
    messages.success(request, f"{row.code} is asked to stop; what is graded stays.")
    return see_other(request, reverse("batch", args=[row.code]))


@require_POST
@require(Act.ROLL_OUT)
def resume(request: HttpRequest, code: str) -> HttpResponse:
    """Run what is left of the batch, under another budget where the form brings one."""
    row = queries.get_batch(code)
    form = BudgetForm(request.POST)
    if "calls" in request.POST and _job(row).is_finished:
        if not form.is_valid():
            raise Invalid("A budget is a whole number above 0, or empty for no limit.")
        set_budget(batch=row, by=principal(request), **form.cleaned_data)
    jobs.resume(_job(row))
    audit.record(principal(request), "resume_batch", row.code)
    return see_other(request, reverse("batch", args=[row.code]))


def _job(row: RolloutBatch) -> Job:
    if row.job is None:
        raise Conflict(f"{row.code} has no job.")
    return row.job
