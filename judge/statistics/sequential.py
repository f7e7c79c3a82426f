"""Critical values for several looks at one growing sample, valid over all of them.

Looking often and stopping at the first "significant" t errs far more often than any one
look. The t statistics of successive looks hang together in a way that is the same for
every normal population, so it can be drawn: rows of a normal population of the given
size, in random order, its mean taken to 0. One level per look is then chosen so that in
just a share `alpha` of the draws any look passes its critical value. (With Bonferroni's
alpha/L the looks would be taken for unrelated, and every value would be larger.)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from judge.statistics.student import t_quantile

DRAWS = 20_000
_SLACK = 0.9
_BLOCK = 1_000_000


def critical_values(
    looks: Sequence[int], *, population: int, alpha: float, seed: int = 0
) -> tuple[float, ...]:
    """Return the one-sided critical t of each look.

    looks: rows drawn without replacement at each look, 3 <= n < population, ascending
    alpha: chance, under a true mean of 0, that any look passes; aimed at 9/10 of it, so
        that the error of the simulation cannot exceed it

    Between t at level alpha (one look) and t at level alpha/L (Bonferroni).
    """
    if not looks:
        return ()
    if len(looks) == 1:
        return (t_quantile(1.0 - alpha, df=looks[0] - 1),)
    statistics = _drawn_statistics(looks, population, seed)
    low, high = alpha / len(looks), alpha
    for _ in range(12):
        level = math.sqrt(low * high)
        passed = (statistics > _at_level(looks, level)).any(axis=1).mean()
        low, high = (level, high) if passed <= _SLACK * alpha else (low, level)
    return tuple(_at_level(looks, low))


def _at_level(looks: Sequence[int], level: float) -> list[float]:
    return [t_quantile(1.0 - level, df=n - 1) for n in looks]


def _drawn_statistics(looks: Sequence[int], population: int, seed: int) -> NDArray[np.float64]:
    """Return the t statistic of every look in every draw, shape (draws, looks)."""
    generator = np.random.default_rng(seed)
    at = np.array(looks) - 1
    count = np.array(looks, dtype=np.float64)
    block = max(1, _BLOCK // population)
    found = []
    for start in range(0, DRAWS, block):
        rows = generator.standard_normal((min(block, DRAWS - start), population))
        rows -= rows.mean(axis=1, keepdims=True)
        mean = rows.cumsum(axis=1)[:, at] / count
        variance = ((rows**2).cumsum(axis=1)[:, at] - count * mean**2) / (count - 1.0)
        found.append(mean / np.sqrt(variance / count * (1.0 - count / population)))
    return np.concatenate(found)
