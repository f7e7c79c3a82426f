"""Any measure of many rows over their pools: one column, with the interval of every value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from judge.measures import graded, relevance
from judge.measures.evaluation import Column
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool, Ranking

Row: TypeAlias = tuple[Ranking, GradePool]
"""A ranking, and the pool of its query."""


def column(measure: Measure, rows: Sequence[Row], *, gain: str, intervals: bool) -> Column:
    """Return a measure of every row; without intervals where no grade of a pool is open."""
    found = _bounded(measure, rows, gain)
    values = [one.value for one in found]
    if not intervals:
        return Column(values)
    return Column(values, [one.lo for one in found], [one.hi for one in found])


def _bounded(measure: Measure, rows: Sequence[Row], gain: str) -> list[Bounded]:
    if measure.family == "golden":
        return [relevance.evaluate(measure, ranking, pool) for ranking, pool in rows]
    rankings, pools = [ranking for ranking, _ in rows], [pool for _, pool in rows]
    return graded.evaluate_rows(measure, rankings, pools, gain=gain)
