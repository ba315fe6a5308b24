"""Dr. GRPO: GRPO without its two biases (Liu et al. 2025, arXiv 2503.20783, section 3).

Dividing by the standard deviation favours questions that are too easy or too hard, dividing by a
sequence's own length favours long wrong answers. Both divisions go:

    A_i = R_i − mean(R)
    L   = −1/(G · L_max) Σ_i Σ_t ρ_it A_i        L_max: one constant for the whole run
"""

import math
from collections.abc import Sequence

from training_app.core.advantages.groups import centred


def advantages(rewards: Sequence[float]) -> list[float]:
    """Return one advantage a rollout; exact zeros where all rewards are equal.

    Raises ValueError for an empty group or a reward that is no finite number.
    """
    return centred(rewards)


def loss(terms: Sequence[Sequence[float]], longest: int) -> float:
    """Aggregate token terms ρ·A: their sum over the number of sequences times a constant length.

    Args:
        terms: Per sequence, the terms of its tokens.
        longest: The longest completion that the run allows.
    """
    if not terms or longest < 1:
        raise ValueError("the loss needs sequences and a positive length")
    return -math.fsum(term for tokens in terms for term in tokens) / (len(terms) * longest)
