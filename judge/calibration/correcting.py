"""Correct a judge's mean, or its difference of two runs, with the rows that people graded.

A row helps when people graded every chunk of its pool that only the judge had graded: then its
score under people's grades is known, and so is what the judge got wrong there. Rows must have
been drawn; their labels say with what probability (`pi`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from judge.evidence.pool import QueryPool
from judge.formats.labels import Label
from judge.grades import Judgment, Source
from judge.measures.pool import Bounded
from judge.statistics.correction import (
    Correction,
    difference_estimator,
    inverse_probability,
    prediction_powered,
)
from judge.statistics.estimate import Estimate

RowScores: TypeAlias = Callable[[Sequence[QueryPool]], Sequence[Bounded | None]]
"""A score of each row, or a difference of two runs; None where it is not defined."""

CHOSEN = "the labels were chosen by looking, not drawn: they correct nothing"


@dataclass(frozen=True, slots=True)
class _Row:
    """One row's score, times its weight, under both sources.

    people: None where people did not grade all that it takes; pi: 0 where it was chosen
    settled: no judge's grade is in it, so there is nothing to correct
    """

    judge: float
    people: float | None
    pi: float | None
    settled: bool


def correct(
    score_rows: RowScores,
    pools: Sequence[QueryPool],
    labels: Iterable[Label],
    *,
    sample: bool = False,
) -> Correction:
    """Return the weighted mean of `score_rows` corrected by the rows that people graded wholly.

    pools: as the judge left them, without the labels in them
    sample: the queries are a random sample of traffic (PPI++), not a fixed set of their own

    Rows that need no label keep their score. Rows drawn with unequal probabilities are weighted
    by them. Rows that somebody chose by looking correct nothing, and too few give a reason
    instead of a number.
    """
    rows = _rows(score_rows, pools, tuple(labels))
    open_rows = [row for row in rows if not row.settled]
    if not open_rows:
        return difference_estimator([row.judge for row in rows], [row.judge for row in rows])
    drawn = [row for row in open_rows if row.people is not None and row.pi != 0.0]
    by_judge = [row.judge for row in open_rows]
    by_people = [None if row.pi == 0.0 else row.people for row in open_rows]
    if len({row.pi for row in drawn}) > 1:
        found = inverse_probability(by_judge, by_people, [row.pi or 1.0 for row in open_rows])
    else:
        found = (prediction_powered if sample else difference_estimator)(by_judge, by_people)
    if not drawn and any(row.people is not None for row in open_rows):
        return replace(found, estimate=Estimate(None, reason=CHOSEN))
    return _with_settled(found, [row.judge for row in rows if row.settled])


def _rows(
    score_rows: RowScores, pools: Sequence[QueryPool], labels: tuple[Label, ...]
) -> list[_Row]:
    by_query = _by_query(labels)
    any_drawn = any(label.pi is not None for label in labels)
    relabelled = [_relabelled(pool, by_query) for pool in pools]
    judge = score_rows(pools)
    people = score_rows([new or old for new, old in zip(relabelled, pools, strict=True)])
    mean_weight = _mean_weight(pools, judge)
    return [
        _Row(
            judge=by_judge.value * pool.query.weight / mean_weight,
            people=None
            if new is None or by_people is None
            else by_people.value * pool.query.weight / mean_weight,
            pi=_row_pi(pool, by_query, any_drawn=any_drawn),
            settled=not any(map(_needs_label, pool.judgments)),
        )
        for pool, new, by_judge, by_people in zip(pools, relabelled, judge, people, strict=True)
        if by_judge is not None
    ]


def _mean_weight(pools: Sequence[QueryPool], scores: Sequence[Bounded | None]) -> float:
    weights = [p.query.weight for p, s in zip(pools, scores, strict=True) if s is not None]
    return sum(weights) / len(weights) if weights else 1.0


def _with_settled(found: Correction, settled: Sequence[float]) -> Correction:
    """Return the mean over all rows: those that were corrected, and those that had no need."""
    units = found.units + len(settled)
    share, rest = found.units / units, sum(settled) / units

    def moved(estimate: Estimate) -> Estimate:
        value, lo, hi = (
            None if x is None else share * x + rest
            for x in (estimate.value, estimate.lo, estimate.hi)
        )
        return Estimate(value, lo, hi, estimate.reason)

    return replace(
        found,
        estimate=moved(found.estimate),
        se=None if found.se is None else share * found.se,
        judge_mean=share * found.judge_mean + rest,
        human_only=moved(found.human_only),
    )


def _by_query(labels: Sequence[Label]) -> Mapping[str, Mapping[str, list[Label]]]:
    found: dict[str, dict[str, list[Label]]] = {}
    for label in labels:
        found.setdefault(label.query_id, {}).setdefault(label.id, []).append(label)
    return found


def _labels_of(
    pool: QueryPool, by_query: Mapping[str, Mapping[str, list[Label]]]
) -> Mapping[str, list[Label]]:
    """Return the labels of a pool's query by chunk; a label names it by id, key or text."""
    names = (pool.query.query_id, pool.query.key, pool.query.text)
    return next((by_query[name] for name in names if name is not None and name in by_query), {})


def _needs_label(judgment: Judgment) -> bool:
    return judgment.is_open or judgment.source is Source.JUDGE


def _relabelled(
    pool: QueryPool, by_query: Mapping[str, Mapping[str, list[Label]]]
) -> QueryPool | None:
    """Return the pool under people's grades, or None where they left out a chunk of it.

    Raters who disagree count by their lower median.
    """
    given = _labels_of(pool, by_query)
    judgments = []
    for id, judgment in zip(pool.ids, pool.judgments, strict=True):
        if id in given:
            grades = sorted(label.grade for label in given[id])
            grade = grades[(len(grades) - 1) // 2]
            judgment = Judgment(grade, grade, Source.HUMAN)
        elif _needs_label(judgment):
            return None
        judgments.append(judgment)
    # People outrank an order from logs; one that they contradict would narrow their grades.
    return replace(pool, judgments=tuple(judgments), orders=())


def _row_pi(
    pool: QueryPool, by_query: Mapping[str, Mapping[str, list[Label]]], *, any_drawn: bool
) -> float | None:
    """Return the chance of the row's labels: the least of its chunks'; 0 if one was chosen."""
    given = _labels_of(pool, by_query)
    if not any_drawn:
        return None
    pis = [
        label.pi or 0.0
        for id, judgment in zip(pool.ids, pool.judgments, strict=True)
        if _needs_label(judgment)
        for label in given.get(id, ())
    ]
    return min(pis, default=0.0)
