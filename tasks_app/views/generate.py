"""Generation: the requirement, a dry run, and runs as live funnels with reasons for each loss."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from studio.web.acts import Act
from studio.web.auth import ensure, may, principal, require
from studio.web.choices import JobState
from studio.web.errors import Invalid
from studio.web.htmx import etag, render_page, see_other, unchanged
from tasks_app import queries
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.generate import Outcome
from tasks_app.forms import ALL_FAMILIES, GenerateForm
from tasks_app.jobs import start_generation
from tasks_app.making import outcomes
from tasks_app.models import GenerationRun
from tasks_app.operations.generation import save_requirement
from tasks_app.queries import Loss
from tasks_app.views.posted import asked

DRY: Final = 3
LATEST: Final = 8
ATTEMPTS_SHOWN: Final = 200
WIDTH: Final = 560
_ACTIVE: Final = (JobState.QUEUED, JobState.STARTING, JobState.RUNNING, JobState.STOPPING)
_RANDOM_SEEDS: Final = 100_000


@dataclass(frozen=True)
class Reason:
    """Why some attempts were lost at a stage."""

    gate: str
    words: str
    count: int
    url: str


@dataclass(frozen=True)
class Stage:
    """One stage of the funnel."""

    label: str
    count: int
    width: str
    lost: int
    lost_x: str
    lost_width: str
    words: str
    reasons: tuple[Reason, ...]
    url: str


@dataclass(frozen=True)
class Drafted:
    """One draft of a dry run."""

    title: str
    subtype: str
    level: int
    request: str
    mark: str
    words: str
    reference: float | None
    probe: float | None


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def generate(request: HttpRequest) -> HttpResponse:
    """The form, and what was made before; POST starts a run, or drafts three and keeps none."""
    if request.method != "POST":
        form = GenerateForm(initial=_initial(request))
        return _page(request, form, _live_run() or queries.runs().first())
    ensure(principal(request), Act.GENERATE)
    form = GenerateForm(request.POST)
    if not form.is_valid():
        return _page(request, form, None, status=422)
    dry = request.POST.get("action") == "dry"
    try:
        if dry:
            return _page(request, form, None, drafts=_dry_run(form))
        code = _launch(request, form)
    except Invalid as error:
        _add_problems(form, error)
        return _page(request, form, None, status=422)
    return see_other(request, reverse("generation-run", args=[code]))


@never_cache
@require_GET
@require(Act.READ)
def run(request: HttpRequest, code: str) -> HttpResponse:
    """A run and its funnel, polled while it works; 304 when nothing moved."""
    row = queries.get_run(code)
    gate, outcome = asked(request, "gate"), asked(request, "outcome")
    token = [row.code, row.state, row.drafted, row.unique, gate, outcome]
    same = unchanged(request, token)
    if same is not None:
        return same
    response = _page(
        request, GenerateForm(initial=_initial_of(row)), row, at_run=True, etag=etag(token)
    )
    response["ETag"] = etag(token)
    return response


def _page(
    request: HttpRequest,
    form: GenerateForm,
    row: GenerationRun | None,
    *,
    drafts: Sequence[Drafted] | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    may_generate = may(request, Act.GENERATE)
    if not may_generate:
        for field in form.fields.values():
            field.disabled = True
    context: dict[str, Any] = {
        "form": form,
        "run": row,
        "drafts": drafts,
        "families": list(FAMILIES.values()),
        "runs": [other for other in queries.runs()[: LATEST + 1] if other != row][:LATEST],
        "may_generate": may_generate,
        **more,
    }
    if row is not None:
        context |= _run_context(request, row)
    fragments = {f"run-{row.code}": "tasks/_run.html"} if row is not None else {}
    return render_page(request, "tasks/generate.html", fragments, context, status=status)


def _run_context(request: HttpRequest, row: GenerationRun) -> dict[str, Any]:
    gate, outcome = asked(request, "gate"), asked(request, "outcome")
    active = row.job is not None and row.job.state in _ACTIVE
    attempts = row.attempts.select_related("version__task").defer(
        "version__spec", "version__patch", "version__task__text", "version__task__signature"
    )
    if gate:
        attempts = attempts.filter(gate=gate[:8])
    if outcome:
        attempts = attempts.filter(outcome=outcome[:12])
    narrowed = bool(gate or outcome)
    shown = attempts.order_by("index") if narrowed else attempts.order_by("-index")
    return {
        "active": active,
        "stages": funnel(row, queries.losses(row)),
        "attempts": list(shown[: ATTEMPTS_SHOWN if narrowed else LATEST]),
        "attempts_total": attempts.count(),
        "gate": gate,
        "outcome": outcome,
        "narrowed": narrowed,
        "repaired": _repairs(row),
        "list_url": f"{reverse('tasks')}?{urlencode({'q': _made_filter(row)})}",
        "poll_url": _run_url(row, gate, outcome),
    }


def _run_url(row: GenerationRun, gate: str, outcome: str) -> str:
    pairs = {"gate": gate, "outcome": outcome}
    query = urlencode({name: value for name, value in pairs.items() if value})
    return reverse("generation-run", args=[row.code]) + (f"?{query}" if query else "")


def funnel(row: GenerationRun, losses: Sequence[Loss]) -> tuple[Stage, ...]:
    """The stages of a run: how many are left, how many fell, and why."""
    base = reverse("generation-run", args=[row.code])
    biggest = max(row.asked, row.drafted, 1)

    def reasons(wanted: str) -> tuple[Reason, ...]:
        found = []
        for loss in losses:
            stage = (
                "unique"
                if loss.outcome == "duplicate"
                else "valid"
                if loss.gate[:1] in "SRT"
                else "proven"
            )
            if stage == wanted:
                query = urlencode({"gate": loss.gate, "outcome": loss.outcome})
                url = f"{base}?{query}#attempts"
                found.append(Reason(loss.gate, loss.reason, loss.count, url))
        return tuple(found)

    def stage(
        label: str, count: int, before: int, words: str, why: tuple[Reason, ...], query: str = ""
    ) -> Stage:
        width = WIDTH * count / biggest
        lost = max(0, before - count)
        return Stage(
            label=label,
            count=count,
            width=f"{width:.0f}",
            lost=lost,
            lost_x=f"{width + 2:.0f}",
            lost_width=f"{max(0.0, WIDTH * lost / biggest - 2):.0f}",
            words=words,
            reasons=why,
            url=f"{base}{query}#attempts",
        )

    again = row.drafted - row.asked
    drafted_words = (
        f"{again} drafted again for lost ones" if again > 0 else f"{row.asked - row.drafted} to go"
    )
    if row.drafted == row.asked:
        drafted_words = "each once"
    return (
        stage("Asked", row.asked, row.asked, "the requirement’s count", ()),
        stage("Drafted", row.drafted, row.drafted, drafted_words, ()),
        stage("Valid", row.valid, row.drafted, "form, references and tools hold", reasons("valid")),
        stage("Proven", row.proven, row.valid, "every gate that blocks holds", reasons("proven")),
        stage(
            "Unique",
            row.unique,
            row.proven,
            "no near duplicate: kept as tasks",
            reasons("unique"),
            "?outcome=stored",
        ),
    )


def _repairs(row: GenerationRun) -> list[tuple[str, str, int, int]]:
    """Gate, what was done, how often it was tried, how often the task held afterwards."""
    found: dict[tuple[str, str], list[int]] = {}
    rows = row.attempts.exclude(repairs=[]).values_list("repairs", "proven")
    for repairs, proven in rows[:2000]:
        for repair in repairs:
            key = (str(repair.get("gate", "")), str(repair.get("rule", "")).replace("_", " "))
            tally = found.setdefault(key, [0, 0])
            tally[0] += 1
            tally[1] += bool(proven)
    return [(gate, rule, tried, held) for (gate, rule), (tried, held) in sorted(found.items())]


def _made_filter(row: GenerationRun) -> str:
    """The tasks of a run as a filter: its families, and when it was made."""
    begun = row.created_at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return f"origin:generated family:{','.join(row.families)} created:>={begun}"


def _live_run() -> GenerationRun | None:
    """The run that works right now, if one does."""
    return queries.runs().filter(job__state__in=_ACTIVE).first()


def _initial(request: HttpRequest) -> dict[str, Any]:
    source = asked(request, "from")
    if source:
        return _initial_of(queries.get_run(source))
    seed = secrets.randbelow(_RANDOM_SEEDS)
    family = request.GET.get("family", "")
    level = request.GET.get("difficulty", "")
    return {
        "seed": seed,
        "count": 20,
        # The first family shows best what a task can be.
        "family": family if family in FAMILIES else next(iter(FAMILIES)),
        "difficulty": [level] if level in "12345" and level else [],
    }


def _initial_of(row: GenerationRun) -> dict[str, Any]:
    return {
        "text": row.requirement.text if row.requirement is not None else "",
        "family": row.families[0] if len(row.families) == 1 else ALL_FAMILIES,
        "difficulty": [str(level) for level in row.difficulty],
        "count": row.asked,
        "seed": row.seed,
    }


def _launch(request: HttpRequest, form: GenerateForm) -> str:
    data = form.cleaned_data
    text = data["text"].strip()
    requirement = None
    if text:
        requirement = save_requirement(
            by=principal(request),
            title=text.splitlines()[0][:120],
            text=text,
            families=form.families(),
            difficulty=form.levels(),
            count=data["count"],
            seed=data["seed"],
        ).code
    started = start_generation(
        by=principal(request),
        families=form.families(),
        count=data["count"],
        seed=data["seed"],
        difficulty=form.levels(),
        requirement=requirement,
    )
    return started.code


def _dry_run(form: GenerateForm) -> list[Drafted]:
    data = form.cleaned_data
    made = outcomes(form.families(), DRY, data["seed"], form.levels(), library=False)
    return [_drafted(outcome) for outcome in made]


def _drafted(outcome: Outcome) -> Drafted:
    made = outcome.made
    spec, card = made.spec, made.card
    kept = outcome.fate == "unique"
    repairs = len(made.repairs)
    mended = f", {repairs} repair{'s' if repairs != 1 else ''}" if repairs else ""
    best = card.best_probe if card is not None else None
    return Drafted(
        title=spec.title if spec is not None else made.plan.subtype.replace("_", " "),
        subtype=made.plan.subtype,
        level=made.plan.level,
        request=spec.request.text if spec is not None else "",
        mark="ok" if kept else "bad",
        words=f"proven{mended}" if kept else outcome.reason,
        reference=card.reference.reward if card is not None and card.reference else None,
        probe=best.reward if best is not None else None,
    )


def _add_problems(form: forms.Form, error: Invalid) -> None:
    for problem in error.problems:
        field = {"families": "family"}.get(problem.place, problem.place)
        form.add_error(field if field in form.fields else None, problem.words)
    if not error.problems:
        form.add_error(None, error.detail)
