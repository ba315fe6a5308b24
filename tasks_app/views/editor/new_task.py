"""New tasks: a few words, a drafted one to change, or a spec as JSON."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from studio.web.acts import Act
from studio.web.auth import principal, require
from studio.web.errors import BadRequest, Invalid, Problem
from studio.web.htmx import render_page, see_other
from tasks_app.core.presenting.lines import line_of, lines
from tasks_app.core.services.catalog import collections, tools
from tasks_app.core.spec import TaskSpec
from tasks_app.enums import Origin
from tasks_app.forms import DraftedForm, JsonForm, NewTaskForm
from tasks_app.making import outcomes
from tasks_app.operations.tasks import create_task, read_spec

_FIRST_MOMENT: Final = "2031-03-20T09:10:00+01:00"


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.EDIT)
def task_new(request: HttpRequest) -> HttpResponse:
    """Begin a task: a few words, a drafted one to change, or a spec as JSON."""
    kind = request.POST.get("kind", "")
    forms = {
        "words": NewTaskForm(request.POST if kind == "words" else None),
        "drafted": DraftedForm(request.POST if kind == "drafted" else None),
        "json": JsonForm(request.POST if kind == "json" else None),
    }
    if request.method != "POST":
        return render_page(request, "tasks/new.html", None, {"forms": forms})
    form = forms.get(kind)
    if form is None:
        raise BadRequest("Say how the task begins.")
    problems: list[tuple[int | None, str, str]] = []
    if form.is_valid():
        try:
            spec = _new_spec(kind, form)
        except Invalid as error:
            known = lines(request.POST.get("spec", ""))
            for problem in error.problems:
                at = "" if problem.place == "/" else problem.place
                problems.append((line_of(known, at), problem.place, problem.message))
            form.add_error(None, "Nothing was made: this is not a task spec yet.")
        else:
            origin = Origin.GENERATED if kind == "drafted" else Origin.WRITTEN
            made = create_task(spec=spec, by=principal(request), origin=origin)
            messages.success(request, f"{made.code} is made: a draft, not proven yet.")
            return see_other(request, reverse("task-edit", args=[made.code]))
    context = {"forms": forms, "kind": kind, "json_problems": problems}
    return render_page(request, "tasks/new.html", None, context, status=422)


def _new_spec(kind: str, form: Any) -> TaskSpec:
    data = form.cleaned_data
    if kind == "json":
        return read_spec(data["spec"])
    if kind == "drafted":
        made = next(
            iter(outcomes([data["family"]], 1, data["seed"], [int(data["level"])], library=False))
        ).made
        if made.spec is None:
            raise Invalid(made.reason, [Problem("/", made.reason)])
        return made.spec
    return read_spec(_skeleton(data))


def _skeleton(data: Mapping[str, Any]) -> dict[str, Any]:
    """The least spec: it loads, and its proof says what is missing."""
    chosen = data["services"]
    known = collections()
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in data["title"].lower())
    return {
        "format": "coworker-task/1",
        "slug": "-".join(part for part in slug.split("-") if part)[:90] or "task",
        "title": data["title"],
        "track": "claw_eval",
        "family": data["family"],
        "subtype": data["subtype"],
        "difficulty": {"level": int(data["level"])},
        "clock": {"start": _FIRST_MOMENT, "zone": "Europe/Berlin"},
        "seed": 1,
        "workplace": {
            "organisation": data["organisation"],
            "coworker": {"role": "office assistant"},
            "requester": {"name": data["requester"]},
        },
        "request": {"text": data["request"].replace("\r\n", "\n")},
        "services": {
            service: {
                place.partition("/")[2]: [] for place in known if place.partition("/")[0] == service
            }
            for service in chosen
        },
        "tools": [name for name, tool in tools().items() if tool.facts.service in chosen],
    }
