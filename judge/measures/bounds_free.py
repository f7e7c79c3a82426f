"""Exact bounds of many rows at once where a row's open grades are alike and unordered.

For fixed level sizes u_1 >= ... >= u_G the rearrangement inequality puts the largest
weights highest, so with P(u) = the sum of the u largest weights the maximum is that of

    (known + Σ_t step(t)·P(u_t)) / Σ_t step(t)·D(count_t + u_t).

Instead of walking all C(n+G, G) multisets, Dinkelbach's iteration asks for
max N(u) - x·I(u) with x the best ratio so far. That is a sum over levels, so one pass
over G·(n+1) cells answers it; it ends after a handful of rounds at a ratio that some
completion reaches, whatever the signs of the weights. The minimum is the maximum with
the signs turned. (Dinkelbach 1967, Management Science 13(7).)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.measures.bounds_ratio import Ratio, Scale

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def free_bounds(ratios: Sequence[Ratio], scale: Scale) -> tuple[Floats, Floats]:
    """Return the minima and the maxima of rows that are all `is_free` and not empty."""
    size = max(len(ratio.weights) for ratio in ratios)
    ideal = _ideals(ratios, scale, size)
    steps = np.array(scale.steps)
    highest = maximum(_gains(ratios, scale, size, sign=1.0), ideal, steps)
    lowest = maximum(_gains(ratios, scale, size, sign=-1.0), ideal, steps)
    return -lowest, highest


def maximum(gains: Floats, ideal: Floats, steps: Floats) -> Floats:
    """Return the largest ratio of each row.

    gains, ideal: numerator and ideal per row, level and u; a gain of -inf is not allowed
    steps: what a level counts for in both
    """
    fewest = np.argmax(np.isfinite(gains), axis=2)
    best = _ratio_at(fewest, gains, ideal, steps)
    while True:
        sizes = _best_sizes((gains - best[:, None, None] * ideal) * steps[:, None])
        reached = np.maximum(best, _ratio_at(sizes, gains, ideal, steps))
        if np.array_equal(reached, best):
            return best
        best = reached


def _ideals(ratios: Sequence[Ratio], scale: Scale, size: int) -> Floats:
    """Return D(count_t + u) per row, level and u = 0..size."""
    counts = np.array([ratio.counts for ratio in ratios], dtype=np.int64)
    sizes = np.minimum(counts[:, :, None] + np.arange(size + 1), scale.k)
    ideal: Floats = np.array(scale.ideal)[sizes]
    return ideal


def _gains(ratios: Sequence[Ratio], scale: Scale, size: int, *, sign: float) -> Floats:
    """Return P(u) + known, per row, level and u; -inf where an interval forbids size u."""
    gains = np.full((len(ratios), scale.grade_max, size + 1), -np.inf)
    total = scale.gains[-1]
    for row, ratio in enumerate(ratios):
        count, low, high = len(ratio.weights), ratio.lo[0], ratio.hi[0]
        ordered = sorted((sign * weight for weight in ratio.weights), reverse=True)
        # Spread over the levels in proportion to their steps, the known part adds up to itself.
        prefix = np.concatenate(([0.0], np.cumsum(ordered))) + sign * ratio.known / total
        gains[row, :low, count] = prefix[count]
        gains[row, low:high, : count + 1] = prefix
        gains[row, high:, 0] = prefix[0]
    return gains


def _best_sizes(terms: Floats) -> Counts:
    """Return u_1 >= ... >= u_G with the largest Σ_t terms[t, u_t], per row.

    From the highest level down, `tail` holds the best sum of the levels above for a
    set of at most u members; the sizes are then read off from level 1 up.
    """
    rows, levels, width = terms.shape
    tails = np.zeros((rows, levels + 1, width))
    sums = np.empty_like(terms)
    for level in reversed(range(levels)):
        sums[:, level] = terms[:, level] + tails[:, level + 1]
        np.maximum.accumulate(sums[:, level], axis=1, out=tails[:, level])
    sizes = np.empty((rows, levels), dtype=np.int64)
    limit = np.full((rows, 1), width - 1)
    for level in range(levels):
        allowed = np.where(np.arange(width) <= limit, sums[:, level], -np.inf)
        sizes[:, level] = np.argmax(allowed, axis=1)
        limit = sizes[:, level : level + 1]
    return sizes


def _ratio_at(sizes: Counts, gains: Floats, ideal: Floats, steps: Floats) -> Floats:
    at: Any = sizes[:, :, None]
    numerator = np.take_along_axis(gains, at, axis=2)[:, :, 0] @ steps
    denominator = np.take_along_axis(ideal, at, axis=2)[:, :, 0] @ steps
    # Where every grade is 0 the ideal is 0 and the measure is 0 by convention.
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
