"""Endpoints: the list with what each was found to take, the form, and the button that probes."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from studio.web.acts import Act
from studio.web.auth import ensure, may, principal, require
from studio.web.errors import Invalid
from studio.web.htmx import etag, render_page, see_other, unchanged
from tasks_app import queries
from tasks_app.forms import EndpointForm
from tasks_app.jobs import start_probe
from tasks_app.models import ModelEndpoint
from tasks_app.operations.endpoints import create_endpoint, edit_endpoint, set_active

_FRAGMENTS: Final = {"endpoints": "endpoints/_list.html"}


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def endpoint_list(request: HttpRequest) -> HttpResponse:
    """All endpoints and the form; a POST adds one (303), or shows what is wrong (422)."""
    if request.method == "POST":
        ensure(principal(request), Act.MANAGE_ENDPOINTS)
        form = EndpointForm(request.POST)
        row = _kept(request, form, None)
        if row is not None:
            messages.success(request, f"{row.name} is kept. Probe it to see what it takes.")
            return see_other(request, reverse("endpoints"))
        return _page(request, form, status=422)
    return _page(request, EndpointForm())


def _page(request: HttpRequest, form: EndpointForm, *, status: int = 200) -> HttpResponse:
    rows = list(queries.endpoints())
    token = [[r.name, r.probed_at, r.active, r.job.state if r.job else ""] for r in rows]
    same = unchanged(request, token) if request.method == "GET" else None
    if same is not None:
        return same
    context = {
        "rows": rows,
        "form": form,
        "may_manage": may(request, Act.MANAGE_ENDPOINTS),
        "may_roll_out": may(request, Act.ROLL_OUT),
        "probing": any(row.job is not None and not row.job.is_finished for row in rows),
        "etag": etag(token),
    }
    response = render_page(request, "endpoints/list.html", _FRAGMENTS, context, status=status)
    response["ETag"] = etag(token)
    return response


@never_cache
@require_http_methods(["GET", "POST"])
@require(Act.READ)
def endpoint(request: HttpRequest, name: str) -> HttpResponse:
    """One endpoint and, for administrators, the form that changes it."""
    row = queries.get_endpoint(name)
    status = 200
    if request.method == "POST":
        ensure(principal(request), Act.MANAGE_ENDPOINTS)
        form = EndpointForm({**request.POST.dict(), **_lists(request), "name": row.name})
        if _kept(request, form, row) is not None:
            messages.success(request, f"{row.name} is changed.")
            return see_other(request, reverse("endpoints"))
        status = 422
    else:
        form = EndpointForm(initial=_initial(row))
    form.fields["name"].disabled = True
    context = {"row": row, "form": form, "may_manage": may(request, Act.MANAGE_ENDPOINTS)}
    return render_page(request, "endpoints/endpoint.html", None, context, status=status)


def _lists(request: HttpRequest) -> dict[str, Any]:
    return {"roles": request.POST.getlist("roles")}


def _initial(row: ModelEndpoint) -> dict[str, Any]:
    plain = {n: getattr(row, n) for n in ("name", "base_url", "model", "api_key_env", "roles")}
    return {**plain, **row.sampling}


def _kept(
    request: HttpRequest, form: EndpointForm, row: ModelEndpoint | None
) -> ModelEndpoint | None:
    """Keep what the form says; None, with errors in the form, where that cannot be."""
    if not form.is_valid():
        return None
    by, data = principal(request), form.cleaned_data
    fields: dict[str, Any] = {
        **{name: data[name] for name in ("base_url", "model", "api_key_env", "roles")},
        "sampling": form.sampling(),
    }
    try:
        if row is None:
            return create_endpoint(by=by, name=data["name"], **fields)
        return edit_endpoint(by=by, endpoint=row, **fields)
    except Invalid as error:
        for problem in error.problems:
            place = problem.place.removeprefix("sampling.")
            words = f"{problem.message}. {problem.hint}".strip(". ") + "."
            form.add_error(place if place in form.fields else None, words[:1].upper() + words[1:])
    return None


@require_POST
@require(Act.MANAGE_ENDPOINTS)
def endpoint_probe(request: HttpRequest, name: str) -> HttpResponse:
    """Let a worker probe it; the list says what came of that."""
    row = queries.get_endpoint(name)
    if row.job is None or row.job.is_finished:
        start_probe(by=principal(request), endpoint=row)
    return see_other(request, reverse("endpoints"))


@require_POST
@require(Act.MANAGE_ENDPOINTS)
def endpoint_active(request: HttpRequest, name: str) -> HttpResponse:
    """Offer it for new batches, or not any more."""
    row = queries.get_endpoint(name)
    active = request.POST.get("active") == "yes"
    set_active(by=principal(request), endpoint=row, active=active)
    words = "is offered again" if active else "is not offered any more; what it said stays"
    messages.success(request, f"{row.name} {words}.")
    return see_other(request, reverse("endpoints"))
