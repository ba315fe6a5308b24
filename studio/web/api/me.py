"""Who the client is, and what they may do."""

from django.http import HttpRequest
from ninja import Router, Schema

from studio.web.acts import Act, acts_of
from studio.web.auth import principal, require

router = Router(tags=["me"])


class MeOut(Schema):
    """The person behind the request; ``token`` is the code of the token in use."""

    username: str
    name: str
    role: str
    token: str | None
    scopes: list[str] | None
    acts: list[str]


@router.get("", response=MeOut, summary="Who am I, and what may I do?")
@require(Act.READ)
def me(request: HttpRequest) -> MeOut:
    """The signed-in person, or the owner of the token."""
    who = principal(request)
    return MeOut(
        username=who.user.username,
        name=who.user.display_name,
        role=who.role.value,
        token=None if who.token is None else who.token.code,
        scopes=None if who.scopes is None else sorted(scope.value for scope in who.scopes),
        acts=sorted(act.value for act in acts_of(who.role, who.scopes)),
    )
