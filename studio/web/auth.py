"""Who is asking, and may they: principals, decorators, API authentication.

::

    @require(Act.EDIT)                      # a page, or an API operation below @router.post(...)
    def save(request, code): ...

    @require_role("editor")                 # the same by role, where no act fits

    may(request, Act.REVIEW)                # in a template: {% if request|may:"review" %}
    ensure(principal(request), Act.DELETE)  # anywhere below

Sessions stand for the whole role; a bearer token for its scopes within the role, never more. The
table of acts is ``acts.PERMISSIONS``. Signing in, tokens and invitations: ``access``.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar, get_type_hints

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from ninja.errors import HttpError
from ninja.security import HttpBearer, SessionAuth

from studio.web import access
from studio.web.acts import PERMISSIONS, Act
from studio.web.choices import Role, Scope
from studio.web.errors import Forbidden, SignInRequired
from studio.web.models import ApiToken, User

RoleName = Literal["viewer", "reviewer", "editor", "lead", "admin"]
Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")
View = Callable[Concatenate[HttpRequest, Arguments], Answer]


@dataclass(frozen=True)
class Principal:
    """A person, and the token they came with if they came with one."""

    user: User
    token: ApiToken | None = None

    @property
    def role(self) -> Role:
        """The person's role."""
        return Role(self.user.role)

    @property
    def scopes(self) -> frozenset[Scope] | None:
        """The token's scopes; None for a session, which is not cut down."""
        return None if self.token is None else self.token.scope_set

    def may(self, act: Act) -> bool:
        """Whether role and scopes cover the act."""
        needs = PERMISSIONS[act]
        return self.role.includes(needs.role) and (
            self.scopes is None or needs.scope in self.scopes
        )


def principal(request: HttpRequest) -> Principal:
    """Who is asking; SignInRequired when nobody is."""
    found = getattr(request, "principal", None)
    if isinstance(found, Principal):
        return found
    user = getattr(request, "user", None) or AnonymousUser()
    if not isinstance(user, User) or not user.is_active:
        raise SignInRequired
    return Principal(user)


def may(request: HttpRequest, act: Act) -> bool:
    """Whether the one who asks may; False for nobody."""
    try:
        return principal(request).may(act)
    except SignInRequired:
        return False


def ensure(who: Principal, act: Act) -> None:
    """Raise Forbidden unless they may; the words say what would be needed."""
    if who.may(act):
        return
    needs = PERMISSIONS[act]
    if not who.role.includes(needs.role):
        raise Forbidden(
            f"This needs the role {needs.role.label.lower()} or above; "
            f"you are {who.role.label.lower()}.",
            needed_role=needs.role.value,
        )
    raise Forbidden(
        f"This token lacks the scope “{needs.scope.value}”.", needed_scope=needs.scope.value
    )


def require(act: Act) -> Callable[[View[Arguments, Answer]], View[Arguments, Answer]]:
    """Let only those in who may do ``act``; for page views and API operations alike."""

    def decorate(view: View[Arguments, Answer]) -> View[Arguments, Answer]:
        @wraps(view)
        def guarded(
            request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Answer:
            ensure(principal(request), act)
            return view(request, *args, **kwargs)

        return _typed(guarded, view)

    return decorate


def require_role(role: RoleName) -> Callable[[View[Arguments, Answer]], View[Arguments, Answer]]:
    """Let only those in with this role or above; a token must have the scope of the role's acts."""
    needed = Role(role)
    scope = _SCOPE_OF_ROLE[needed]

    def decorate(view: View[Arguments, Answer]) -> View[Arguments, Answer]:
        @wraps(view)
        def guarded(
            request: HttpRequest, /, *args: Arguments.args, **kwargs: Arguments.kwargs
        ) -> Answer:
            who = principal(request)
            if not who.role.includes(needed):
                raise Forbidden(
                    f"This needs the role {needed.label.lower()} or above; "
                    f"you are {who.role.label.lower()}.",
                    needed_role=needed.value,
                )
            if who.scopes is not None and scope not in who.scopes:
                raise Forbidden(
                    f"This token lacks the scope “{scope.value}”.", needed_scope=scope.value
                )
            return view(request, *args, **kwargs)

        return _typed(guarded, view)

    return decorate


_SCOPE_OF_ROLE = {
    Role.VIEWER: Scope.READ,
    Role.REVIEWER: Scope.REVIEW,
    Role.EDITOR: Scope.WRITE,
    Role.LEAD: Scope.WRITE,
    Role.ADMIN: Scope.ADMIN,
}


def _typed(
    guarded: View[Arguments, Answer], view: View[Arguments, Answer]
) -> View[Arguments, Answer]:
    """Keep the signature with its annotations resolved: ninja reads them off the outer function."""
    signature = inspect.signature(view)
    hints = get_type_hints(view, include_extras=True)
    guarded.__signature__ = signature.replace(  # type: ignore[attr-defined]  # read by inspect
        parameters=[
            parameter.replace(annotation=hints.get(name, parameter.annotation))
            for name, parameter in signature.parameters.items()
        ],
        return_annotation=hints.get("return", signature.return_annotation),
    )
    return guarded


class TokenAuth(HttpBearer):
    """``Authorization: Bearer cws_…``."""

    openapi_description = (
        "A token from your account page; it works within its scopes and your role."
    )

    def authenticate(self, request: HttpRequest, token: str) -> Principal | None:
        """The principal behind the token, which also becomes the request's user; SignInRequired
        for a token that is none, also where a session would do.
        """
        found = access.find_token(token)
        if found is None:
            raise SignInRequired(
                "This token is unknown, revoked or past its end. Make one on the account page."
            )
        who = Principal(found.user, found)
        request.user = found.user
        request.principal = who  # type: ignore[attr-defined]  # ours; read by principal()
        return who


class BrowserAuth(SessionAuth):
    """The session cookie of a signed-in person, with the CSRF header on writes."""

    def __call__(self, request: HttpRequest) -> Principal | None:
        """The signed-in person; Forbidden where a write may come from another site."""
        if not request.user.is_authenticated:
            return None  # to be told to sign in, whatever else is missing
        try:
            found: Principal | None = super().__call__(request)
        except HttpError as error:
            raise Forbidden(
                "With a session, a write needs the header X-CSRFToken with the value of the "
                "cookie csrftoken; with a token it does not. Nothing was changed."
            ) from error
        return found

    def authenticate(self, request: HttpRequest, key: str | None) -> Principal | None:
        """The signed-in person."""
        user = request.user
        return Principal(user) if isinstance(user, User) and user.is_active else None


def schema_readers(view: View[..., HttpResponse]) -> View[..., HttpResponse]:
    """For ``NinjaAPI(docs_decorator=…)``: the schema is for those who may use the API."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        TokenAuth()(request)
        ensure(principal(request), Act.READ)
        return view(request, *args, **kwargs)

    return guarded


#: For ``NinjaAPI(auth=…)``: a token first, so that a client with both is judged by the token.
API_AUTH = [TokenAuth(), BrowserAuth()]
