"""How hard a task is: rates with intervals, groups without variance, false rejections."""

import pytest

from rollouts_app.core.calibration import Group, overturned_words, rates, state_of
from studio.lib.stats import wilson


def test_a_rate_sums_a_policys_batches_and_keeps_its_interval() -> None:
    (rate,) = rates([Group("endpoint:a", 4, 1, 0.0, 1.0), Group("endpoint:a", 4, 2, 0.2, 1.0)])

    assert (rate.graded, rate.passed, rate.interval) == (8, 3, wilson(3, 8))
    assert rate.words == (
        "endpoint:a: 3 of 8 pass (0.14–0.69), in band; 0 of 2 groups without variance"
    )


def test_groups_in_which_all_earn_the_same_are_counted_and_single_episodes_are_none() -> None:
    (rate,) = rates(
        [Group("p", 3, 0, 0.2, 0.2), Group("p", 3, 1, 0.0, 1.0), Group("p", 1, 0, 0.0, 0.0)]
    )

    assert (rate.groups, rate.uniform) == (2, 1)


@pytest.mark.parametrize(
    ("graded", "passed", "label"),
    [
        (3, 3, "too few"),
        (4, 0, "too hard"),
        (20, 1, "too hard"),
        (20, 2, "in band"),
        (20, 18, "in band"),
        (20, 19, "too easy"),
        (4, 4, "too easy"),
    ],
)
def test_the_label_says_where_the_rate_lies(graded: int, passed: int, label: str) -> None:
    (rate,) = rates([Group("p", graded, passed, 0.0, 1.0)])

    assert rate.label == label


def test_one_policy_within_the_band_is_enough() -> None:
    found = rates([Group("a", 8, 0, 0, 0), Group("b", 8, 4, 0, 1)])

    assert state_of(found) == ("held", "1 of 2 policies pass between 10% and 90%")


def test_none_within_the_band_warns_and_too_few_attempts_say_nothing() -> None:
    assert state_of(rates([Group("a", 8, 8, 1, 1)])) == ("warned", "too easy for a")
    assert state_of(rates([Group("a", 2, 1, 0, 1)]))[0] == "not_run"
    assert state_of(())[0] == "not_run"


def test_false_rejections_are_those_that_people_overturned_of_those_they_judged() -> None:
    assert overturned_words(0, 0) == "no failed episode was judged by a person"
    assert overturned_words(1, 4) == (
        "false rejections: 1 of 4 failed episodes that people judged (0.05–0.70)"
    )
