"""How far a mean difference may lie from that of other queries: moments and Student's t.

An approximation, and poor for few rows of bounded values: what is *claimed* of a
difference rests on `signs`, what is proved of other queries on `betting_bound`. What open
grades could still change is the business of `measures.bounds` and `noninferiority`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from judge.statistics.signs import ALPHA
from judge.statistics.student import t_quantile
from judge.statistics.weights import shares_of

POWER = 0.8
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Moments:
    """A weighted mean of differences and how well n queries determine it.

    sd: standard deviation of one difference; se: standard error of the mean; both None
        for a single query (or where one query has all the weight)
    df: degrees of freedom of se, n - 1 for equal weights
    """

    n: int
    mean: float
    sd: float | None
    se: float | None
    df: float


def moments(differences: Sequence[float], *, weights: Sequence[float] | None = None) -> Moments:
    """Return the weighted mean, its standard error and degrees of freedom; n >= 1.

    Weights say how much a query counts, not how often it was seen. With shares
    p_i = w_i/Σw the variance of one difference is Σp(d-m)² / (1 - Σp²), unbiased for any
    weights, and se² = that times Σp²; n_eff = 1/Σp² (Kish) takes the place of n. Equal
    weights give the usual formulas.
    """
    assert differences, "a mean needs at least one difference"
    shares = shares_of(len(differences), weights)
    mean = math.fsum(p * d for p, d in zip(shares, differences, strict=True))
    spread = math.fsum(p * (d - mean) ** 2 for p, d in zip(shares, differences, strict=True))
    squares = math.fsum(p * p for p in shares)
    if 1.0 - squares <= _ROUNDING:
        return Moments(len(differences), mean, None, None, 0.0)
    sd = math.sqrt(spread / (1.0 - squares))
    return Moments(len(differences), mean, sd, sd * math.sqrt(squares), df=1.0 / squares - 1.0)


def effect_size(found: Moments) -> float | None:
    """Return mean / sd corrected for small n (Hedges); None where nothing varies."""
    if found.sd is None or found.sd <= _ROUNDING:
        return None
    return found.mean / found.sd * (1.0 - 3.0 / (4.0 * found.df - 1.0))


def detectable(se: float) -> float:
    """Return the true difference found with 80% power at a two-sided .05, given the error.

    >>> round(detectable(.10 / 200 ** .5), 6)
    0.01981
    """
    normal = NormalDist()
    return (normal.inv_cdf(1.0 - ALPHA / 2) + normal.inv_cdf(POWER)) * se


def queries_to_detect(difference: float, *, sd: float) -> int:
    """Return how many queries a two-sided paired t test needs to find a true difference.

    sd: of one query's difference. Power 80%, by the normal approximation of the
    noncentral t distribution (Johnson & Welch 1940).

    >>> queries_to_detect(.02, sd=.10)
    199
    """
    low, high = 1, 2
    while _power(difference / sd, high) < POWER:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(difference / sd, middle) >= POWER else (middle, high)
    return high


def _power(effect: float, n: int) -> float:
    df = n - 1
    critical = t_quantile(1.0 - ALPHA / 2, df=df)
    centre = abs(effect) * math.sqrt(n) - critical * (1.0 - 1.0 / (4.0 * df))
    return NormalDist().cdf(centre / math.sqrt(1.0 + critical**2 / (2.0 * df)))
