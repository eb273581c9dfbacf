"""Confidence intervals of a share of successes, and of the difference of two: Wilson's and Newcombe's. Pure."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import msgspec

CONFIDENCE: Final = 0.95


class ConfidenceInterval(msgspec.Struct, frozen=True):
    """Interval that a number lies in, with the confidence that was asked for."""

    low: float
    high: float

    @property
    def holds_zero(self) -> bool:
        """No difference is possible."""
        return self.low <= 0.0 <= self.high


def quantile(confidence: float = CONFIDENCE, comparisons: int = 1) -> float:
    """The normal distribution's quantile for a two-sided interval; several comparisons at once each get their share."""
    return NormalDist().inv_cdf(1 - (1 - confidence) / (2 * max(comparisons, 1)))


def wilson(successes: int, trials: int, z: float | None = None) -> ConfidenceInterval:
    """Wilson's score interval of a share; 0 to 1 where nothing was tried. Raises `ValueError` for impossible counts."""
    if not 0 <= successes <= trials:
        raise ValueError(f"{successes} successes of {trials} trials cannot be.")
    if trials == 0:
        return ConfidenceInterval(0.0, 1.0)
    z = quantile() if z is None else z
    share = successes / trials
    square = z * z / trials
    middle = (share + square / 2) / (1 + square)
    half = z / (1 + square) * math.sqrt(share * (1 - share) / trials + square / (4 * trials))
    # At the ends the formula gives them but for rounding.
    low = 0.0 if successes == 0 else max(0.0, middle - half)
    high = 1.0 if successes == trials else min(1.0, middle + half)
    return ConfidenceInterval(low, high)


def newcombe(first: tuple[int, int], second: tuple[int, int], z: float | None = None) -> ConfidenceInterval:
    """Newcombe's interval of the first share less the second, each as (successes, trials): his method 10."""
    (hits1, trials1), (hits2, trials2) = first, second
    one, other = wilson(hits1, trials1, z), wilson(hits2, trials2, z)
    if not trials1 or not trials2:
        return ConfidenceInterval(-1.0, 1.0)
    share1, share2 = hits1 / trials1, hits2 / trials2
    difference = share1 - share2
    down = math.hypot(share1 - one.low, other.high - share2)
    up = math.hypot(one.high - share1, share2 - other.low)
    return ConfidenceInterval(max(-1.0, difference - down), min(1.0, difference + up))
