"""Graded measures over a pool of grade intervals: a value and what the open grades leave."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from judge.errors import UsageError
from judge.measures import bounds
from judge.measures.names import Measure
from judge.measures.ndcg import ndcg
from judge.measures.pool import Bounded, GradePool, Ranking


def evaluate(
    measure: Measure, ranking: Ranking, pool: GradePool, *, gain: str = "linear"
) -> Bounded:
    """Return a graded measure of one row with its bounds over every completion of the pool.

    gain: "linear" or "exponential", for nDCG; the others have none to choose. A row whose
    grades are all 0 has nDCG 0.

    >>> pool = GradePool(lo=(3, 0), hi=(3, 3))         # the second chunk is open
    >>> evaluate(Measure("P", 2, rel=2), (0, 1), pool)
    Bounded(value=0.5, lo=0.5, hi=1.0, exact=True)
    """
    return _FORMULAS[measure.name](measure, ranking, pool, gain)


def evaluate_rows(
    measure: Measure,
    rankings: Sequence[Ranking],
    pools: Sequence[GradePool],
    *,
    gain: str = "linear",
) -> list[Bounded]:
    """Return `evaluate` of many rows; the open ones share one pass of the bounds."""
    rows = list(zip(rankings, pools, strict=True))
    waiting = [at for at, (_, pool) in enumerate(rows) if pool.lo != pool.hi]
    if measure.name != "nDCG" or measure.k is None or len(waiting) < 2:
        return [evaluate(measure, ranking, pool, gain=gain) for ranking, pool in rows]
    together = bounds.ndcg_rows(
        [rankings[at] for at in waiting], [pools[at] for at in waiting], k=measure.k, gain=gain
    )
    bounded = dict(zip(waiting, together, strict=True))
    return [
        bounded[at] if at in bounded else evaluate(measure, ranking, pool, gain=gain)
        for at, (ranking, pool) in enumerate(rows)
    ]


def _ndcg(measure: Measure, ranking: Ranking, pool: GradePool, gain: str) -> Bounded:
    lo = pool.lo
    if lo == pool.hi:
        grades = [None if member is None else lo[member] for member in ranking]
        value = ndcg(grades, ideal=lo, k=measure.k, gain=gain)
        return Bounded(value, value, value)
    return bounds.ndcg(ranking, pool, k=measure.k or whole_list(ranking, pool), gain=gain)


def whole_list(ranking: Ranking, pool: GradePool) -> int:
    """Return the cutoff that cuts nothing off, neither of the list nor of its ideal."""
    return max(len(ranking), len(pool.lo), 1)


def _err(measure: Measure, ranking: Ranking, pool: GradePool, gain: str) -> Bounded:
    """Expected reciprocal rank (Chapelle et al. 2009), stop probability (2^g - 1) / 2^G.

    It grows with every grade: a better chunk at rank r adds 1/r where what it takes from
    the ranks below is worth less. So all-lowest and all-highest are its exact bounds.
    gdeval and ir_measures fix G = 4; here G is the pool's scale.
    """
    top = pool.grade_max

    def value(grades: tuple[int, ...]) -> float:
        total, unsatisfied = 0.0, 1.0
        for rank, member in enumerate(ranking[: measure.k], start=1):
            stop = 0.0 if member is None else _stop(grades[member], top)
            total += unsatisfied * stop / rank
            unsatisfied *= 1.0 - stop
        return total

    if max(pool.hi, default=0) > top:
        raise UsageError(f"ERR needs grades within 0..{top}; set --grade-max {max(pool.hi)}")
    return Bounded(value(pool.lo), value(pool.lo), value(pool.hi))


def _stop(grade: int, top: int) -> float:
    """Return (2^g - 1) / 2^G, also where these powers are beyond every double."""
    return math.exp2(grade - top) - math.exp2(-top)


def _precision(measure: Measure, ranking: Ranking, pool: GradePool, gain: str) -> Bounded:
    """Divide by k, as trec_eval, however short the list is."""
    assert measure.k is not None, "P has a cutoff"
    shown = [member for member in ranking[: measure.k] if member is not None]
    lo = sum(pool.lo[member] >= measure.rel for member in shown) / measure.k
    hi = sum(pool.hi[member] >= measure.rel for member in shown) / measure.k
    return Bounded(lo, lo, hi)


def _judged(measure: Measure, ranking: Ranking, pool: GradePool, gain: str) -> Bounded:
    """Share of the slots shown in the top k whose grade is known, as ir_measures; never open.

    An empty list shows nothing: 0.
    """
    shown = ranking[: measure.k]
    known = sum(member is not None and pool.lo[member] == pool.hi[member] for member in shown)
    share = known / len(shown) if shown else 0.0
    return Bounded(share, share, share)


_FORMULAS: Mapping[str, Callable[[Measure, Ranking, GradePool, str], Bounded]] = MappingProxyType(
    {"nDCG": _ndcg, "ERR": _err, "P": _precision, "Judged": _judged}
)
