"""One run's lists, gathered from its blocks: what every measure of it needs, and no more."""

from __future__ import annotations

import numpy as np

from judge.measures.engine_lists import Lists, Spots
from judge.measures.engine_measures import Judged, in_order
from judge.measures.engine_text import Flags, Ints


class ListsApart(Exception):
    """A query has lines in two places: its list is not whole in either."""


class Tag:
    """Lists of one run tag over `n` queries of the qrels.

    lengths, ties: of each query's list
    present: whether the run has the query
    unknown: queries of the run that the qrels lack
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.lengths = np.zeros(n, dtype=np.int64)
        self.ties = np.zeros(n, dtype=np.int64)
        self.present = np.zeros(n, dtype=bool)
        self.unknown: dict[str, None] = {}
        self._judged: list[tuple[Ints, Ints, Ints]] = []
        self._repeats: list[tuple[Ints, Ints]] = []

    def add(self, lists: Lists, mine: Flags) -> None:
        """Take the lists that are `mine`; raises ListsApart for a query seen before."""
        known = np.flatnonzero(mine & (lists.queries >= 0))
        queries = lists.queries[known]
        if self.present[queries].any() or len(np.unique(queries)) < len(queries):
            raise ListsApart
        self.present[queries] = True
        self.lengths[queries] = lists.lengths[known]
        self.ties[queries] = lists.ties[known]
        self._take_unknown(lists, mine)
        wanted = mine & (lists.queries >= 0)
        chosen = wanted[lists.judged.lists]
        self._judged.append((*_by_query(lists, lists.judged, chosen), lists.grades[chosen]))
        repeats = wanted[lists.repeats.lists]
        self._repeats.append(_by_query(lists, lists.repeats, repeats))

    def _take_unknown(self, lists: Lists, mine: Flags) -> None:
        for place in np.flatnonzero(mine & (lists.queries < 0)).tolist():
            query = lists.names[place][1].decode()
            if query in self.unknown:
                raise ListsApart
            self.unknown[query] = None

    @property
    def judged(self) -> Judged:
        """Return where the run shows judged documents."""
        queries, ranks, grades = (np.concatenate(part) for part in zip(*self._judged, strict=True))
        return in_order(self.n, queries, ranks, grades)

    @property
    def repeats(self) -> tuple[Ints, Ints]:
        """Return query and rank of every repeat."""
        queries, ranks = (np.concatenate(part) for part in zip(*self._repeats, strict=True))
        return queries, ranks


def _by_query(lists: Lists, spots: Spots, chosen: Flags) -> tuple[Ints, Ints]:
    return lists.queries[spots.lists[chosen]], spots.ranks[chosen]
