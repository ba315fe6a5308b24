"""Statistics of repeated attempts: intervals for a share or a mean, pass@k and pass^k, agreement.

Invariants: what cannot be scored is None, never 0 (no attempts, or k above the attempts).
"""

import math
import random
from collections.abc import Sequence
from typing import NamedTuple

Z_95 = 1.959963984540054
DRAWS = 2000
"""Resamples of a bootstrap."""


class Interval(NamedTuple):
    """A closed interval, both ends within 0 and 1."""

    low: float
    high: float


def wilson(successes: float, attempts: int, z: float = Z_95) -> Interval | None:
    """Wilson score interval of a share; None without attempts.

    Successes may be in part, where an attempt is the mean of several.
    """
    if not 0 <= successes <= attempts:
        raise ValueError(f"{successes} successes of {attempts} attempts")
    if attempts == 0:
        return None
    share = successes / attempts
    square = z * z
    denominator = 1 + square / attempts
    centre = (share + square / (2 * attempts)) / denominator
    half = (
        z
        / denominator
        * math.sqrt(share * (1 - share) / attempts + square / (4 * attempts * attempts))
    )
    # At the ends the formula is exact in real numbers but not in floats.
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == attempts else min(1.0, centre + half)
    return Interval(low, high)


def pass_at_k(attempts: int, passed: int, k: int) -> float | None:
    """Chance that at least one of k attempts passes: 1 - C(n-c, k) / C(n, k)."""
    _check(attempts, passed, k)
    if k > attempts:
        return None
    return 1 - math.comb(attempts - passed, k) / math.comb(attempts, k)


def pass_hat_k(attempts: int, passed: int, k: int) -> float | None:
    """Chance that all of k attempts pass: C(c, k) / C(n, k)."""
    _check(attempts, passed, k)
    if k > attempts:
        return None
    return math.comb(passed, k) / math.comb(attempts, k)


def mean(values: list[float]) -> float | None:
    """Arithmetic mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None


def bootstrap(
    values: Sequence[float], rng: random.Random, *, draws: int = DRAWS, level: float = 0.95
) -> tuple[float, float] | None:
    """Percentile bootstrap interval of a mean; None of nothing.

    Args:
        values: One number for each thing that was drawn by itself: a task, not an episode of it.
        rng: A seeded source; the same seed gives the same interval.
        draws: How often the values are drawn anew.
        level: The share of the resampled means between both ends.
    """
    if not values:
        return None
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, not at {level}")
    count = len(values)
    means = sorted(math.fsum(rng.choices(values, k=count)) / count for _ in range(draws))
    tail = (1 - level) / 2
    return means[math.floor(tail * (draws - 1))], means[math.ceil((1 - tail) * (draws - 1))]


def _check(attempts: int, passed: int, k: int) -> None:
    if not 0 <= passed <= attempts:
        raise ValueError(f"{passed} passed of {attempts} attempts")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
