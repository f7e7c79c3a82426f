"""One-sided confidence bounds of a mean difference, under every completion of open rows.

A gate passes a change when the lower bound mean - t·se exceeds -margin. While grades are
open, each row's difference is only known to lie in [lo, hi]; a verdict is certain when
the bound stays on one side of -margin wherever in these intervals the differences lie.

With shares p, mean m = Σpd and se² = (Σpd² - m²)·r (`significance.moments`), the bound is a
concave function of the differences. Given m its extremes need only the extremes of Σpd²:

- largest bound, smallest Σpd²: every row as near to a common level as its interval allows;
- smallest bound, largest Σpd²: d² lies below the chord over [lo, hi], so a knapsack over
  the rows in order of lo + hi bounds it, and is attained where no row is split.

Either leaves a one-dimensional convex problem in m. The largest bound is exact, the
smallest is sound and off by at most what one split row makes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from judge.statistics.significance import ALPHA, moments, shares_of
from judge.statistics.student import t_quantile

Interval = tuple[float, float]
_HALVINGS = 60
_ROUNDING_ROOT = 2e-8


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
    # Σpd² - m² cancels badly far from 0, and a common shift moves the bound as it is.
    centre = math.fsum(p * (lo + hi) / 2.0 for p, (lo, hi) in zip(shares, rows, strict=True))
    near = [(lo - centre, hi - centre) for lo, hi in rows]
    if factor >= 0.0:
        found = BoundRange(_smallest(near, shares, factor), _largest(near, shares, factor))
    else:
        near = [(-hi, -lo) for lo, hi in near]
        found = BoundRange(-_largest(near, shares, -factor), -_smallest(near, shares, -factor))
    # The root of a rounded difference is off by about the root of the rounding.
    slack = _ROUNDING_ROOT * abs(factor) * max(max(abs(lo), abs(hi)) for lo, hi in near)
    return BoundRange(found.lo + centre - slack, found.hi + centre + slack)


def upper_bound(
    rows: Sequence[Interval],
    *,
    weights: Sequence[float] | None = None,
    alpha: float = ALPHA,
) -> BoundRange:
    """Return the range of the one-sided upper confidence bound; for a single row, inf."""
    found = lower_bound([(-hi, -lo) for lo, hi in rows], weights=weights, alpha=alpha)
    return BoundRange(-found.hi, -found.lo)


def _smallest(rows: Sequence[Interval], shares: Sequence[float], factor: float) -> float:
    """Return the minimum of m - factor·sqrt(q(m) - m²), q being the chord bound of Σpd²."""
    path = [_start(rows, shares)]
    for slope, step in sorted(
        ((lo + hi, p * (hi - lo)) for p, (lo, hi) in zip(shares, rows, strict=True) if hi > lo),
        reverse=True,
    ):
        mean, square = path[-1].mean, path[-1].square
        path.append(_Corner(mean + step, square + slope * step))
    return -_peak(path, lambda m, q: factor * math.sqrt(max(q - m * m, 0.0)) - m)


def _largest(rows: Sequence[Interval], shares: Sequence[float], factor: float) -> float:
    """Return the maximum of m - factor·sqrt(Σpd² - m²) with d = a common level, clipped."""
    # Below the lowest lo no row follows the level; each lo lets one go, each hi stops one.
    events = sorted(
        [(lo, p) for p, (lo, _) in zip(shares, rows, strict=True)]
        + [(hi, -p) for p, (_, hi) in zip(shares, rows, strict=True)]
    )
    path, moving = [_start(rows, shares)], 0.0
    for (level, p), (following, _) in pairwise(events):
        moving += p
        rise = following - level
        path.append(
            _Corner(
                mean=path[-1].mean + moving * rise,
                square=path[-1].square + moving * rise * (following + level),
                bend=moving * rise * rise,
            )
        )
    return _peak(path, lambda m, q: m - factor * math.sqrt(max(q - m * m, 0.0)))


@dataclass(frozen=True, slots=True)
class _Corner:
    """A corner of a path of (Σpd, Σpd²); `bend` is how far the way to it sags below a line."""

    mean: float
    square: float
    bend: float = 0.0


def _start(rows: Sequence[Interval], shares: Sequence[float]) -> _Corner:
    lows = [lo for lo, _ in rows]
    return _Corner(
        mean=math.fsum(p * lo for p, lo in zip(shares, lows, strict=True)),
        square=math.fsum(p * lo * lo for p, lo in zip(shares, lows, strict=True)),
    )


def _peak(path: Sequence[_Corner], value: Callable[[float, float], float]) -> float:
    """Return the maximum along a path of a function that is concave in its mean."""
    at_corners = [value(corner.mean, corner.square) for corner in path]
    highest = best = max(at_corners)
    for at, (first, last) in enumerate(pairwise(path)):
        # Concave: the peak lies on a way that starts or ends at a highest corner.
        if highest in at_corners[at : at + 2]:
            best = max(best, _along(first, last, value))
    return best


def _along(first: _Corner, last: _Corner, value: Callable[[float, float], float]) -> float:
    lo, hi = 0.0, 1.0

    def at(share: float) -> float:
        mean = first.mean + share * (last.mean - first.mean)
        line = first.square + share * (last.square - first.square)
        return value(mean, line - last.bend * share * (1.0 - share))

    for _ in range(_HALVINGS):
        left, right = lo + (hi - lo) / 3.0, hi - (hi - lo) / 3.0
        lo, hi = (left, hi) if at(left) < at(right) else (lo, right)
    return at((lo + hi) / 2.0)
