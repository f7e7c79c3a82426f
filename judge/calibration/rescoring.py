"""The same runs scored twice: under the judge's grades and under people's.

Two questions are answered from that. Do the two sources order the systems alike? And what
would people's grades make of each mean, where they graded only some of the queries?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from judge.formats.labels import Label
from judge.grades import GRADE_MAX
from judge.measures.graded import evaluate
from judge.measures.names import Measure
from judge.measures.pool import GradePool
from judge.run import Row, Run
from judge.statistics.bootstrap import resample, widest_interval
from judge.statistics.correction import Correction, difference_estimator
from judge.statistics.estimate import Estimate
from judge.statistics.paired import RESAMPLING, Resampling, few_queries
from judge.statistics.plus_two import plus_two
from judge.statistics.rank_correlation import (
    RankBiasedOverlap,
    kendall_tau_b,
    rank_biased_overlap,
    spearman,
    tau_ap,
)
from judge.statistics.strata import realised_design

FEWEST_TOPICS = 40
"""Below this many queries rank correlations get no interval: noise in each system's mean takes
orders apart, so the correlation is too low, and its interval too (docs/statistics.md)."""

Grades: TypeAlias = Mapping[str, Mapping[str, int]]
"""query id -> chunk id -> grade"""

Scores: TypeAlias = NDArray[np.float64]
"""(runs, queries)"""


@dataclass(frozen=True, slots=True)
class Sources:
    """The grades that the judge and people gave, by query.

    Where several people graded a chunk, `people` holds their median, the lower of two.
    chances: of queries whose labels were drawn, with what chance the least likely of them was
    """

    judge: Grades
    people: Grades
    chances: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def shared(self) -> Sources:
        """Return both sources over the queries of which both graded a chunk.

        The judge by the chunks that both graded; people by all of theirs: what the judge never
        saw is part of what they find best, and without it no mean would be theirs.
        """
        both = {
            query: grades.keys() & self.judge.get(query, {}).keys()
            for query, grades in self.people.items()
        }
        judge = {
            query: {id: self.judge[query][id] for id in ids} for query, ids in both.items() if ids
        }
        return Sources(judge, {query: self.people[query] for query in judge})

    @property
    def wholly_labelled(self) -> tuple[str, ...]:
        """Return the queries of which people graded every chunk that the judge did."""
        return tuple(
            query
            for query, grades in self.judge.items()
            if grades.keys() <= self.people.get(query, {}).keys()
        )


@dataclass(frozen=True, slots=True)
class Scoring:
    """How a list is scored: a graded measure, its gain and its scale."""

    measure: Measure
    gain: str = "linear"
    grade_max: int = GRADE_MAX


@dataclass(frozen=True, slots=True)
class SystemOrders:
    """How alike two sources order systems, over the queries that both graded (`Sources.shared`).

    means: run -> (mean by the judge, mean by people), in the order of the runs
    overlap: None with fewer than two systems
    """

    measure: Measure
    queries: int
    means: Mapping[str, tuple[float, float]]
    correlations: Mapping[str, Estimate]
    overlap: RankBiasedOverlap | None


def sources(judged: Mapping[tuple[str, str], int], labels: Sequence[Label]) -> Sources:
    """Return the grades of both sides by query; labels: only such as were not picked by looking."""
    given: dict[tuple[str, str], list[int]] = {}
    for label in labels:
        given.setdefault((label.query_id, label.id), []).append(label.grade)
    medians = {pair: sorted(grades)[(len(grades) - 1) // 2] for pair, grades in given.items()}
    chances: dict[str, float] = {}
    for label in labels:
        if label.pi is not None:
            chances[label.query_id] = min(label.pi, chances.get(label.query_id, 1.0))
    return Sources(_nested(judged), _nested(medians), chances)


def _nested(grades: Mapping[tuple[str, str], int]) -> Grades:
    by_query: dict[str, dict[str, int]] = {}
    for (query, id), grade in grades.items():
        by_query.setdefault(query, {})[id] = grade
    return by_query


def score_runs(runs: Sequence[Run], grades: Grades, how: Scoring) -> Scores:
    """Return each run's score of each query under one source; a query it lacks scores 0."""
    named = [_rows_by_name(run) for run in runs]
    scores = [[_score(rows.get(query), grades[query], how) for query in grades] for rows in named]
    return np.array(scores, dtype=np.float64).reshape(len(runs), len(grades))


def _rows_by_name(run: Run) -> Mapping[str, Row]:
    """Return rows by every name that a label may call them: id, key or query text."""
    names: dict[str, Row] = {}
    for row in run.rows:
        for name in (row.query_id, row.key, row.query):
            if name is not None:
                names.setdefault(name, row)
    return names


