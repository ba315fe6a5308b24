"""Every address and every API route there is, found by walking them: who gets through the door?"""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from studio.api import api
from studio.web import access
from studio.web.choices import Role, Scope
from tests.studio.web.conftest import MakeUser

pytestmark = pytest.mark.django_db

#: Ways in, and what a load balancer asks.
OPEN = {"sign-in/", "healthz"}
#: Leads on to the sign-in page by itself.
LEADING_ON = {"admin/login/"}
#: What a viewer may write through the API: one's own views and tokens.
OF_ONES_OWN = {"/api/v1/views", "/api/v1/views/{code}", "/api/v1/tokens/{code}/revoke"}

SCHEMA = api.get_openapi_schema()["paths"]
ROUTES = [(path, method) for path, methods in SCHEMA.items() for method in methods]


def _addresses() -> Iterator[str]:
    def walk(patterns: list[URLPattern | URLResolver], before: str) -> Iterator[str]:
        for pattern in patterns:
            route = before + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            else:
                yield route

    yield from walk(get_resolver().url_patterns, "")


def _concrete(route: str) -> str:
    filled = re.sub(r"<int:\w+>", "1", route)
    filled = re.sub(r"<path:\w+>", "a/b", filled)
    filled = re.sub(r"<(?:\w+:)?\w+>", "T-0000", filled)
    return re.sub(r"[\^$]|\(\?P<\w+>[^)]*\)|\\Z|\?$", "", filled)


ADDRESSES = sorted({_concrete(route) for route in _addresses() if not route.startswith("api/v1/")})


def test_there_are_addresses_to_walk() -> None:
    assert len(ADDRESSES) > 20
    assert {"", "account/", "tasks/", "episodes/"} <= set(ADDRESSES)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_stranger_stands_before_a_closed_door(address: str) -> None:
    for answer in (Client().get(f"/{address}"), Client().post(f"/{address}", {"x": "1"})):
        if address in OPEN:
            assert answer.status_code in (200, 405, 422)
        elif address.startswith("welcome/"):
            assert answer.status_code == 404
        elif address in LEADING_ON:
            assert answer["Location"].startswith("/sign-in/")
        else:
            assert answer.status_code == 302, address
            assert answer["Location"].startswith(("/sign-in/?next=", "/admin/login/"))


@pytest.mark.parametrize(("path", "method"), ROUTES)
def test_no_route_answers_without_a_token(path: str, method: str) -> None:
    answer = getattr(Client(), method)(path.replace("{", "").replace("}", ""))
    assert (answer.status_code, answer["Content-Type"]) == (401, "application/problem+json")


@pytest.mark.parametrize(
    ("path", "method"),
    [route for route in ROUTES if route[1] != "get" and route[0] not in OF_ONES_OWN],
)
def test_a_viewer_writes_nothing_through_the_api(
    path: str, method: str, make_user: MakeUser
) -> None:
    viewer = make_user("viewer", Role.VIEWER)
    secret = access.issue_token(viewer, "x", frozenset({Scope.READ})).secret
    client = Client(headers={"authorization": f"Bearer {secret}"})
    answer = getattr(client, method)(
        re.sub(r"{\w+}", "T-0000", path), {}, content_type="application/json"
    )
    # A body that does not fit is refused before anybody asks who sent it.
    assert answer.status_code in (403, 422), path


#: A viewer's own account, views and session; and pages that read only, whatever the method.
OWN_PAGES = {"account/", "account/password/", "sign-in/", "sign-out/", "views/", "admin/login/"}


@pytest.mark.parametrize(
    "address", [item for item in ADDRESSES if item not in OWN_PAGES and "admin/" not in item]
)
def test_a_viewer_writes_nothing_through_the_pages(address: str, make_user: MakeUser) -> None:
    client = Client()
    client.force_login(make_user("viewer", Role.VIEWER))
    answer = client.post(f"/{address}", {"action": "prove", "code": "T-0000", "x": "1"})
    assert answer.status_code in (403, 404, 405), address


@pytest.mark.parametrize("address", [item for item in ADDRESSES if item.startswith("admin/")])
def test_only_administrators_reach_the_admin_site(address: str, make_user: MakeUser) -> None:
    client = Client()
    client.force_login(make_user("lead", Role.LEAD))
    answer = client.get(f"/{address}")
    assert answer.status_code in (302, 403, 404, 405), address
    if answer.status_code == 302:
        assert answer["Location"].startswith(("/admin/", "/sign-in/")), address
