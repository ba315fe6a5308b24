"""Curation rules: what each drops, first and alone, and what a person's word overrides."""

from typing import Any

import pytest

from rollouts_app.core.trajectory import DamagedTurn, RecordedCall, RecordedTurn, Trajectory
from training_app.core.curation import (
    CallFacts,
    EpisodeFacts,
    Judgement,
    Rules,
    RulesError,
    Side,
    TaskFacts,
    call_facts,
    judge,
    judge_tasks,
    portions,
    read_rules,
)

GOOD = EpisodeFacts(
    id=0,
    spec_hash="s",
    graded=True,
    passed=True,
    violations=0,
    by_hand="open",
    finished=True,
    turns=5,
    tokens=40,
    errors=0,
    unrecovered=0,
    signature="calls",
    task_state="approved",
    split="train",
)


def episode(number: int, **changes: Any) -> EpisodeFacts:
    """An episode that every rule keeps, but for the changes; its calls are its own."""
    return GOOD._replace(**{"id": number, "signature": f"calls {number}", **changes})


def test_each_rule_drops_what_it_is_for_and_nothing_else() -> None:
    facts = [
        episode(1),
        episode(2, by_hand="dropped"),
        episode(3, graded=False),
        episode(4, split="evaluation"),
        episode(5, violations=1),
        episode(6, passed=False),
        episode(7, finished=False),
        episode(8, task_state="rejected"),
        episode(9, turns=21),
        episode(10, tokens=901),
        episode(11, errors=2, unrecovered=1),
        episode(12, signature="calls 1"),
        episode(13, errors=2),
        episode(14, tokens=None),
        episode(15, split="new_instances"),
    ]
    each = {
        "dropped_by_hand": 1,
        "not_graded": 1,
        "evaluation_only": 1,
        "violation": 1,
        "passed": 1,
        "finished": 1,
        "usable_tasks": 1,
        "turns": 1,
        "tokens": 1,
        "errors": 1,
        "duplicates": 1,
    }
    assert judge(facts, Rules(turns=20, tokens=900)) == Judgement(
        kept=(1, 13, 14, 15),
        dropped=each,
        alone=each,
        reasons={
            2: "dropped_by_hand",
            3: "not_graded",
            4: "evaluation_only",
            5: "violation",
            6: "passed",
            7: "finished",
            8: "usable_tasks",
            9: "turns",
            10: "tokens",
            11: "errors",
            12: "duplicates",
        },
    )


def test_the_first_rule_in_order_is_blamed_and_each_is_counted_alone() -> None:
    both = [episode(1, violations=1, passed=False, finished=False), episode(2, passed=False)]
    assert judge(both, Rules()) == Judgement(
        kept=(),
        dropped={"violation": 1, "passed": 1},
        alone={"violation": 1, "passed": 2, "finished": 1},
        reasons={1: "violation", 2: "passed"},
    )


def test_rules_that_are_switched_off_drop_nothing() -> None:
    facts = [
        episode(1, passed=False),
        episode(2, finished=False),
        episode(3, task_state="retired"),
        episode(4, errors=3, unrecovered=3),
        episode(5, signature="calls 4"),
    ]
    off = Rules(passed=False, finished=False, usable_tasks=False, errors="any", duplicates="all")
    assert judge(facts, off) == Judgement((1, 2, 3, 4, 5), {}, {}, {})


def test_kept_by_hand_overrides_matters_of_taste_but_no_hard_rule() -> None:
    facts = [
        episode(1, by_hand="kept", passed=False, finished=False, turns=99, unrecovered=1),
        episode(2, by_hand="kept", violations=1),
        episode(3, by_hand="kept", graded=False),
        episode(4, by_hand="kept", split="evaluation"),
        episode(5, by_hand="kept", signature="calls 1"),
    ]
    judged = judge(facts, Rules(turns=10))
    assert judged.kept == (1, 5)
    assert judged.dropped == {"not_graded": 1, "evaluation_only": 1, "violation": 1}


@pytest.mark.parametrize(
    ("how", "kept"), [("shortest", (3, 5)), ("first", (1, 5)), ("all", (1, 2, 3, 4, 5))]
)
def test_of_the_same_calls_on_the_same_task_one_is_kept(how: Any, kept: tuple[int, ...]) -> None:
    facts = [
        episode(1, signature="a", turns=6),
        episode(2, signature="a", turns=5),
        episode(3, signature="a", turns=5, tokens=30),
        episode(4, signature="a", turns=5, tokens=30),
        episode(5, signature="a", spec_hash="another task"),
    ]
    assert judge(facts, Rules(duplicates=how)).kept == kept


def test_of_duplicates_the_one_kept_by_hand_is_preferred() -> None:
    facts = [episode(1, signature="a"), episode(2, signature="a", turns=9, by_hand="kept")]
    assert judge(facts, Rules()).kept == (2,)


def test_a_good_episode_does_not_fall_for_a_bad_one_with_the_same_calls() -> None:
    facts = [episode(1, signature="a", turns=1, violations=1), episode(2, signature="a")]
    judged = judge(facts, Rules())
    assert judged.kept == (2,)
    assert judged.alone == {"violation": 1, "duplicates": 1}


def test_errors_may_forbid_recovery_too() -> None:
    facts = [episode(1, errors=1), episode(2)]
    assert judge(facts, Rules(errors="none")).kept == (2,)
    assert judge(facts, Rules(errors="recovered")).kept == (1, 2)


# Settings


def test_settings_are_read_with_defaults_and_written_whole() -> None:
    assert read_rules({"turns": 12, "errors": "none"}).written() == {
        "passed": True,
        "finished": True,
        "usable_tasks": True,
        "turns": 12,
        "tokens": None,
        "errors": "none",
        "duplicates": "shortest",
        "quote": False,
    }


