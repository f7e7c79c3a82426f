"""One row as a ratio: Σ weight·gain(grade) / IDCG@k, with the known part summed up.

nDCG@k of a ranking and the difference of two rankings over one pool are both such a
ratio (for a difference the weights are signed). With the pool's grades written as
nested sets U_t = {members with grade >= t}, both halves fall apart by level t = 1..G:

    numerator = Σ_t step(t) · weight(U_t)        step(t) = gain(t) - gain(t-1)
    IDCG@k    = Σ_t step(t) · D(|U_t|)           D(m) = Σ_{r <= min(m, k)} 1/log2(r+1)

so the ideal depends on the sizes |U_t| alone (statistics.md B.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from judge.grades import GAINS
from judge.measures.pool import GradePool, Ranking

TOLERANCE = 1e-12
"""Two values nearer than this are one: far above rounding, far below any printed digit."""


def without_rounding(value: float) -> float:
    """Return 0 for what only rounding keeps from it, anything else as it is.

    >>> without_rounding(0.1 * 3 - 0.3)
    0.0
    """
    return 0.0 if abs(value) <= TOLERANCE else value


@dataclass(frozen=True, slots=True)
class Scale:
    """What every row of one measure shares.

    discounts: 1/log2(r+1) for ranks r = 1..k
    ideal:     D(m) for m = 0..k
    gains:     gain(g) for g = 0..G
    steps:     gain(t) - gain(t-1) for t = 1..G
    """

    k: int
    discounts: tuple[float, ...]
    ideal: tuple[float, ...]
    gains: tuple[float, ...]
    steps: tuple[float, ...]

    @property
    def grade_max(self) -> int:
        """Return G."""
        return len(self.steps)

    def idcg(self, counts: list[int]) -> float:
        """Return IDCG@k where counts[t-1] members have a grade of at least t."""
        ideal, k = self.ideal, self.k
        return sum(
            step * ideal[count if count < k else k]
            for step, count in zip(self.steps, counts, strict=True)
        )


@lru_cache(maxsize=64)
def scale_of(k: int, gain: str, grade_max: int) -> Scale:
    """Return the scale of nDCG@k; remembered, because every row asks for it."""
    assert k >= 1, "a cutoff is at least 1"
    discounts = tuple(1.0 / math.log2(rank + 1) for rank in range(1, k + 1))
    ideal = tuple(math.fsum(discounts[:m]) for m in range(k + 1))
    gains = tuple(GAINS[gain](grade) for grade in range(grade_max + 1))
    steps = tuple(high - low for low, high in pairwise(gains))
    return Scale(k=k, discounts=discounts, ideal=ideal, gains=gains, steps=steps)


@dataclass(frozen=True, slots=True)
class Ratio:
    """A row whose open grades are still to be chosen.

    value:   the ratio with every open grade at its lowest
    known:   numerator of the known members
    counts:  known members with a grade of at least t, for t = 1..G
    weights, lo, hi: the open members
    orders:  (a, b) among the open members: grade(a) >= grade(b)
    """

    value: float
    known: float
    counts: tuple[int, ...]
    weights: tuple[float, ...]
    lo: tuple[int, ...]
    hi: tuple[int, ...]
    orders: tuple[tuple[int, int], ...]

    @property
    def is_free(self) -> bool:
        """Tell whether all open members are alike: one interval, no order among them."""
        return not self.orders and len(set(zip(self.lo, self.hi, strict=True))) <= 1


def rank_weights(ranking: Ranking, scale: Scale, *, size: int) -> list[float]:
    """Return the discount that each of `size` pool members earns in the top k, else 0."""
    weights = [0.0] * size
    for member, discount in zip(ranking, scale.discounts, strict=False):
        if member is not None and weights[member] == 0.0:
            weights[member] = discount
    return weights


def value_at(grades: tuple[int, ...], weights: list[float], scale: Scale) -> float:
    """Return Σ weight·gain(grade) / IDCG@k; 0 where every gain is 0, as trec_eval."""
    counts, above = [0] * scale.grade_max, len(grades)
    for grade in range(scale.grade_max):
        above -= grades.count(grade)
        counts[grade] = above
    ideal = scale.idcg(counts)
    if ideal == 0.0:
        return 0.0
    gains = scale.gains
    return sum(w * gains[g] for w, g in zip(weights, grades, strict=True) if w) / ideal


def reduce_row(weights: list[float], pool: GradePool, scale: Scale) -> Ratio:
    """Split a row into its known part and its open members.

    Orders that touch a known grade are already in the intervals, and so is every
    order a >= b with lo(a) >= hi(b): only the others stay.
    """
    lo, hi = pool.lo, pool.hi
    known, counts = 0.0, [0] * scale.grade_max
    place: dict[int, int] = {}
    for member, (low, high) in enumerate(zip(lo, hi, strict=True)):
        if low < high:
            place[member] = len(place)
            continue
        known += weights[member] * scale.gains[low]
        for level in range(low):
            counts[level] += 1
    orders = tuple(
        (place[a], place[b]) for a, b in pool.orders if a in place and b in place and lo[a] < hi[b]
    )
    return Ratio(
        value=value_at(lo, weights, scale),
        known=known,
        counts=tuple(counts),
        weights=tuple(weights[m] for m in place),
        lo=tuple(lo[m] for m in place),
        hi=tuple(hi[m] for m in place),
        orders=orders,
    )
