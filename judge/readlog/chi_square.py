"""The chi-square distribution's tail, without scipy: for whole degrees of freedom a finite sum."""

from __future__ import annotations

import math


def chi_square_tail(x: float, *, df: int) -> float:
    """Return P(X > x) for x >= 0 and df >= 0 degrees of freedom (0: X is always 0).

    >>> round(chi_square_tail(3.841459, df=1), 6), round(chi_square_tail(18.307038, df=10), 6)
    (0.05, 0.05)
    """
    if df == 0 or x <= 0.0:
        return 1.0 if x <= 0.0 and df else 0.0
    half, odd = x / 2.0, df % 2
    powers = (k + odd / 2.0 for k in range(df // 2))
    terms = (math.exp(p * math.log(half) - half - math.lgamma(p + 1.0)) for p in powers)
    return math.fsum(terms) + (math.erfc(math.sqrt(half)) if odd else 0.0)
