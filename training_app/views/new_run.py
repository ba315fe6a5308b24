"""Starting a run: a preset, what is to differ, and what stands in the way."""

from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from studio.web.acts import Act
from studio.web.auth import ensure, may, principal, require
from studio.web.errors import Invalid, NotFound
from studio.web.htmx import render_page, see_other
from training_app.charts.looks import CONTROL, LOOKS, Look
from training_app.core.recipe import PRESETS, Recipe
from training_app.enums import Algorithm
from training_app.forms.runs import ONLINE_ONLY, RunForm, preset_words
from training_app.jobs.runs import start_run
from training_app.models import Checkpoint, Dataset, TrainingRun
from training_app.operations.runs import chosen_recipe
from training_app.queries import runs
from training_app.queries.datasets import get_dataset
from training_app.queries.preflight import look_ahead
from training_app.views.recipes import values_of

_PREFILLED = ("preset", "dataset", "init", "seed")


class Offer(NamedTuple):
    """A preset to choose from."""

    name: str
    words: str
    look: Look
    chosen: bool


class Chosen(NamedTuple):
    """What the form amounts to."""

    recipe: Recipe
    dataset: Dataset | None
    parent: Checkpoint | None


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def run_new(request: HttpRequest) -> HttpResponse:
    """The form beside the recipe that it makes; a POST starts a run (303) or says why not (422)."""
    status = 200
    if request.method == "POST":
        form = RunForm(request.POST)
        started = _start(request, form)
        if started is not None:
            return see_other(request, reverse("run", args=[started.code]))
        status = 422
    elif "shown" in request.GET:
        form = RunForm(request.GET)
    else:
        form = RunForm(initial=_initial(request))
    chosen = _chosen(form)
    context = {
        "form": form,
        "offers": _offers(form),
        "fields": [form[name] for name in _shown(form)],
        "changed": _changed(form, chosen),
        "chosen": chosen,
        "values": values_of(chosen.recipe, form.base) if chosen is not None else [],
        "findings": look_ahead(*chosen) if chosen is not None else (),
        "may_train": may(request, Act.TRAIN),
    }
    return render_page(
        request, "training/run_new.html", {"recipe": "training/_run_recipe.html"}, context,
        status=status,
    )  # fmt: skip


def _initial(request: HttpRequest) -> dict[str, Any]:
    """What links prefill: a preset, a dataset, a checkpoint."""
    found: dict[str, Any] = {n: request.GET[n] for n in _PREFILLED if request.GET.get(n)}
    if found.get("preset") not in PRESETS:
        found["preset"] = "cpu-tiny-grpo" if "init" in found else next(iter(PRESETS))
    return found


def _shown(form: RunForm) -> list[str]:
    """The plain fields of a preset."""
    names = ["seed", "steps", "batch", "learning_rate", "group", "per_generation", "final_tasks"]
    return [name for name in names if form.base.online or name not in ONLINE_ONLY]


def _offers(form: RunForm) -> list[Offer]:
    chosen = form["preset"].value()
    return [
        Offer(
            name,
            preset_words(name),
            CONTROL
            if recipe.online and recipe.learning_rate == 0
            else LOOKS[Algorithm(recipe.algorithm)],
            name == chosen,
        )
        for name, recipe in PRESETS.items()
    ]


def _chosen(form: RunForm) -> Chosen | None:
    """The recipe as the form has it; None, with errors in the form, where it is none."""
    if form.is_bound:
        if not form.is_valid():
            return None
        data, changes, seed = form.cleaned_data, form.changes(), form.cleaned_data["seed"]
    else:
        data, changes, seed = dict(form.initial), {}, None
    try:
        recipe = chosen_recipe(preset=str(data["preset"]), changes=changes, seed=seed)
    except Invalid as error:
        if form.is_bound:
            form.show(error.problems, error.detail)
        return None
    return Chosen(recipe, _dataset(data.get("dataset")), _parent(data.get("init")))


def _dataset(code: Any) -> Dataset | None:
    try:
        return get_dataset(str(code)) if code else None
    except NotFound:
        return None


def _parent(code: Any) -> Checkpoint | None:
    try:
        return runs.get_checkpoint(str(code)) if code else None
    except NotFound:
        return None


def _changed(form: RunForm, chosen: Chosen | None) -> list[str]:
    """Fields whose value is another than the preset's."""
    if chosen is None:
        return []
    places = chosen.recipe.changed(form.base)
    return [name for name, place in {"seed": "seed", **form.places}.items() if place in places]


def _start(request: HttpRequest, form: RunForm) -> TrainingRun | None:
    """Start what the form asks for; None, with errors in the form, where that cannot be."""
    ensure(principal(request), Act.TRAIN)
    if not form.is_valid():
        return None
    data = form.cleaned_data
    try:
        return start_run(
            preset=data["preset"],
            changes=form.changes(),
            dataset=_dataset(data["dataset"]),
            parent=_parent(data["init"]),
            seed=data["seed"],
            by=principal(request),
        )
    except Invalid as error:
        form.show(error.problems, error.detail)
    return None
