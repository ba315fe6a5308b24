"""Specs that are equal read the same: order inside objects is no part of a task."""

from collections import OrderedDict
from typing import Any

import orjson
import pytest

from rollouts_app.core.episode import run_episode
from rollouts_app.core.scripted import policy_for, request_of
from rollouts_app.core.trajectory import RecordedTurn
from tasks_app.core.generation.families.catalog import FAMILIES
from tasks_app.core.generation.family import Family, Plan, draft
from tasks_app.core.program import Act
from tasks_app.core.services.helpdesk import Ticket
from tasks_app.core.spec import TaskSpec, load_spec
from tasks_app.core.world.world import Seed


def backwards(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: backwards(value[key]) for key in sorted(value, reverse=True)}
    return [backwards(item) for item in value] if isinstance(value, list) else value


def heard(spec: TaskSpec, monkeypatch: pytest.MonkeyPatch) -> list[tuple[bytes, bytes]]:
    monkeypatch.setattr(Seed, "_cache", OrderedDict())  # worlds of equal specs share what is there
    trajectory = run_episode(spec, policy_for("reference", spec)).trajectory
    turns = [turn for turn in trajectory.turns if isinstance(turn, RecordedTurn)]
    return [(call.arguments, call.observation) for turn in turns for call in turn.calls]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
def test_a_spec_written_backwards_is_heard_and_solved_in_the_same_bytes(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = draft(family, Plan(family.name, family.subtypes[0], family.levels[-1], 3, 0))
    same = load_spec(backwards(orjson.loads(spec.canonical())))
    assert same.hash == spec.hash
    assert heard(same, monkeypatch) == heard(spec, monkeypatch)


def test_a_record_is_read_in_the_order_that_its_service_declares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    family = FAMILIES["pocket_ticket_triage"]
    spec = draft(family, Plan(family.name, family.subtypes[0], family.levels[0], 3, 0))
    opened = next(o for a, o in heard(spec, monkeypatch) if b"description" in o)
    fields = [field for field in Ticket.__annotations__ if field in orjson.loads(opened)]
    assert list(orjson.loads(opened)) == [*fields, "comments"]


def test_arguments_stand_in_the_order_in_which_the_tool_declares_them() -> None:
    act = Act("helpdesk_assign_ticket", {"assignee": "Mira Okafor", "ticket_id": "TK-1"})
    assert request_of(act, 1).arguments == b'{"ticket_id":"TK-1","assignee":"Mira Okafor"}'


def test_arguments_that_no_tool_declares_are_sorted() -> None:
    act = Act("no_such_tool", {"b": {"d": 1, "c": 2}, "a": [{"f": 1, "e": 2}]})
    assert request_of(act, 2).arguments == b'{"a":[{"e":2,"f":1}],"b":{"c":2,"d":1}}'
