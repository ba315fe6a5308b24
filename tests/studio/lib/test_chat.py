"""The chat client against a real HTTP server: odd answers are data, failures are named and
retried.
"""

import itertools
import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from studio.lib.chat import (
    Abilities,
    Budget,
    ChatAnswer,
    ChatRequest,
    EndpointFailure,
    OpenAIChat,
    RetryPolicy,
    ToolCall,
    Usage,
)
from studio.lib.chat_probe import probe
from studio.lib.scripted_chat import ScriptedChat
from tests.factories.chat_stub import Entry, Stub, chat_stub, cut, failed, raw, said, when_told

ASK = ChatRequest(messages=({"role": "user", "content": "hello"},), temperature=0.5, seed=3)
TOOL = {"type": "function", "function": {"name": "mail_list", "parameters": {}}}


def client(stub: Stub, waits: list[float] | None = None, **more: Any) -> OpenAIChat:
    waited = waits if waits is not None else []
    return OpenAIChat(
        stub.url,
        "tiny",
        "secret",
        wait=waited.append,
        rng=random.Random(1),
        **{"timeout": 5, **more},
    )


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)


def test_an_answer_is_read_whole_and_nothing_unsupported_is_sent() -> None:
    with chat_stub(said("Yes.", reasoning_content="thinking")) as stub:
        answer = client(stub).ask(ASK)
    assert (answer.text, answer.reasoning, answer.usage) == ("Yes.", "thinking", Usage(11, 7))
    assert stub.asked == [
        {"model": "tiny", "messages": [{"role": "user", "content": "hello"}], "temperature": 0.5}
    ]
    assert stub.keys == ["Bearer secret"]


def test_what_the_probe_found_is_sent() -> None:
    with chat_stub(said("Yes.")) as stub:
        client(stub, abilities=Abilities(seed=True)).ask(
            ChatRequest(messages=ASK.messages, tools=(TOOL,), seed=3, max_tokens=9)
        )
    assert {k: stub.asked[0][k] for k in ("seed", "tools", "max_tokens")} == {
        "seed": 3,
        "tools": [TOOL],
        "max_tokens": 9,
    }


def test_several_calls_and_unparsable_arguments_are_data() -> None:
    with chat_stub(said(calls=[("a_b", '{"x": 1}'), ("no such tool", "{broken")])) as stub:
        answer = client(stub).ask(ASK)
    assert answer.calls == (
        ToolCall("c0", "a_b", '{"x": 1}'),
        ToolCall("c1", "no such tool", "{broken"),
    )
    assert answer.finish == "tool_calls"
    assert answer.message()["tool_calls"][1]["function"]["arguments"] == "{broken"


def test_an_empty_reply_is_an_answer() -> None:
    with chat_stub(said("")) as stub:
        answer = client(stub).ask(ASK)
    assert (answer.text, answer.calls, answer.message()) == (
        "",
        (),
        {"role": "assistant", "content": ""},
    )


def test_failures_are_retried_with_growing_jittered_waits_until_an_answer_comes() -> None:
    waits: list[float] = []
    with chat_stub(failed(500), cut, raw(b"<html>"), raw(b"{}"), said("At last.")) as stub:
        answer = client(stub, waits).ask(ASK)
    assert (answer.text, len(stub.asked)) == ("At last.", 5)
    assert all(0 <= wait <= 0.5 * 2**n for n, wait in enumerate(waits))
    assert len(waits) == 4


def test_retry_after_is_obeyed() -> None:
    waits: list[float] = []
    with chat_stub(failed(429, "slow down", {"retry-after": "7"}), said("ok")) as stub:
        client(stub, waits).ask(ASK)
    assert [7 <= wait <= 7.7 for wait in waits] == [True]


@pytest.mark.parametrize(
    ("entry", "kind", "words"),
    [
        (failed(401, "bad key"), "wrong_key", "the endpoint refused the key (401): bad key"),
        (failed(403, "not yours"), "wrong_key", "(403): not yours"),
        (failed(400, "unknown field"), "refused", "refused the request (400): unknown field"),
        (failed(404, "no such model"), "refused", "(404): no such model"),
    ],
)
def test_what_a_retry_cannot_mend_is_raised_at_once_in_the_servers_words(
    entry: Any, kind: str, words: str
) -> None:
    with chat_stub(entry) as stub:
        with pytest.raises(EndpointFailure) as failure:
            client(stub).ask(ASK)
        assert len(stub.asked) == 1
    assert failure.value.kind == kind
    assert words in failure.value.message


def test_the_last_failure_is_raised_when_the_attempts_are_used_up() -> None:
    with chat_stub(failed(503, "overloaded")) as stub:
        with pytest.raises(EndpointFailure, match="overloaded"):
            client(stub, retry=RetryPolicy(attempts=3)).ask(ASK)
        assert len(stub.asked) == 3


