"""GDPO: every reward component is normalised for itself (Liu et al. 2026, arXiv 2601.05242).

Summing components first can make different outcomes the same number. Instead, for component k with
weight w_k, within the group of a prompt and then over the batch of all rollouts:

    a_ik = (r_ik − mean_group(r_k)) / (std_group(r_k) + ε)
    s_i  = Σ_k w_k a_ik
    A_i  = (s_i − mean_batch(s)) / (std_batch(s) + ε)

Written from the equations alone.

Components have to be contributions (parts of the total that are never negative and all 0 after a
broken gate): with deductions in a component of their own a gate-breaker's good components would be
rewarded for themselves.
"""

from collections.abc import Mapping, Sequence

from training_app.core.advantages.groups import STABILISER, normalised

Rewards = Mapping[str, float]
"""Component → reward of one rollout."""


def sums(
    group: Sequence[Rewards],
    weights: Mapping[str, float] | None = None,
    *,
    stabiliser: float = STABILISER,
) -> list[float]:
    """Return s_i of one group: the weighted sum of the normalised components.

    Args:
        group: Per rollout, its components; all rollouts name the same.
        weights: Component → weight; 1 where it is not named.
        stabiliser: Added to the standard deviation.
    """
    if not group:
        raise ValueError("a group without rewards has no advantages")
    names = list(group[0])
    if any(rewards.keys() != group[0].keys() for rewards in group):
        raise ValueError("the rollouts of a group name different components")
    total = [0.0] * len(group)
    for name in names:
        weight = 1.0 if weights is None else weights.get(name, 1.0)
        column = normalised([rewards[name] for rewards in group], stabiliser)
        total = [have + weight * more for have, more in zip(total, column, strict=True)]
    return total


def advantages(
    groups: Sequence[Sequence[Rewards]],
    weights: Mapping[str, float] | None = None,
    *,
    stabiliser: float = STABILISER,
) -> list[list[float]]:
    """Return the advantages of a batch of groups: sums of each group, whitened over the batch."""
    raw = [sums(group, weights, stabiliser=stabiliser) for group in groups]
    white = iter(normalised([value for group in raw for value in group], stabiliser))
    return [[next(white) for _ in group] for group in raw]
