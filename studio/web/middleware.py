"""What every request passes: account required, size limit, content security policy, errors.

In this order in MIDDLEWARE: ``ContentSecurityPolicy`` early (error pages need the header too),
``RequestSize`` before anything reads the body, ``AccountRequired`` after authentication and htmx,
``Methods`` behind it, ``Errors`` last, so that it sees what views raise.
"""

import base64
import secrets
from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedHost, PermissionDenied
from django.db.utils import IntegrityError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.urls import Resolver404, resolve

from studio.web.errors import (
    BadRequest,
    Forbidden,
    NotAllowed,
    NotFound,
    SignInRequired,
    StudioError,
    TooLarge,
)
from studio.web.htmx import is_fragment
from studio.web.problems import (
    api_response,
    gone_meanwhile,
    is_api,
    page_response,
    signed_out_response,
    unavailable,
)

GetResponse = Callable[[HttpRequest], HttpResponseBase]

#: Bytes of a request body, where the setting STUDIO_MAX_BODY_BYTES does not say otherwise.
DEFAULT_MAX_BODY = 20 * 2**20
#: Bytes of a refused body that are still read so that the answer arrives.
MOST_DRAINED = 256 * 2**20
_PIECE = 2**16
#: The hash of the empty string: Plotly inserts an empty style element and fills it by script.
EMPTY_STYLE = "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"


class ContentSecurityPolicy:
    """Only our own files, and inline script only with this request's nonce."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Make the nonce (``request.csp_nonce``) and set the header."""
        nonce = base64.b64encode(secrets.token_bytes(16)).decode("ascii")
        request.csp_nonce = nonce  # type: ignore[attr-defined]  # ours; read by templates
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy(nonce))
        return response


def policy(nonce: str) -> str:
    """The header's value."""
    return "; ".join(
        (
            "default-src 'self'",
            f"script-src 'self' 'nonce-{nonce}'",
            f"style-src 'self' {EMPTY_STYLE}",
            # Icons drawn in style sheets, ours and the API page's, are data URLs.
            "img-src 'self' data:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


class RequestSize:
    """Refuses a body above the limit; nothing of it is kept."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """413 with both numbers."""
        limit = int(getattr(settings, "STUDIO_MAX_BODY_BYTES", DEFAULT_MAX_BODY))
        try:
            length = int(request.META.get("CONTENT_LENGTH") or 0)
        except ValueError:
            length = 0
        if length > limit:
            error = TooLarge(
                f"This is {_megabytes(length)}; the limit is {_megabytes(limit)}. "
                "Nothing of it was kept.",
                limit=limit,
            )
            _drain(request, length)
            answer = api_response if is_api(request) else page_response
            return answer(request, error)
        return self.get_response(request)


class AccountRequired:
    """Nobody in without an account: anonymous visitors reach the ways in and nothing else.

    The API answers for itself (401 as a problem document). A view opens itself to everybody with
    Django's ``login_not_required``.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on, or send to the sign-in page."""
        if self._open(request):
            return self.get_response(request)
        try:
            # The first question of a request to the database: who is this?
            signed_in = request.user.is_authenticated
        except (OperationalError, InterfaceError) as error:
            return page_response(request, unavailable(error))
        if signed_in:
            return self.get_response(request)
        if is_fragment(request):
            return signed_out_response(request)
        return redirect_to_login(request.get_full_path(), str(settings.LOGIN_URL))

    @staticmethod
    def _open(request: HttpRequest) -> bool:
        path = request.path_info
        if path.startswith((str(settings.STATIC_URL), "/api/v1/")):
            return True
        try:
            view = resolve(path).func
        except Resolver404:
            # An unknown address is none of an anonymous visitor's business either.
            return False
        return getattr(view, "login_required", True) is False


class Methods:
    """HEAD wherever GET is, as HTTP wants it; any other method that an address does not take is
    answered in words, not with an empty page.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """The answer to GET without its body, or the reason of a 405 with the header Allow."""
        if request.method == "HEAD":
            request.method = "GET"
            return _without_body(self._answer(request))
        return self._answer(request)

    def _answer(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        if response.status_code != NotAllowed.status:
            return response
        allowed = response.headers.get("Allow", "")
        said = f"{request.method} is not for this address; it takes {allowed}. Nothing was changed."
        if is_api(request):
            told = api_response(request, NotAllowed(said))
        else:
            hint = "Whoever came here from the sign-in page: go back and press the button again."
            told = page_response(request, NotAllowed(f"{said} {hint}"))
        told.headers["Allow"] = allowed
        return told


def _without_body(response: HttpResponseBase) -> HttpResponseBase:
    """The same head; what would be written is not."""
    if isinstance(response, HttpResponse):
        response.headers.setdefault("Content-Length", str(len(response.content)))
        response.content = b""
        return response
    response.close()
    return HttpResponse(status=response.status_code, headers=dict(response.headers))


class Errors:
    """Turns what views raise into pages; the API has handlers of its own."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Nothing to do when nothing was raised."""
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The page of a StudioError, or of a database that is away or too slow; else a 500."""
        if isinstance(exception, PermissionDenied):
            exception = Forbidden(str(exception))
        if isinstance(exception, OperationalError | InterfaceError):
            exception = unavailable(exception)
        if isinstance(exception, IntegrityError):
            exception = gone_meanwhile(exception) or exception
        if not isinstance(exception, StudioError):
            return None
        if is_api(request):
            return api_response(request, exception)
        if isinstance(exception, SignInRequired):
            return signed_out_response(request)
        return page_response(request, exception)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """For ``handler404``: the same page, or problem document, as a NotFound raised by a view."""
    error = NotFound("There is nothing at this address.")
    return api_response(request, error) if is_api(request) else page_response(request, error)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """For ``handler400``: what Django itself cannot read, such as a form without boundary."""
    said = f"This request cannot be read: {str(exception)[:200]}"
    if isinstance(exception, DisallowedHost):
        host = str(request.META.get("HTTP_HOST", ""))[:100]
        said = (
            f"This studio does not answer to the host “{host}”. Name it in STUDIO_ALLOWED_HOSTS, "
            "beside those that are there, and start the studio again."
        )
    error = BadRequest(said)
    return api_response(request, error) if is_api(request) else page_response(request, error)


def server_error(request: HttpRequest) -> HttpResponse:
    """For ``handler500``: a defect is a problem document to a client, a page to a reader."""
    if is_api(request):
        return api_response(
            request,
            StudioError(
                "This is a defect of the studio; its log says more. Nothing was changed by this."
            ),
        )
    return HttpResponse(render_to_string("500.html"), status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """For CSRF_FAILURE_VIEW: our page; the policy would leave Django's own unstyled."""
    error = Forbidden(
        "The form was open too long, or it was not sent from this site. Nothing was changed: "
        "go back, reload the page and send it again."
    )
    return api_response(request, error) if is_api(request) else page_response(request, error)


def _drain(request: HttpRequest, length: int) -> None:
    """Read a refused body and forget it: many clients read no answer before all is sent.

    Who sends more than any honest upload is cut off.
    """
    left = length if length <= MOST_DRAINED else 0
    while left > 0:
        piece = request.read(min(left, _PIECE))
        if not piece:
            break
        left -= len(piece)


def _megabytes(number: int) -> str:
    return f"{number / 2**20:.1f} MB"
