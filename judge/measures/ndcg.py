"""nDCG of known grades, and the discount that everything of its family shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import islice

from judge.grades import GAINS


def ndcg(
    grades: Sequence[int | None],
    *,
    ideal: Iterable[int],
    k: int | None = None,
    gain: str = "linear",
) -> float:
    """Return nDCG@k in [0, 1] for grades in rank order; without k, of the whole list.

    ideal: the grades of every judged chunk, retrieved or not, in any order
    Unjudged (None) gains 0 here; `bounds.ndcg` says what that hides. Linear gain and an
    ideal cut at the same k, as trec_eval; where nothing is relevant the value is 0.

    >>> ndcg([3, 0, 2], ideal=[3, 2, 0], k=3)      # (3 + 2/2) / (3 + 2/log2(3))
    0.938...
    """
    gain_of = GAINS[gain]
    best = dcg(sorted((gain_of(grade) for grade in ideal if grade > 0), reverse=True), k=k)
    if best == 0.0:
        return 0.0
    return dcg((0.0 if grade is None else gain_of(grade) for grade in grades), k=k) / best


def dcg(gains: Iterable[float], *, k: int | None = None) -> float:
    """Return the discounted sum of gains in rank order, of the first `k` or of all."""
    return sum(gain * discount(rank) for rank, gain in enumerate(islice(gains, k), start=1))


def discount(rank: int) -> float:
    """Return 1 / log2(rank + 1) for a 1-based rank (Järvelin & Kekäläinen 2002, as trec_eval).

    >>> discount(1), discount(3)
    (1.0, 0.5)
    """
    return 1.0 / math.log2(rank + 1)
