"""What grade an open chunk will probably get: only for choosing what to ask next.

No number that is reported depends on this. Chances come from the grades known so far,
by where the runs show a chunk, and lean towards the grades of its own query: some
queries have many relevant chunks, some hardly any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from judge.evidence.pool import QueryPool
from judge.measures.bounds_free import Floats
from judge.measures.pool import GradePool

_LIKE_ANYWHERE = 10.0
_LIKE_ITS_PLACE = 4.0
_RANKS = (1, 3, 6)


class GradeModel:
    """Chances of each grade for open chunks, learned from the known grades of all rows.

    A place is a class of the best rank at which some run shows a chunk, for each number
    of runs that show it; a chunk that none shows has no place.
    """

    def __init__(self, *, runs: int, grade_max: int) -> None:
        self._prior = np.full(grade_max + 1, 6.0 / grade_max)
        self._prior[0] = 4.0
        self._places: dict[int, tuple[tuple[str, ...], NDArray[np.int64]]] = {}
        self._known: dict[int, Floats] = {}
        self._total = np.zeros((runs * (len(_RANKS) + 1), grade_max + 1))

    def learn(self, row: int, pool: QueryPool, grades: GradePool) -> None:
        """Take in what is known of a row, in place of what was."""
        ids, places = self._places.get(row, ((), np.zeros(0, dtype=np.int64)))
        if ids != pool.ids:
            places = _places(pool)
            self._places[row] = (pool.ids, places)
        lo, hi = np.array(grades.lo, dtype=np.int64), np.array(grades.hi, dtype=np.int64)
        counted = (lo == hi) & (places >= 0)
        known = np.zeros_like(self._total)
        np.add.at(known, (places[counted], lo[counted]), 1.0)
        self._total += known - self._known.get(row, 0.0)
        self._known[row] = known

    def by_place(self) -> Floats:
        """Return the chance of each grade per place; the last line is for no place."""
        anywhere = self._prior + self._total.sum(axis=0)
        anywhere /= anywhere.sum()
        seen = self._total.sum(axis=1, keepdims=True)
        there = (self._total + _LIKE_ANYWHERE * anywhere) / (seen + _LIKE_ANYWHERE)
        return np.vstack([there, anywhere])

    def chances(self, row: int, grades: GradePool, by_place: Floats) -> Floats:
        """Return the chance of each grade per open member of a row, shape (open, G+1)."""
        lo, hi = np.array(grades.lo), np.array(grades.hi)
        is_open = lo < hi
        places = self._places[row][1][is_open]
        chances = _LIKE_ITS_PLACE * by_place[places] + self._known[row].sum(axis=0)
        grade = np.arange(len(self._prior))
        chances[(grade < lo[is_open, None]) | (grade > hi[is_open, None])] = 0.0
        shares: Floats = chances / chances.sum(axis=1, keepdims=True)
        return shares


def _places(pool: QueryPool) -> NDArray[np.int64]:
    """Return each member's place, -1 where no run shows it."""
    ranks: dict[int, list[int]] = {}
    for ranking in pool.rankings:
        for rank, member in enumerate(ranking):
            if member is not None:
                ranks.setdefault(member, []).append(rank)
    places = np.full(len(pool.ids), -1, dtype=np.int64)
    for member, shown in ranks.items():
        depth = sum(min(shown) >= limit for limit in _RANKS)
        places[member] = (len(shown) - 1) * (len(_RANKS) + 1) + depth
    return places
