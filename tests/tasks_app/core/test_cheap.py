"""Cheap policies and made-up arguments: what they do, and that the examples pay nothing for it."""

import pytest

from tasks_app.core.cheap import CHEAP, cheap_acts, first_candidates, offered
from tasks_app.core.grading.grade import grade
from tasks_app.core.program import perform
from tasks_app.core.spec import Step
from tasks_app.core.world.world import World
from tests.factories.examples import EXAMPLES, PAYMENT, SUPPORT, Written, broken, example
from tests.tasks_app.core.generation.wrong_turns import drafted

NAMES = [
    *("null", "crawl", "spam", "echo", "paste", "first_record", "errors_only", "refuse", "regex"),
]


def played(name: str, policy: str) -> World:
    world = World(example(name))
    perform(world, cheap_acts(policy, example(name)))
    return world


def test_the_names_are_those_of_the_probes() -> None:
    assert list(CHEAP) == NAMES


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("policy", NAMES)
def test_a_cheap_policy_earns_nothing_on_an_example(name: str, policy: str) -> None:
    spec = example(name)

    result = grade(spec.checks, spec.constraints, played(name, policy).evidence())
    assert (result.total, result.passed) == (0.0, False)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("policy", NAMES)
def test_a_policy_does_the_same_every_time(name: str, policy: str) -> None:
    assert cheap_acts(policy, example(name)) == cheap_acts(policy, example(name))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_crawl_reads_much_without_error_or_change(name: str) -> None:
    calls = played(name, "crawl").calls

    assert {call.tool for call in calls} == set(offered(example(name), kind="read"))
    assert [call.error for call in calls if not call.ok] == []
    assert [call.tool for call in calls if call.changes] == []


@pytest.mark.parametrize("level", [1, 4])
@pytest.mark.parametrize(
    ("family", "subtype"),
    [("meeting_slot", "one_slot_for_all"), ("reach_the_right_person", "deputy_on_leave")],
)
def test_a_crawl_looks_at_calendars_and_people_too(family: str, subtype: str, level: int) -> None:
    spec = drafted(family, subtype, level)
    world = World(spec)
    perform(world, cheap_acts("crawl", spec))

    read = {call.tool for call in world.calls if call.ok}
    assert read == set(offered(spec, kind="read"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_errors_only_makes_nothing_but_errors(name: str) -> None:
    calls = played(name, "errors_only").calls

    assert {call.tool for call in calls} == set(offered(example(name)))
    assert [call.tool for call in calls if call.ok] == []


@pytest.mark.parametrize("name", EXAMPLES)
def test_spam_reaches_every_tool_within_its_schema(name: str) -> None:
    calls = played(name, "spam").calls

    assert {call.tool for call in calls if call.valid} == set(offered(example(name)))


def test_echo_and_paste_say_what_they_should() -> None:
    (echo,) = cheap_acts("echo", example(SUPPORT))
    (paste,) = cheap_acts("paste", example(PAYMENT))

    assert echo.reply == example(SUPPORT).request.text
    assert "CB-0731" in paste.reply
    assert "27463.15" in paste.reply
    assert "IN-5544" not in paste.reply


def test_the_first_candidate_replaces_every_choice() -> None:
    chosen = {"from": "a", "path": "rows", "where": {"x": 1}, "sort": "y", "take": "all"}
    step = Step(
        id="s",
        tool="crm_get_customer",
        arguments={
            "customer_id": {"from": "a", "path": "rows", "where": {"x": 1}, "field": "id"},
            "other": {"fn": "sum", "args": [chosen]},
            "kept": {"from": "a", "path": "id"},
        },
    )

    assert first_candidates(step).arguments == {
        "customer_id": {"from": "a", "path": "rows", "field": "id", "take": "first"},
        "other": {"fn": "sum", "args": [[{"from": "a", "path": "rows", "take": "first"}]]},
        "kept": {"from": "a", "path": "id"},
    }


def test_an_imported_tasks_own_tool_names_are_used() -> None:
    def rename(data: Written) -> None:
        data["tools"].remove("crm_get_customer")
        data["tool_aliases"] = {
            "get_client": {
                "tool": "crm_get_customer",
                "arguments": {"customer_id": {"arg": "client"}},
                "parameters": {"properties": {"client": {"type": "string"}}},
            }
        }

    spec = broken(SUPPORT, rename)
    world = World(spec)
    perform(world, cheap_acts("crawl", spec))

    named = [call for call in world.calls if call.name == "get_client"]
    assert [call.ok for call in named] == [True] * 6
