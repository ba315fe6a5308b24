"""The demo world: something in every state, and nothing twice."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from tasks_app.enums import TaskState
from tasks_app.models import Task, TaskVersion
from tasks_app.queries import count_by_state

pytestmark = [pytest.mark.django_db, pytest.mark.slow]


def seed() -> dict[str, Any]:
    out = StringIO()
    call_command("seed_demo", "--json", stdout=out, stderr=StringIO())
    found = json.loads(out.getvalue().splitlines()[-1])
    assert isinstance(found, dict)
    return found


def test_the_demo_shows_every_state_and_a_second_seeding_changes_nothing() -> None:
    first = seed()
    assert first == {"tasks": 24, "episodes": 16}
    counts = count_by_state()
    assert {state for state, count in counts.items() if count} == {
        TaskState.PROVEN,
        TaskState.APPROVED,
        TaskState.REJECTED,
        TaskState.INVALID,
    }
    before = (counts, TaskVersion.objects.count())
    assert seed() == first
    assert (count_by_state(), TaskVersion.objects.count()) == before
    broken = Task.objects.filter(state=TaskState.INVALID).select_related("proof")
    for task in broken:
        assert task.proof is not None
        assert any(finding.suggestion for finding in task.proof.read().findings), task.code
