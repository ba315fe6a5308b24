"""A model as a policy: odd answers are data, both channels reach the colleague."""

import json
from typing import Any

import pytest

from rollouts_app.core.episode import Outcome, run_episode
from rollouts_app.core.messages import Message, ToolRequest
from rollouts_app.core.teacher import Sampling, TeacherPolicy, as_sent
from rollouts_app.core.trajectory import RecordedTurn
from studio.lib.chat import ChatAnswer, EndpointFailure, ToolCall, Usage
from studio.lib.scripted_chat import ScriptedChat
from tasks_app.core.spec import Limits, TaskSpec
from tests.factories.specs import small_spec

CLOSE = ("helpdesk_close_ticket", '{"ticket_id": "TK-2", "resolution": "answered"}')
DONE = ChatAnswer("TK-2 is closed.")
COLLEAGUE = {
    "name": "Ada Winter",
    "patience": 2,
    "facts": [{"id": "which", "text": "The reading lamp.", "asks": [["which"]]}],
}


def calling(*calls: tuple[str, str], **more: Any) -> ChatAnswer:
    """An answer with calls, all under the same id."""
    made = tuple(ToolCall("same", name, arguments) for name, arguments in calls)
    return ChatAnswer(calls=made, usage=Usage(11, 7), seconds=1.5, **more)


def played(spec: TaskSpec, *lines: ChatAnswer | EndpointFailure, **more: Any) -> Outcome:
    """One episode of a scripted model."""
    policy = TeacherPolicy("endpoint:lab", ScriptedChat(lines), draw="E-1")
    return run_episode(spec, policy, clock=policy.clock, **more)


def turns(outcome: Outcome) -> list[RecordedTurn]:
    return [turn for turn in outcome.trajectory.turns if isinstance(turn, RecordedTurn)]


def test_a_model_that_solves_the_task_earns_everything_and_its_tokens_are_counted() -> None:
    outcome = played(small_spec(), calling(CLOSE), DONE)
    assert (outcome.reward, outcome.stop, outcome.tokens, outcome.seconds) == (
        1.0,
        "finished",
        7,
        1.5,
    )


@pytest.mark.parametrize(
    "call",
    [
        ("helpdesk_close_ticket", "{broken"),
        ("helpdesk_close_ticket", ""),
        ("helpdesk_close_ticket", "[1]"),
        ("helpdesk_close_ticket", "\x00\ud83d"),
        ("no_such_tool", "{}"),
        ("", "{}"),
        ("half \ud83d pair", "{}"),
    ],
)
def test_a_wrong_call_is_answered_and_the_model_may_go_on(call: tuple[str, str]) -> None:
    outcome = played(small_spec(), calling(call), calling(CLOSE), DONE)
    first = turns(outcome)[0].calls[0]
    assert first.error is not None
    assert (outcome.reward, outcome.failure) == (1.0, None)


def test_several_calls_of_a_turn_are_made_in_order_under_ids_of_ours() -> None:
    search = ("helpdesk_search_tickets", '{"query": "lamp"}')
    outcome = played(small_spec(), calling(search, search), calling(CLOSE), DONE)
    ids = [call.id for turn in turns(outcome) for call in turn.calls]
    assert ids == ["call_1", "call_2", "call_3"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (ChatAnswer(), ""),
        (ChatAnswer(reasoning="I think"), ""),
        (ChatAnswer(refusal="I can't help."), "I can't help."),
        (ChatAnswer("TK-2 is clo", finish="length"), "TK-2 is clo"),
        (ChatAnswer("", finish="content_filter"), ""),
        (ChatAnswer("half a \ud83d pair"), "half a ? pair"),
    ],
)
def test_an_odd_reply_is_the_reply(answer: ChatAnswer, text: str) -> None:
    outcome = played(small_spec(), answer)
    assert ([turn.text for turn in turns(outcome)], outcome.reward) == ([text], 0.0)


def test_a_server_that_gives_no_answer_is_a_failure_and_no_reward() -> None:
    failure = EndpointFailure("timeout", "the endpoint did not answer in time")
    outcome = played(small_spec(), calling(CLOSE), failure)
    assert outcome.reward is None
    assert outcome.failure is not None
    assert (outcome.failure.boundary, outcome.failure.message) == (
        "endpoint",
        "timeout: the endpoint did not answer in time",
    )


def test_only_the_time_of_answers_counts_against_the_limit() -> None:
    slow = [calling(("helpdesk_search_tickets", "{}"))] * 5
    outcome = played(small_spec(), *slow, limits=Limits(seconds=4))
    assert (outcome.stop, outcome.turns) == ("time_limit", 3)


def test_what_is_asked_names_draw_seed_and_sampling_and_what_was_said() -> None:
    chat = ScriptedChat([calling(CLOSE), DONE])
    policy = TeacherPolicy(
        "endpoint:lab", chat, draw="E-1", seed=3, sampling=Sampling(0.7, None, 256)
    )
    run_episode(small_spec(), policy)
    first, second = chat.asked
    assert (first.draw, second.draw, first.seed) == ("E-1/0", "E-1/1", 3)
    assert (first.temperature, first.top_p, first.max_tokens) == (0.7, None, 256)
    assert [message["role"] for message in second.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
    ]
    assert [tool["function"]["name"] for tool in first.tools] == [
        "helpdesk_search_tickets",
        "helpdesk_close_ticket",
    ]


def test_what_servers_would_refuse_is_sent_back_in_a_form_that_they_take() -> None:
    odd = ToolRequest("c1", "näme with blanks", b"{broken")
    body = as_sent(Message("assistant", "", (odd, ToolRequest("c2", "", b'{"a": 1}'))))
    functions = [call["function"] for call in body["tool_calls"]]
    assert functions == [
        {"name": "n_me_with_blanks", "arguments": json.dumps({"not_json": "{broken"})},
        {"name": "unnamed", "arguments": '{"a": 1}'},
    ]


def test_the_two_channels_to_the_colleague_give_the_same_grade() -> None:
    dialogue = small_spec(user=COLLEAGUE)
    tools = [*dialogue.tools, "message_user"]
    by_tool = small_spec(user=COLLEAGUE, tools=tools)
    ask = ("message_user", '{"text": "Which ticket?"}')
    spoken = played(dialogue, ChatAnswer("Which ticket?"), calling(CLOSE), DONE)
    called = played(by_tool, calling(ask), calling(CLOSE), DONE)
    assert turns(spoken)[0].heard == "The reading lamp."
    assert b"The reading lamp." in turns(called)[0].calls[0].observation
    assert spoken.grade is not None
    assert spoken.grade == called.grade
    assert (spoken.reward, called.reward) == (1.0, 1.0)
