"""What may stand in the address of an API call behind the question mark: what its route names.

A misspelt name is refused, as a member of a body is: left out in silence, `?filter=…` in place of
`?q=…` would mean every task there is.
"""

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from studio.api import api
from studio.web.errors import Invalid, Problem
from studio.web.problems import api_response, is_api

_PART: Final = re.compile(r"<(?:\w+:)?(\w+)>")
_MOST_NAMED: Final = 10
_LONGEST: Final = 60


class KnownQueries:
    """The middleware, behind all others: it needs the route that was found."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: Any, _args: Any, _kwargs: Any
    ) -> HttpResponse | None:
        """422 with every name that the route does not know."""
        if not is_api(request) or request.resolver_match is None:
            return None
        method = "get" if request.method == "HEAD" else str(request.method).lower()
        route = "/" + _PART.sub(r"{\1}", request.resolver_match.route)
        known = _queries().get((route, method))
        if known is None:
            return None
        unknown = [name for name in request.GET if name not in known]
        if not unknown:
            return None
        hint = f"Known are {', '.join(sorted(known))}." if known else "This route takes none."
        problems = [
            Problem(f"query.{name[:_LONGEST]}", "is not known here", hint, code="unknown")
            for name in unknown[:_MOST_NAMED]
        ]
        return api_response(request, Invalid("The request does not fit the schema.", problems))


@functools.cache
def _queries() -> Mapping[tuple[str, str], frozenset[str]]:
    """Route and method → the names that it takes."""
    return {
        (route, method): frozenset(
            given["name"] for given in operation.get("parameters", ()) if given["in"] == "query"
        )
        for route, operations in api.get_openapi_schema()["paths"].items()
        for method, operation in operations.items()
    }
