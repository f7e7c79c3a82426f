"""How far the mean of repeats lies from what the system does on average, by its own noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import variance

from judge.statistics.weights import shares_of


def standard_error(repeats: Sequence[Sequence[float]], weights: Sequence[float]) -> float:
    """Return the standard error of the mean over repeats of a weighted mean over rows.

    repeats: of each, at least two, the value of every row. Each row's variance over the
    repeats counts, so that what rows have in common or apart plays no part: more repeats
    only ever make it smaller, in the mean, and never hide a change.

    >>> standard_error([[0.0, .5], [1.0, .5]], [1.0, 1.0])
    0.25
    """
    shares = shares_of(len(weights), weights)
    own = math.fsum(
        share**2 * variance(of_row)
        for share, of_row in zip(shares, zip(*repeats, strict=True), strict=True)
    )
    return math.sqrt(own / len(repeats))