def test_a_slow_server_is_a_timeout_and_a_dead_one_unreachable() -> None:
    gate = threading.Event()
    with chat_stub(when_told(gate, said("late"))) as stub:
        with pytest.raises(EndpointFailure) as late:
            client(stub, timeout=0.2, retry=RetryPolicy(attempts=1)).ask(ASK)
        gate.set()
    with pytest.raises(EndpointFailure) as dead:
        client(stub, retry=RetryPolicy(attempts=1)).ask(ASK)
    assert (late.value.kind, dead.value.kind) == ("timeout", "unreachable")


def test_an_answer_that_comes_drop_by_drop_is_a_timeout() -> None:
    minutes = itertools.count()
    with chat_stub(said("late")) as stub:
        ticking = client(
            stub, clock=lambda: 60.0 * next(minutes), retry=RetryPolicy(attempts=1), timeout=30
        )
        with pytest.raises(EndpointFailure) as late:
            ticking.ask(ASK)
    assert (late.value.kind, late.value.message) == (
        "timeout",
        "the endpoint did not answer in time",
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (said("x" * 300_000), "the answer has more than 200,000 bytes"),
        (failed(500, "x" * 300_000), "the answer has more than 200,000 bytes"),
        (
            failed(200, "", {"content-encoding": "gzip"}),
            "the answer is packed (gzip), which was not asked for",
        ),
        (raw(b"[" * 90_000 + b"]" * 90_000), "the answer is nested too deeply"),
    ],
)
def test_an_answer_without_measure_is_broken_and_not_read_to_its_end(
    answer: Entry, words: str
) -> None:
    with chat_stub(answer) as stub, pytest.raises(EndpointFailure) as broken:
        client(stub, most_bytes=200_000, retry=RetryPolicy(attempts=1)).ask(ASK)
    assert (broken.value.kind, broken.value.message) == ("broken_answer", words)


@pytest.mark.parametrize("count", [-1, 2**62, "many", 1.5, None])
def test_tokens_that_no_call_can_have_are_not_counted(count: object) -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": count}
    message = {"choices": [{"message": {"content": "Yes."}}], "usage": usage}
    with chat_stub(raw(json.dumps(message).encode())) as stub:
        assert client(stub).ask(ASK).usage == Usage(3, 0)


def test_a_spent_budget_stops_all_threads() -> None:
    budget = Budget(calls=10)
    with chat_stub(said("ok")) as stub:
        chat = client(stub, budget=budget)

        def ask(_: int) -> str:
            try:
                return chat.ask(ASK).text
            except EndpointFailure as failure:
                return failure.kind

        with ThreadPoolExecutor(8) as pool:
            results = list(pool.map(ask, range(25)))
        assert len(stub.asked) == 10
    assert sorted(results) == ["budget"] * 15 + ["ok"] * 10
    assert budget.used_tokens == 180


def test_a_budget_of_tokens_is_checked_before_the_next_call() -> None:
    with chat_stub(said("ok")) as stub:
        chat = client(stub, budget=Budget(tokens=20))
        chat.ask(ASK)
        chat.ask(ASK)
        with pytest.raises(EndpointFailure, match="20 tokens is spent"):
            chat.ask(ASK)


def test_the_content_key_tells_requests_apart_and_not_their_spelling() -> None:
    same = ChatRequest(messages=[{"content": "hello", "role": "user"}], temperature=0.5, seed=3)
    assert ASK.key("e", "m") == same.key("e", "m")
    others = [
        ASK.key("e", "m2"),
        ChatRequest(messages=ASK.messages, temperature=0.6, seed=3).key("e", "m"),
        ChatRequest(messages=ASK.messages, temperature=0.5, seed=3, draw="E-1/2").key("e", "m"),
    ]
    assert len({ASK.key("e", "m"), *others}) == 4


def test_a_probe_finds_what_the_endpoint_takes() -> None:
    two = said(calls=[("clock_get_time", "{}"), ("clock_get_time", "{}")])
    with chat_stub(said("yes"), two, said("grey")) as stub:
        stub.models.append(
            {"id": "tiny", "object": "model", "created": 0, "owned_by": "x", "max_model_len": 4096}
        )
        found = probe(client(stub))
    assert (found.tools, found.parallel_calls, found.images, found.seed, found.context) == (
        True,
        True,
        True,
        True,
        4096,
    )
    assert found.latency is not None


def test_a_probe_of_a_server_that_refuses_fields_finds_less() -> None:
    script = (failed(422, "seed"), said("yes"), failed(400, "tools"), failed(400, "image"))
    with chat_stub(*script) as stub:
        found = probe(client(stub))
    assert (found.tools, found.parallel_calls, found.images, found.seed, found.context) == (
        False,
        False,
        False,
        False,
        None,
    )


def test_a_scripted_client_says_its_lines_and_keeps_what_it_was_asked() -> None:
    chat = ScriptedChat([ChatAnswer("one"), EndpointFailure("server", "two")])
    assert chat.ask(ASK).text == "one"
    with pytest.raises(EndpointFailure, match="two"):
        chat.ask(ASK)
    with pytest.raises(EndpointFailure, match="at its end"):
        chat.ask(ASK)
    assert chat.asked == [ASK, ASK, ASK]
