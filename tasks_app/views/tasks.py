"""The task list, what is done with chosen rows, and new tasks."""

from dataclasses import dataclass
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from studio.web import saved_views
from studio.web.acts import Act
from studio.web.audit import storable
from studio.web.auth import ensure, may, principal, require
from studio.web.errors import BadRequest, Conflict
from studio.web.filter_line import FilterLine, drops, filter_line, list_url
from studio.web.htmx import render_page, see_other
from tasks_app import queries
from tasks_app.enums import Act as TaskAct
from tasks_app.enums import TaskState
from tasks_app.jobs import prove_now
from tasks_app.models import Task
from tasks_app.operations.transitions import can
from tasks_app.operations.verdicts import retire
from tasks_app.views.gates import GateCell, strip_of
from tasks_app.views.posted import words

SIZE: Final = 50
MOST_VIEWS: Final = 6
SORTS: Final = {
    "newest": "newest first",
    "oldest": "oldest first",
    "edited": "last edit",
    "title": "title",
    "easiest": "easiest first",
    "hardest": "hardest first",
    "tokens": "longest reading",
    "proven": "last proof",
    "findings": "most findings",
    "probe": "highest probe",
}
"""Orders of the list as people call them."""
VIEWS: Final = (
    ("All", ""),
    ("To mend", "state:invalid,draft"),
    ("To judge", "state:proven,in_review"),
    ("Approved", "state:approved"),
    ("Hard", "difficulty:>=4"),
)
FACETS: Final = (
    ("state", "State"),
    ("family", "Family"),
    ("difficulty", "Difficulty"),
    ("subtype", "Subtype"),
    ("track", "Track"),
    ("origin", "Origin"),
)


@dataclass(frozen=True)
class Row:
    """A task in the list."""

    task: Task
    gates: tuple[GateCell, ...]

    @property
    def more(self) -> int:
        """How many capabilities stand behind the first two."""
        return max(0, len(self.task.capabilities) - 2)


@dataclass(frozen=True)
class Choice:
    """One value of a facet."""

    label: str
    count: int
    url: str
    on: bool


@dataclass(frozen=True)
class Facet:
    """A column whose values can be chosen."""

    label: str
    choices: tuple[Choice, ...]


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def task_list(request: HttpRequest) -> HttpResponse:
    """Tasks under a filter; 400 with the good terms' rows where a term is wrong."""
    if request.method == "POST":
        return _bulk(request)
    order = request.GET.get("sort") or "newest"
    if order not in SORTS:
        raise BadRequest(f"There is no order “{order}”; known are {', '.join(SORTS)}.")
    line = filter_line(request, queries.TASKS, noun="tasks", keep=("sort",))
    found = queries.task_page(line.good, order=order, cursor=request.GET.get("cursor"), size=SIZE)
    page = found.page
    nothing = not page.rows
    context: dict[str, Any] = {
        "filter": line,
        "rows": [Row(task, strip_of(task)) for task in page.rows],
        "total": str(found.count),
        "sort": order,
        "sort_words": SORTS[order],
        "sorts": [(words, line.url(line.good, sort=name)) for name, words in SORTS.items()],
        "heads": _heads(line, order),
        "newer_url": _page_url(line, page.previous_cursor),
        "older_url": _page_url(line, page.next_cursor),
        "facets": _facets(line),
        "views": _views(request, line),
        "view_query": line.text,
        "drops": drops(line, queries.TASKS, Task.objects.all())[:3] if nothing else [],
        "library_empty": nothing and not line.text and not Task.objects.exists(),
        "bulk_actions": _bulk_actions(request),
    }
    return render_page(
        request,
        "tasks/list.html",
        {"tasks": "tasks/_list.html"},
        context,
        status=400 if line.problems else 200,
    )


def _page_url(line: FilterLine, cursor: str | None) -> str:
    return line.url(line.good, cursor=cursor) if cursor else ""


def _heads(line: FilterLine, order: str) -> dict[str, dict[str, str]]:
    """Heading → where a click leads and how the list is sorted by it now."""

    def head(first: str, second: str | None = None, *, falls: bool = True) -> dict[str, str]:
        follows = second if order == first and second else first
        sort = ""
        if order == first:
            sort = "descending" if falls else "ascending"
        elif order == second:
            sort = "ascending" if falls else "descending"
        return {"url": line.url(line.good, sort=follows), "sort": sort}

    return {
        "title": head("title", falls=False),
        "difficulty": head("hardest", "easiest"),
        "probe": head("probe"),
        "findings": head("findings"),
        "edited": head("edited"),
    }


