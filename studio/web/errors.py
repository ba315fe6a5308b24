"""Errors of the application, and the one place where they become pages and problem documents.

Raise them anywhere below the views::

    raise NotFound("There is no task T-4F7K.")
    raise StaleBase("Somebody saved version 4 meanwhile.", current=4)
    raise Invalid("The spec is not valid.", [Problem("records.crm", "must be an object")])

``middleware.Errors`` turns them into an HTML page or fragment with the right status;
``install(api)`` turns them into ``application/problem+json``. A view that wants to show an error
itself (a form, a filter) catches it and reads ``problems``.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar

from studio.lib.jsonvalue import JsonObject, JsonValue


@dataclass(frozen=True)
class Problem:
    """One fault: where it is, what is wrong, what to do about it."""

    place: str
    """A field, an address, a JSON path, or "filter"; empty for the whole."""
    message: str
    hint: str = ""
    start: int | None = None
    """Characters from the beginning of the text, for a fault inside one."""
    end: int | None = None
    code: str = ""
    """A stable id, such as a gate's finding code."""

    @property
    def words(self) -> str:
        """What is wrong and what to do about it, as sentences that can be told apart."""
        if not self.hint:
            return self.message
        stop = "" if self.message.endswith((".", "!", "?", ":")) else "."
        return f"{self.message}{stop} {self.hint}"

    def as_json(self) -> JsonObject:
        """The parts that are set."""
        return {key: value for key, value in asdict(self).items() if value not in ("", None)}


class StudioError(Exception):
    """What a person or a client can act on; anything else is a defect and a 500."""

    status: ClassVar[int] = 500
    kind: ClassVar[str] = "error"
    title: ClassVar[str] = "Something went wrong"

    def __init__(
        self, detail: str = "", problems: Sequence[Problem] = (), **extra: JsonValue
    ) -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title
        self.problems = tuple(problems)
        self.extra: JsonObject = dict(extra)


class BadRequest(StudioError):
    """The request cannot be read: broken JSON, a cursor of another list."""

    status = 400
    kind = "bad-request"
    title = "This request cannot be read"


class SignInRequired(StudioError):
    """Nobody is signed in, or the token is unknown, expired or revoked."""

    status = 401
    kind = "sign-in-required"
    title = "Sign in first"


class Forbidden(StudioError):
    """The role, or the token's scope, does not cover this act."""

    status = 403
    kind = "forbidden"
    title = "Your role does not cover this"


class NotFound(StudioError):
    """No such thing, or none that this person may know of."""

    status = 404
    kind = "not-found"
    title = "There is nothing here"


class NotAllowed(StudioError):
    """The address is there, but not for this method; the header Allow names those it takes."""

    status = 405
    kind = "method"
    title = "This address is not for that"


class Conflict(StudioError):
    """The thing is in a state that does not allow this."""

    status = 409
    kind = "conflict"
    title = "This does not fit the present state"


class StaleBase(Conflict):
    """A save was based on a version that is no longer the current one."""

    kind = "stale-base"
    title = "Somebody saved in the meantime"

    def __init__(
        self,
        detail: str = "",
        problems: Sequence[Problem] = (),
        *,
        current: int,
        **extra: JsonValue,
    ) -> None:
        super().__init__(detail, problems, current=current, **extra)
        self.current = current


class TooLarge(StudioError):
    """The body or the archive is above a limit."""

    status = 413
    kind = "too-large"
    title = "This is too large"


class Invalid(StudioError):
    """Readable but wrong; ``problems`` says what and where."""

    status = 422
    kind = "invalid"
    title = "Some of this is not valid"


class FilterError(Invalid):
    """A filter text with an unknown key, value or shape."""

    kind = "filter"
    title = "This filter cannot be used"


class Throttled(StudioError):
    """Too many tries; ``retry_after`` in seconds."""

    status = 429
    kind = "throttled"
    title = "Too many tries"

    def __init__(self, detail: str = "", *, retry_after: int) -> None:
        super().__init__(detail, retry_after=retry_after)
        self.retry_after = retry_after


class Unavailable(StudioError):
    """The database, the broker or an endpoint does not answer in time."""

    status = 503
    kind = "unavailable"
    title = "Not available right now"


def problem_document(error: StudioError, instance: str = "") -> JsonObject:
    """The error as RFC 9457 wants it; extra members beside the standard ones."""
    document: JsonObject = {
        **error.extra,
        "type": f"urn:coworkenv:problem:{error.kind}",
        "title": error.title,
        "status": error.status,
        "detail": error.detail,
    }
    if instance:
        document["instance"] = instance
    if error.problems:
        document["problems"] = [problem.as_json() for problem in error.problems]
    return document
