"""The editor of a task.

What somebody changes goes into their draft at once: half-typed work is kept, on reload and after
a crash. Saving makes the draft the next version; where somebody else was faster it answers 409
with both versions, merges what does not clash, and loses nothing.
"""

import copy
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from studio.web.acts import Act
from studio.web.auth import principal, require
from studio.web.errors import BadRequest, Invalid, Problem, StaleBase
from studio.web.htmx import is_fragment, render_page, see_other
from tasks_app import queries
from tasks_app.core.editing import difference
from tasks_app.core.merging import merge
from tasks_app.core.presenting.places import ChangedPlace, changes, place_of
from tasks_app.jobs import prove_now
from tasks_app.operations.drafts import discard_draft
from tasks_app.operations.tasks import read_spec, save_version
from tasks_app.views.editor.changing import change
from tasks_app.views.editor.desk import Desk, desk_of, keep, merged
from tasks_app.views.editor.look import look
from tasks_app.views.editor.parts import PARTS, part_context, part_links
from tasks_app.views.posted import words

_SAVES: Final = ("save", "save_prove")
_LONGEST_REASON: Final = 1000


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.EDIT)
def task_edit(request: HttpRequest, code: str) -> HttpResponse:
    """The editor; POST keeps a change in the draft, saves it, merges or discards it."""
    desk = desk_of(request, code)
    if request.method != "POST":
        return _page(request, desk)
    act = request.POST.get("act", "keep")
    if act == "discard":
        discard_draft(task=desk.task, by=principal(request).user)
        messages.success(request, "Your unsaved changes are thrown away.")
        return see_other(request, reverse("task", args=[desk.task.code]))
    if act in _SAVES:
        return _save(request, desk, and_prove=act == "save_prove")
    if act == "merge":
        return _merge(request, desk)
    before = copy.deepcopy(desk.document)
    problems = _change(request, desk)
    if desk.document != before or desk.stale:
        keep(request, desk)
    if is_fragment(request):
        return _rail(request, desk, problems)
    if problems:
        return _page(request, desk, problems=problems, status=422)
    return see_other(request, _here(request))


def _change(request: HttpRequest, desk: Desk) -> list[Problem]:
    """Apply what was posted, where another tab or browser of this person's went on as well.

    A page knows the version it shows. Where that was saved over meanwhile, a draft is begun on the
    page's version, so that saving compares; where a draft of its own stands on another version,
    only what was changed on the page goes into it.
    """
    text = request.POST.get("base", "")
    shown_base = int(text) if text.isascii() and text.isdigit() and len(text) < 7 else desk.base
    if shown_base == desk.base:
        return change(request, desk.document)
    began = queries.get_version(desk.task, shown_base).spec
    if desk.draft is None:
        desk.base, desk.began = shown_base, copy.deepcopy(began)
        desk.document = copy.deepcopy(began)
        return change(request, desk.document)
    mine = copy.deepcopy(began)
    problems = change(request, mine)
    desk.document = merge(began, mine, desk.document).document
    return problems


def _here(request: HttpRequest) -> str:
    """The page the form stood on, at the entry it was about."""
    names = ("part", "collection", "record", "raw")
    pairs = {name: request.GET[name] for name in names if request.GET.get(name)}
    if request.POST.get("act") == "add_record" and request.POST.get("collection"):
        pairs["collection"] = request.POST["collection"]
    renamed = request.POST.get("cell:id")
    if renamed and "record" in pairs:
        pairs["record"] = renamed
    if request.POST.get("act", "").startswith(("delete", "keep_entry_json", "keep_record_json")):
        pairs.pop("record", None)
        pairs.pop("raw", None)
    anchor = request.POST.get("anchor", "")
    return f"{request.path}?{urlencode(pairs)}" + (f"#{anchor}" if anchor else "")


# Saving


