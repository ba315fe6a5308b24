"""Saved views: a filter under a name, on one list page, for oneself or shared with everybody.

A list page offers ``views_for(user, "tasks")`` and opens ``?view=V-4F7K`` with
``find_view(user, "tasks", code).query``.
"""

from django.db import transaction
from django.db.models import Case, Q, QuerySet, When

from studio.web import audit
from studio.web.audit import HasUser, storable
from studio.web.codes import get_by_code
from studio.web.errors import Invalid, Problem
from studio.web.filters import parse
from studio.web.models import SavedView, User

#: The list pages that have views, and where they are.
PAGES = {"tasks": "/tasks/", "episodes": "/episodes/"}
MAX_VIEWS = 100
_NAME_LENGTH = 60


def views_for(user: User, page: str) -> QuerySet[SavedView]:
    """One's own views of a page, then those that others share."""
    seen = SavedView.objects.select_related("user").filter(Q(user=user) | Q(shared=True), page=page)
    theirs = Case(When(user=user, then=0), default=1)
    return seen.order_by(theirs, "position", "name", "pk")


def find_view(user: User, page: str, code: str) -> SavedView:
    """A view that this person may open; NotFound otherwise."""
    return get_by_code(views_for(user, page), code)


@transaction.atomic
def save_view(who: HasUser, *, page: str, name: str, query: str, shared: bool = False) -> SavedView:
    """Keep a filter; one's view of the same name on that page is replaced. Writes the audit log."""
    name = name.strip()
    problems = []
    if page not in PAGES:
        problems.append(Problem("page", f"must be one of {', '.join(PAGES)}"))
    if not 1 <= len(name) <= _NAME_LENGTH or storable(name) != name:
        problems.append(Problem("name", f"must have 1 to {_NAME_LENGTH} characters"))
    if problems:
        raise Invalid("This view cannot be saved.", problems)
    text = parse(query).render()
    mine = SavedView.objects.filter(user=who.user)
    if mine.count() >= MAX_VIEWS and not mine.filter(page=page, name=name).exists():
        raise Invalid(f"There are {MAX_VIEWS} views already. Delete one first.")
    view, _ = SavedView.objects.update_or_create(
        user=who.user, page=page, name=name, defaults={"query": text, "shared": shared}
    )
    audit.record(who, "save_view", view.code, {"page": page, "shared": shared})
    return view


@transaction.atomic
def delete_view(who: HasUser, code: str) -> SavedView:
    """Delete one's own view; those of others are not there. Writes the audit log."""
    view = get_by_code(SavedView.objects.filter(user=who.user), code)
    audit.record(who, "delete_view", view.code, {"page": view.page, "name": view.name})
    view.delete()
    return view
