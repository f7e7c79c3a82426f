"""One block of a run to its ranked lists: as columns, or plainly where a line is odd."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from judge.measures.engine_blocks import ENDLESS_LINE, Block
from judge.measures.engine_lists import Lists, Spots, rank_lists
from judge.measures.engine_scores import parse_scores
from judge.measures.engine_table import Table
from judge.measures.engine_text import Column, Ids, Ints, columns, repeats_previous
from judge.measures.ranked import Ranked
from judge.measures.ranked import rank_lists as rank_lists_plainly
from judge.measures.trec import Lists as PlainLists
from judge.measures.trec import Problems, run_lists
from judge.trec_lines import RUN_FIELDS


class BlockRanked(NamedTuple):
    """A block's lists, its number of lines, and what is wrong with some of them."""

    lists: Lists
    n_lines: int
    problems: Problems


class Ranker(NamedTuple):
    """Ranks the lists of blocks and looks their documents up; safe to share between threads."""

    table: Table
    precision: str = "single"

    def rank(self, block: Block) -> BlockRanked:
        """Return the lists of a block."""
        return self._by_columns(block) or self._plainly(block)

    def rank_columns(
        self, names: list[tuple[bytes, bytes]], first: Ints, ids: Ids, scores: Column
    ) -> Lists | None:
        """Return the lists that begin at lines `first`; None if a score is no number."""
        single = self.precision == "single"
        parsed = parse_scores(scores, single=single)
        if parsed is None:
            return None
        return rank_lists(names, first, ids, parsed, self.table, single=single)

    def _by_columns(self, block: Block) -> BlockRanked | None:
        fields = run_columns(block)
        if fields is None or not len(fields.query) or block.endless:
            return None
        first = list_starts(fields)
        names = list_names(fields, first)
        lists = self.rank_columns(names, first, Ids.of(fields.document), fields.score)
        return None if lists is None else BlockRanked(lists, block.n_lines, Problems(""))

    def _plainly(self, block: Block) -> BlockRanked:
        problems = Problems("")
        runs = run_lists(block.lines, problems)
        if block.endless:
            problems.add(block.n_lines + 1, *ENDLESS_LINE)
        return BlockRanked(self.rank_plainly(runs), block.n_lines, problems)

    def rank_plainly(self, runs: Mapping[str, PlainLists]) -> Lists:
        """Return lists that were read line by line."""
        return self.look_up(
            {
                tag: rank_lists_plainly(lists, precision=self.precision)
                for tag, lists in runs.items()
            }
        )

    def look_up(self, runs: Mapping[str, Mapping[str, Ranked]]) -> Lists:
        """Return lists that are ranked already."""
        names: list[tuple[bytes, bytes]] = []
        heads: list[tuple[int, int, int]] = []
        judged: list[tuple[int, int, int]] = []
        repeats: list[tuple[int, int]] = []
        for tag, lists in runs.items():
            for query, ranked in lists.items():
                place, index = len(names), self.table.index(query.encode())
                names.append((tag.encode(), query.encode()))
                heads.append((index, len(ranked.documents), ranked.ties))
                grades = self.table.grades_of(index)
                for rank, document in enumerate(ranked.documents, start=1):
                    if document is None:
                        repeats.append((place, rank))
                    elif document in grades:
                        judged.append((place, rank, grades[document]))
        queries, lengths, ties = _transposed(heads, 3)
        lists_of, ranks, found = _transposed(judged, 3)
        repeated = Spots(*_transposed(repeats, 2))
        return Lists(names, queries, lengths, ties, Spots(lists_of, ranks), found, repeated)


class RunColumns(NamedTuple):
    """The fields of run lines that decide anything; Q0 and the rank do not."""

    query: Column
    document: Column
    score: Column
    tag: Column


def run_columns(block: Block) -> RunColumns | None:
    """Return the columns of a block, or None where the plain reader must look."""
    found = columns(block.text, RUN_FIELDS, (0, 2, 4, 5)) if block.is_utf8 else None
    return None if found is None else RunColumns(*found)


def list_starts(fields: RunColumns) -> Ints:
    """Return the lines at which another query or another tag begins."""
    goes_on = repeats_previous(fields.query) & repeats_previous(fields.tag)
    return np.concatenate(([0], np.flatnonzero(~goes_on) + 1))


def list_names(fields: RunColumns, first: Ints) -> list[tuple[bytes, bytes]]:
    """Return tag and query of the lists that begin at lines `first`."""
    return list(zip(fields.tag[first].tokens(), fields.query[first].tokens(), strict=True))


def _transposed(rows: Sequence[tuple[int, ...]], count: int) -> list[Ints]:
    table = np.array(rows, dtype=np.int64).reshape(-1, count)
    return [table[:, i] for i in range(count)]
