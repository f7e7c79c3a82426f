"""Qrels as columns, and the table in which the documents of a run are looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from judge.measures.engine_text import (
    WORD,
    Column,
    Flags,
    Ints,
    Text,
    Words,
    columns,
    equal,
    mixed,
    repeats_previous,
    salts,
)
from judge.measures.trec import QRELS_FIELDS, parse_grade, read_qrels

_WINDOW_BYTES = 1 << 21
_LOAD_BITS = 2  # buckets a document: 4, so that most lookups end at an empty one
_PADDING = b"\n" + b"\0" * WORD


class Table:
    """Every judged (query, document) with its grade; found by hash, compared as it stands.

    query_ids: queries in the order of the file; `queries` holds indexes into it
    queries, grades: of each judgment, in an order of the table's own
    """

    def __init__(self, query_ids: Sequence[str], queries: Ints, ids: Column, grades: Ints) -> None:
        """Take judgments of pairs that may repeat; raises Contradiction where grades differ."""
        keys = mixed(ids.hashes(), salts(queries))
        order = np.argsort(keys)
        order = order[_first_of_each(keys[order], queries[order], ids[order], grades[order])]
        self.query_ids = query_ids
        self.queries, self.grades = queries[order], grades[order]
        self._index = {query.encode(): index for index, query in enumerate(query_ids)}
        self._ids, self._keys = ids[order], keys[order]
        bits = len(order).bit_length() + _LOAD_BITS
        self._shift = np.uint64(64 - bits)
        self._first = np.zeros((1 << bits) + 1, dtype=np.int32)
        buckets = (self._keys >> self._shift).astype(np.int64)
        np.cumsum(np.bincount(buckets, minlength=1 << bits), out=self._first[1:])

    def index(self, query: bytes) -> int:
        """Return the index of a query, -1 for one without judgments."""
        return self._index.get(query, -1)

    def keys(self, ids: Column, queries: Ints) -> Words:
        """Return what documents of these queries are looked up by."""
        return mixed(ids.hashes(), salts(queries))

    def find(self, keys: Words, ids: Column, queries: Ints) -> tuple[Ints, Ints]:
        """Return the places of `ids` that are judged, and where in the table each one is.

        A key leads to a bucket; every judgment there with the same key is compared with
        the document itself, so two ids with one hash cost time and nothing else.
        """
        buckets = (keys >> self._shift).view(np.int64)
        at, end = self._first[buckets], self._first[buckets + 1]
        waiting = np.flatnonzero(at < end)
        at, end = at[waiting], end[waiting]
        places, entries = [waiting[:0]], [waiting[:0]]
        while len(waiting):
            alike = np.flatnonzero(self._keys[at] == keys[waiting])
            place, entry = waiting[alike], at[alike].astype(np.int64)
            same = queries[place] == self.queries[entry]
            same &= equal(ids[place], self._ids[entry])
            places.append(place[same])
            entries.append(entry[same])
            going_on = at + 1 < end
            going_on[alike[same]] = False
            waiting, at, end = waiting[going_on], at[going_on] + 1, end[going_on]
        return np.concatenate(places), np.concatenate(entries)

    def grades_of(self, query: int) -> dict[str, int]:
        """Return the grades of one query's documents, for lists that are ranked plainly."""
        chosen = np.flatnonzero(self.queries == query)
        ids = (token.decode() for token in self._ids[chosen].tokens())
        return dict(zip(ids, self.grades[chosen].tolist(), strict=True))


class Contradiction(Exception):
    """A pair has two grades; the plain reader says which lines."""


def read_table(data: bytes, *, name: str) -> Table:
    """Return the table of a qrels file's bytes; InputError naming every bad line."""
    try:
        found = _judgments(data)
        if found is not None:
            return Table(*found)
    except Contradiction:
        pass
    return table_of(read_qrels(data.split(b"\n"), name=name))


def table_of(qrels: Mapping[str, Mapping[str, int]]) -> Table:
    """Return the table of qrels that were read plainly."""
    documents = [document.encode() for grades in qrels.values() for document in grades]
    lengths = np.array([len(document) for document in documents], dtype=np.int64)
    data = b"".join(documents)
    ids = Column(Text(data + _PADDING, len(data)), np.cumsum(lengths) - lengths, lengths)
    grades = [grade for of_query in qrels.values() for grade in of_query.values()]
    sizes = [len(grades) for grades in qrels.values()]
    queries = np.repeat(np.arange(len(sizes)), sizes)
    return Table(tuple(qrels), queries, ids, np.array(grades, dtype=np.int64))


def _judgments(data: bytes) -> tuple[Sequence[str], Ints, Column, Ints] | None:
    """Return what `Table` takes, or None where the plain reader must look."""
    if not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            return None
    padded = memoryview(data + _PADDING)
    size = len(data) + (not data.endswith(b"\n"))
    index: dict[bytes, int] = {}
    parts: list[tuple[Ints, Ints, Ints, Ints]] = []
    start = 0
    while start < size:
        end = data.find(b"\n", start + _WINDOW_BYTES) + 1 or size
        fields = columns(Text(padded[start : end + WORD], end - start), QRELS_FIELDS)
        grades = None if fields is None else _parse_grades(fields[-1])
        if fields is None or grades is None:
            return None
        documents = fields[2]
        parts.append(
            (_indexes(fields[0], index), documents.starts + start, documents.lengths, grades)
        )
        start = end
    if not index:
        return None
    queries, starts, lengths, all_grades = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    ids = Column(Text(padded, size), starts, lengths)
    return tuple(query.decode() for query in index), queries, ids, all_grades


def _indexes(queries: Column, index: dict[bytes, int]) -> Ints:
    """Return each line's query as an index, adding the new ones in order."""
    if not len(queries):
        return np.zeros(0, dtype=np.int64)
    first = np.concatenate(([0], np.flatnonzero(~repeats_previous(queries)) + 1))
    found = [index.setdefault(query, len(index)) for query in queries[first].tokens()]
    return np.repeat(found, np.diff(first, append=len(queries)))


def _parse_grades(column: Column) -> Ints | None:
    """Return the grades, or None if a text is no integer; each text is parsed once."""
    if column.longest > WORD:
        return None
    if not len(column):
        return np.zeros(0, dtype=np.int64)
    (words,) = column.words()
    texts, which = np.unique(words, return_inverse=True)
    grades = [parse_grade(int(text).to_bytes(WORD, "little").rstrip(b"\0")) for text in texts]
    known = [grade for grade in grades if grade is not None]
    return np.array(known)[which] if len(known) == len(grades) else None


def _first_of_each(keys: Words, queries: Ints, ids: Column, grades: Ints) -> Flags:
    """Tell which judgments to keep, in key order: the first of each pair."""
    kept = np.ones(len(keys), dtype=bool)
    alike = keys[1:] == keys[:-1]
    seen: dict[tuple[int, bytes], int] = {}
    for place in np.flatnonzero(np.append(alike, False) | np.insert(alike, 0, False)).tolist():
        pair, grade = (int(queries[place]), ids.token(place)), int(grades[place])
        kept[place] = pair not in seen
        if seen.setdefault(pair, grade) != grade:
            raise Contradiction
    return kept
