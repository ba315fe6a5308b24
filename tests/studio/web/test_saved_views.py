import json
from collections.abc import Callable

import pytest
from django.test import Client

from studio.web import saved_views
from studio.web.auth import Principal
from studio.web.choices import Role
from studio.web.errors import FilterError, Invalid, NotFound
from studio.web.models import SavedView, User
from tests.studio.web.conftest import MakeUser

AsUser = Callable[[User], Client]


def _save(
    user: User, name: str = "Mine", query: str = "state:draft", *, shared: bool = False
) -> SavedView:
    return saved_views.save_view(
        Principal(user), page="tasks", name=name, query=query, shared=shared
    )


def test_a_view_is_its_owners_until_it_is_shared(make_user: MakeUser) -> None:
    mira, nora = make_user("mira"), make_user("nora")
    own, shared = _save(mira), _save(mira, "Ours", shared=True)
    early = _save(nora, "A first name", shared=True)
    assert list(saved_views.views_for(mira, "tasks")) == [own, shared, early]
    assert list(saved_views.views_for(nora, "tasks")) == [early, shared]
    assert list(saved_views.views_for(mira, "episodes")) == []
    with pytest.raises(NotFound):
        saved_views.find_view(nora, "tasks", own.code)


def test_the_same_name_replaces_and_the_text_is_kept_in_one_form(make_user: MakeUser) -> None:
    mira = make_user("mira")
    first = _save(mira)
    second = _save(mira, query=' tag:"a"   "b c" ')
    assert (second.pk, second.query) == (first.pk, 'tag:a "b c"')
    assert SavedView.objects.count() == 1


def test_a_view_that_could_not_be_opened_is_not_kept(make_user: MakeUser) -> None:
    mira = make_user("mira")
    with pytest.raises(FilterError):
        _save(mira, query='tag:"open')
    with pytest.raises(Invalid) as caught:
        saved_views.save_view(Principal(mira), page="nothing", name=" ", query="")
    assert [problem.place for problem in caught.value.problems] == ["page", "name"]
    assert not SavedView.objects.exists()


def test_nobody_keeps_views_without_end(make_user: MakeUser) -> None:
    mira = make_user("mira")
    SavedView.objects.bulk_create(
        SavedView(user=mira, page="tasks", name=str(number), code=f"V-{number:04}")
        for number in range(saved_views.MAX_VIEWS)
    )
    with pytest.raises(Invalid, match="Delete one first"):
        _save(mira)
    assert _save(mira, "0").code == "V-0000"


@pytest.mark.parametrize("role", list(Role))
def test_everybody_keeps_and_deletes_their_own_and_no_others(
    role: Role, make_user: MakeUser, as_user: AsUser
) -> None:
    reader, other = make_user("reader", role), make_user("other")
    theirs = _save(other, shared=True)
    client = as_user(reader)
    kept = client.post("/views/", {"page": "tasks", "name": "a", "q": ["state:draft", "x"]})
    view = SavedView.objects.get(user=reader)
    assert (kept.status_code, kept["Location"]) == (303, f"/tasks/?view={view.code}")
    assert view.query == "state:draft x"
    assert client.post(f"/views/{theirs.code}/delete/").status_code == 404
    assert client.post(f"/views/{view.code}/delete/").status_code == 303
    assert list(SavedView.objects.all()) == [theirs]
    assert Client().post("/views/", {"page": "tasks", "name": "a"}).status_code == 302


def test_the_api_lists_keeps_and_deletes(make_user: MakeUser, as_user: AsUser) -> None:
    client = as_user(make_user("mira"))
    body = {"page": "tasks", "name": "a", "query": "state:draft", "shared": True}
    made = client.post("/api/v1/views", body, content_type="application/json")
    assert made.status_code == 201
    code = made.json()["code"]
    listed = as_user(make_user("nora")).get("/api/v1/views?page=tasks")
    assert json.loads(listed.content) == [{**body, "code": code, "user": "mira"}]
    assert (
        as_user(User.objects.get(username="nora")).delete(f"/api/v1/views/{code}").status_code
        == 404
    )
    assert client.delete(f"/api/v1/views/{code}").status_code == 204
    assert not SavedView.objects.exists()
