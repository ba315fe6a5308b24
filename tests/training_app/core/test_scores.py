"""Scores of an evaluation, worked by hand."""

from typing import Any

import pytest

from training_app.core.scores import Attempt, Kind, TaskResult, compare, summarise


def attempt(name: str, reward: float | None, *, violations: int = 0) -> Attempt:
    """A graded episode, or one that broke outside the model."""
    if reward is None:
        return Attempt(name, "failed")
    return Attempt(name, "graded", reward, reward == 1.0, violations)


def result(
    version: int, *rewards: float | None, family: str = "desk", kind: Kind = "new_instances"
) -> TaskResult:
    return TaskResult(
        version=version,
        task=f"T-{version}",
        title=f"Task {version}",
        family=family,
        kind=kind,
        attempts=tuple(attempt(f"E-{version}-{n}", r) for n, r in enumerate(rewards)),
    )


WORKED = [
    result(1, 1.0, 1.0, 1.0),
    result(2, 1.0, 0.5, 0.0),
    result(3, None, 0.0, 0.0, family="till"),
    result(4, None, None, None, family="till", kind="new_families"),
]


def test_a_report_counts_what_is_missing_and_averages_the_rest_over_tasks() -> None:
    report: Any = summarise(WORKED)
    whole = {name: report[name] for name in (
        "tasks", "scored_tasks", "episodes", "graded", "failed", "missing", "passed", "violations",
        "score", "reward", "pass_at_1", "pass_1", "pass_at_3", "pass_3", "split_kind",
    )}  # fmt: skip
    assert whole == {
        "tasks": 4,
        "scored_tasks": 3,
        "episodes": 12,
        "graded": 8,
        "failed": 4,
        "missing": 0,
        "passed": 4,
        "violations": 0,
        "score": pytest.approx((1 + 1 / 3 + 0) / 3),
        "reward": pytest.approx((1 + 0.5 + 0) / 3),
        "pass_at_1": pytest.approx((1 + 1 / 3 + 0) / 3),
        "pass_1": pytest.approx((1 + 1 / 3 + 0) / 3),
        # only the two tasks with three graded episodes
        "pass_at_3": 1.0,
        "pass_3": 0.5,
        "split_kind": "mixed",
    }
    # three tasks drawn anew are the same task three times in 1 of 27 cases, more than 2.5 %
    assert (report["low"], report["high"]) == (0.0, 1.0)
    assert [(one["family"], one["split_kind"], one["score"]) for one in report["families"]] == [
        ("till", "new_families", None),
        ("desk", "new_instances", pytest.approx(2 / 3)),
        ("till", "new_instances", 0.0),
    ]
    assert [(one["split_kind"], one["tasks"]) for one in report["splits"]] == [
        ("new_families", 1),
        ("new_instances", 3),
    ]
    unscored = report["families"][0]
    assert (unscored["low"], unscored["high"], unscored["reward"]) == (None, None, None)
    assert summarise(WORKED) == report


def test_nothing_measured_is_not_a_zero() -> None:
    report: Any = summarise([])
    names = ("score", "low", "high", "reward", "pass_3", "split_kind")
    assert [report[name] for name in names] == [None] * 6


def test_where_all_tasks_agree_the_interval_has_the_width_of_a_share() -> None:
    all_of_ten: Any = summarise([result(n, 1.0) for n in range(10)])
    assert (all_of_ten["low"], all_of_ten["high"]) == pytest.approx((0.7225, 1.0), abs=5e-5)
    half_of_each: Any = summarise([result(n, 1.0, 0.0) for n in range(10)])
    assert (half_of_each["low"], half_of_each["high"]) == pytest.approx((0.2366, 0.7634), abs=5e-5)
    none_of_ten: Any = summarise([result(n, 0.2) for n in range(10)])
    assert (none_of_ten["low"], none_of_ten["high"]) == pytest.approx((0.0, 0.2775), abs=5e-5)


def test_k_above_the_graded_episodes_is_not_scored() -> None:
    report: Any = summarise([result(1, 1.0, 1.0)])
    assert (report["pass_1"], report["pass_3"], report["pass_at_3"]) == (1.0, None, None)


def test_a_comparison_pairs_tasks_and_names_the_worst_first() -> None:
    before = [result(1, 1.0), result(2, 0.0), result(3, 1.0), result(4, None), result(5, 0.5)]
    after = [
        result(1, 0.0),
        result(2, 1.0),
        result(3, 1.0),
        result(4, 1.0),
        result(5, 0.25),
        result(6, 1.0),
    ]
    found: Any = compare(before, after)
    assert (found["tasks"], found["unpaired"]) == (4, 2)
    assert (found["worse"], found["better"], found["same"]) == (2, 1, 1)
    assert (found["same_passed"], found["same_failed"]) == (1, 0)
    assert (found["before"], found["after"], found["difference"]) == (0.5, 0.5, 0.0)
    assert found["low"] < 0 < found["high"]
    assert found["reward_difference"] == pytest.approx((-1 + 1 + 0 - 0.25) / 4)
    assert found["regressions"] == [
        {
            "task": "T-1",
            "title": "Task 1",
            "family": "desk",
            "before": 1.0,
            "after": 0.0,
            "difference": -1.0,
            "reward_difference": -1.0,
            "episode_before": "E-1-0",
            "episode_after": "E-1-0",
        },
        {
            "task": "T-5",
            "title": "Task 5",
            "family": "desk",
            "before": 0.0,
            "after": 0.0,
            "difference": 0.0,
            "reward_difference": -0.25,
            "episode_before": "E-5-0",
            "episode_after": "E-5-0",
        },
    ]
    assert [one["task"] for one in found["gains"]] == ["T-2"]


def test_two_evaluations_without_a_common_task_have_no_difference() -> None:
    found: Any = compare([result(1, 1.0)], [result(2, 1.0)])
    names = ("tasks", "unpaired", "difference", "low", "high", "before", "after")
    assert [found[name] for name in names] == [0, 2, None, None, None, None, None]


def test_the_worst_episode_of_a_task_stands_for_it() -> None:
    assert result(1, 1.0, 0.4, 0.1, None).worst == "E-1-2"
    assert result(1, None).worst == ""
