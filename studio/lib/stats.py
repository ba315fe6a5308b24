"""Statistics of repeated attempts: intervals for a share, pass@k and pass^k, agreement.

Invariants: what cannot be scored is None, never 0 (no attempts, or k above the attempts).
"""

import math
from typing import NamedTuple

Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """A closed interval, both ends within 0 and 1."""

    low: float
    high: float


def wilson(successes: int, attempts: int, z: float = Z_95) -> Interval | None:
    """Wilson score interval of a share; None without attempts."""
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


def _check(attempts: int, passed: int, k: int) -> None:
    if not 0 <= passed <= attempts:
        raise ValueError(f"{passed} passed of {attempts} attempts")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
