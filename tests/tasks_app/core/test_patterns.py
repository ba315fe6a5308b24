"""Call patterns, and frozen data that forgets what it compiled."""

import copy
import pickle
from typing import Any

import pytest
from pydantic import ValidationError

from tasks_app.core.memo import LARGEST, Memo
from tasks_app.core.patterns import CallPattern, took_effect
from tests.factories.evidence import call, written


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"tool": "a"}, True),
        ({"tool": ["b", "a"]}, True),
        ({"tool": "b"}, False),
        ({"tool": "a", "arguments": {"x": {"ge": 1}}}, True),
        ({"tool": "a", "arguments": {"x": 2}}, False),
        ({"tool": "a", "arguments": {"y": None}}, True),
        ({"tool": "a", "stage": "day1"}, True),
        ({"tool": "a", "stage": "day2"}, False),
    ],
)
def test_a_pattern_means_tool_arguments_and_stage(*, keys: Any, expected: bool) -> None:
    made = CallPattern.model_validate(keys)
    assert made.matches(call(0, "a", {"x": 1}, stage="day1")) is expected


def test_a_call_took_effect_if_it_succeeded_or_wrote() -> None:
    assert took_effect(call(0, "a"))
    assert took_effect(call(0, "a", error="timeout", changes=written()))
    assert not took_effect(call(0, "a", error="timeout"))


def test_a_pattern_with_a_bad_predicate_is_refused() -> None:
    with pytest.raises(ValidationError, match="unknown operator"):
        CallPattern.model_validate({"tool": "a", "arguments": {"x": {"eq": 1, "is": 1}}})


def test_copies_and_pickles_carry_the_value_alone() -> None:
    made = CallPattern(tool="a", arguments={"x": 1})
    assert made.matches(call(0, "a", {"x": 1}))
    fields = {"tool": "a", "arguments": {"x": 1}, "stage": None}
    for other in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):  # noqa: S301 (our own bytes)
        assert (vars(other), other) == (fields, made)
    assert not made.model_copy(update={"arguments": {"x": 2}}).matches(call(0, "a", {"x": 1}))


def test_a_memo_knows_a_tuple_by_identity_and_stays_small() -> None:
    asked: list[tuple[Any, ...]] = []

    def note(key: tuple[Any, ...]) -> int:
        asked.append(key)
        return len(asked)

    memo = Memo(note)
    first: tuple[Any, ...] = ({},)
    second: tuple[Any, ...] = ({},)
    assert [memo.of(first), memo.of(first), memo.of(second), memo.of(first)] == [1, 1, 2, 1]
    others = [(n,) for n in range(LARGEST)]
    assert [memo.of(key) for key in others] == list(range(3, LARGEST + 3))
    assert memo.of(first) == LARGEST + 3
