"""Sides of tasks: decided when they are stored, moved by whole clusters."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from studio.web.models import AuditEntry
from tasks_app.core.spec import load_spec
from tasks_app.enums import Split
from tasks_app.models import Task
from tasks_app.operations.splits import Moved, move
from tasks_app.operations.tasks import create_task
from tests.factories.examples import PAYMENT, SUPPORT, example, written
from tests.factories.specs import imported_spec

pytestmark = pytest.mark.django_db


def stored(name: str, **changes: Any) -> Task:
    return create_task(spec=load_spec({**written(name), **changes}), by=None)


def splits() -> dict[str, str]:
    return dict(Task.objects.values_list("slug", "split"))


def test_the_side_of_a_task_follows_from_its_family_and_the_pool_of_its_names() -> None:
    stored(SUPPORT, slug="plain")
    stored(SUPPORT, slug="pool", tags=["held_out_names"])
    stored(SUPPORT, slug="family", family="offline_fact_check")
    create_task(spec=imported_spec(), by=None)

    assert {k: v for k, v in splits().items() if k in ("plain", "pool", "family")} == {
        "plain": Split.TRAIN,
        "pool": Split.NEW_INSTANCES,
        "family": Split.NEW_FAMILIES,
    }
    assert Split.EVALUATION in splits().values()


def test_a_cluster_moves_as_a_whole_and_back() -> None:
    first = stored(SUPPORT, slug="one")
    second = stored(SUPPORT, slug="two", title="The same customer again")
    stored(PAYMENT, slug="other")

    found = move(filter_text=f"code:{first.code}", to=Split.NEW_INSTANCES, by=None)
    assert found == Moved(asked=1, along=(second.code,), leaks=0)
    assert splits() == {
        "one": Split.NEW_INSTANCES,
        "two": Split.NEW_INSTANCES,
        "other": Split.TRAIN,
    }
    move(filter_text=f"code:{second.code}", to=Split.TRAIN, by=None)
    assert set(splits().values()) == {Split.TRAIN}
    assert AuditEntry.objects.filter(act="move_split").count() == 2


def test_a_dry_run_moves_nothing() -> None:
    stored(SUPPORT, slug="one")
    stored(PAYMENT, slug="other")
    out = StringIO()
    call_command("hold_back", "family:support_resolution", "--dry-run", "--json", stdout=out)
    found = json.loads(out.getvalue().splitlines()[-1])

    assert (found["split_kind"], found["moved"], found["leaks"]) == ("new_instances", 1, 0)
    assert set(splits().values()) == {Split.TRAIN}


def test_what_cannot_be_moved_says_why() -> None:
    stored(SUPPORT, slug="one")

    with pytest.raises(CommandError, match="nothing would be left to train on"):
        call_command("hold_back", "family:support_resolution")
    with pytest.raises(CommandError, match="no task of a split matches"):
        call_command("hold_back", "difficulty:5")
    assert splits() == {"one": Split.TRAIN}


def test_identities_are_those_of_the_core() -> None:
    task = stored(SUPPORT)

    assert "name:rosalind achterberg" in task.identity
    assert example(SUPPORT).hash == task.spec_hash