@pytest.mark.parametrize(
    ("written", "place", "message"),
    [
        ({"pased": True}, "pased", "there is no such rule"),
        ({"passed": "yes"}, "passed", "must be true or false"),
        ({"turns": 0}, "turns", "must be a whole number from 1 to 1,000,000, or nothing"),
        ({"turns": True}, "turns", "must be a whole number from 1 to 1,000,000, or nothing"),
        ({"tokens": 1.5}, "tokens", "must be a whole number from 1 to 1,000,000, or nothing"),
        ({"errors": "few"}, "errors", "“few” is no choice"),
        ({"duplicates": []}, "duplicates", "“[]” is no choice"),
    ],
)
def test_a_wrong_setting_is_named(written: dict[str, Any], place: str, message: str) -> None:
    with pytest.raises(RulesError) as caught:
        read_rules(written)
    assert (caught.value.place, caught.value.message) == (place, message)


def test_an_unknown_rule_names_the_nearest() -> None:
    with pytest.raises(RulesError) as caught:
        read_rules({"pased": True})
    assert caught.value.hint.startswith("Did you mean “passed”? Rules: passed, finished, ")


# Calls


def call(name: str, arguments: bytes, error: str | None = None) -> RecordedCall:
    """A recorded call whose keys do not matter."""
    return RecordedCall("id", name, arguments, b"{}", error, "0" * 32, "0" * 32)


def trajectory(*calls: RecordedCall) -> Trajectory:
    """One turn a call."""
    turns = tuple(RecordedTurn(i, "s", calls=(one,)) for i, one in enumerate(calls))
    return Trajectory("hash", "someone", 0, turns)


def test_the_same_calls_have_one_signature_whatever_their_spacing_order_and_turns() -> None:
    one = trajectory(call("get", b'{"a":1,"b":2}'), call("put", b"{}"))
    other = trajectory(call("get", b'{ "b": 2, "a": 1 }'), call("put", b"{ }"))
    together = Trajectory(
        "x",
        "y",
        1,
        (RecordedTurn(0, "s", "words", tuple(t.calls[0] for t in one.turns)),),  # type: ignore[union-attr]
    )
    assert call_facts(one) == call_facts(other) == call_facts(together)


@pytest.mark.parametrize(
    "other",
    [
        trajectory(call("put", b'{"a":1}')),
        trajectory(call("get", b'{"a":2}')),
        trajectory(call("get", b'{"a":1.0}')),
        trajectory(call("get", b'{"a":1')),
        trajectory(call("get", b'{"a":1}'), call("get", b'{"a":1}')),
        trajectory(),
    ],
)
def test_other_calls_have_another_signature(other: Trajectory) -> None:
    assert call_facts(trajectory(call("get", b'{"a":1}'))).signature != call_facts(other).signature


def test_errors_after_the_last_call_that_worked_are_not_recovered() -> None:
    bad, good = call("get", b"{}", "not_found"), call("get", b"{}")
    assert call_facts(trajectory(bad, bad, good)).unrecovered == 0
    assert call_facts(trajectory(good, bad, bad)).unrecovered == 2


def test_a_damaged_turn_counts_as_its_bytes() -> None:
    damaged = Trajectory("h", "p", 0, (DamagedTurn(0, b"{", "no end"),))
    assert call_facts(damaged) == call_facts(damaged)
    assert call_facts(damaged) != CallFacts(call_facts(trajectory()).signature, 0)


# Tasks and portions


def test_tasks_are_approved_or_proven_each_content_once_and_for_training() -> None:
    facts = [
        TaskFacts(1, "a", "approved", False, "train"),
        TaskFacts(2, "b", "proven", True, "train"),
        TaskFacts(3, "c", "proven", False, "train"),
        TaskFacts(4, "d", "draft", False, "train"),
        TaskFacts(5, "a", "approved", True, "train"),
        TaskFacts(6, "e", "draft", False, "evaluation"),
    ]
    assert judge_tasks(facts) == Judgement(
        kept=(1, 2),
        dropped={"evaluation_only": 1, "state": 2, "duplicates": 1},
        alone={"evaluation_only": 1, "state": 3, "duplicates": 1},
        reasons={3: "state", 4: "state", 5: "duplicates", 6: "evaluation_only"},
    )


SIDES = [
    Side(1, "refunds", "f1", "train"),
    Side(2, "refunds", "f2", "new_instances"),
    Side(3, "meetings", "f1", "train"),
    Side(4, "meetings", "", "train"),
    Side(5, "invoices", "", "new_families"),
]


def test_what_hangs_together_with_a_held_out_task_is_held_out_too() -> None:
    sides = [
        Side(1, "refunds", "f1", "new_instances", frozenset({"id:OR-1000", "name:a b"})),
        Side(2, "refunds", "f1", "train", frozenset({"name:a b", "value:12.5"})),
        Side(3, "refunds", "f1", "train", frozenset({"value:12.5"})),
        Side(4, "refunds", "f1", "train", frozenset({"id:OR-2000"})),
    ]

    assert portions(sides, ()) == {1: "held_out", 2: "held_out", 3: "held_out", 4: "train"}


def test_the_split_column_holds_tasks_back() -> None:
    assert portions(SIDES, ()) == {
        1: "train",
        2: "held_out",
        3: "train",
        4: "train",
        5: "held_out",
    }


def test_a_held_family_takes_its_structural_siblings_along() -> None:
    assert portions(SIDES, ["meetings"]) == {
        1: "held_out",
        2: "neither",
        3: "held_out",
        4: "held_out",
        5: "neither",
    }


def test_tasks_without_a_fingerprint_are_no_siblings() -> None:
    assert portions(SIDES[3:], ["invoices"]) == {4: "train", 5: "held_out"}
