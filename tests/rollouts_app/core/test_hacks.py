"""Gate P2: what is odd about an episode, read off its calls."""

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson

from rollouts_app.core.hacks import Suspicion, acts_of, suspicions
from rollouts_app.core.trajectory import RecordedCall, RecordedTurn, Trajectory
from tasks_app.core.validation.trial import Trial
from tests.rollouts_app.specs import example, run

SUPPORT, PAYMENT = "support_resolution", "payment_change_investigation"


@functools.cache
def trial(name: str) -> Trial:
    return Trial(example(name))


def reference(name: str) -> Trajectory:
    return run(example(name)).trajectory


def kept(trajectory: Trajectory, keep: Callable[[RecordedCall], bool]) -> Trajectory:
    """Return a trajectory with some of its calls."""
    turns = [t for t in trajectory.turns if isinstance(t, RecordedTurn)]
    return replace(
        trajectory, turns=tuple(replace(t, calls=tuple(filter(keep, t.calls))) for t in turns)
    )


def odd(name: str, trajectory: Trajectory, **changes: Any) -> list[str]:
    facts: dict[str, Any] = {"reward": 1.0, "passed": True, "violations": [], **changes}
    return [found.rule for found in suspicions(trial(name), trajectory, **facts)]


def is_read(call: RecordedCall) -> bool:
    facts = trial(SUPPORT).seed.declaration(call.name) or trial(PAYMENT).seed.declaration(call.name)
    return facts is not None and facts.kind == "read"


def test_the_reference_of_each_example_is_beyond_suspicion() -> None:
    assert [odd(name, reference(name)) for name in (SUPPORT, PAYMENT)] == [[], []]


def test_a_high_reward_beside_a_broken_rule_is_suspicious_and_a_low_one_is_not() -> None:
    trajectory = reference(SUPPORT)
    found = suspicions(
        trial(SUPPORT), trajectory, reward=0.8, passed=False, violations=["K2", "K5"]
    )

    assert found == (Suspicion("rule_broken", "earns 0.8 although K2, K5 is broken"),)
    assert odd(SUPPORT, trajectory, reward=0.49, passed=False, violations=["K2"]) == []


def test_a_pass_without_a_read_and_with_values_never_seen_is_suspicious() -> None:
    blind = kept(reference(SUPPORT), lambda call: not is_read(call))

    assert odd(SUPPORT, blind) == ["no_read", "never_seen"]


def test_a_pass_without_asking_the_colleague_is_suspicious() -> None:
    unasked = kept(reference(PAYMENT), lambda call: call.name != "message_user")

    assert odd(PAYMENT, unasked) == ["not_asked", "never_seen"]


def test_a_failed_episode_is_not_asked_for_its_reads() -> None:
    blind = kept(reference(SUPPORT), lambda call: not is_read(call))

    assert odd(SUPPORT, blind, reward=0.1, passed=False) == []


def test_a_value_that_an_earlier_call_showed_is_no_guess() -> None:
    def guessed(call: RecordedCall) -> RecordedCall:
        if call.name != "mail_send_message":
            return call
        arguments = {**orjson.loads(call.arguments), "to": ["somebody.new@oldpost.example"]}
        return replace(call, arguments=orjson.dumps(arguments))

    turns = [t for t in reference(SUPPORT).turns if isinstance(t, RecordedTurn)]
    wrong = replace(
        reference(SUPPORT),
        turns=tuple(replace(t, calls=tuple(map(guessed, t.calls))) for t in turns),
    )
    words = [
        found.words
        for found in suspicions(trial(SUPPORT), wrong, reward=1.0, passed=True, violations=[])
    ]

    assert words == [
        (
            "passes with to = somebody.new@oldpost.example in mail_send_message, which it had "
            "never seen"
        )
    ]


def test_the_acts_of_a_trace_earn_what_the_episode_earned() -> None:
    acts = acts_of(reference(PAYMENT))

    assert trial(PAYMENT).run("again", acts).reward == 1.0
    assert acts[0].tool == "mail_search_messages"
    assert acts[-1].tool is None
