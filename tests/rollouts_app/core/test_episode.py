"""Episodes: policies in worlds, limits, failures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest

from rollouts_app.core.environment import Environment
from rollouts_app.core.episode import run_episode
from rollouts_app.core.errors import EndpointFailure, TaskFailure, UnknownPolicyError
from rollouts_app.core.messages import Message, ToolRequest
from rollouts_app.core.policy import Action
from rollouts_app.core.scripted import POLICIES, policy_for
from tasks_app.core.spec import Limits
from tests.factories.specs import small_spec
from tests.rollouts_app.specs import changed, example, run

EXAMPLES = ["support_resolution", "payment_change_investigation"]
CHEAP = [name for name in POLICIES if name not in ("reference", "no_retry")]


class Unreachable:
    """A policy whose server is away."""

    name = "endpoint:away"

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Action:
        """Fail on the second turn."""
        if len(messages) > 2:
            raise EndpointFailure("connection refused")
        return Action("", (ToolRequest("c1", "helpdesk_search_tickets", b'{"query": "lamp"}'),))


class Talker:
    """A policy that says given things."""

    name = "talker"

    def __init__(self, *texts: str):
        self.texts: Iterator[str] = iter(texts)

    def act(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Action:
        """Say the next thing."""
        return Action(next(self.texts, ""))


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_reference_earns_everything(name: str) -> None:
    outcome = run(example(name))
    assert (outcome.reward, outcome.stop, outcome.failure) == (1.0, "finished", None)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("policy", CHEAP)
def test_a_cheap_policy_earns_nothing(name: str, policy: str) -> None:
    assert run(example(name), policy).reward == 0.0


def test_a_policy_that_never_repeats_a_refused_call_earns_less() -> None:
    outcome = run(example("payment_change_investigation"), "no_retry")
    assert outcome.reward is not None
    assert outcome.reward < 1


def test_an_unknown_policy_is_named_beside_the_known_ones() -> None:
    with pytest.raises(UnknownPolicyError, match="known are reference, no_retry, null"):
        policy_for("oracle", small_spec())


def test_a_failure_outside_the_policy_is_no_reward_of_zero() -> None:
    outcome = run_episode(small_spec(), Unreachable())
    assert outcome.grade is None
    assert outcome.reward is None
    assert outcome.stop == "failed"
    assert outcome.failure is not None
    assert (outcome.failure.boundary, outcome.failure.message) == ("endpoint", "connection refused")
    assert outcome.turns == 1


def test_records_without_id_make_no_world() -> None:
    broken = small_spec(services={"helpdesk": {"tickets": [{"subject": "no id"}]}})
    with pytest.raises(TaskFailure, match=r"helpdesk/tickets\[0\]"):
        run_episode(broken, Talker("Done."))


def test_the_turn_limit_ends_an_episode_after_a_whole_turn() -> None:
    spec = example("support_resolution")
    outcome = run_episode(spec, policy_for("reference", spec), limits=Limits(turns=5))
    assert (outcome.stop, outcome.turns, outcome.calls) == ("turn_limit", 5, 8)


def test_calls_beyond_the_call_limit_are_not_made() -> None:
    spec = example("support_resolution")
    outcome = run_episode(spec, policy_for("reference", spec), limits=Limits(tool_calls=6))
    assert (outcome.stop, outcome.calls) == ("call_limit", 6)


def test_the_time_limit_is_told_by_the_clock_that_is_passed_in() -> None:
    ticks = iter(range(0, 1000, 7))
    spec = example("support_resolution")
    outcome = run_episode(
        spec, policy_for("reference", spec), limits=Limits(seconds=30), clock=lambda: next(ticks)
    )
    assert outcome.stop == "time_limit"
    assert outcome.turns < 13


def test_without_a_clock_nothing_is_timed() -> None:
    assert run(small_spec()).seconds is None


def test_a_text_ends_the_stage_and_brings_the_next_notification() -> None:
    stages = [
        {"id": "day1", "at": "2031-03-20T09:10:00+01:00"},
        {"id": "day2", "at": "2031-03-21T09:10:00+01:00", "notification": "Good morning."},
    ]
    environment = Environment(small_spec(timeline=stages))
    first = environment.step(Action("Done for today."))
    second = environment.step(Action("Done."))
    assert (first.heard, first.ended_stage, first.stop) == ("Good morning.", True, None)
    assert (second.heard, second.ended_stage, second.stop) == ("", True, "finished")
    assert [
        turn.stage
        for turn in environment.trajectory(policy="p", seed=0).turns
        if hasattr(turn, "stage")
    ] == ["day1", "day2"]


COLLEAGUE = {
    "name": "Ada Winter",
    "patience": 2,
    "facts": [{"id": "colour", "text": "It was the green one.", "asks": [["colour"]]}],
}


def test_a_question_goes_to_the_colleague_where_no_tool_reaches_them() -> None:
    environment = Environment(small_spec(user=COLLEAGUE))
    asked = environment.step(Action("Which colour was it?"))
    assert (asked.heard, asked.ended_stage, asked.stop) == ("It was the green one.", False, None)
    assert environment.messages[-1] == Message("user", "It was the green one.")


def test_a_question_is_a_reply_when_patience_is_over() -> None:
    outcome = run_episode(small_spec(user=COLLEAGUE), Talker("Colour?", "Colour?", "Colour?"))
    assert (outcome.turns, outcome.stop) == (3, "finished")


def test_a_question_is_a_reply_where_a_tool_reaches_the_colleague() -> None:
    spec = small_spec(user=COLLEAGUE, tools=["helpdesk_close_ticket", "message_user"])
    assert Environment(spec).step(Action("Which colour?")).stop == "finished"


def test_arguments_that_are_no_json_are_answered_not_raised() -> None:
    environment = Environment(small_spec())
    request = ToolRequest("c1", "helpdesk_close_ticket", b"{not json")
    result = environment.step(Action("", (request,)))
    assert [call.error for call in result.calls] == ["wrong_type"]


def test_text_that_utf8_cannot_hold_is_replaced() -> None:
    outcome = run_episode(small_spec(), Talker("half a \ud83d pair"))
    assert outcome.trajectory.turns[0].text == "half a ? pair"  # type: ignore[union-attr]  # readable


def test_a_step_after_the_end_is_a_defect_of_the_caller() -> None:
    environment = Environment(small_spec())
    environment.step(Action("Done."))
    with pytest.raises(RuntimeError, match="the episode is over"):
        environment.step(Action("Done."))


def test_reset_begins_anew() -> None:
    environment = Environment(small_spec())
    opening = list(environment.messages)
    environment.step(Action("Done."))
    assert list(environment.reset()) == opening
    assert (environment.turns, environment.stop) == (0, None)


def test_two_runs_give_the_same_trajectory() -> None:
    spec = changed(example("support_resolution"))
    assert run(spec).trajectory == run(spec).trajectory
