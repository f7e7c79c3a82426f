"""The table in which the documents of a run are looked up: every judgment of the qrels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from judge.measures.engine_repeats import repeats
from judge.measures.engine_text import Ids, Ints, Words, equal, mixed, pick, salts

_SLOT_BITS = 1  # slots a line: 2 to 4, so that few lines meet a judgment that is not theirs


class Contradiction(Exception):
    """A pair has two grades; the plain reader says which lines."""


class Table:
    """Every judged (query, document) with its grade; found by hash, compared as it stands.

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

        long_ids: by query, grades of ids too long for `find`; lists with such are ranked plainly
        """
        keys = mixed(ids.hashes(), salts(queries))
        later, first = repeats(queries, keys, ids)
        if (grades[later] != grades[first]).any():
            raise Contradiction
        order = np.argsort(queries, kind="stable") if (np.diff(queries) < 0).any() else None
        if len(later) or order is not None:
            order = np.arange(len(keys)) if order is None else order
            order = order[~np.isin(order, later)]
            queries, ids, grades, keys = queries[order], ids[order], grades[order], keys[order]
        self.query_ids = query_ids
        long_queries = [query for query, grades in long_ids.items() for _ in grades]
        long_grades = [grade for grades in long_ids.values() for grade in grades.values()]
        self.queries = np.append(queries, np.array(long_queries, dtype=np.int32))
        self.grades = np.append(grades, np.array(long_grades, dtype=np.int32))
        self._long_ids = long_ids
        self._index = {query.encode(): index for index, query in enumerate(query_ids)}
        self._ids, self._keys = ids, keys
        sizes = np.bincount(queries, minlength=len(query_ids))
        self._first = np.concatenate(([0], np.cumsum(sizes)))

    def index(self, query: bytes) -> int:
        """Return the index of a query, -1 for one without judgments."""
        return self._index.get(query, -1)

    def find(self, asked: Ints, keys: Words, ids: Ids, queries: Ints) -> tuple[Ints, Ints]:
        """Return the places of `ids` that are judged, in order, and where in the table each is.

        asked: the queries that `queries` holds, -1 for what no query of the table is
        keys: the ids' hashes, mixed with their queries' salts

        The judgments of these queries are thrown into slots by their keys, and each document
        looks into its slot. Judgments that lost their slot are thrown again, for those who
        met another one there. Who meets the same key is compared as it stands, so two ids
        with one hash cost time and nothing else.
        """
        entries = self._judgments_of(asked)
        bits = max(len(keys), len(entries)).bit_length() + _SLOT_BITS
        shift = np.uint64(64 - bits)
        slots, own_slots = (
            (of >> shift).view(np.int64) for of in (keys, pick(self._keys, entries))
        )
        winners = np.full(1 << bits, -1, dtype=np.int32)
        waiting = np.arange(len(keys))
        places, found = [waiting[:0]], [entries[:0]]
        while len(entries):
            winners[own_slots] = entries
            met = pick(winners, pick(slots, waiting))
            meets = np.flatnonzero(met >= 0)
            waiting, met = pick(waiting, meets), pick(met, meets)
            same = pick(self._keys, met) == pick(keys, waiting)
            alike = np.flatnonzero(same)
            place, entry = pick(waiting, alike), pick(met, alike)
            equals = pick(queries, place) == pick(self.queries, entry)
            equals &= equal(ids[place], self._ids[entry])
            same[alike] = equals
            places.append(place[equals])
            found.append(entry[equals])
            waiting = waiting[~same]
            lost = np.flatnonzero(pick(winners, own_slots) != entries)
            winners[own_slots] = -1
            entries, own_slots = pick(entries, lost), pick(own_slots, lost)
        place = np.concatenate(places)
        order = np.argsort(place, kind="stable")
        return place[order], np.concatenate(found)[order]

    def grades_of(self, query: int) -> dict[str, int]:
        """Return the grades of one query's documents, for lists that are ranked plainly."""
        places = range(self._first[query], self._first[query + 1]) if query >= 0 else ()
        found = {self._ids.token(place).decode(): int(self.grades[place]) for place in places}
        return found | dict(self._long_ids.get(query, {}))

    def _judgments_of(self, queries: Ints) -> Ints:
        """Return the places of all judgments of some queries."""
        chosen = np.unique(queries[queries >= 0])
        begin = self._first[chosen]
        sizes = self._first[chosen + 1] - begin
        before = np.cumsum(sizes) - sizes
        places: Ints = np.repeat(begin - before, sizes) + np.arange(int(sizes.sum()))
        return places