def _score(row: Row | None, grades: Mapping[str, int], how: Scoring) -> float:
    if row is None:
        return 0.0
    place = {id: at for at, id in enumerate(grades)}
    # A repeated id gains at its first slot only.
    ranking = tuple(place.pop(result.id, None) for result in row.results)
    known = tuple(grades.values())
    pool = GradePool(known, known, grade_max=how.grade_max)
    return evaluate(how.measure, ranking, pool, gain=how.gain).value


def system_orders(
    runs: Sequence[Run], both: Sources, how: Scoring, *, resampling: Resampling = RESAMPLING
) -> SystemOrders:
    """Correlate the systems' mean scores under the two sources, with intervals over queries.

    Systems that tie under a source keep the order of `runs` in tau_ap and overlap.
    """
    shared = both.shared
    judge, people = (score_runs(runs, side, how) for side in (shared.judge, shared.people))
    queries = judge.shape[1]
    by_judge, by_people = (side.mean(1) if queries else side.sum(1) for side in (judge, people))
    per_query = np.stack([judge.T, people.T], axis=1)
    orders = [
        [runs[at].name for at in np.argsort(-means, kind="stable")]
        for means in (by_judge, by_people)
    ]
    return SystemOrders(
        measure=how.measure,
        queries=queries,
        means={
            run.name: (float(j), float(p))
            for run, j, p in zip(runs, by_judge, by_people, strict=True)
        },
        correlations={
            name: with_interval(correlation, per_query, resampling)
            for name, correlation in CORRELATIONS.items()
        },
        overlap=rank_biased_overlap(*orders) if len(runs) > 1 and queries else None,
    )


CORRELATIONS: Mapping[str, Callable[[Sequence[float], Sequence[float]], Estimate]] = (
    MappingProxyType({"tau_b": kendall_tau_b, "tau_ap": tau_ap, "spearman": spearman})
)
"""Rank correlations by name; the first argument is the judge's order, the second people's."""


def with_interval(
    correlation: Callable[[Sequence[float], Sequence[float]], Estimate],
    per_query: Scores,
    resampling: Resampling,
    *,
    fewest: int = FEWEST_TOPICS,
) -> Estimate:
    """Return a correlation of means with its interval over queries, none over too few.

    per_query: (queries, 2, runs), the judge's scores and people's
    """
    queries = len(per_query)

    def of(sums: Scores) -> float:
        value = correlation(*sums.tolist()).value
        return float("nan") if value is None else value

    whole = per_query.sum(0)
    found = correlation(*(whole / max(queries, 1)).tolist())
    if found.value is None or queries < fewest:
        reason = found.reason or few_queries(queries, least=fewest)
        return Estimate(found.value, reason=reason)
    drawn = resample(per_query, draws=resampling.draws, seed=resampling.seed)
    interval = widest_interval(
        found.value,
        np.array([of(whole - one) for one in per_query]),
        np.array([of(sums) for sums in drawn.sums]),
    )
    if interval is None:
        return Estimate(found.value, reason="CI n/a: undefined without one of the queries")
    return Estimate(found.value, *interval)


def corrected_means(
    runs: Sequence[Run],
    both: Sources,
    how: Scoring,
    *,
    slices: Mapping[str, str] = MappingProxyType({}),
) -> Mapping[str, Correction]:
    """Return each run's mean as people would have it, by the queries that they graded wholly.

    slices: slice of each query, of which each counts as it was labelled

    The queries that the judge graded are the fixed set (`difference_estimator`). A query
    graded in part tells nothing here: its score needs the grade of every chunk of its pool.
    Its ideal is people's own: what they graded and the judge did not is in it.
    """
    whole = both.wholly_labelled
    judge = score_runs(runs, both.judge, how)
    people = score_runs(runs, {query: both.people[query] for query in whole}, how)
    column = {query: at for at, query in enumerate(whole)}
    strata = [slices.get(query) for query in both.judge]
    chances = [both.chances.get(query, 1.0) for query in both.judge]
    corrected = {}
    for at, run in enumerate(runs):
        by_people = [float(people[at, column[q]]) if q in column else None for q in both.judge]
        found = difference_estimator(judge[at].tolist(), by_people, strata=strata, chances=chances)
        corrected[run.name] = _with_bounded_labels(found, by_people, strata, chances)
    return corrected


def _with_bounded_labels(
    found: Correction,
    by_people: Sequence[float | None],
    strata: Sequence[str | None],
    chances: Sequence[float],
) -> Correction:
    """Return a correction whose mean of labels alone has the interval of values in [0, 1]."""
    alone, units = found.human_only.value, len(by_people)
    labelled = [at for at, value in enumerate(by_people) if value is not None]
    if alone is None or len(labelled) == units:
        return found
    design = realised_design(labelled, units=units, strata=strata, chances=chances)
    values = [value for value in by_people if value is not None]
    interval = plus_two([(value, value) for value in values], weights=design.weights)
    assert interval is not None, "a mean of labels alone has at least five of them"
    return replace(found, human_only=Estimate(alone, *interval))
