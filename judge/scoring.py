"""Scores of one query's pool, and their weighted means: where pools meet measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.measures import golden, graded
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool
from judge.statistics.plus_two import plus_two
from judge.statistics.weights import weighted_mean

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


@dataclass(frozen=True, slots=True)
class Scale:
    """How grades become numbers: the gain of nDCG and the top grade G."""

    gain: str
    grade_max: int


def score_rows(
    pools: Sequence[QueryPool], measures: Iterable[Measure], *, run: int = 0, scale: Scale
) -> list[dict[Measure, Bounded]]:
    """Return, for each query, the measures of one run's row that are defined for it.

    Golden measures need an answer to look for; graded ones are defined for every row
    but one whose question has no answer. A row that failed to run could have been
    anything: [0, 1].
    """
    asked = tuple(measures)
    ranked = tuple(measure for measure in asked if measure.family == "graded")
    unknown = {
        True: dict.fromkeys(asked, _FAILED),
        False: dict.fromkeys(ranked, _FAILED),
    }
    found: list[dict[Measure, Bounded]] = []
    waiting: dict[int, GradePool] = {}
    for at, pool in enumerate(pools):
        scores = {} if pool.query.is_answerless else unknown[pool.query.has_answer].copy()
        found.append(scores)
        if not scores or failed_on(pool, run):
            continue
        grades = grade_pool(pool, grade_max=scale.grade_max)
        if grades.lo != grades.hi:
            waiting[at] = grades
        for measure in asked if pool.query.has_answer else ranked:
            if measure.family == "golden":
                scores[measure] = _golden(measure, pool, run)
            elif grades.lo == grades.hi:
                ranking = pool.rankings[run]
                scores[measure] = graded.evaluate(measure, ranking, grades, gain=scale.gain)
    # Open rows share one pass of the bounds.
    rankings = [pools[at].rankings[run] for at in waiting]
    for measure in ranked:
        together = graded.evaluate_rows(measure, rankings, list(waiting.values()), gain=scale.gain)
        for at, bounded in zip(waiting, together, strict=True):
            found[at][measure] = bounded
    return found


def failed_on(pool: QueryPool, run: int) -> bool:
    """Tell whether a run failed on this query, so that its list could have been anything."""
    row = pool.query.rows[run]
    return row is not None and row.error is not None


def _golden(measure: Measure, pool: QueryPool, run: int) -> Bounded:
    match = pool.query.golden.match if pool.query.golden else "all"
    value = golden.evaluate(measure, pool.expected.golden_ranks(run, match=match))
    return Bounded(value, value, value)


def are_settled(
    pools: Sequence[QueryPool], measures: Iterable[Measure], *, scale: Scale
) -> list[bool]:
    """Tell, for each query, whether no open grade could change a graded measure of any run."""
    settled = [
        pool.query.is_answerless or not any(judgment.is_open for judgment in pool.judgments)
        for pool in pools
    ]
    asked = [measure for measure in measures if measure.family == "graded"]
    waiting = [at for at, done in enumerate(settled) if not done]
    n_runs = len(pools[0].query.rows) if pools else 0
    moving: set[int] = set()
    for run in range(n_runs):
        ran = [at for at in waiting if not failed_on(pools[at], run)]
        sure = {at for at in ran if _moves(pools[at], asked, run)}
        moving |= sure
        ran = [at for at in ran if at not in sure]
        scores = score_rows([pools[at] for at in ran], asked, run=run, scale=scale)
        moving |= {
            at
            for at, row in zip(ran, scores, strict=True)
            if any(bounded.is_open for bounded in row.values())
        }
    return [done or at not in moving for at, done in enumerate(settled)]


def _moves(pool: QueryPool, measures: Iterable[Measure], run: int) -> bool:
    """Tell whether a measure surely moves: it is 0 where all are, and is not where one is good.

    So it is with every row of which nothing is known; the bounds tell of all others.
    """
    if any(judgment.lo for judgment in pool.judgments):
        return False
    cutoffs = [measure.k for measure in measures if measure.name in ("nDCG", "ERR")]
    return any(
        member is not None and pool.judgments[member].hi > 0
        for k in cutoffs
        for member in pool.rankings[run][:k]
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
    assert len(scores) == len(weights), "every row has its weight"
    values = [score.value for score in scores]
    value = weighted_mean(values, weights)
    ends = [score.lo for score in scores], [score.hi for score in scores]
    # Where nothing is open, the same sum would be added up three times.
    lo, hi = (value if end == values else weighted_mean(end, weights) for end in ends)
    return Mean(value, lo, hi, len(scores))


def confidence(scores: Sequence[Bounded], weights: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95% interval of the mean over queries like these, or None for fewer than two.

    It says what other queries would change, and where grades are open it holds for every
    completion of them; how it is made: `statistics.plus_two`.
    """
    return plus_two([(bounded.lo, bounded.hi) for bounded in scores], weights=weights)


def scores_of(
    rows: Iterable[tuple[float, Mapping[Measure, Bounded]]], measure: Measure
) -> tuple[list[Bounded], list[float]]:
    """Return the scores of the (weight, scores) rows that have a measure, and their weights."""
    scores: list[Bounded] = []
    weights: list[float] = []
    for weight, by_measure in rows:
        if (score := by_measure.get(measure)) is not None:
            scores.append(score)
            weights.append(weight)
    return scores, weights


def means(
    rows: Sequence[tuple[float, Mapping[Measure, Bounded]]], measures: Iterable[Measure]
) -> dict[Measure, Mean]:
    """Return each measure's mean over the (weight, scores) rows that have it."""
    found = {}
    for measure in measures:
        scores, weights = scores_of(rows, measure)
        if scores:
            found[measure] = mean(scores, weights)
    return found
