"""One-sided confidence bounds of a mean by Student's t, under every completion of open rows.

While grades are open, each row's value is only known to lie in [lo, hi]; what is said of the
bound mean - t·se must hold wherever in these intervals the values lie.

With shares p, mean m = Σpd and se² = Σp(d - m)²·r (`significance.moments`), the bound is a
concave function of the values. Given m its extremes need only the extremes of Σpd²:

- largest bound, smallest Σpd²: every row as near to a common level as its interval allows;
- smallest bound, largest Σpd²: d² lies below the chord over [lo, hi], so a knapsack over
  the rows in order of lo + hi bounds it, and is attained where no row is split.

Either leaves a one-dimensional problem with one peak, solved in closed form between two
corners. The largest is exact, the smallest sound and off by at most what one split row makes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from judge.statistics.significance import moments
from judge.statistics.signs import ALPHA
from judge.statistics.student import t_quantile
from judge.statistics.weights import shares_of

Interval = tuple[float, float]
_ROUNDING = 1e-15


@dataclass(frozen=True, slots=True)
class BoundRange:
    """The smallest and the largest value that a confidence bound takes over all completions."""

    lo: float
    hi: float


def lower_bound(
    rows: Sequence[Interval],
    *,
    weights: Sequence[float] | None = None,
    alpha: float = ALPHA,
) -> BoundRange:
    """Return the range of the one-sided lower confidence bound of the mean difference.

    rows: [lo, hi] of each row's difference. A single row has no standard error: -inf.

    >>> d = [.06, -.01, .08, .04, 0, .09, -.03, .06, .06, .03]
    >>> round(lower_bound([(x, x) for x in d]).lo, 6)
    0.014845
    """
    at_lowest = moments([lo for lo, _ in rows], weights=weights)
    if at_lowest.se is None:
        return BoundRange(-math.inf, -math.inf)
    quantile = t_quantile(1.0 - alpha, df=at_lowest.df)
    if all(lo == hi for lo, hi in rows):
        bound = at_lowest.mean - quantile * at_lowest.se
        return BoundRange(bound, bound)
    shares = shares_of(len(rows), weights)
    squares = math.fsum(p * p for p in shares)
    factor = quantile * math.sqrt(squares / (1.0 - squares))
    if factor >= 0.0:
        return BoundRange(_smallest(rows, shares, factor), _largest(rows, shares, factor))
    turned = [(-hi, -lo) for lo, hi in rows]
    return BoundRange(-_largest(turned, shares, -factor), -_smallest(turned, shares, -factor))


def upper_bound(
    rows: Sequence[Interval],
    *,
    weights: Sequence[float] | None = None,
    alpha: float = ALPHA,
) -> BoundRange:
    """Return the range of the one-sided upper confidence bound; for a single row, inf."""
    found = lower_bound([(-hi, -lo) for lo, hi in rows], weights=weights, alpha=alpha)
    return BoundRange(-found.hi, -found.lo)


def _largest(rows: Sequence[Interval], shares: Sequence[float], factor: float) -> float:
    """Return the maximum of m - factor·sd with every row at a common level, clipped.

    Raising the level pays while factor·(level - m) < sd. That ratio only grows with the level,
    so halving the corners finds the two between which the peak lies.
    """
    corners = sorted({hi for _, hi in rows} | {lo for lo, _ in rows})
    # Up to the lowest hi every row that moves draws nearer to the ones that cannot follow.
    low, high = corners.index(min(hi for _, hi in rows)), len(corners) - 1
    while high - low > 1:
        middle = (low + high) // 2
        at = _Level.at(corners[middle], rows, shares)
        pays = factor * (at.level - at.mean) <= at.sd
        low, high = (middle, high) if pays else (low, middle)
    levels = [corners[low], corners[high]]
    levels += _turning(corners[low], corners[high], rows, shares, factor)
    return max(
        at.mean - factor * at.sd for at in (_Level.at(level, rows, shares) for level in levels)
    )


@dataclass(frozen=True, slots=True)
class _Level:
    """Mean and standard deviation (divided by n) of rows at a common level, clipped."""

    level: float
    mean: float
    sd: float

    @classmethod
    def at(cls, level: float, rows: Sequence[Interval], shares: Sequence[float]) -> _Level:
        values = [min(max(level, lo), hi) for lo, hi in rows]
        mean, spread = _spread(values, shares)
        return cls(level, mean, math.sqrt(spread))


def _spread(values: Sequence[float], shares: Sequence[float]) -> tuple[float, float]:
    """Return Σpd and Σp(d - m)² for shares that add up to 1."""
    mean = math.fsum(p * d for p, d in zip(shares, values, strict=True))
    return mean, math.fsum(p * (d - mean) ** 2 for p, d in zip(shares, values, strict=True))


def _turning(
    low: float, high: float, rows: Sequence[Interval], shares: Sequence[float], factor: float
) -> Iterator[float]:
    """Yield the level between two neighbouring corners where raising it stops to pay, if any.

    A share M of the rows moves with the level L; the others have mean c and Σp(d - c)² = S. So
    L - m = (1 - M)(L - c) and sd² = S + M(1 - M)(L - c)², and factor·(L - m) = sd is quadratic.
    """
    still = [
        (p, lo if lo >= high else hi)
        for p, (lo, hi) in zip(shares, rows, strict=True)
        if lo >= high or hi <= low
    ]
    share = math.fsum(p for p, _ in still)
    if share <= 0.0:
        return
    mean, spread = _spread([d for _, d in still], [p / share for p, _ in still])
    room = factor * factor * share - (1.0 - share)
    if room > 0.0:
        # Σp(d - c)² = share·spread, and both sides were divided by (1 - M) = share.
        level = mean + math.sqrt(spread / room)
        if low < level < high:
            yield level


def _smallest(rows: Sequence[Interval], shares: Sequence[float], factor: float) -> float:
    """Return the minimum of m - factor·sqrt(q(m) - m²), q being the chord bound of Σpd²."""
    # Σpd² - m² cancels badly far from 0, and a common shift moves the bound as it is.
    centre = math.fsum(p * (lo + hi) / 2.0 for p, (lo, hi) in zip(shares, rows, strict=True))
    near = [(lo - centre, hi - centre) for lo, hi in rows]
    mean = math.fsum(p * lo for p, (lo, _) in zip(shares, near, strict=True))
    square = math.fsum(p * lo * lo for p, (lo, _) in zip(shares, near, strict=True))
    corners = [(mean, square)]
    for slope, step in sorted(
        ((lo + hi, p * (hi - lo)) for p, (lo, hi) in zip(shares, near, strict=True) if hi > lo),
        reverse=True,
    ):
        mean, square = mean + step, square + slope * step
        corners.append((mean, square))
    # Too little variance would make the bound too high: what rounding may have taken comes back.
    slack = _ROUNDING * max(max(lo * lo, hi * hi) for lo, hi in near)
    found = [m - factor * _root(q - m * m + slack) for m, q in corners]
    for (first, start), (last, end) in pairwise(corners):
        # Along a chord q = start + slope·(m - first); with u = slope/2 - m the variance is
        # top - u², and the minimum has factor·u = sqrt(top - u²).
        if last <= first:
            continue
        half = (end - start) / (last - first) / 2.0
        top = start - 2.0 * half * first + half * half
        m = half - _root(top / (1.0 + factor * factor))
        if first < m < last:
            found.append(m - factor * _root(top - (half - m) ** 2 + slack))
    return min(found) + centre


def _root(value: float) -> float:
    return math.sqrt(max(value, 0.0))
