"""What holds for every group."""

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training_app.core.advantages import dr_grpo, gdpo, gigpo, grpo
from training_app.core.advantages.gigpo import Turn

reward = st.floats(0, 1).map(lambda value: round(value, 6))
rewards = st.lists(reward, min_size=2, max_size=16)
turn = st.builds(Turn, st.integers(0, 4), reward)
trajectories = st.lists(st.lists(turn, min_size=1, max_size=6), min_size=2, max_size=6)


@given(rewards)
def test_advantages_of_a_group_sum_to_nothing(values: list[float]) -> None:
    for method in (grpo.advantages, dr_grpo.advantages):
        assert math.fsum(method(values)) == pytest.approx(0, abs=1e-9)
    (group,) = gdpo.advantages([[{"a": value} for value in values]])
    assert math.fsum(group) == pytest.approx(0, abs=1e-6)


@given(rewards)
def test_a_better_reward_is_never_a_worse_advantage(values: list[float]) -> None:
    for method in (grpo.advantages, dr_grpo.advantages):
        found = method(values)
        order = sorted(range(len(values)), key=lambda i: values[i])
        assert all(found[a] <= found[b] for a, b in itertools.pairwise(order))


@given(rewards, st.floats(-10, 10))
def test_dr_grpo_does_not_care_for_a_constant(values: list[float], more: float) -> None:
    moved = dr_grpo.advantages([value + more for value in values])
    assert moved == pytest.approx(dr_grpo.advantages(values), abs=1e-9)


@given(st.randoms(use_true_random=False), trajectories)
def test_gigpo_does_not_care_for_the_order_of_trajectories(
    rng: random.Random, group: list[list[Turn]]
) -> None:
    plain = gigpo.advantages(group)
    order = list(range(len(group)))
    rng.shuffle(order)
    moved = gigpo.advantages([group[i] for i in order])
    for place, i in enumerate(order):
        assert moved[place] == pytest.approx(plain[i], abs=1e-9)


@given(trajectories)
def test_without_shared_anchors_gigpo_is_the_episode_advantage(group: list[list[Turn]]) -> None:
    alone = [
        [Turn((i, t), turn.reward) for t, turn in enumerate(turns)] for i, turns in enumerate(group)
    ]
    episode = gigpo.episode_advantages(alone)
    assert gigpo.advantages(alone) == [
        [value] * len(turns) for value, turns in zip(episode, alone, strict=True)
    ]


@given(trajectories)
def test_step_advantages_of_an_anchor_sum_to_nothing(group: list[list[Turn]]) -> None:
    steps = gigpo.step_advantages(group, discount=0.9, norm="none")
    sums: dict[object, list[float]] = {}
    for turns, values in zip(group, steps, strict=True):
        for met, value in zip(turns, values, strict=True):
            sums.setdefault(met.anchor, []).append(value)
    assert all(math.fsum(values) == pytest.approx(0, abs=1e-9) for values in sums.values())


@given(st.lists(reward, min_size=1, max_size=8), st.floats(0, 1))
def test_step_returns_are_the_discounted_sums(values: list[float], discount: float) -> None:
    found = gigpo.step_returns(values, discount)
    assert found == pytest.approx(
        [
            math.fsum(discount ** (k - t) * values[k] for k in range(t, len(values)))
            for t in range(len(values))
        ]
    )
