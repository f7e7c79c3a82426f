"""Qrels as columns, and the table in which the documents of a run are looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from judge.errors import InputError, Problem
from judge.measures.engine_blocks import ENDLESS_LINE, LONGEST_LINE, Block, lines_of
from judge.measures.engine_repeats import repeats
from judge.measures.engine_text import (
    LONGEST_TOKEN,
    PADDING,
    Column,
    Ids,
    Ints,
    Text,
    Words,
    columns,
    equal,
    joined,
    mixed,
    pick,
    repeats_previous,
    salts,
)
from judge.measures.trec import QRELS_FIELDS, parse_grade, read_qrels

_BUCKET_BITS = 1  # 2 to 4 buckets a document, so that most lookups end at an empty one


class Table:
    """Every judged (query, document) with its grade; found by hash, compared as it stands.

    query_ids: queries in the order of the file; `queries` holds indexes into it
    queries, grades: of each judgment, in an order of the table's own
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
        kept = np.delete(np.arange(len(keys), dtype=np.int32), later)
        bits = len(keys).bit_length() + _BUCKET_BITS
        self._shift = np.uint64(64 - bits)
        buckets = (keys[kept] >> self._shift).view(np.int64)
        sizes = np.bincount(buckets, minlength=1 << bits)
        self._in_use = sizes > 0
        self._first = np.zeros((1 << bits) + 1, dtype=np.int32)
        np.cumsum(sizes, out=self._first[1:])
        order = kept[_sorted_places(buckets)]
        self.query_ids = query_ids
        long_queries = [query for query, grades in long_ids.items() for _ in grades]
        long_grades = [grade for grades in long_ids.values() for grade in grades.values()]
        self.queries = np.append(queries[order], np.array(long_queries, dtype=np.int32))
        self.grades = np.append(grades[order], np.array(long_grades, dtype=np.int32))
        self._long_ids = long_ids
        self._index = {query.encode(): index for index, query in enumerate(query_ids)}
        self._ids, self._keys = ids[order], keys[order]

    def index(self, query: bytes) -> int:
        """Return the index of a query, -1 for one without judgments."""
        return self._index.get(query, -1)

    def find(self, keys: Words, ids: Ids, queries: Ints) -> tuple[Ints, Ints]:
        """Return the places of `ids` that are judged, and where in the table each one is.

        keys: the ids' hashes, mixed with their queries' salts
        A key leads to a bucket; every judgment there with the same key is compared with
        the document itself, so two ids with one hash cost time and nothing else.
        """
        buckets = (keys >> self._shift).view(np.int64)
        waiting = np.flatnonzero(pick(self._in_use, buckets))
        at = pick(self._first, buckets := pick(buckets, waiting))
        end = pick(self._first, buckets + 1)
        places, entries = [waiting[:0]], [at[:0]]
        while len(waiting):
            alike = np.flatnonzero(pick(self._keys, at) == pick(keys, waiting))
            place, entry = pick(waiting, alike), pick(at, alike)
            same = pick(queries, place) == pick(self.queries, entry)
            same &= equal(ids[place], self._ids[entry])
            places.append(place[same])
            entries.append(entry[same])
            is_over = at + 1 >= end
            is_over[alike[same]] = True
            going_on = np.flatnonzero(~is_over)
            waiting, at, end = pick(waiting, going_on), pick(at, going_on) + 1, pick(end, going_on)
        return np.concatenate(places), np.concatenate(entries)

    def grades_of(self, query: int) -> dict[str, int]:
        """Return the grades of one query's documents, for lists that are ranked plainly."""
        order, first = self._by_query
        chosen = order[first[query] : first[query + 1]].tolist() if query >= 0 else []
        found = {self._ids.token(place).decode(): int(self.grades[place]) for place in chosen}
        return found | dict(self._long_ids.get(query, {}))

    @cached_property
    def _by_query(self) -> tuple[Ints, Ints]:
        """Return places in the order of their queries, and where each query begins there."""
        queries = self.queries[: len(self._ids)]
        sizes = np.bincount(queries, minlength=len(self.query_ids))
        return np.argsort(queries, kind="stable"), np.concatenate(([0], np.cumsum(sizes)))


class Contradiction(Exception):
    """A pair has two grades; the plain reader says which lines."""


