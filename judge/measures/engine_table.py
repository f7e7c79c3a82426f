"""The table in which the documents of a run are looked up: every judgment of the qrels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from judge.measures.engine_slots import Documents, settle
from judge.measures.engine_text import Ids, Ints, Words, mixed, pick, salts

_AT_ONCE = 1 << 15


class Contradiction(Exception):
    """A pair has two grades; the plain reader says which lines."""


class Table:
    """Every judged (query, document) with its grade.

    query_ids: queries in the order of the file; `queries` holds indexes into it
    queries, grades: of each judgment, those of a query together
    """

    def __init__(
        self,
        query_ids: Sequence[str],
        queries: Ints,
        ids: Ids,
        grades: Ints,
        *,
        long_ids: Mapping[int, Mapping[str, int]] = MappingProxyType({}),
    ) -> None:
        """Take judgments of pairs that may repeat; raises Contradiction where grades differ.

        long_ids: by query, grades of ids too long for columns; lists with such are ranked plainly
        """
        if (np.diff(queries) < 0).any():
            order = np.argsort(queries, kind="stable")
            queries, ids, grades = queries[order], ids[order], grades[order]
        hashes = ids.hashes()
        later, first = _repeats(queries, hashes, ids)
        if (grades[later] != grades[first]).any():
            raise Contradiction
        if len(later):
            kept = np.delete(np.arange(len(queries)), later)
            queries, ids, grades, hashes = queries[kept], ids[kept], grades[kept], hashes[kept]
        self.query_ids = query_ids
        long_queries = [query for query, grades in long_ids.items() for _ in grades]
        long_grades = [grade for grades in long_ids.values() for grade in grades.values()]
        self.queries = np.append(queries, np.array(long_queries, dtype=np.int32))
        self.grades = np.append(grades, np.array(long_grades, dtype=np.int32))
        self._long_ids = long_ids
        self._index = {query.encode(): index for index, query in enumerate(query_ids)}
        self._ids, self._hashes = ids, hashes
        sizes = np.bincount(queries, minlength=len(query_ids))
        self._first = np.concatenate(([0], np.cumsum(sizes)))

    def index(self, query: bytes) -> int:
        """Return the index of a query, -1 for one without judgments."""
        return self._index.get(query, -1)

    def sought_in(self, queries: Ints) -> tuple[Ints, Documents]:
        """Return the judgments of each list's query, as places here and as what to seek.

        queries: of each list, -1 for none of this table's
        """
        lists = np.flatnonzero(queries >= 0)
        begin = self._first[queries[lists]]
        sizes = self._first[queries[lists] + 1] - begin
        before = np.cumsum(sizes) - sizes
        places = np.repeat(begin - before, sizes) + np.arange(int(sizes.sum()))
        list_of = np.repeat(lists, sizes)
        keys = mixed(pick(self._hashes, places), np.repeat(salts(lists), sizes))
        return places, Documents(list_of, keys, self._ids[places])

    def grades_of(self, query: int) -> dict[str, int]:
        """Return the grades of one query's documents, for lists that are ranked plainly."""
        places = range(self._first[query], self._first[query + 1]) if query >= 0 else ()
        found = {self._ids.token(place).decode(): int(self.grades[place]) for place in places}
        return found | dict(self._long_ids.get(query, {}))


def _repeats(queries: Ints, hashes: Words, ids: Ids) -> tuple[Ints, Ints]:
    """Return the places of judgments whose pair stands in an earlier place, and that place.

    queries: in order; taken some at a time, so that the slots stay in the processor's cache
    """
    starts = np.concatenate(([0], np.flatnonzero(np.diff(queries)) + 1))
    later, first = [starts[:0]], [starts[:0]]
    begin = 0
    while begin < len(queries):
        at = np.searchsorted(starts, begin + _AT_ONCE)
        end = int(starts[at]) if at < len(starts) else len(queries)
        some = Ids(tuple(words[begin:end] for words in ids.words))
        keys = mixed(hashes[begin:end], salts(queries[begin:end]))
        judged = Documents(queries[begin:end], keys, some)
        found = settle(judged, Documents(queries[:0], hashes[:0], Ids((hashes[:0],))))
        later.append(found.later + begin)
        first.append(found.first + begin)
        begin = end
    return np.concatenate(later), np.concatenate(first)
