"""What grade an open chunk will probably get: only for choosing what to ask next.

No number that is reported depends on this. Chances come from the grades known so far,
by where the runs show a chunk, and lean towards the grades of its own query: some
queries have many relevant chunks, some hardly any.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge.evidence.pool import QueryPool
from judge.measures.bounds_free import Floats
from judge.measures.pool import GradePool

_LIKE_ANYWHERE = 10.0
_LIKE_ITS_PLACE = 4.0
_RANKS = (1, 3, 6)


class GradeModel:
    """Chances of each grade for open chunks, learned from the known grades of all pools."""

    def __init__(self, pools: Sequence[QueryPool], *, grade_max: int) -> None:
        self._anywhere = np.full(grade_max + 1, 6.0 / grade_max)
        self._anywhere[0] = 4.0
        self._places: dict[tuple[int, int], Floats] = {}
        for pool in pools:
            places = _places(pool)
            for member, judgment in enumerate(pool.judgments):
                if judgment.grade is None or member not in places:
                    continue
                self._anywhere[judgment.grade] += 1.0
                counts = self._places.setdefault(places[member], np.zeros(grade_max + 1))
                counts[judgment.grade] += 1.0

    def chances(self, pool: QueryPool, grades: GradePool) -> Floats:
        """Return the chance of each grade per open member of `grades`, shape (open, G+1)."""
        places, own = _places(pool), np.zeros(len(self._anywhere))
        for member in places:
            if grades.lo[member] == grades.hi[member]:
                own[grades.lo[member]] += 1.0
        anywhere = self._anywhere / self._anywhere.sum()
        chances = []
        for member, (low, high) in enumerate(zip(grades.lo, grades.hi, strict=True)):
            if low == high:
                continue
            counts = self._places.get(places.get(member, (0, 0)), np.zeros(len(anywhere)))
            there = (counts + _LIKE_ANYWHERE * anywhere) / (counts.sum() + _LIKE_ANYWHERE)
            chance = _LIKE_ITS_PLACE * there + own
            chance[:low] = chance[high + 1 :] = 0.0
            chances.append(chance / chance.sum())
        return np.array(chances).reshape(len(chances), len(anywhere))


def _places(pool: QueryPool) -> dict[int, tuple[int, int]]:
    """Return, per member that some run shows, a class of its best rank and how many show it."""
    ranks: dict[int, list[int]] = {}
    for ranking in pool.rankings:
        for rank, member in enumerate(ranking):
            if member is not None:
                ranks.setdefault(member, []).append(rank)
    return {
        member: (sum(min(shown) >= limit for limit in _RANKS), len(shown))
        for member, shown in ranks.items()
    }
