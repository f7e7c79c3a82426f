"""What several judges are worth together: never as much as their number says."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def effective_votes(votes: int, *, correlation: float) -> float:
    """Return how many independent judges err as `votes` judges do whose errors correlate so.

    correlation: mean correlation of the errors of two judges, in (-1 / (votes - 1), 1].

    >>> effective_votes(9, correlation=0.4375)      # nine frontier judges
    2.0
    """
    return votes / (1.0 + (votes - 1) * correlation)


def majority_accuracy(votes: int, *, accuracy: float) -> float:
    """Return how often a majority of independent judges is right: a bound that is never seen.

    votes: odd. accuracy: of each judge.

    >>> round(majority_accuracy(3, accuracy=0.8), 3)
    0.896
    """
    assert votes % 2 == 1, "an even panel has ties"
    return math.fsum(
        math.comb(votes, right) * accuracy**right * (1.0 - accuracy) ** (votes - right)
        for right in range(votes // 2 + 1, votes + 1)
    )


def error_correlation(errors: Sequence[Sequence[float]]) -> float | None:
    """Return the mean correlation of the errors of each two judges over the same chunks.

    errors[j]: judge j's grade minus a person's, chunk by chunk. None where a judge errs alike
    on every chunk (never, say): nothing shows whether its errors go with the others'.
    """
    judges: list[NDArray[np.float64]] = [np.asarray(one, dtype=np.float64) for one in errors]
    if len(judges) < 2 or any(len(one) < 2 or one.std() == 0 for one in judges):
        return None
    correlations = np.asarray(np.corrcoef(np.stack(judges)))
    return float(correlations[np.triu_indices(len(judges), k=1)].mean())
