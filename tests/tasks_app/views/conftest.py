"""A generated task and people to look at it."""

import pytest
from django.test import Client

from studio.web.choices import Role
from tasks_app.core.generation.generate import generate
from tasks_app.core.spec import TaskSpec
from tasks_app.core.validation.card import ProofCard
from tasks_app.enums import Origin
from tasks_app.models import Task
from tasks_app.operations.tasks import create_task
from tests.factories.people import person


@pytest.fixture(scope="session")
def drafted() -> tuple[TaskSpec, ProofCard]:
    """A support task of level 2 with its proof, made once."""
    made = next(iter(generate("support_resolution", 2, 7, difficulty=2))).made
    assert made.spec is not None
    assert made.card is not None
    return made.spec, made.card


@pytest.fixture
def task(db: None, drafted: tuple[TaskSpec, ProofCard]) -> Task:
    """The same, stored."""
    spec, card = drafted
    return create_task(spec=spec, card=card, by=None, origin=Origin.GENERATED)


def client_of(role: Role) -> Client:
    """A signed-in browser."""
    client = Client()
    client.force_login(person(role.value, role))
    return client


@pytest.fixture
def editor(db: None) -> Client:
    """An editor's browser."""
    return client_of(Role.EDITOR)


@pytest.fixture
def reviewer(db: None) -> Client:
    """A reviewer's browser."""
    return client_of(Role.REVIEWER)


@pytest.fixture
def viewer(db: None) -> Client:
    """A viewer's browser."""
    return client_of(Role.VIEWER)
