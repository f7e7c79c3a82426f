"""Exact [lo, hi] of nDCG@k, and of the difference of two rankings, under open grades.

nDCG is not monotone in a grade: a high grade lifts the ideal as well as the list, so
"all open chunks at 0" and "all at G" bound nothing (statistics.md B). Every row takes
the cheapest way that is still exact: nothing open, a plain value; open grades all
alike, `bounds_free`, many rows at once; different intervals or orders,
`bounds_ordered`. Only a row too large for the last gets sound but wider bounds, and
says so with `exact=False`.

The value is that of the lowest completion. Identical rankings differ by exactly 0.

>>> pool = GradePool(lo=(1, 0), hi=(1, 3))                   # b is open
>>> ndcg((0, 1), pool, k=2)
Bounded(value=1.0, lo=0.796..., hi=1.0, exact=True)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from judge.measures.bounds_few import few_bounds, ways
from judge.measures.bounds_ratio import (
    TOLERANCE,
    Ratio,
    rank_weights,
    reduce_row,
    scale_of,
    value_at,
    without_rounding,
)
from judge.measures.pool import Bounded, GradePool, Ranking

# Up to here walking every grading takes less time than importing numpy.
_FEW_WAYS = 3000


def lowest(pool: GradePool) -> tuple[int, ...]:
    """Return the lowest grades that the intervals and the orders allow together.

    A pool's intervals are consistent with its orders (lo(a) >= lo(b) wherever a >= b),
    so the lower ends themselves are such a completion.
    """
    return pool.lo


def ndcg(ranking: Ranking, pool: GradePool, *, k: int, gain: str = "linear") -> Bounded:
    """Return nDCG@k in [0, 1] of one row with the exact range that open grades leave."""
    return ndcg_rows([ranking], [pool], k=k, gain=gain)[0]


def ndcg_difference(
    a: Ranking, b: Ranking, pool: GradePool, *, k: int, gain: str = "linear"
) -> Bounded:
    """Return nDCG@k of `a` minus that of `b`, in [-1, 1], both over one pool."""
    return ndcg_difference_rows([a], [b], [pool], k=k, gain=gain)[0]


def ndcg_rows(
    rankings: Sequence[Ranking], pools: Sequence[GradePool], *, k: int, gain: str = "linear"
) -> list[Bounded]:
    """Return `ndcg` of many rows, those with free grades in one vectorised pass."""
    return ndcg_contrast_rows([(r,) for r in rankings], pools, coefficients=(1.0,), k=k, gain=gain)


def ndcg_difference_rows(
    a: Sequence[Ranking],
    b: Sequence[Ranking],
    pools: Sequence[GradePool],
    *,
    k: int,
    gain: str = "linear",
) -> list[Bounded]:
    """Return `ndcg_difference` of many rows, those with free grades in one pass."""
    pairs = list(zip(a, b, strict=True))
    return ndcg_contrast_rows(pairs, pools, coefficients=(1.0, -1.0), k=k, gain=gain)


def ndcg_contrast_rows(
    rankings: Sequence[Sequence[Ranking]],
    pools: Sequence[GradePool],
    *,
    coefficients: Sequence[float],
    k: int,
    gain: str = "linear",
) -> list[Bounded]:
    """Return Σ_r coefficients[r] · nDCG@k of each row's r-th ranking, all over its one pool.

    (1, -1) is a difference; (1/2, 1/2, -1) compares the mean of two repeats with a third.
    """
    # A cutoff below every list and pool cuts nothing; its discounts are not worth making.
    sizes = (len(ranking) for row in rankings for ranking in row)
    k = min(k, max(1, *sizes, *(len(pool.lo) for pool in pools), 1))
    rows = [
        (contrast_weights(row, pool, coefficients=coefficients, k=k, gain=gain), pool)
        for row, pool in zip(rankings, pools, strict=True)
    ]
    lowest_sum = sum(c for c in coefficients if c < 0)
    return _bound_rows(rows, k=k, gain=gain, floor=lowest_sum)


def contrast_weights(
    rankings: Sequence[Ranking],
    pool: GradePool,
    *,
    coefficients: Sequence[float],
    k: int,
    gain: str = "linear",
) -> list[float]:
    """Return Σ_r coefficients[r] · discount of each pool member: what its gain counts for."""
    scale = scale_of(k, gain, pool.grade_max)
    weights = [0.0] * len(pool.lo)
    for coefficient, ranking in zip(coefficients, rankings, strict=True):
        for member, weight in enumerate(rank_weights(ranking, scale, size=len(weights))):
            weights[member] += coefficient * weight
    return weights


def mean_bounds(rows: Iterable[Bounded], *, weights: Sequence[float] | None = None) -> Bounded:
    """Return the weighted mean of rows whose open grades do not depend on each other.

    An empty mean is 0, exactly.
    """
    found = list(rows)
    shares = [1.0] * len(found) if weights is None else list(weights)
    total = sum(shares)
    if not found:
        return Bounded(0.0, 0.0, 0.0)

    def mean(values: Iterable[float]) -> float:
        return sum(w * v for w, v in zip(shares, values, strict=True)) / total

    return _snapped(
        mean(row.value for row in found),
        mean(row.lo for row in found),
        mean(row.hi for row in found),
        exact=all(row.exact for row in found),
        floor=-1.0,
    )


def _bound_rows(
    rows: Sequence[tuple[list[float], GradePool]], *, k: int, gain: str, floor: float
) -> list[Bounded]:
    found: list[Bounded | None] = [None] * len(rows)
    free: dict[int, list[tuple[int, Ratio]]] = defaultdict(list)
    for index, (weights, pool) in enumerate(rows):
        scale = scale_of(k, gain, pool.grade_max)
        if pool.lo == pool.hi or not any(weights):
            value = without_rounding(value_at(pool.lo, weights, scale))
            found[index] = Bounded(value, value, value)
            continue
        ratio = reduce_row(weights, pool, scale)
        if ratio.is_free:
            free[pool.grade_max].append((index, ratio))
        else:
            found[index] = _bound_ordered(ratio, k=k, gain=gain, floor=floor)
    for grade_max, waiting in free.items():
        for index, bounded in _bound_free(waiting, k, gain, grade_max, floor):
            found[index] = bounded
    return [bounded for bounded in found if bounded is not None]


def _bound_free(
    waiting: Sequence[tuple[int, Ratio]], k: int, gain: str, grade_max: int, floor: float
) -> Iterable[tuple[int, Bounded]]:
    ratios, scale = [ratio for _, ratio in waiting], scale_of(k, gain, grade_max)
    if sum(map(ways, ratios)) <= _FEW_WAYS:
        ends = [few_bounds(ratio, scale) for ratio in ratios]
    else:
        # numpy takes longer to import than a small run without open grades takes in all.
        from judge.measures.bounds_free import free_bounds

        lows, highs = free_bounds(ratios, scale)
        ends = list(zip(lows.tolist(), highs.tolist(), strict=True))
    for (index, ratio), (low, high) in zip(waiting, ends, strict=True):
        yield index, _snapped(ratio.value, low, high, exact=True, floor=floor)


def _bound_ordered(ratio: Ratio, *, k: int, gain: str, floor: float) -> Bounded:
    from judge.measures.bounds_ordered import ordered_bounds

    found = ordered_bounds(ratio, scale_of(k, gain, len(ratio.counts)))
    return _snapped(ratio.value, found.lo, found.hi, exact=found.exact, floor=floor)


def _snapped(value: float, lo: float, hi: float, *, exact: bool, floor: float) -> Bounded:
    """Round away what is rounding: a range of one point is one, a touched 0 is 0."""
    value, lo, hi = map(without_rounding, (value, lo, hi))
    if hi - lo <= TOLERANCE:
        return Bounded(value, value, value)
    return Bounded(value, min(max(lo, floor), value), max(min(hi, 1.0), value), exact)