def _facets(line: FilterLine) -> tuple[Facet, ...]:
    facets = []
    for key, label in FACETS:
        rest = " ".join(
            term.render() for term in line.query.terms if term.key != key or term.negated
        )
        counts = queries.facet_counts(rest, [key])[key]
        if key == "state":
            counts = {state: counts[state] for state in TaskState.values if state in counts}
        elif key == "difficulty":
            counts = dict(sorted(counts.items()))
        choices = tuple(
            Choice(value.replace("_", " "), count, line.toggled(key, value), line.has(key, value))
            for value, count in counts.items()
        )
        if len(choices) > 1 or any(choice.on for choice in choices):
            facets.append(Facet(label, choices))
    return tuple(facets)


def _views(request: HttpRequest, line: FilterLine) -> list[dict[str, Any]]:
    here = line.text.split()
    known = [*VIEWS]
    saved = saved_views.views_for(principal(request).user, "tasks")
    known += [(view.name, view.query) for view in saved[:MOST_VIEWS]]
    return [
        {
            "label": name,
            "url": list_url(line.action, text),
            "current": text.split() == here,
            "count": None,
        }
        for name, text in known
    ]


# Chosen rows


def _bulk_actions(request: HttpRequest) -> list[dict[str, str]]:
    actions = []
    if may(request, Act.EDIT):
        actions.append({"label": "Prove again", "value": "prove", "key": "p", "kind": ""})
    if may(request, Act.ROLL_OUT):
        actions.append({"label": "Roll out", "value": "roll_out", "key": "r", "kind": ""})
    if may(request, Act.EDIT):
        actions.append({"label": "Retire", "value": "retire", "key": "", "kind": "no"})
    return actions


def _bulk(request: HttpRequest) -> HttpResponse:
    """An act on the rows that are ticked, and back to the list; a saved view."""
    back = reverse("tasks")
    query = request.POST.get("q", "")[:2000]
    here = list_url(back, query)
    action = request.POST.get("action", "")
    if action == "save_view":
        return _save_view(request, query, here)
    codes = [storable(code).strip().upper() for code in request.POST.getlist("code")][:SIZE]
    if not codes:
        messages.error(request, "Choose rows first, with x or by ticking them.")
        return see_other(request, here)
    if action == "roll_out":
        ensure(principal(request), Act.ROLL_OUT)
        return see_other(request, list_url("/rollouts/", "", tasks=f"code:{','.join(codes)}"))
    if action not in ("prove", "retire"):
        raise BadRequest(f"There is no bulk action “{action}”.")
    ensure(principal(request), Act.EDIT)
    tasks = Task.objects.select_related("current", "proof").filter(code__in=codes)
    done, refused = (_prove if action == "prove" else _retire)(request, list(tasks))
    if done:
        messages.success(request, done)
    if refused:
        messages.error(request, refused)
    return see_other(request, here)


def _prove(request: HttpRequest, tasks: list[Task]) -> tuple[str, str]:
    verdicts = []
    refused = []
    library = queries.Library()
    for task in sorted(tasks, key=lambda task: task.pk):  # so that one library serves them all
        try:
            proof = prove_now(task=task, by=principal(request), library=library)
            verdicts.append(proof.verdict)
        except Conflict:
            refused.append(task.code)
    proven = verdicts.count("proven")
    said = f"{proven} of {len(verdicts)} proven." if verdicts else ""
    return said, f"Not proven in their state: {', '.join(refused)}." if refused else ""


def _retire(request: HttpRequest, tasks: list[Task]) -> tuple[str, str]:
    chosen = [task for task in tasks if can(task, TaskAct.RETIRE)]
    for task in chosen:
        retire(task=task, by=principal(request))
    left = [task.code for task in tasks if task not in chosen]
    said = f"{len(chosen)} retired." if chosen else ""
    return said, f"Only judged tasks can be retired, not {', '.join(left)}." if left else ""


def _save_view(request: HttpRequest, query: str, here: str) -> HttpResponse:
    name = words(request, "name").strip()[:60]
    if not name:
        messages.error(request, "Give the view a name.")
        return see_other(request, here)
    queries.TASKS.compile(query)
    saved_views.save_view(principal(request), page="tasks", name=name, query=query)
    messages.success(request, f"Saved as “{name}”.")
    return see_other(request, here)
