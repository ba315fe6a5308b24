"""What the four methods share: the statistics of a group of rewards.

Invariant: a group without spread gives exact zeros, never rounding noise divided by a stabiliser.
"""

import math
from collections.abc import Sequence
from typing import Final

STABILISER: Final = 1e-4
"""Added to a standard deviation before it divides; the value TRL uses."""


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean, summed without rounding error. Raises ValueError for no values."""
    if not values:
        raise ValueError("a group without rewards has no mean")
    return math.fsum(values) / len(values)


def sample_std(values: Sequence[float]) -> float:
    """The standard deviation with n − 1 below the line; 0 for one value or equal ones."""
    if len(values) < 2 or min(values) == max(values):
        return 0.0
    middle = mean(values)
    return math.sqrt(math.fsum((value - middle) ** 2 for value in values) / (len(values) - 1))


def centred(values: Sequence[float]) -> list[float]:
    """Each value less the mean; exact zeros where all are equal."""
    _checked(values)
    if min(values) == max(values):
        return [0.0] * len(values)
    middle = mean(values)
    return [value - middle for value in values]


def normalised(values: Sequence[float], stabiliser: float = STABILISER) -> list[float]:
    """Each value less the mean, over the sample standard deviation plus the stabiliser."""
    spread = sample_std(values) + stabiliser
    return [value / spread for value in centred(values)]


def _checked(values: Sequence[float]) -> None:
    if not values:
        raise ValueError("a group without rewards has no advantages")
    for position, value in enumerate(values):
        if not math.isfinite(value):
            raise ValueError(f"reward {position} is {value}; a reward is a finite number")
