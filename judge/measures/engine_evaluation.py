"""From what the engine kept of a run to its evaluation: values, notices, intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from judge.measures.engine_measures import Asked, Judged, ideal, values
from judge.measures.engine_table import Table
from judge.measures.engine_tags import Tag
from judge.measures.engine_text import Ints
from judge.measures.evaluation import Column, Evaluation, Observed
from judge.measures.limits import pool_depth, quick_to_bound, scale_top
from judge.measures.names import Measure


class Evaluator:
    """Evaluates runs against one table; what depends on the qrels alone is done once."""

    def __init__(
        self,
        table: Table,
        measures: Sequence[Measure],
        *,
        gain: str,
        grade_max: int | None,
        intervals: bool | None,
    ) -> None:
        """Take the qrels and what is asked of every run."""
        self._table, self._measures, self._gain = table, measures, gain
        self._ideal = ideal(len(table.query_ids), table.queries, table.grades)
        highest = [int(table.grades.max())]
        self._top = scale_top(highest, grade_max=grade_max, gain=gain, intervals=bool(intervals))
        self._intervals = intervals
        self._depth = pool_depth(measures)

    def evaluate(self, tag: Tag, *, run: str) -> Evaluation:
        """Return what one run scored, as `plain.evaluate`."""
        judged = tag.judged
        unjudged = self._unjudged(tag, judged)
        intervals = self._intervals
        if intervals is None:
            intervals = quick_to_bound(unjudged.tolist(), self._top)
        columns = self._intervals_of(tag) if intervals else self._values(tag, judged)
        return Evaluation(run, self._table.query_ids, columns, self._observe(tag, unjudged))

    def _values(self, tag: Tag, judged: Judged) -> dict[Measure, Column]:
        relevant = judged.relevant(1)
        asked = Asked(judged, relevant, tag.lengths, self._ideal, self._gain, self._top)
        return {one: Column(values(one, asked).tolist()) for one in self._measures}

    def _intervals_of(self, tag: Tag) -> dict[Measure, Column]:
        # The bounds and what needs them: not for values alone.
        from judge.measures.engine_intervals import interval_columns

        return interval_columns(
            tag, self._table, self._measures, gain=self._gain, depth=self._depth, top=self._top
        )

    def _unjudged(self, tag: Tag, judged: Judged) -> Ints:
        """Return how many results of each query are open: in the top, not judged, no repeat."""
        depth = self._depth
        queries, ranks = tag.repeats
        shown = tag.lengths if depth is None else np.minimum(tag.lengths, depth)
        repeats = queries if depth is None else queries[ranks <= depth]
        known = np.bincount(judged.top(depth).queries, minlength=tag.n)
        unjudged: Ints = shown - known - np.bincount(repeats, minlength=tag.n)
        return unjudged

    def _observe(self, tag: Tag, unjudged: Ints) -> Observed:
        ids, depth = self._table.query_ids, self._depth
        return Observed(
            missing=[ids[query] for query in np.flatnonzero(~tag.present).tolist()],
            without_qrels=list(tag.unknown),
            irrelevant=[ids[query] for query in np.flatnonzero(self._ideal.total() == 0).tolist()],
            ties=int(tag.ties.sum()),
            duplicates=len(tag.repeats[0]),
            deepest=depth,
            short=0 if depth is None else int((tag.present & (tag.lengths < depth)).sum()),
            unjudged=int(unjudged.sum()),
            unjudged_in=int(np.count_nonzero(unjudged)),
        )
