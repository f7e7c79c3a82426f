"""What each possible grade of each open member would leave of a row's bounds.

For choosing what to judge next: for every open member and grade, the bounds of the
nDCG contrast once that grade is known. Orders are left out here and all other open
members take the widest interval among them, which makes one vectorised pass of it; the
choice gets a little worse for rows with preferences, and no bound that is reported does.
"""

from __future__ import annotations

import numpy as np

from judge.measures.bounds_free import Floats, maximum
from judge.measures.bounds_ratio import Scale, reduce_row
from judge.measures.pool import GradePool


def lookahead(weights: list[float], pool: GradePool, scale: Scale) -> Floats:
    """Return (lo, hi) after each grade of each open member: shape (open, G+1, 2).

    Open members in pool order; grades outside a member's interval are computed all the
    same and mean nothing.
    """
    ratio = reduce_row(weights, pool, scale)
    own = np.array(ratio.weights)
    count, levels = len(own), scale.grade_max
    low, high = min(ratio.lo), max(ratio.hi)
    grades = np.arange(levels + 1)
    known = ratio.known + own[:, None] * np.array(scale.gains)
    counts = np.array(ratio.counts) + (grades[:, None] > np.arange(levels))
    sizes = np.minimum(counts[:, :, None] + np.arange(count), scale.k)
    ideal = np.broadcast_to(np.array(scale.ideal)[sizes], (count, levels + 1, levels, count))
    flat_ideal = ideal.reshape(-1, levels, count)
    bounds = []
    for sign in (1.0, -1.0):
        gains = np.full((count, levels + 1, levels, count), -np.inf)
        prefix = _prefixes(sign * own)[:, None, :] + sign * known[:, :, None] / scale.gains[-1]
        gains[:, :, :low, -1] = prefix[:, :, None, -1]
        gains[:, :, low:high, :] = prefix[:, :, None, :]
        gains[:, :, high:, 0] = prefix[:, :, None, 0]
        flat_gains = gains.reshape(-1, levels, count)
        bounds.append(sign * maximum(flat_gains, flat_ideal, np.array(scale.steps)))
    highest, lowest = (bound.reshape(count, levels + 1) for bound in bounds)
    return np.stack([lowest, highest], axis=2)


def _prefixes(weights: Floats) -> Floats:
    """Return, without each member in turn, the sums of the u largest weights, u = 0..n-1."""
    order = np.argsort(-weights, kind="stable")
    place = np.empty(len(weights), dtype=np.int64)
    place[order] = np.arange(len(weights))
    sums = np.concatenate(([0.0], np.cumsum(weights[order])))
    taken = np.arange(len(weights))
    shifted = sums[1:][None, :] - weights[:, None]
    prefixes: Floats = np.where(taken <= place[:, None], sums[:-1][None, :], shifted)
    return prefixes
