"""From what the engine kept of a run to its evaluation: values, notices, intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge.measures.engine_intervals import interval_columns
from judge.measures.engine_measures import Asked, Judged, ideal, values
from judge.measures.engine_qrels import Table
from judge.measures.engine_tags import Tag
from judge.measures.evaluation import Column, Evaluation, Observed
from judge.measures.names import Measure
from judge.measures.plain import pool_depth, scale_top


class Evaluator:
    """Evaluates runs against one table; what depends on the qrels alone is done once."""

    def __init__(
        self,
        table: Table,
        measures: Sequence[Measure],
        *,
        gain: str,
        grade_max: int | None,
        intervals: bool,
    ) -> None:
        """Take the qrels and what is asked of every run."""
        self._table, self._measures, self._gain = table, measures, gain
        self._ideal = ideal(len(table.query_ids), table.queries, table.grades)
        highest = [int(table.grades.max())]
        self._top = scale_top(highest, grade_max=grade_max, gain=gain, intervals=intervals)
        self._intervals = intervals
        self._depth = pool_depth(measures)

    def evaluate(self, tag: Tag, *, run: str) -> Evaluation:
        """Return what one run scored, as `plain.evaluate`."""
        judged = tag.judged
        columns = self._intervals_of(tag) if self._intervals else self._values(tag, judged)
        return Evaluation(run, self._table.query_ids, columns, self._observe(tag, judged))

    def _values(self, tag: Tag, judged: Judged) -> dict[Measure, Column]:
        asked = Asked(judged, tag.lengths, self._ideal, self._gain, self._top)
        return {one: Column(values(one, asked).tolist()) for one in self._measures}

    def _intervals_of(self, tag: Tag) -> dict[Measure, Column]:
        return interval_columns(
            tag, self._table, self._measures, gain=self._gain, depth=self._depth, top=self._top
        )

    def _observe(self, tag: Tag, judged: Judged) -> Observed:
        ids, depth = self._table.query_ids, self._depth
        repeats, repeat_ranks = tag.repeats
        shallow = repeats if depth is None else repeats[repeat_ranks <= depth]
        shown = tag.lengths if depth is None else np.minimum(tag.lengths, depth)
        unjudged = shown - np.bincount(shallow, minlength=tag.n)
        unjudged = unjudged - judged.top(depth).total().astype(np.int64)
        return Observed(
            missing=[ids[query] for query in np.flatnonzero(~tag.present).tolist()],
            without_qrels=list(tag.unknown),
            irrelevant=[ids[query] for query in np.flatnonzero(self._ideal.total() == 0).tolist()],
            ties=int(tag.ties.sum()),
            duplicates=len(repeats),
            deepest=depth,
            short=0 if depth is None else int((tag.present & (tag.lengths < depth)).sum()),
            unjudged=int(unjudged.sum()),
            unjudged_in=int(np.count_nonzero(unjudged)),
        )
