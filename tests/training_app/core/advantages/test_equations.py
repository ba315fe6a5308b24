"""The worked examples of the four methods, number for number."""

import pytest

from training_app.core.advantages import dr_grpo, gdpo, gigpo, grpo
from training_app.core.advantages.gigpo import Turn


def close(values: list[float]) -> object:
    return pytest.approx(values, abs=5e-5)


A = [Turn("s0", 0), Turn("s1", 0), Turn("s2", 1)]
B = [Turn("s0", 0), Turn("s1", 0), Turn("s0", 0), Turn("s3", 1)]
C = [Turn("s0", 0), Turn("s4", 0)]


def test_grpo_divides_by_the_sample_deviation() -> None:
    assert grpo.advantages([1, 0, 0, 1]) == close([0.8659, -0.8659, -0.8659, 0.8659])
    assert grpo.advantages([1, 0, 0, 0]) == close([1.4997, -0.4999, -0.4999, -0.4999])


def test_equal_rewards_give_exact_zeros() -> None:
    assert grpo.advantages([0.3] * 3) == [0.0] * 3
    assert dr_grpo.advantages([0.3] * 3) == [0.0] * 3
    assert gdpo.advantages([[{"a": 0.3, "b": 0.7}] * 3]) == [[0.0] * 3]
    assert gigpo.advantages([[Turn("s", 0.3)]] * 3) == [[0.0]] * 3


def test_dr_grpo_only_takes_the_mean_off() -> None:
    assert dr_grpo.advantages([1, 0, 0, 0]) == [0.75, -0.25, -0.25, -0.25]


def test_losses_differ_by_what_a_token_counts() -> None:
    terms = [[1.0] * 2, [-1.0] * 4]
    assert grpo.loss(terms) == 0.0
    assert grpo.token_mean(terms) == pytest.approx(1 / 3)
    assert dr_grpo.loss(terms, 8) == 0.125


def test_gdpo_keeps_apart_what_a_sum_makes_alike() -> None:
    groups = [[{"a": 0, "b": 0}, {"a": 0, "b": 1}], [{"a": 0, "b": 0}, {"a": 1, "b": 1}]]
    assert grpo.advantages([0, 1]) == close([-0.7070, 0.7070])
    assert grpo.advantages([0, 2]) == close([-0.7071, 0.7071])
    first, second = gdpo.advantages(groups)
    assert first + second == close([-0.5477, 0.5477, -1.0954, 1.0954])


def test_a_constant_component_contributes_exactly_nothing_to_gdpo() -> None:
    plain = gdpo.sums([{"a": 0.1}, {"a": 0.5}, {"a": 0.2}])
    assert gdpo.sums([{"a": v, "b": 0.7} for v in (0.1, 0.5, 0.2)]) == plain


def test_gdpo_weights_scale_components() -> None:
    group = [{"a": 0.0, "b": 1.0}, {"a": 1.0, "b": 0.0}]
    assert gdpo.sums(group, {"a": 3.0}) == close([-1.4140, 1.4140])


def test_gigpo_without_deviation() -> None:
    assert gigpo.episode_advantages([A, B, C], norm="none") == close([0.3333, 0.3333, -0.6667])
    a, b, c = gigpo.advantages([A, B, C], discount=0.5, norm="none")
    assert a == close([0.3646, 0.4583, 0.3333])
    assert b == close([0.2396, 0.2083, 0.6146, 0.3333])
    assert c == close([-0.8854, -0.6667])


def test_gigpo_with_deviation() -> None:
    a, b, c = gigpo.advantages([A, B, C], discount=0.5)
    assert a == close([0.7237, 1.2845, 0.5773])
    assert b == close([0.1382, -0.1298, 1.8948, 0.5773])
    assert c == close([-2.1794, -1.1547])


@pytest.mark.parametrize("rewards", [[], [1.0, float("nan")], [float("inf"), 0.0]])
def test_no_rewards_or_no_numbers_are_refused(rewards: list[float]) -> None:
    for method in (grpo.advantages, dr_grpo.advantages):
        with pytest.raises(ValueError, match="reward"):
            method(rewards)


def test_components_must_have_the_same_names() -> None:
    with pytest.raises(ValueError, match="different components"):
        gdpo.sums([{"a": 1.0}, {"b": 1.0}])