def _save(request: HttpRequest, desk: Desk, *, and_prove: bool) -> HttpResponse:
    reason = words(request, "reason").strip()[:_LONGEST_REASON]
    approved = desk.task.approved
    void = f" The approval of v{approved.number} is void." if approved is not None else ""
    try:
        spec = read_spec(desk.document)
        saved = save_version(
            task=desk.task, base=desk.base, spec=spec, by=principal(request), reason=reason
        )
    except StaleBase:
        desk.task = queries.get_task(desk.task.code)
        return _page(request, desk, reason=reason, status=409)
    except Invalid as error:
        return _page(request, desk, reason=reason, problems=list(error.problems), status=422)
    if not and_prove:
        messages.success(request, f"Saved as v{saved.current_number}; it is not proven yet.{void}")
        return see_other(request, reverse("task", args=[saved.code]))
    proof = prove_now(task=saved, by=principal(request), after_edit=True)
    if proof.read().proven:
        messages.success(request, f"Saved as v{saved.current_number} and proven.{void}")
    else:
        messages.error(request, f"Saved as v{saved.current_number}; the proof does not hold.{void}")
    return see_other(request, f"{reverse('task', args=[saved.code])}#proof")


def _merge(request: HttpRequest, desk: Desk) -> HttpResponse:
    """Base the draft on the present version: what does not clash merges, the rest is chosen."""
    prefix = "choose:"
    theirs = [
        key.removeprefix(prefix)
        for key in request.POST
        if key.startswith(prefix) and request.POST[key] == "theirs"
    ]
    if request.POST.get("all") == "theirs":
        theirs = [conflict.key for conflict in merged(desk).conflicts]
    if request.POST.get("all") == "mine":
        theirs = []
    desk.document = merged(desk, take_theirs=theirs).document
    desk.base = desk.task.current_number
    keep(request, desk)
    messages.success(request, f"Your draft stands on v{desk.base} now; save it when it is right.")
    return see_other(request, reverse("task-edit", args=[desk.task.code]))


# The page


def _page(
    request: HttpRequest,
    desk: Desk,
    *,
    problems: list[Problem] | None = None,
    reason: str = "",
    status: int = 200,
) -> HttpResponse:
    part = request.GET.get("part") or "request"
    if part not in dict(PARTS):
        raise BadRequest(f"There is no part “{part[:40]}”.")
    context: dict[str, Any] = {
        **_rail_context(desk, problems or []),
        "part": part,
        "part_template": f"tasks/edit/{part}.html",
        "parts": part_links(desk.task, part),
        "reason": reason,
        "doc": desk.document,
        "wrong": {problem.place: problem.message for problem in problems or []},
        **part_context(request, desk, part, problems or []),
    }
    return render_page(request, "tasks/edit.html", None, context, status=status)


def _rail(request: HttpRequest, desk: Desk, problems: list[Problem]) -> HttpResponse:
    context = {**_rail_context(desk, problems), "overtaken": desk.stale}
    response = render_page(request, "tasks/edit/_check.html", None, context)
    if problems:
        response.status_code = 422
    return response


def _rail_context(desk: Desk, problems: list[Problem]) -> dict[str, Any]:
    spec, faults = look(desk)
    written = spec.written() if spec is not None else desk.document
    changed = _changes(desk.began, written)
    return {
        "task": desk.task,
        "base": desk.base,
        "draft": desk.draft,
        "stale": desk.stale,
        "conflict": merged(desk) if desk.stale else None,
        "newest": queries.get_version(desk.task) if desk.stale else None,
        "problems": problems,
        "not_kept": [(_field_words(desk, problem.place), problem) for problem in problems],
        "faults": faults,
        "loads": spec is not None,
        "changed": changed,
    }


def _field_words(desk: Desk, field: str) -> str:
    """What a person calls a field that was posted: a place of the task, or a cell of its record."""
    if field.startswith("/"):
        return place_of(desk.document, field).words if field != "/" else ""
    return field.removeprefix("cell:").replace("_", " ")


def _changes(began: dict[str, Any], written: Mapping[str, Any]) -> tuple[ChangedPlace, ...]:
    return changes(began, written) if difference(began, written) else ()
