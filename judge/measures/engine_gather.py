"""Runs in which the lines of one query stand apart: brought together, then ranked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from judge.errors import InputError, Problem
from judge.measures.engine_blocks import ENDLESS_LINE, LONGEST_LINE, lines_of
from judge.measures.engine_lists import Lists
from judge.measures.engine_ranking import Ranker, RunColumns, list_names, list_starts, run_columns
from judge.measures.engine_text import (
    PADDING,
    Column,
    Ids,
    Ints,
    Text,
    equal,
    mixed,
)
from judge.measures.trec import Problems, run_lists

_CHUNK_BYTES = 1 << 21
_LINES_AT_ONCE = 1 << 16


def gathered_lists(stream: BinaryIO, ranker: Ranker, *, name: str) -> Iterator[Lists]:
    """Yield the lists of a whole file, some at a time; raises InputError naming bad lines.

    Holds the file and the edges of its documents and scores in memory.
    """
    data = _whole(stream, name)
    size = len(data)
    gathered = _gather(data)
    if gathered is not None:
        for lists in gathered.ranked(ranker):
            if lists is None:
                break
            yield lists
        else:
            return
    problems = Problems(name)
    runs = run_lists(bytes(memoryview(data)[:size]).split(b"\n"), problems)
    problems.check()
    yield ranker.rank_plainly(runs)


def _whole(stream: BinaryIO, name: str) -> bytearray:
    """Return all of a stream; raises InputError for a line that would only fill the memory."""
    data = bytearray()
    ended = 0
    while chunk := stream.read(_CHUNK_BYTES):
        ended = len(data) + end if (end := chunk.rfind(b"\n") + 1) else ended
        data += chunk
        if len(data) - ended > LONGEST_LINE:
            line = data.count(b"\n") + 1
            raise InputError(Problem(f"{name}:{line}", *ENDLESS_LINE))
    return data


@dataclass(frozen=True, slots=True)
class _Gathered:
    """Every line's list, document and score; narrow integers, as there are many.

    names: tag and query of each list, in the order first met
    """

    names: list[tuple[bytes, bytes]]
    lists: NDArray[np.int32]
    ids: Column
    scores: Column

    def ranked(self, ranker: Ranker) -> Iterator[Lists | None]:
        """Yield lists, a slice of them at a time; None where a score is no number."""
        # Few lists fit in 16 bits, and those numpy sorts by counting.
        narrow = np.uint16 if len(self.names) < 1 << 16 else np.int32
        order = np.argsort(self.lists.astype(narrow), kind="stable")
        ends = np.cumsum(np.bincount(self.lists, minlength=len(self.names)))
        begin = 0
        while begin < len(self.names):
            line = int(ends[begin - 1]) if begin else 0
            end = max(int(np.searchsorted(ends, line + _LINES_AT_ONCE)), begin + 1)
            lines = order[line : int(ends[end - 1])]
            first = np.concatenate(([0], ends[begin : end - 1] - line))
            names = self.names[begin:end]
            yield ranker.rank_columns(
                names, first, Ids.of(_wide(self.ids[lines])), _wide(self.scores[lines])
            )
            begin = end


def _wide(column: Column) -> Column:
    return Column(column.text, column.starts.astype(np.int64), column.lengths.astype(np.int64))


def _gather(data: bytearray) -> _Gathered | None:
    """Return the columns of a whole file, or None where the plain reader must look.

    `data` gets padding at its end, as every text.
    """
    index: dict[tuple[bytes, bytes], int] = {}
    offset = np.int64 if len(data) >> 31 else np.int32
    parts: list[list[NDArray[Any]]] = []
    start = 0
    for block in lines_of(data):
        fields = run_columns(block)
        if fields is None:
            return None
        if len(fields.query):
            lists = _list_indexes(fields, index)
            kept = (fields.document, fields.score)
            edges = [(column.starts + start).astype(offset) for column in kept]
            lengths = [column.lengths.astype(np.int8) for column in kept]
            parts.append([lists, *edges, *lengths])
        start += block.size
    if not parts:
        return None
    lists, at_id, at_score, id_lengths, score_lengths = (
        np.concatenate(part) for part in zip(*parts, strict=True)
    )
    size = len(data)
    data += PADDING
    text = Text(data, size)
    ids, scores = Column(text, at_id, id_lengths), Column(text, at_score, score_lengths)
    return _Gathered(list(index), lists, ids, scores)


def _list_indexes(fields: RunColumns, index: dict[tuple[bytes, bytes], int]) -> Ints:
    """Return each line's list as an index, adding the new ones in order."""
    first, list_of = _distinct(fields)
    found = [index.setdefault(name, len(index)) for name in list_names(fields, first)]
    return np.array(found, dtype=np.int32)[list_of]


def _distinct(fields: RunColumns) -> tuple[Ints, Ints]:
    """Return a line for each of the lists that a block's lines belong to, and each line's list.

    The lines are in order; a list that goes on elsewhere in the block may have several.
    """
    query, tag = Ids.of(fields.query), Ids.of(fields.tag)
    keys = mixed(query.hashes(), tag.hashes())
    _, first, list_of = np.unique(keys, return_index=True, return_inverse=True)
    alike = equal(query, query[first[list_of]]) & equal(tag, tag[first[list_of]])
    if alike.all():
        order = np.argsort(first)
        return first[order], np.argsort(order)[list_of]
    first = list_starts(fields)
    return first, np.repeat(np.arange(len(first)), np.diff(first, append=len(keys)))
