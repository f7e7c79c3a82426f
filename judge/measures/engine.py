"""Runs of any size against qrels: blocks of whole lists, as columns, on several threads.

    stream ─► whole_lists ─► Block ─► columns ─► rank_lists ─► Lists ─► Tag ─► measures
                             2 MB     or, where a line is       the ranks of
                                      odd, the plain reader     judged documents

Only the ranks of judged documents are kept, so memory does not grow with the run. The
results are those of `plain`, for every input. Where the lines of one query stand apart,
`engine_gather` brings them together first, and that does take the memory of the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, TypeAlias

import numpy as np

from judge.measures.engine_blocks import BLOCK_BYTES, whole_lists
from judge.measures.engine_evaluation import Evaluator
from judge.measures.engine_lists import Lists
from judge.measures.engine_ranking import Ranker
from judge.measures.engine_table import Table
from judge.measures.engine_tags import ListsApart, Tag
from judge.measures.engine_threads import in_threads
from judge.measures.evaluation import Evaluation
from judge.measures.names import Measure
from judge.measures.ranked import Ranked
from judge.measures.trec import Problems, nothing_in

OpenRun: TypeAlias = Callable[[], AbstractContextManager[BinaryIO]]


class Engine:
    """Evaluates any number of runs against one table of judgments."""

    def __init__(
        self,
        table: Table,
        measures: Sequence[Measure],
        *,
        gain: str = "linear",
        precision: str = "single",
        grade_max: int | None = None,
        intervals: bool | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        """Take the qrels and what is asked of every run, as `plain.evaluate`."""
        self._block_bytes = block_bytes
        self._table = table
        self._ranker = Ranker(table, precision=precision)
        self._evaluator = Evaluator(
            table, measures, gain=gain, grade_max=grade_max, intervals=intervals
        )

    def evaluate(self, open_run: OpenRun, *, name: str) -> list[Evaluation]:
        """Return an evaluation for each run of a TREC file.

        open_run: opens the file at its start; called again if a query's lines stand apart
        Raises InputError naming every bad line.
        """
        tags = self._read(open_run, name)
        return [self._evaluator.evaluate(tag, run=run.decode()) for run, tag in tags.items()]

    def evaluate_ranked(self, ranked: Mapping[str, Ranked], *, run: str) -> Evaluation:
        """Return the evaluation of lists that are ranked already."""
        tag = Tag(len(self._table.query_ids))
        lists = self._ranker.look_up({run: ranked})
        tag.add(lists, np.ones(len(lists.names), dtype=bool))
        return self._evaluator.evaluate(tag, run=run)

    def _read(self, open_run: OpenRun, name: str) -> dict[bytes, Tag]:
        tags: dict[bytes, Tag] = {}
        try:
            with open_run() as stream:
                for lists in self._lists(stream, name):
                    self._share_out(lists, tags)
        except ListsApart:
            from judge.measures.engine_gather import gathered_lists  # few runs need it

            tags.clear()
            with open_run() as stream:
                for lists in gathered_lists(stream, self._ranker, name=name):
                    self._share_out(lists, tags)
        if not tags:
            raise nothing_in(name, "rows")
        return tags

    def _share_out(self, lists: Lists, tags: dict[bytes, Tag]) -> None:
        """Give each list to the run it belongs to."""
        names = [tag for tag, _ in lists.names]
        for tag in dict.fromkeys(names):
            mine = np.array([name == tag for name in names])
            tags.setdefault(tag, Tag(len(self._table.query_ids))).add(lists, mine)

    def _lists(self, stream: BinaryIO, name: str) -> Iterator[Lists]:
        """Yield the lists of one block after the other; raises InputError at the end."""
        blocks = whole_lists(stream, size=self._block_bytes)
        problems = Problems(name)
        lines_before = 0
        for ranked in in_threads(self._ranker.rank, blocks):
            yield ranked.lists
            problems.extend(ranked.problems, lines_before=lines_before)
            lines_before += ranked.n_lines
        problems.check()
