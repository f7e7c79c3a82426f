"""Scores of one query's pool, and their weighted means: where pools meet measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.measures import golden, graded
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool

_FAILED = Bounded(0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Mean:
    """A weighted mean over rows: `lo <= value <= hi`, and the number of rows."""

    value: float
    lo: float
    hi: float
    n: int

    @property
    def is_open(self) -> bool:
        """Tell whether open grades could still move the mean."""
        return self.lo < self.hi


def score(
    pool: QueryPool, measures: Iterable[Measure], *, run: int = 0, gain: str, grade_max: int
) -> dict[Measure, Bounded]:
    """Return the measures of one run's row that are defined for it.

    Golden measures need an answer to look for; graded ones are defined for every row
    but one whose question has no answer. A row that failed to run could have been
    anything: [0, 1].
    """
    if pool.query.is_answerless:
        return {}
    asked = [m for m in measures if m.family == "graded" or pool.query.has_answer]
    row = pool.query.rows[run]
    if row is not None and row.error is not None:
        return dict.fromkeys(asked, _FAILED)
    grades = grade_pool(pool, grade_max=grade_max)
    ranking = pool.rankings[run]
    match = pool.query.golden.match if pool.query.golden else "all"
    found: dict[Measure, Bounded] = {}
    for measure in asked:
        if measure.family == "graded":
            found[measure] = graded.evaluate(measure, ranking, grades, gain=gain)
        else:
            value = golden.evaluate(measure, pool.expected.golden_ranks(run, match=match))
            found[measure] = Bounded(value, value, value)
    return found


def is_settled(pool: QueryPool, measures: Iterable[Measure], *, gain: str, grade_max: int) -> bool:
    """Tell whether no grade that is still open could change a graded measure of any run."""
    if pool.query.is_answerless or not any(judgment.is_open for judgment in pool.judgments):
        return True
    asked = [measure for measure in measures if measure.family == "graded"]
    return all(
        row is None
        or row.error is not None
        or not any(
            bounded.is_open
            for bounded in score(pool, asked, run=run, gain=gain, grade_max=grade_max).values()
        )
        for run, row in enumerate(pool.query.rows)
    )


def grade_pool(pool: QueryPool, *, grade_max: int) -> GradePool:
    """Return the pool's intervals, made consistent with its orders, as measures take them."""
    lo = [judgment.lo for judgment in pool.judgments]
    hi = [judgment.hi for judgment in pool.judgments]
    changed = bool(pool.orders)
    while changed:
        changed = False
        for above, below in pool.orders:
            if lo[above] < lo[below] or hi[below] > hi[above]:
                lo[above] = max(lo[above], lo[below])
                hi[below] = min(hi[below], hi[above])
                changed = True
    return GradePool(tuple(lo), tuple(hi), pool.orders, grade_max)


def mean(scores: Sequence[Bounded], weights: Sequence[float]) -> Mean:
    """Return the weighted mean of bounded scores; bounds of different queries add up."""
    assert scores, "a mean needs at least one row"
    total = sum(weights)
    return Mean(
        value=sum(w * s.value for w, s in zip(weights, scores, strict=True)) / total,
        lo=sum(w * s.lo for w, s in zip(weights, scores, strict=True)) / total,
        hi=sum(w * s.hi for w, s in zip(weights, scores, strict=True)) / total,
        n=len(scores),
    )


def means(
    rows: Sequence[tuple[float, Mapping[Measure, Bounded]]], measures: Iterable[Measure]
) -> dict[Measure, Mean]:
    """Return each measure's mean over the (weight, scores) rows that have it."""
    found = {}
    for measure in measures:
        having = [(weight, scores[measure]) for weight, scores in rows if measure in scores]
        if having:
            found[measure] = mean([s for _, s in having], [w for w, _ in having])
    return found
