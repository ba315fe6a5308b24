"""Saved views of the list pages."""

from typing import Literal

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field

from studio.web import saved_views
from studio.web.acts import Act
from studio.web.api.bodies import Body
from studio.web.auth import Principal, principal, require
from studio.web.choices import Scope
from studio.web.errors import Forbidden
from studio.web.filters import MAX_LENGTH
from studio.web.models import SavedView

router = Router(tags=["views"])
PageName = Literal["tasks", "episodes"]


class ViewIn(Body):
    """A view to be kept; the same name on the same page replaces it."""

    page: PageName
    name: str = Field(min_length=1, max_length=60)
    query: str = Field("", max_length=MAX_LENGTH)
    shared: bool = False


class ViewOut(Schema):
    """A view that one may open."""

    code: str
    page: str
    name: str
    query: str
    shared: bool
    user: str

    @staticmethod
    def from_row(row: SavedView) -> "ViewOut":
        """The public form of a row."""
        return ViewOut(
            code=row.code,
            page=row.page,
            name=row.name,
            query=row.query,
            shared=row.shared,
            user=row.user.username,
        )


@router.get("", response=list[ViewOut], summary="Views of a page: mine and shared ones")
@require(Act.READ)
def list_views(request: HttpRequest, page: PageName) -> list[ViewOut]:
    """At most a hundred a person, so there are no pages of pages."""
    user = principal(request).user
    return [ViewOut.from_row(row) for row in saved_views.views_for(user, page)]


@router.post("", response={201: ViewOut}, summary="Keep a view")
@require(Act.READ)
def save_view(request: HttpRequest, body: ViewIn) -> Status[ViewOut]:
    """Anybody may keep views; a token needs the scope for writing."""
    view = saved_views.save_view(
        _writer(request), page=body.page, name=body.name, query=body.query, shared=body.shared
    )
    return Status(201, ViewOut.from_row(view))


@router.delete("/{code}", response={204: None}, summary="Delete one of my views")
@require(Act.READ)
def delete_view(request: HttpRequest, code: str) -> Status[None]:
    """Those of others are a 404."""
    saved_views.delete_view(_writer(request), code)
    return Status(204, None)


def _writer(request: HttpRequest) -> Principal:
    who = principal(request)
    if who.scopes is not None and Scope.WRITE not in who.scopes:
        raise Forbidden("This token lacks the scope “write”.", needed_scope=Scope.WRITE.value)
    return who
