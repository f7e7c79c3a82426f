"""What one run scored against qrels: a column a measure over the queries of the qrels."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge.measures.names import Measure


@dataclass(frozen=True, slots=True)
class Column:
    """One measure of every query, in the order of `Evaluation.query_ids`.

    values: every unjudged result gains nothing, as trec_eval
    lo, hi: ends of each value's interval given the pool; None where they were not asked for
    """

    values: Sequence[float]
    lo: Sequence[float] | None = None
    hi: Sequence[float] | None = None

    @property
    def mean(self) -> float:
        """Return the plain mean over the queries of the qrels, missing ones counting 0."""
        return math.fsum(self.values) / len(self.values)

    @property
    def mean_interval(self) -> tuple[float, float]:
        """Return the interval of the mean: unknown grades of queries are independent."""
        n = len(self.values)
        lo = self.values if self.lo is None else self.lo
        hi = self.values if self.hi is None else self.hi
        return math.fsum(lo) / n, math.fsum(hi) / n

    @property
    def widths(self) -> list[float]:
        """Return the widths of the values that are intervals."""
        if self.lo is None or self.hi is None:
            return []
        return [hi - lo for lo, hi in zip(self.lo, self.hi, strict=True) if hi > lo]


@dataclass(frozen=True, slots=True)
class Observed:
    """What a careful reader would want to know of a run, as counts.

    missing:       queries of the qrels that the run lacks; they count 0
    without_qrels: queries of the run that have no judgment; they are not evaluated
    irrelevant:    queries of the qrels without a relevant document; they count 0
    failed:        queries of the qrels that the system failed on; each value could be 0 to 1
    ties:          results that share their score with another one of their list
    duplicates:    results whose document stood higher in their list; they gain nothing
    deepest:       the deepest cutoff asked for, None where the whole list is looked at
    short:         evaluated lists with fewer results than `deepest`
    unjudged:      results in the top `deepest` without a grade, in `unjudged_in` queries
    """

    missing: Sequence[str] = ()
    without_qrels: Sequence[str] = ()
    irrelevant: Sequence[str] = ()
    failed: Sequence[str] = ()
    ties: int = 0
    duplicates: int = 0
    deepest: int | None = None
    short: int = 0
    unjudged: int = 0
    unjudged_in: int = 0


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One run's columns by measure, and what was observed on the way."""

    run: str
    query_ids: Sequence[str]
    columns: Mapping[Measure, Column]
    observed: Observed = field(default_factory=Observed)


def with_failures(evaluation: Evaluation, failed: Collection[str]) -> Evaluation:
    """Return an evaluation in which each value of the queries that failed is 0 in [0, 1].

    What a broken system listed says nothing of what it would have listed.
    """
    if not failed:
        return evaluation
    places = [at for at, query in enumerate(evaluation.query_ids) if query in failed]
    columns = {}
    for measure, column in evaluation.columns.items():
        columns[measure] = Column(
            _with(column.values, places, 0.0),
            None if column.lo is None else _with(column.lo, places, 0.0),
            None if column.hi is None else _with(column.hi, places, 1.0),
        )
    named = [evaluation.query_ids[at] for at in places]
    return replace(evaluation, columns=columns, observed=replace(evaluation.observed, failed=named))


def _with(values: Sequence[float], places: Sequence[int], value: float) -> list[float]:
    changed = list(values)
    for at in places:
        changed[at] = value
    return changed
