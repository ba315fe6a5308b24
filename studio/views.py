"""Pages of the composition: home, health, search by code, the API's own page."""

from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.db import connection
from django.db.utils import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET
from ninja.openapi.docs import Swagger

from studio.api import api
from studio.home import gather
from studio.places import place_of
from studio.web.acts import Act
from studio.web.auth import principal, require
from studio.web.htmx import render_page, see_other


@never_cache
@require_GET
@require(Act.READ)
def home(request: HttpRequest) -> HttpResponse:
    """What to do next; the moving part alone when htmx asks for it."""
    context = gather(principal(request))
    return render_page(request, "home.html", {"home-live": "_home_live.html"}, context)


@login_not_required
@never_cache
@require_GET
def health(request: HttpRequest) -> HttpResponse:
    """For load balancers: 200 when the database answers, else 503. Says nothing to strangers."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (OperationalError, InterfaceError):
        return JsonResponse({"status": "no database"}, status=503)
    return JsonResponse({"status": "ok"})


@require_GET
@require(Act.READ)
def search(request: HttpRequest) -> HttpResponse:
    """A code leads to its page, anything else to the tasks that it finds."""
    text = request.GET.get("q", "").strip()
    place = place_of(text)
    if place:
        return see_other(request, place)
    return see_other(request, f"/tasks/?{urlencode({'q': text})}" if text else "/tasks/")


@require_GET
@require(Act.READ)
def api_docs(request: HttpRequest) -> HttpResponse:
    """The API's page, from files that come with its package: nothing from elsewhere."""
    settings: dict[str, Any] = {"persistAuthorization": False, "tryItOutEnabled": True}
    return Swagger(settings).render_page(request, api)
