"""Evaluations: the list with its forms, one with its table, suites, served checkpoints."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from rollouts_app.core.teacher import PREFIX
from studio.lib.jsonvalue import JsonObject
from studio.web import audit, claims, jobs
from studio.web.acts import Act
from studio.web.auth import ensure, may, principal, require
from studio.web.codes import get_by_code, is_code, normalise
from studio.web.errors import BadRequest, Conflict, FilterError, Invalid, NotFound, Problem
from studio.web.filter_line import list_url
from studio.web.htmx import etag, render_page, see_other, unchanged
from studio.web.models import Job
from training_app.forms.evaluations import (
    NOTHING,
    BaselineForm,
    EvaluationForm,
    ServeForm,
    SuiteForm,
    model_of,
    way_of,
)
from training_app.jobs.evaluations import start_evaluation, start_serving
from training_app.jobs.serving import PREFIX as CHECKPOINT
from training_app.models import Evaluation, TrainingRun
from training_app.operations.evaluations import (
    BUILT_IN,
    find_suite,
    freeze_suite,
    set_baseline,
)
from training_app.queries import evaluations as queries
from training_app.queries.runs import get_checkpoint
from training_app.queries.servings import SERVE, servings
from training_app.views.tables import csv_response

_PREFILLED: Final = ("model", "suite", "way", "n", "seed", "baseline")
_PLACES: Final = {"policy": "model", "group_size": "n"}
"""Place of a problem → field of the form, where they differ."""


@dataclass(frozen=True)
class Line:
    """One row of the table: the whole, a kind of tasks, or a family."""

    label: str
    url: str
    split: str
    """What is new in the tasks, in words."""
    values: JsonObject
    change: JsonObject | None
    """Against the baseline; None without one."""


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def evaluation_list(request: HttpRequest) -> HttpResponse:
    """All evaluations and the form; a POST starts one (303), or shows what is wrong (422)."""
    status = 200
    if request.method == "POST":
        form = EvaluationForm(request.POST)
        row = _start(request, form)
        if row is not None:
            return see_other(request, reverse("evaluation", args=[row.code]))
        status = 422
    else:
        given = {n: request.GET[n] for n in _PREFILLED if n in request.GET}
        if "checkpoint" in request.GET:
            given["model"] = f"{CHECKPOINT}{request.GET['checkpoint']}"
        form = EvaluationForm(initial=given)
    return _list_page(request, status=status, form=form)


def _list_page(
    request: HttpRequest,
    *,
    status: int = 200,
    form: EvaluationForm | None = None,
    suite_form: SuiteForm | None = None,
) -> HttpResponse:
    suite, model = request.GET.get("of", "")[:80], request.GET.get("by", "")[:80]
    page = queries.evaluation_page(request.GET.get("cursor"), suite=suite, model=model)
    served = list(servings())
    waiting = list(
        Job.objects.filter(kind=SERVE, state__in=("queued", "starting", "running"))
        .exclude(pk__in=[row.job_id for row in served])
        .order_by("-pk")[:10]
    )
    token = [
        [[row.code, row.job.state if row.job else "", bool(row.report)] for row in page.rows],
        [row.name for row in served],
        [[job.code, job.state, job.note] for job in waiting],
    ]
    open_jobs = [row for row in page.rows if row.job is not None and not row.job.is_finished]
    same = unchanged(request, token) if request.method == "GET" else None
    if same is not None:
        return same
    known = list(queries.suites())
    names = {row.name for row in known}
    url = reverse("evaluations")
    context: dict[str, Any] = {
        "form": form or EvaluationForm(),
        "suite_form": suite_form or SuiteForm(),
        "serve_form": ServeForm(),
        "rows": [_listed(row) for row in page.rows],
        "suites": known,
        "unmade": [(name, one) for name, one in BUILT_IN.items() if name not in names],
        "servings": served,
        "waiting": waiting,
        "of": suite,
        "by": model,
        "table": _table_of(model),
        "may_start": may(request, Act.EVALUATE),
        "busy": bool(waiting or open_jobs),
        "etag": etag(token),
        "newer_url": _page_url(url, page.previous_cursor, suite, model),
        "older_url": _page_url(url, page.next_cursor, suite, model),
    }
    response = render_page(
        request,
        "training/evaluations.html",
        {"evaluations": "training/_evaluations.html"},
        context,
        status=status,
    )
    response["ETag"] = etag(token)
    return response


def _page_url(url: str, cursor: str | None, suite: str, model: str) -> str:
    if not cursor:
        return ""
    more = {name: value for name, value in (("of", suite), ("by", model)) if value}
    return list_url(url, "", cursor=cursor, **more)


def _table_of(model: str) -> list[queries.Row]:
    run = TrainingRun.objects.filter(code=normalise(model)).first() if is_code(model) else None
    return queries.before_after(run) if run is not None else []


def _listed(row: Evaluation) -> dict[str, Any]:
    report = row.report
    return {
        "row": row,
        "model": model_of(row),
        # a template would show what is missing as an empty text
        "report": {name: report.get(name) for name in ("score", "low", "high", "pass_3")},
        "split": queries.SPLIT_WORDS.get(str(report.get("split_kind")), ""),
        "state": _state(row),
    }


def _state(row: Evaluation) -> str:
    return row.job.state if row.job is not None else "succeeded" if row.finished_at else "queued"


def _start(request: HttpRequest, form: EvaluationForm) -> Evaluation | None:
    """Start what the form asks for; None, with errors in the form, where that cannot be."""
    ensure(principal(request), Act.EVALUATE)
    if not form.is_valid():
        return None
    data = form.cleaned_data
    place = "model"
    try:
        model = _model(data["model"])
        place = "baseline"
        baseline = _baseline(data["baseline"])
        place = "suite"
        return start_evaluation(
            suite=find_suite(data["suite"]),
            greedy=data["way"] == "greedy",
            group_size=data["n"],
            seed=data["seed"],
            by=principal(request),
            **model,
            **baseline,
        )
    except NotFound as error:
        form.add_error(place, error.detail)
    except Invalid as error:
        _explain(form, error)
    return None


def _model(named: str) -> dict[str, Any]:
    if named.startswith(CHECKPOINT):
        return {"checkpoint": get_checkpoint(named.removeprefix(CHECKPOINT))}
    return {"endpoint": named.removeprefix(PREFIX)}


def _baseline(code: str) -> dict[str, Any]:
    if code.strip().lower() == NOTHING:
        return {"compare": False}
    return {"baseline": queries.get_evaluation(code)} if code.strip() else {}


def _explain(form: Any, error: Invalid) -> None:
    for problem in error.problems:
        words = f"{problem.message}. {problem.hint}".strip(". ") + "."
        place = _PLACES.get(problem.place, problem.place)
        form.add_error(place if place in form.fields else None, words[:1].upper() + words[1:])


@never_cache
@require_GET
@require(Act.READ)
def evaluation(request: HttpRequest, code: str) -> HttpResponse:
    """One evaluation: progress, the score with its interval, the table, regressions first."""
    row = queries.get_evaluation(code)
    batch = row.batch
    done = (batch.done, batch.failed) if batch is not None else (0, 0)
    token = [row.code, _state(row), done, row.finished_at, row.baseline_id,
             [row.job.done, row.job.note] if row.job else None]  # fmt: skip
    same = unchanged(request, token)
    if same is not None:
        return same
    report = queries.shown_report(row)
    filter_text = f"batch:{batch.code}" if batch is not None else ""
    others = list(queries.comparable(row)[: queries.SHOWN])
    context = {
        "evaluation": row,
        "model": model_of(row),
        "job": row.job,
        "job_open": row.job is not None and not row.job.is_finished,
        "resumable": row.job is not None and row.job.state in ("stopped", "failed", "lost"),
        "may_run": may(request, Act.EVALUATE),
        "report": report,
        "split": queries.SPLIT_WORDS.get(str(report.get("split_kind")), "no task scored yet"),
        "seen": _seen(report),
        "lines": list(_lines(report, filter_text)),
        "change": report.get("baseline"),
        "partial": row.finished_at is None,
        "baseline_form": BaselineForm(
            others=others, initial={"baseline": row.baseline.code if row.baseline else ""}
        ),
        "others": others,
        "choices": [(one, model_of(one), way_of(one)) for one in others],
        "again_url": _again(row),
        "episodes_url": list_url(reverse("episodes"), filter_text),
        "passed_url": list_url(reverse("episodes"), f"{filter_text} passed:yes"),
        "violations_url": list_url(reverse("episodes"), f"{filter_text} violation:any"),
        "failed_url": list_url(reverse("episodes"), f"{filter_text} stop:failed"),
        "etag": etag(token),
    }
    response = render_page(
        request,
        "training/evaluation.html",
        {"evaluation-live": "training/_evaluation_live.html"},
        context,
    )
    response["ETag"] = etag(token)
    return response


def _seen(report: JsonObject) -> int:
    splits: Any = report.get("splits") or ()
    return sum(int(one["tasks"]) for one in splits if one["split_kind"] == "seen")


def _again(row: Evaluation) -> str:
    model = f"{CHECKPOINT}{row.checkpoint.code}" if row.checkpoint else f"{PREFIX}{row.endpoint}"
    return list_url(
        reverse("evaluations"), "", model=model, suite=row.suite.name,
        way="greedy" if row.greedy else "sampled", n=str(row.group_size),
    )  # fmt: skip


def _lines(report: JsonObject, filter_text: str) -> Iterator[Line]:
    episodes = reverse("episodes")
    change: Any = report.get("baseline")
    by_family = {
        (one["family"], one["split_kind"]): one for one in (change or {}).get("families", ())
    }
    kind = str(report.get("split_kind"))
    yield Line(
        "All tasks",
        list_url(episodes, filter_text),
        queries.SPLIT_WORDS.get(kind, "–"),
        report,
        change,
    )
    splits: Any = report.get("splits") or ()
    if len(splits) > 1:
        for one in splits:
            words = queries.SPLIT_WORDS.get(one["split_kind"], "–")
            yield Line(words.capitalize(), list_url(episodes, filter_text), words, one, None)
    families: Any = report.get("families") or ()
    for one in families:
        yield Line(
            one["family"],
            list_url(episodes, f"{filter_text} family:{one['family']}"),
            queries.SPLIT_WORDS.get(one["split_kind"], "–"),
            one,
            by_family.get((one["family"], one["split_kind"])),
        )


@require_POST
@require(Act.EVALUATE)
def evaluation_cancel(request: HttpRequest, code: str) -> HttpResponse:
    """Stop its job; graded episodes stay."""
    row = queries.get_evaluation(code)
    claims.request_cancel(_job(row))
    audit.record(principal(request), "cancel_evaluation", row.code)
    messages.success(request, f"{row.code} is asked to stop; what is graded stays.")
    return see_other(request, reverse("evaluation", args=[row.code]))


@require_POST
@require(Act.EVALUATE)
def evaluation_resume(request: HttpRequest, code: str) -> HttpResponse:
    """Run what is left of it."""
    row = queries.get_evaluation(code)
    jobs.resume(_job(row))
    audit.record(principal(request), "resume_evaluation", row.code)
    return see_other(request, reverse("evaluation", args=[row.code]))


def _job(row: Evaluation) -> Job:
    if row.job is None:
        raise Conflict(f"{row.code} has no job.")
    return row.job


@require_POST
@require(Act.EVALUATE)
def evaluation_baseline(request: HttpRequest, code: str) -> HttpResponse:
    """Compare it with another evaluation, or with none."""
    row = queries.get_evaluation(code)
    named = request.POST.get("baseline", "").strip()
    baseline = queries.get_evaluation(named) if named else None
    set_baseline(evaluation=row, baseline=baseline, by=principal(request))
    return see_other(request, reverse("evaluation", args=[row.code]))


@require_GET
@require(Act.EXPORT)
def evaluation_export(
    request: HttpRequest, code: str, form: str
) -> HttpResponse | StreamingHttpResponse:
    """The report as JSON, or every task with its episodes as CSV."""
    row = queries.get_evaluation(code)
    if form == "report.json":
        answer = JsonResponse(export_of(row), json_dumps_params={"indent": 2})
        answer["Content-Disposition"] = f'attachment; filename="{row.code}.json"'
        return answer
    if form != "tasks.csv":
        raise NotFound("An evaluation is exported as report.json or tasks.csv.")
    head = ("task", "title", "family", "split_kind", "episodes", "graded", "passed", "score",
            "reward", "worst_episode")  # fmt: skip
    rows = (
        (one.task, one.title, one.family, one.kind, len(one.attempts), len(one.graded),
         sum(bool(each.passed) for each in one.graded), one.score, one.reward, one.worst)
        for one in queries.results_of(row)
    )  # fmt: skip
    return csv_response(head, rows, name=row.code)


def export_of(row: Evaluation) -> JsonObject:
    """An evaluation as a file: what was measured, on what, and what came of it."""
    return {
        "evaluation": row.code,
        "suite": {"code": row.suite.code, "name": row.suite.name, "sha256": row.suite.sha256},
        "checkpoint": row.checkpoint.code if row.checkpoint else None,
        "run": row.checkpoint.run.code if row.checkpoint else None,
        "step": row.checkpoint.step if row.checkpoint else None,
        "endpoint": row.endpoint or None,
        "batch": row.batch.code if row.batch else None,
        "seed": row.seed,
        "finished_at": row.finished_at.isoformat() if row.finished_at else None,
        "report": queries.shown_report(row),
    }


# Suites


@never_cache
@require_GET
@require(Act.READ)
def suite(request: HttpRequest, code: str) -> HttpResponse:
    """One suite: what it holds, and what was measured on it."""
    row = queries.get_suite(code)
    versions = queries.versions_of(row).defer("spec", "patch", "task__text").order_by("pk")
    page = queries.evaluation_page(suite=row.code)
    context = {
        "suite": row,
        "split": queries.SPLIT_WORDS[row.split_kind],
        "about": BUILT_IN[row.name].about if row.name in BUILT_IN else "",
        "versions": versions[:_TASKS_SHOWN],
        "shown": min(row.size, _TASKS_SHOWN),
        "rows": [_listed(one) for one in page.rows],
        "start_url": list_url(reverse("evaluations"), "", suite=row.name),
    }
    return render_page(request, "training/suite.html", None, context)


_TASKS_SHOWN: Final = 200


@require_POST
@require(Act.EVALUATE)
def suite_freeze(request: HttpRequest) -> HttpResponse:
    """Freeze a suite (303), or show what is wrong (422)."""
    form = SuiteForm(request.POST)
    if form.is_valid():
        try:
            row = freeze_suite(
                name=form.cleaned_data["name"],
                filter_text=form.cleaned_data["filter"],
                by=principal(request),
            )
        except FilterError as error:
            form.add_error("filter", error.detail)
        except Invalid as error:
            _explain(form, error)
        else:
            messages.success(request, f"{row.name} is frozen: {row.size} tasks.")
            return see_other(request, reverse("suite", args=[row.code]))
    return _list_page(request, status=422, suite_form=form)


# Served checkpoints


@require_POST
@require(Act.EVALUATE)
def serve(request: HttpRequest) -> HttpResponse:
    """Queue the serving of a checkpoint."""
    code = request.POST.get("checkpoint", "").strip()
    if not code:
        raise BadRequest("Name a checkpoint.", [Problem("checkpoint", "is missing")])
    checkpoint = get_checkpoint(code)
    job = start_serving(checkpoint=checkpoint, by=principal(request))
    audit.record(principal(request), "start_serving", checkpoint.code, {"job": job.code})
    messages.success(request, f"{checkpoint.code} is served as soon as its device is free.")
    return see_other(request, f"{reverse('evaluations')}#served")


@require_POST
@require(Act.EVALUATE)
def serve_stop(request: HttpRequest, code: str) -> HttpResponse:
    """End the server of a job."""
    job = get_by_code(Job.objects.filter(kind=SERVE), code)
    claims.request_cancel(job)
    audit.record(principal(request), "stop_serving", job.subject, {"job": job.code})
    messages.success(request, f"The server of {job.subject} ends.")
    return see_other(request, f"{reverse('evaluations')}#served")
