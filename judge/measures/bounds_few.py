"""Exact bounds of rows with few open grades, all alike, by walking every way to grade them.

What `bounds_free` finds, in plain Python: for a handful of open chunks this ends before
numpy is imported.
"""

from __future__ import annotations

import math
from itertools import accumulate, combinations_with_replacement

from judge.measures.bounds_ratio import Ratio, Scale


def ways(ratio: Ratio) -> int:
    """Return how many gradings there are to walk: multisets of the grades still possible."""
    return math.comb(len(ratio.weights) + ratio.hi[0] - ratio.lo[0], len(ratio.weights))


def few_bounds(ratio: Ratio, scale: Scale) -> tuple[float, float]:
    """Return the minimum and the maximum of a row that is `is_free` and not empty.

    With u_1 >= ... >= u_G open members of a grade of at least 1, ..., G the ideal is fixed,
    and the largest weights at the highest grades give the maximum, the smallest the minimum.
    """
    n, low, high = len(ratio.weights), ratio.lo[0], ratio.hi[0]
    smallest = [0.0, *accumulate(sorted(ratio.weights))]
    largest = [0.0, *accumulate(sorted(ratio.weights, reverse=True))]
    above = (0,) * (scale.grade_max - high)
    least, most = math.inf, -math.inf
    for chosen in combinations_with_replacement(range(n, -1, -1), high - low):
        sizes = (n,) * low + chosen + above
        counts = [count + size for count, size in zip(ratio.counts, sizes, strict=True)]
        ideal = scale.idcg(counts)
        # Where every grade is 0 the measure is 0 by convention.
        over = 1.0 / ideal if ideal else 0.0
        steps = list(zip(scale.steps, sizes, strict=True))
        least = min(least, (ratio.known + sum(step * smallest[u] for step, u in steps)) * over)
        most = max(most, (ratio.known + sum(step * largest[u] for step, u in steps)) * over)
    return least, most
