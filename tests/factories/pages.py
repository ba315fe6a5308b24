"""Pages as a browser gets them: somebody signed in, a page read, its words."""

import re
from collections.abc import Callable, Mapping

from django.test import Client

from studio.web.choices import Role
from tests.factories.people import person

ClientOf = Callable[[Role | None], Client]
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>{{ 7|add:7 }}"


def signed_in(role: Role | None) -> Client:
    """Return the client of a new account of a role; None: of nobody."""
    client = Client()
    if role is not None:
        client.force_login(person(f"a-{role.value}", role))
    return client


def page(
    client: Client, path: str, status: int = 200, headers: Mapping[str, str] | None = None
) -> str:
    """GET and decode."""
    answer = client.get(path, headers=headers)
    assert answer.status_code == status, answer.content[:2000]
    return answer.content.decode()


def words(html: str) -> str:
    """Return the text of a page in one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())
