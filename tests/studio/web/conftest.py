"""People of every role, and clients signed in as them."""

from collections.abc import Callable

import pytest
from django.test import Client

from studio.web.choices import Role
from studio.web.models import User

MakeUser = Callable[..., User]


@pytest.fixture
def make_user(db: None) -> MakeUser:
    """Make a person of a role; their password is their name twice."""

    def make(name: str = "mira", role: Role = Role.EDITOR) -> User:
        return User.objects.create_user(name, f"{name}@example.org", f"{name}-{name}", role=role)

    return make


@pytest.fixture
def as_user() -> Callable[[User], Client]:
    """A client signed in as somebody."""

    def make(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return make
