"""Resample queries, not pairs: the pairs of one query stand or fall together.

A bootstrap over pairs would take them for independent and give intervals that are too
narrow or too wide; resampling whole queries needs no model of how they hang together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

EXACT_LIMIT = 50_000
"""All Q^Q resamples are enumerated up to this many; beyond it they are drawn."""

DRAWS = 2_000
FEWEST_CLUSTERS = 5
"""Below this many queries no interval is given: it would be luck."""


@dataclass(frozen=True, slots=True)
class Resamples:
    """Sums over resampled clusters, shape (resamples, ...), and how often each occurs."""

    sums: NDArray[np.float64]
    times: NDArray[np.int64]

    def interval(self, values: NDArray[np.float64]) -> tuple[float, float, int] | None:
        """Return the 95% percentile interval of a statistic, one value a resample.

        The third number is how many resamples were undefined and dropped. None if all were.
        """
        every = np.repeat(values, self.times)
        defined = every[np.isfinite(every)]
        if len(defined) == 0:
            return None
        lo, hi = np.percentile(defined, [2.5, 97.5])
        return float(lo), float(hi), len(every) - len(defined)


def resample(per_cluster: NDArray[np.float64], *, draws: int = DRAWS, seed: int = 0) -> Resamples:
    """Resample clusters with replacement and add them up.

    per_cluster: anything that adds up, one entry a cluster on the first axis, Q >= 1.
    All Q^Q resamples where they are few enough (Q <= 6), else `draws` seeded ones.
    """
    flat = per_cluster.reshape(len(per_cluster), -1)
    if len(flat) ** len(flat) <= EXACT_LIMIT:
        counts, times = _all_counts(len(flat))
        sums = counts @ flat
    else:
        sums = np.array([n @ flat for n in _drawn_counts(len(flat), draws=draws, seed=seed)])
        times = np.ones(draws, dtype=np.int64)
    return Resamples(sums.reshape(len(sums), *per_cluster.shape[1:]), times)


def _all_counts(clusters: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how often each cluster occurs in each different resample, and of how many of Q^Q."""
    counts = np.array(
        [
            np.bincount(chosen, minlength=clusters)
            for chosen in combinations_with_replacement(range(clusters), clusters)
        ]
    )
    orders = [
        math.factorial(clusters) // math.prod(map(math.factorial, n)) for n in counts.tolist()
    ]
    return counts, np.array(orders)


def _drawn_counts(clusters: int, *, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the counts of one drawn resample at a time: Q may be large."""
    generator = np.random.default_rng(seed)
    for _ in range(draws):
        yield np.bincount(generator.integers(clusters, size=clusters), minlength=clusters)


def zero_error_bound(clusters: int) -> float:
    """Return the 95% upper bound of an error rate after no error in n clusters.

    >>> round(zero_error_bound(30), 6)
    0.095034
    """
    return float(1.0 - 0.05 ** (1.0 / clusters))
