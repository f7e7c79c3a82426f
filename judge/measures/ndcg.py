"""nDCG of known grades, and the discount that everything of its family shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from operator import mul

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
    gain_of = _GAINS[gain]
    best = _best(tuple(sorted([grade for grade in ideal if grade > 0], reverse=True)), k, gain)
    if best == 0.0:
        return 0.0
    return dcg([0.0 if grade is None else gain_of(grade) for grade in grades[:k]]) / best


def dcg(gains: Iterable[float], *, k: int | None = None) -> float:
    """Return the discounted sum of gains in rank order, of the first `k` or of all."""
    counted = list(islice(gains, k))
    total: float = sum(map(mul, counted, _discounts(len(counted))))
    return total


# A run has millions of rows, few distinct ideals and fewer lengths and grades.
@lru_cache(maxsize=4096)
def _best(grades: tuple[int, ...], k: int | None, gain: str) -> float:
    return dcg([_GAINS[gain](grade) for grade in grades[:k]])


@lru_cache(maxsize=256)
def _discounts(n: int) -> tuple[float, ...]:
    return tuple(map(discount, range(1, n + 1)))


_GAINS = {name: lru_cache(maxsize=256)(gain) for name, gain in GAINS.items()}


def discount(rank: int) -> float:
    """Return 1 / log2(rank + 1) for a 1-based rank (Järvelin & Kekäläinen 2002, as trec_eval).

    >>> discount(1), discount(3)
    (1.0, 0.5)
    """
    return 1.0 / math.log2(rank + 1)
