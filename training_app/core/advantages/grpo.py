"""GRPO: group-relative advantages, averaged per sequence (Shao et al. 2024, arXiv 2402.03300).

For a group of G rollouts of one prompt with rewards R_i (section 4.1, outcome supervision):

    A_i = (R_i − mean(R)) / (std(R) + ε)         std with G − 1, ε = 1e-4
    L   = −1/G Σ_i 1/|o_i| Σ_t ρ_it A_i          ρ: probability ratio of a token
"""

from collections.abc import Sequence

from training_app.core.advantages.groups import STABILISER, mean, normalised


def advantages(rewards: Sequence[float], *, stabiliser: float = STABILISER) -> list[float]:
    """Return one advantage a rollout; exact zeros where all rewards are equal.

    Raises ValueError for an empty group or a reward that is no finite number.
    """
    return normalised(rewards, stabiliser)


def loss(terms: Sequence[Sequence[float]]) -> float:
    """Aggregate token terms ρ·A (positive is good): the mean over sequences of token means.

    A sequence without tokens counts as 0.
    """
    return -mean([mean(tokens) if tokens else 0.0 for tokens in terms])


def token_mean(terms: Sequence[Sequence[float]]) -> float:
    """The aggregation GRPO is often mistaken for: the mean over all tokens of all sequences."""
    flat = [term for tokens in terms for term in tokens]
    return -mean(flat) if flat else 0.0
