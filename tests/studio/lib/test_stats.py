import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.lib.stats import bootstrap, mean, pass_at_k, pass_hat_k, wilson


@pytest.mark.parametrize(
    ("successes", "attempts", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (5, 10, 0.2366, 0.7634),
        (81, 263, 0.2553, 0.3662),
    ],
)
def test_wilson_gives_the_published_intervals(
    successes: int, attempts: int, low: float, high: float
) -> None:
    assert wilson(successes, attempts) == pytest.approx((low, high), abs=5e-5)


def test_nothing_attempted_is_not_scored() -> None:
    assert wilson(0, 0) is None
    assert mean([]) is None
    assert mean([0.0, 1.0]) == 0.5


@given(st.integers(1, 60), st.data())
def test_wilson_holds_the_share_and_stays_inside(attempts: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, attempts))
    found = wilson(successes, attempts)
    assert found is not None
    assert 0 <= found.low <= successes / attempts <= found.high <= 1


@given(st.integers(1, 6), st.integers(1, 7), st.data())
def test_pass_scores_are_shares_of_all_choices_of_k(
    attempts: int, k: int, data: st.DataObject
) -> None:
    passed = data.draw(st.integers(0, attempts))
    outcomes = [True] * passed + [False] * (attempts - passed)
    choices = list(itertools.combinations(outcomes, k))
    if not choices:
        assert (pass_at_k(attempts, passed, k), pass_hat_k(attempts, passed, k)) == (None, None)
        return
    some = sum(any(choice) for choice in choices) / len(choices)
    every = sum(all(choice) for choice in choices) / len(choices)
    assert pass_at_k(attempts, passed, k) == pytest.approx(some)
    assert pass_hat_k(attempts, passed, k) == pytest.approx(every)


@pytest.mark.parametrize(("attempts", "passed", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_impossible_counts_are_refused(attempts: int, passed: int, k: int) -> None:
    for score in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match=r"passed of|k must be"):
            score(attempts, passed, k)
    with pytest.raises(ValueError, match="successes of"):
        wilson(4, 3)


def test_bootstrap_is_the_same_from_the_same_seed_and_spans_its_share_of_resampled_means() -> None:
    values = [0.0, 0.0, 0.0, 1.0]
    found = bootstrap(values, random.Random(7))
    assert found == bootstrap(values, random.Random(7))
    # of four draws with replacement the sum is binomial (4, 1/4): P(0) = 0.32, P(>= 4) = 0.004
    assert found == (0.0, 0.75)
    assert bootstrap(values, random.Random(7), level=0.5) == (0.0, 0.5)
    assert bootstrap([0.25] * 9, random.Random(7)) == (0.25, 0.25)
    assert bootstrap([], random.Random(7)) is None
    with pytest.raises(ValueError, match="between 0 and 1, not at 95"):
        bootstrap(values, random.Random(7), level=95)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30))
def test_a_bootstrap_interval_stays_within_the_values(values: list[float]) -> None:
    found = bootstrap(values, random.Random(0), draws=50)
    assert found is not None
    low, high = found
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
