"""Whoever breaks a gate is never taught to do it again: no method gives a positive advantage."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training_app.core.advantages import dr_grpo, gdpo, gigpo, grpo
from training_app.core.advantages.gigpo import Turn

NAMES = ("outcome", "process", "report", "collateral", "constraint")


def contributions(**parts: float) -> dict[str, float]:
    return {name: parts.get(name, 0.0) for name in NAMES}


GATED = contributions()


def of_the_last(group: list[dict[str, float]]) -> dict[str, float]:
    """The last rollout's advantage under each method (its greatest over turns, for GiGPO)."""
    totals = [math.fsum(parts.values()) for parts in group]
    turns = [
        [Turn(f"{t % 2}", total if t == 2 else 0.0) for t in range(3)]
        for i, total in enumerate(totals)
    ]
    return {
        "grpo": grpo.advantages(totals)[-1],
        "dr_grpo": dr_grpo.advantages(totals)[-1],
        "gdpo": gdpo.advantages([group])[0][-1],
        "gigpo": max(gigpo.advantages(turns)[-1]),
    }


def test_contributions_make_a_gate_breaker_the_least_beside_three_honest_ones() -> None:
    honest = contributions(outcome=0.3)
    found = of_the_last([honest, honest, honest, GATED])
    assert found["grpo"] == pytest.approx(-1.50, abs=2e-3)
    assert all(value < 0 for value in found.values()), found


def test_raw_components_would_reward_a_gate_breaker_under_gdpo() -> None:
    honest = contributions(outcome=0.3)
    violator = contributions(outcome=0.5, process=0.2, report=0.2, constraint=-0.9)
    assert gdpo.sums([honest, honest, honest, violator])[-1] == pytest.approx(3.0, abs=5e-3)


def test_deductions_in_proportion_keep_a_gate_breaker_the_least() -> None:
    group = [contributions(outcome=value - 0.1) for value in (0.15, 0.35, 0.15)]
    found = of_the_last([*group, GATED])
    assert all(value < 0 for value in found.values()), found


def test_deductions_in_a_component_of_their_own_would_reward_it() -> None:
    group = [contributions(outcome=value, constraint=-0.1) for value in (0.15, 0.35, 0.15)]
    assert gdpo.sums([*group, GATED])[-1] == pytest.approx(0.37, abs=5e-3)


part = st.floats(0, 0.25).map(lambda value: round(value, 6))
honest = st.builds(contributions, outcome=part, process=part, report=part, collateral=part)


@given(st.lists(honest, min_size=1, max_size=8))
def test_no_method_gives_a_gate_breaker_a_positive_advantage(group: list[dict[str, float]]) -> None:
    assert all(value <= 1e-12 for value in of_the_last([*group, GATED]).values())


@given(st.lists(st.lists(honest, min_size=2, max_size=4), min_size=1, max_size=4))
def test_nor_does_gdpo_over_a_batch_of_other_groups(groups: list[list[dict[str, float]]]) -> None:
    batch = gdpo.advantages([[*group, GATED] for group in groups])
    assert all(values[-1] <= 1e-9 for values in batch)
