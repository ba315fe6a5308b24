"""The one place where errors become answers: HTML pages and fragments, and problem documents.

``install(api)`` gives a NinjaAPI its handlers; ``middleware.Errors`` does pages.
"""

import json
import logging
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db.utils import IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.template.loader import render_to_string, select_template
from django.utils.http import url_has_allowed_host_and_scheme
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from psycopg.errors import ForeignKeyViolation, QueryCanceled

from studio.lib.hashing import canonical_json
from studio.web.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Problem,
    SignInRequired,
    StudioError,
    Throttled,
    TooLarge,
    Unavailable,
    problem_document,
)
from studio.web.htmx import is_fragment, target

logger = logging.getLogger(__name__)

PROBLEM_JSON = "application/problem+json"
API_PREFIX = "/api/v1/"
#: What 500 and unlisted statuses become; 4xx keep their number.
_CLASSES: dict[int, type[StudioError]] = {
    400: BadRequest,
    401: SignInRequired,
    403: Forbidden,
    404: NotFound,
    413: TooLarge,
    422: Invalid,
    503: Unavailable,
}


def is_api(request: HttpRequest) -> bool:
    """Whether the answer belongs to a client, not to a reader."""
    return request.path_info.startswith(API_PREFIX)


def page_response(request: HttpRequest, error: StudioError) -> HttpResponse:
    """The error as a page, or as a note in place of the part that htmx asked for."""
    context = {
        "title": error.title,
        "detail": error.detail,
        "problems": error.problems,
        "status": error.status,
        "error": error,
        # The id of the replaced element stays on the note, so that a second try finds its target.
        "id": target(request),
        "again": _shown_at(request) if request.method == "POST" else "",
    }
    if is_fragment(request):
        body = render_to_string("shared/_error.html", context, request)
    else:
        template = select_template([f"{error.status}.html", "shared/error_page.html"])
        # Without the request the frame asks the database nothing: it may be what is away.
        body = template.render(context, None if isinstance(error, Unavailable) else request)
    return _with_headers(HttpResponse(body, status=error.status), error)


def _shown_at(request: HttpRequest) -> str:
    """The page of this studio whose form was sent; empty where the browser does not say."""
    url = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(url, allowed_hosts={request.get_host()}):
        return ""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def api_response(request: HttpRequest, error: StudioError) -> HttpResponse:
    """The error as application/problem+json."""
    body = canonical_json(problem_document(error, request.path))
    return _with_headers(HttpResponse(body, status=error.status, content_type=PROBLEM_JSON), error)


def signed_out_response(request: HttpRequest) -> HttpResponse:
    """To the sign-in page and back; a fragment is told by status, it keeps what was typed."""
    if is_fragment(request):
        return page_response(request, SignInRequired("You are signed out."))
    return redirect_to_login(request.get_full_path(), str(settings.LOGIN_URL))


def unavailable(error: Exception) -> Unavailable:
    """What a database error means to a person: too slow, or away; its own words go to the log."""
    logger.warning("the database failed a request: %s", error)
    if isinstance(error.__cause__, QueryCanceled):
        return Unavailable("This took too long and was stopped. Narrow the filter and try again.")
    return Unavailable("The database does not answer. Try again in a moment.")


def gone_meanwhile(error: IntegrityError) -> Conflict | None:
    """What it means that a row refers to one that is not there: somebody deleted it meanwhile, or
    began to use what is deleted. None for any other broken promise, which is a defect.
    """
    if not isinstance(error.__cause__, ForeignKeyViolation):
        return None
    logger.warning("a request met a row that had gone: %s", error)
    return Conflict(
        "Something that this refers to was deleted meanwhile, or taken into use. Nothing was "
        "changed: load the page again and see what is there."
    )


