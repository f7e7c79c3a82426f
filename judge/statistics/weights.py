"""Weights of rows as shares of a whole, whatever their size: 5e-324, 1, 1e308, or all in one.

Everything that averages rows by weight divides by a sum of weights; it does so here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def scaled(weights: Sequence[float]) -> list[float]:
    """Return weights > 0 in proportion, the largest in [1/2, 1).

    By a power of two, so that no digit is lost: no sum overflows, and tiny weights, if all
    are, do not vanish when they are multiplied.

    >>> scaled([5e-324, 5e-324]), scaled([3.0, 1.0])
    ([0.5, 0.5], [0.75, 0.25])
    """
    exponent = math.frexp(max(weights))[1]
    return [math.ldexp(weight, -exponent) for weight in weights]


def shares_of(count: int, weights: Sequence[float] | None) -> list[float]:
    """Return weights that add up to 1; equal ones where None is given, none for no row.

    >>> shares_of(2, [1e308, 1e308])
    [0.5, 0.5]
    """
    if not weights:
        return [1.0 / count for _ in range(count)]
    parts = scaled(weights)
    total = math.fsum(parts)
    return [part / total for part in parts]


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return Σwv/Σw of at least one value; of ones exactly 1.

    >>> weighted_mean([.25, .5, .75], [5e-324, 5e-324, 5e-324])
    0.5
    """
    parts = scaled(weights)
    return math.fsum(p * v for p, v in zip(parts, values, strict=True)) / math.fsum(parts)
