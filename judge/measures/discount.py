"""The discount of a rank, shared by everything of the nDCG family."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import islice


def discount(rank: int) -> float:
    """Return 1 / log2(rank + 1) for a 1-based rank (Järvelin & Kekäläinen 2002, as trec_eval).

    >>> discount(1), discount(3)
    (1.0, 0.5)
    """
    return 1.0 / math.log2(rank + 1)


def dcg(gains: Iterable[float], *, k: int | None = None) -> float:
    """Return the discounted sum of gains in rank order, of the first `k` or of all."""
    return sum(gain * discount(rank) for rank, gain in enumerate(islice(gains, k), start=1))
