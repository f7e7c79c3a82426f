"""Resample queries, not pairs: the pairs of one query stand or fall together.

A bootstrap over pairs would take them for independent and give intervals that are too
narrow or too wide; resampling whole queries needs no model of how they hang together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

EXACT_LIMIT = 50_000
"""All Q^Q resamples are enumerated up to this many; beyond it they are drawn."""

DRAWS = 2_000
FEWEST_CLUSTERS = 5
"""Below this many queries no interval is given: it would be luck."""


def resampled_sums(
    per_cluster: NDArray[np.float64], *, draws: int = DRAWS, seed: int = 0
) -> NDArray[np.float64]:
    """Return the sum over each resample of the clusters, shape (resamples, ...).

    per_cluster: anything that adds up, one entry a cluster on the first axis, Q >= 1.
    All Q^Q resamples where they are few enough (Q <= 6), else `draws` seeded ones.
    """
    flat = per_cluster.reshape(len(per_cluster), -1)
    clusters = len(flat)
    if clusters**clusters <= EXACT_LIMIT:
        sums = _all_counts(clusters) @ flat
    else:
        drawn = _drawn_counts(clusters, draws=draws, seed=seed)
        sums = np.array([times @ flat for times in drawn])
    return sums.reshape(len(sums), *per_cluster.shape[1:])


def _all_counts(clusters: int) -> NDArray[np.int64]:
    """Return how often each cluster occurs in each of the Q^Q equally likely resamples."""
    chosen = np.indices((clusters,) * clusters).reshape(clusters, -1).T
    return np.asarray((chosen[:, :, None] == np.arange(clusters)).sum(1), dtype=np.int64)


def _drawn_counts(clusters: int, *, draws: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """Yield the counts of one drawn resample at a time: Q may be large."""
    generator = np.random.default_rng(seed)
    for _ in range(draws):
        yield np.bincount(generator.integers(clusters, size=clusters), minlength=clusters)


def percentile_interval(values: NDArray[np.float64]) -> tuple[float, float, int] | None:
    """Return the 95% percentile interval and how many undefined resamples were dropped.

    None if the statistic is undefined in every resample.
    """
    defined = values[np.isfinite(values)]
    if len(defined) == 0:
        return None
    lo, hi = np.percentile(defined, [2.5, 97.5])
    return float(lo), float(hi), len(values) - len(defined)


def zero_error_bound(clusters: int) -> float:
    """Return the 95% upper bound of an error rate after no error in n clusters.

    >>> round(zero_error_bound(30), 6)
    0.095034
    """
    return float(1.0 - 0.05 ** (1.0 / clusters))
