"""Qrels as columns, read into a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from judge.errors import InputError, Problem
from judge.measures.engine_blocks import ENDLESS_LINE, LONGEST_LINE, Block, lines_of
from judge.measures.engine_table import Contradiction, Table
from judge.measures.engine_text import (
    LONGEST_TOKEN,
    PADDING,
    Column,
    Ids,
    Ints,
    Text,
    columns,
    joined,
    repeats_previous,
)
from judge.measures.trec import parse_grade, read_qrels
from judge.trec_lines import QRELS_FIELDS


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


class _QrelsBlock(NamedTuple):
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
