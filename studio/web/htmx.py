"""One view, one URL: the full page, or a fragment of it when htmx asks.

::

    return render_page(request, "tasks/list.html", {"rows": "tasks/_rows.html"}, context)

``fragments`` maps the id of the htmx target to the template that fills it; any other request gets
the page. ``see_other(request, url)`` ends a form that succeeded, ``unchanged(request, token)``
answers a poll with 304.
"""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.http import quote_etag
from django_htmx.middleware import HtmxDetails

from studio.lib.hashing import short_hash


def details(request: HttpRequest) -> HtmxDetails | None:
    """What htmx said about the request; None where the middleware is not installed."""
    found = getattr(request, "htmx", None)
    return found if isinstance(found, HtmxDetails) else None


def is_fragment(request: HttpRequest) -> bool:
    """Whether htmx will swap the answer into a part of the page."""
    found = details(request)
    return (
        bool(found)
        and found is not None
        and not found.boosted
        and not found.history_restore_request
    )


def target(request: HttpRequest) -> str:
    """The id of the element that the answer goes into; empty for a whole page."""
    found = details(request)
    return (found.target or "") if found is not None and is_fragment(request) else ""


def render_page(
    request: HttpRequest,
    template: str,
    fragments: Mapping[str, str] | None = None,
    context: Mapping[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """The page, or the fragment for the asking element; caches are told that they differ."""
    chosen = (fragments or {}).get(target(request), template)
    response = render(request, chosen, dict(context or {}), status=status)
    patch_vary_headers(response, ("HX-Request", "HX-Target"))
    return response


def see_other(request: HttpRequest, url: str) -> HttpResponse:
    """303 for a form without JavaScript; for htmx a full visit of ``url``."""
    if is_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return HttpResponse(status=303, headers={"Location": url})


def etag(token: object) -> str:
    """A validator of what decides the answer: a state, a counter, a last id (plain values)."""
    return quote_etag(short_hash(repr(token), 20))


def unchanged(request: HttpRequest, token: object) -> HttpResponse | None:
    """304 when the poller has this state already, else None; ``etag(token)`` is the header."""
    if etag(token) in [
        part.strip() for part in request.headers.get("If-None-Match", "").split(",")
    ]:
        response = HttpResponseNotModified()
        response["ETag"] = etag(token)
        return response
    return None