def read_table(data: bytes, *, name: str) -> Table:
    """Return the table of a qrels file's bytes; InputError naming every bad line."""
    _refuse_endless_lines(data, name)
    try:
        found = _judgments(data)
        if found is not None:
            return Table(*found)
    except Contradiction:
        pass
    return table_of(read_qrels(data.split(b"\n"), name=name))


def _refuse_endless_lines(data: bytes, name: str) -> None:
    """Raise InputError for the first line that is longer than any judgment could be."""
    start = 0
    while start + LONGEST_LINE < len(data):
        end = data.rfind(b"\n", start, start + LONGEST_LINE)
        if end < 0:
            line = data.count(b"\n", 0, start) + 1
            raise InputError(Problem(f"{name}:{line}", *ENDLESS_LINE))
        start = end + 1


def table_of(qrels: Mapping[str, Mapping[str, int]]) -> Table:
    """Return the table of qrels that were read plainly."""
    queries: list[int] = []
    documents: list[bytes] = []
    found: list[int] = []
    long_ids: dict[int, dict[str, int]] = {}
    for query, grades in enumerate(qrels.values()):
        for document, grade in grades.items():
            encoded = document.encode()
            if len(encoded) > LONGEST_TOKEN:
                long_ids.setdefault(query, {})[document] = grade
            else:
                queries.append(query)
                documents.append(encoded)
                found.append(grade)
    lengths = np.array([len(document) for document in documents], dtype=np.int64)
    data = b"".join(documents)
    column = Column(Text(data + PADDING, len(data)), np.cumsum(lengths) - lengths, lengths)
    arrays = np.array(queries, dtype=np.int32), Ids.of(column), np.array(found, dtype=np.int32)
    return Table(tuple(qrels), *arrays, long_ids=long_ids)


_Judgments: TypeAlias = tuple[Sequence[str], Ints, Ids, Ints]


def _judgments(data: bytes) -> _Judgments | None:
    """Return what `Table` takes, or None where the plain reader must look."""
    index: dict[bytes, int] = {}
    parts: list[tuple[Ints, Ids, Ints]] = []
    for block in map(_read_block, lines_of(data)):
        if block is None:
            return None
        found = [index.setdefault(query, len(index)) for query in block.queries]
        queries = np.repeat(np.array(found, dtype=np.int32), block.sizes)
        parts.append((queries, block.ids, block.grades))
    if not index:
        return None
    queries = np.concatenate([part[0] for part in parts])
    grades = np.concatenate([part[2] for part in parts])
    ids = joined([part[1] for part in parts])
    return tuple(query.decode() for query in index), queries, ids, grades


@dataclass(frozen=True, slots=True)
class _QrelsBlock:
    """Some lines of qrels: queries with the number of lines of each, documents, grades."""

    queries: list[bytes]
    sizes: Ints
    ids: Ids
    grades: Ints


def _read_block(block: Block) -> _QrelsBlock | None:
    """Return a block's lines, or None where the plain reader must look."""
    fields = columns(block.text, QRELS_FIELDS, (0, 2, 3)) if block.is_utf8 else None
    grades = None if fields is None else _parse_grades(fields[-1])
    if fields is None or grades is None:
        return None
    queries, documents, _ = fields
    if not len(queries):
        return _QrelsBlock([], np.zeros(0, dtype=np.int64), Ids.of(documents), grades)
    first = np.concatenate(([0], np.flatnonzero(~repeats_previous(queries)) + 1))
    sizes = np.diff(first, append=len(queries))
    return _QrelsBlock(list(queries[first].tokens()), sizes, Ids.of(documents), grades)


def _parse_grades(column: Column) -> Ints | None:
    """Return the grades, or None if a text is no integer; each text is parsed once."""
    if column.longest == 1:
        digits = column.text.bytes[column.starts].astype(np.int32) - ord("0")
        return digits if (digits >= 0).all() and (digits <= 9).all() else None
    texts: dict[bytes, int] = {}
    which = [texts.setdefault(text, len(texts)) for text in column.tokens()]
    grades = [parse_grade(text) for text in texts]
    known = [grade for grade in grades if grade is not None]
    return np.array(known, np.int32)[which] if len(known) == len(grades) else None


def _sorted_places(buckets: Ints) -> Ints:
    """Return the order that sorts bucket numbers, 16 bits at a time: numpy counts those."""
    low = np.argsort(buckets.astype(np.uint16), kind="stable")
    high = (buckets >> 16).astype(np.uint16)[low]
    order: Ints = low[np.argsort(high, kind="stable")]
    return order