def install(api: NinjaAPI) -> None:
    """Let every error of the API end in a problem document."""

    def known(request: HttpRequest, error: StudioError | type[StudioError]) -> HttpResponse:
        return api_response(request, error if isinstance(error, StudioError) else error())

    def database(
        request: HttpRequest, error: OperationalError | type[OperationalError]
    ) -> HttpResponse:
        return api_response(
            request, unavailable(error if isinstance(error, Exception) else error())
        )

    def interface(
        request: HttpRequest, error: InterfaceError | type[InterfaceError]
    ) -> HttpResponse:
        return api_response(request, Unavailable("The database does not answer."))

    def broken(request: HttpRequest, error: IntegrityError | type[IntegrityError]) -> HttpResponse:
        found = gone_meanwhile(error) if isinstance(error, IntegrityError) else None
        if found is None:
            raise error
        return api_response(request, found)

    def unauthenticated(
        request: HttpRequest, error: AuthenticationError | type[AuthenticationError]
    ) -> HttpResponse:
        return api_response(
            request, SignInRequired("Send a token: Authorization: Bearer cws_…, or sign in.")
        )

    def unreadable(
        request: HttpRequest, error: ValidationError | type[ValidationError]
    ) -> HttpResponse:
        found = error.errors if isinstance(error, ValidationError) else []
        return api_response(
            request, Invalid("The request does not fit the schema.", [_schema(i) for i in found])
        )

    def plain(request: HttpRequest, error: HttpError | type[HttpError]) -> HttpResponse:
        status = error.status_code if isinstance(error, HttpError) else 500
        kind = _CLASSES.get(status, BadRequest if status < 500 else StudioError)
        cause = error.__cause__ if isinstance(error, HttpError) else None
        return api_response(request, kind(_unreadable_body(cause) or str(error)))

    def missing(request: HttpRequest, error: Http404 | type[Http404]) -> HttpResponse:
        return api_response(request, NotFound(str(error)))

    def denied(
        request: HttpRequest, error: PermissionDenied | type[PermissionDenied]
    ) -> HttpResponse:
        return api_response(request, Forbidden(str(error)))

    def too_big(
        request: HttpRequest, error: RequestDataTooBig | type[RequestDataTooBig]
    ) -> HttpResponse:
        return api_response(request, TooLarge("The body is above the limit."))

    api.add_exception_handler(StudioError, known)
    api.add_exception_handler(OperationalError, database)
    api.add_exception_handler(InterfaceError, interface)
    api.add_exception_handler(IntegrityError, broken)
    api.add_exception_handler(AuthenticationError, unauthenticated)
    api.add_exception_handler(ValidationError, unreadable)
    api.add_exception_handler(HttpError, plain)
    api.add_exception_handler(Http404, missing)
    api.add_exception_handler(PermissionDenied, denied)
    api.add_exception_handler(RequestDataTooBig, too_big)


def _unreadable_body(cause: BaseException | None) -> str:
    """Where reading a JSON body ended and why; empty for other causes."""
    match cause:
        case json.JSONDecodeError():
            place = f"line {cause.lineno}, column {cause.colno}"
            return f"The body is not JSON at {place}: {cause.msg}."
        case UnicodeDecodeError():
            return f"The body is not UTF-8 text at byte {cause.start + 1}."
        case RecursionError():
            return "The body is nested too deeply to be read."
        case RequestDataTooBig():
            return "The body is above the limit. Nothing of it was kept."
        case ValueError():  # Python reads no number of thousands of digits
            return "The body holds a whole number of too many digits."
    return ""


def _schema(error: dict[str, Any]) -> Problem:
    parts = [str(part) for part in error.get("loc", ())]
    if parts[:2] == ["body", "body"]:  # where it was sent, and what the route calls it: the same
        del parts[0]
    code = str(error.get("type", ""))
    said = str(error.get("msg", "is not valid"))
    if code == "extra_forbidden":
        said = "is not known here; /api/docs names what is"
    return Problem(".".join(parts), said, code=code)


def _with_headers(response: HttpResponse, error: StudioError) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    if isinstance(error, Throttled):
        response["Retry-After"] = str(error.retry_after)
    if isinstance(error, SignInRequired):
        response["WWW-Authenticate"] = "Bearer"
    return response
