"""A lower bound of the mean difference of other queries that holds whatever its distribution.

Differences of measures lie in [-1, 1]. Somebody bets, row by row, that the mean of queries
like these exceeds m: he stakes a share s of his wealth on payoffs 1 + d of which the
hypothesis "the mean is at most m" allows 1 + m on average (`betting`). Under it his wealth
does not grow in the mean, so it is 20 or more with a chance of at most 5%; every m at which it
is, is refuted (Waudby-Smith & Ramdas 2024, Estimating means of bounded random variables by
betting). The stakes 1/10, 2/10, … 1 are all played at once, each with a tenth of the wealth.

Each stake stays the same from row to row, so the bound does not depend on the order of the
rows and rises with every difference: while grades are open, it is lowest at the lowest
differences. What it cannot do without is rows: with 100 that do not differ at all, a loss of
1 in 3% of the other queries would be unseen in one set of twenty.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from judge.statistics.signs import ALPHA
from judge.statistics.weights import scaled

STAKES = tuple(tenth / 10 for tenth in range(1, 11))
_HALVINGS = 40
_MOST_ROWS = 10**7


def shows_above(
    differences: Sequence[float],
    mean: float,
    *,
    weights: Sequence[float] | None = None,
    alpha: float = ALPHA,
) -> bool:
    """Tell whether rows show that the mean over queries like theirs exceeds `mean`.

    mean: in (-1, 1). Errs with a chance of at most alpha, over draws of the rows.
    """
    return _wealth(_growths(differences, mean, weights)) >= -math.log(alpha)


def lower_mean_bound(
    differences: Sequence[float],
    *,
    weights: Sequence[float] | None = None,
    alpha: float = ALPHA,
) -> float:
    """Return what the mean over queries like these exceeds, with confidence 1 - alpha; -1 at least.

    Weighted rows: E[wd]/E[w] of the queries that they are drawn from. The heaviest row plays
    for the whole stake and the others for less, which is right where no query out there
    weighs more than the heaviest one here.

    >>> round(lower_mean_bound([0.0] * 300), 4)
    -0.0141
    """
    low, high = -1.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        if shows_above(differences, middle, weights=weights, alpha=alpha):
            low = middle
        else:
            high = middle
    return low


def rows_to_show(
    differences: Sequence[float],
    mean: float,
    *,
    weights: Sequence[float] | None = None,
    alpha: float = ALPHA,
) -> int | None:
    """Return how many rows that differ as these do show that the mean exceeds `mean`.

    None where no number does, as where these rows' mean is not above it.

    >>> rows_to_show([0.0], -.01), rows_to_show([-.01], -.01)
    (423, None)
    """
    growths = [growth / len(differences) for growth in _growths(differences, mean, weights)]
    enough = -math.log(alpha)

    def do(rows: int) -> bool:
        return _wealth([growth * rows for growth in growths]) >= enough

    low, high = 0, 1
    while not do(high):
        low, high = high, 2 * high
        if high > _MOST_ROWS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if do(middle) else (middle, high)
    return high


def _growths(
    differences: Sequence[float], mean: float, weights: Sequence[float] | None
) -> list[float]:
    """Return by which factor each stake's wealth grows over all rows, as a logarithm."""
    import numpy as np

    parts = [1.0] if weights is None else scaled(weights)
    played = np.array(parts) / max(parts)
    # The payoff 1 + d, less what the hypothesis allows, as a share of that.
    gained = played * (np.array(differences) - mean) / (1.0 + mean)
    with np.errstate(divide="ignore"):
        # At the whole stake one loss of 1 leaves nothing: minus infinity.
        return [float(np.log1p(np.maximum(stake * gained, -1.0)).sum()) for stake in STAKES]


def _wealth(growths: Sequence[float]) -> float:
    """Return the logarithm of the mean of all stakes' wealth."""
    largest = max(growths)
    if math.isinf(largest):
        return largest
    shares = math.fsum(math.exp(growth - largest) for growth in growths) / len(growths)
    return largest + math.log(shares)
