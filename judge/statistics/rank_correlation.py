"""Correlations of two orders of the same systems (or of any paired scores).

Every function takes paired scores, higher is better, and returns an `Estimate` without
an interval: None with a reason where the correlation is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.statistics.estimate import Estimate


def kendall_tau_b(x: Sequence[float], y: Sequence[float]) -> Estimate:
    """Return Kendall's tau-b in [-1, 1], corrected for ties on either side.

    >>> kendall_tau_b([.7, .7, .6, .5], [.8, .7, .7, .4]).value
    0.8
    """
    problem = _undefined(x, y)
    if problem:
        return Estimate(None, reason=problem)
    order_x, order_y = _pair_signs(x), _pair_signs(y)
    concordant_minus_discordant = float((order_x * order_y).sum())
    untied = float(np.abs(order_x).sum()) * float(np.abs(order_y).sum())
    return Estimate(concordant_minus_discordant / math.sqrt(untied))


def tau_ap(estimated: Sequence[float], truth: Sequence[float]) -> Estimate:
    """Return tau_ap in [-1, 1]: Kendall's tau that weighs mistakes at the top more.

    Asymmetric: it walks down the *estimated* order and asks how many of those above a
    system are above it in truth (Yilmaz, Aslam & Robertson 2008). Systems tied in the
    estimate keep the order in which they are given; a tie in truth is no agreement.
    """
    problem = _undefined(estimated, truth)
    if problem:
        return Estimate(None, reason=problem)
    walked = np.asarray(truth, dtype=np.float64)[_best_first(estimated)]
    shares = [float((walked[:i] > walked[i]).mean()) for i in range(1, len(walked))]
    return Estimate(2.0 * math.fsum(shares) / len(shares) - 1.0)


def spearman(x: Sequence[float], y: Sequence[float]) -> Estimate:
    """Return Spearman's rho in [-1, 1]: Pearson's correlation of the mid-ranks."""
    return pearson(_midranks(x), _midranks(y))


def pearson(x: Sequence[float], y: Sequence[float]) -> Estimate:
    """Return Pearson's correlation in [-1, 1]."""
    problem = _undefined(x, y)
    if problem:
        return Estimate(None, reason=problem)
    a, b = (np.asarray(side, dtype=np.float64) - np.mean(side) for side in (x, y))
    # Each side is scaled to 1 before they meet, so that tiny scores do not underflow.
    r = float((a / np.linalg.norm(a)) @ (b / np.linalg.norm(b)))
    return Estimate(min(1.0, max(-1.0, r)))


@dataclass(frozen=True, slots=True)
class RankBiasedOverlap:
    """Overlap of two orders in [0, 1]: what is certain, and what to expect.

    minimum: what the ranks seen guarantee, whatever would follow them
    extrapolated: with the agreement at the last rank taken to go on for ever
    """

    minimum: float
    extrapolated: float


def rank_biased_overlap(
    first: Sequence[str], second: Sequence[str], *, p: float = 0.9
) -> RankBiasedOverlap:
    """Return RBO of two lists of equal length k >= 1 without repeats, best first.

    p in (0, 1): how far down a reader looks (Webber, Moffat & Zobel 2010, eq. 11 and 32).
    """
    assert len(first) == len(second) > 0, "RBO here compares two lists of one length"
    depth = len(first)
    overlap = [len({*first[:d]} & {*second[:d]}) for d in range(1, depth + 1)]
    last = overlap[-1]
    ranks = range(1, depth + 1)
    seen = math.fsum(overlap[d - 1] / d * p**d for d in ranks)
    kept = math.fsum((overlap[d - 1] - last) / d * p**d for d in ranks)
    scale = (1.0 - p) / p
    return RankBiasedOverlap(
        minimum=scale * (kept - last * math.log(1.0 - p)),
        extrapolated=last / depth * p**depth + scale * seen,
    )


def _undefined(x: Sequence[float], y: Sequence[float]) -> str:
    assert len(x) == len(y), "a correlation pairs its scores"
    if len(x) < 2:
        return "undefined: n<2"
    return "undefined: constant" if min(x) == max(x) or min(y) == max(y) else ""


def _pair_signs(scores: Sequence[float]) -> NDArray[np.float64]:
    values = np.asarray(scores, dtype=np.float64)
    return np.sign(values[:, None] - values[None, :])


def _best_first(scores: Sequence[float]) -> NDArray[np.int64]:
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")


def _midranks(scores: Sequence[float]) -> list[float]:
    values = np.sort(np.asarray(scores, dtype=np.float64))
    first, last = (np.searchsorted(values, scores, side=side) for side in ("left", "right"))
    return [float(rank) for rank in (first + last + 1) / 2.0]
