"""One's own API tokens."""

import datetime as dt

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from studio.web import access
from studio.web.acts import Act
from studio.web.api.bodies import Body
from studio.web.api.paging import PageOut, Paging, page_out
from studio.web.auth import principal, require
from studio.web.choices import Scope
from studio.web.codes import get_by_code
from studio.web.errors import Forbidden
from studio.web.models import ApiToken
from studio.web.pagination import keyset

router = Router(tags=["tokens"])


class TokenIn(Body):
    """A token to be made."""

    name: str = Field(min_length=1, max_length=80)
    scopes: list[Scope] = Field(min_length=1, max_length=len(Scope))
    days: int = Field(90, ge=1, le=365)


class TokenOut(Schema):
    """A token as it is listed: never its secret."""

    code: str
    name: str
    hint: str
    scopes: list[str]
    created_at: dt.datetime
    expires_at: dt.datetime
    last_used_at: dt.datetime | None
    revoked_at: dt.datetime | None

    @staticmethod
    def from_row(row: ApiToken) -> "TokenOut":
        """The listed form of a row."""
        return TokenOut.from_orm(row)


class IssuedOut(TokenOut):
    """A new token, with the secret that is shown this once."""

    secret: str


@router.get("", response=PageOut[TokenOut], summary="My tokens")
@require(Act.READ)
def list_tokens(request: HttpRequest, paging: Query[Paging]) -> PageOut[TokenOut]:
    """Newest first, revoked and expired ones included."""
    rows = ApiToken.objects.filter(user=principal(request).user)
    page = keyset(rows, order="-created_at", cursor=paging.cursor, size=paging.size)
    return page_out(page, TokenOut.from_row)


@router.post("", response={201: IssuedOut}, summary="Make a token")
@require(Act.READ)
def make_token(request: HttpRequest, body: TokenIn) -> Status[IssuedOut]:
    """Only a signed-in person makes tokens: a leaked token must not be able to outlive itself."""
    who = principal(request)
    if who.token is not None:
        raise Forbidden("A token cannot make tokens. Sign in and use the account page.")
    issued = access.issue_token(
        who.user, body.name, frozenset(body.scopes), life=dt.timedelta(days=body.days)
    )
    listed = TokenOut.from_row(issued.row)
    return Status(201, IssuedOut(**listed.dict(), secret=issued.secret))


@router.post("/{code}/revoke", response=TokenOut, summary="Make a token useless")
@require(Act.READ)
def revoke_token(request: HttpRequest, code: str) -> TokenOut:
    """One's own, or anybody's as an administrator; a token may revoke itself."""
    who = principal(request)
    rows = ApiToken.objects.select_related("user")
    if not who.may(Act.MANAGE_TOKENS_OF_OTHERS):
        rows = rows.filter(user=who.user)
    token = get_by_code(rows, code)
    if (
        who.token is not None
        and who.token.pk != token.pk
        and not who.may(Act.MANAGE_TOKENS_OF_OTHERS)
    ):
        raise Forbidden("A token may revoke itself, not others.")
    return TokenOut.from_row(access.revoke_token(token, by=who.user))
