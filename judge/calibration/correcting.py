"""Correct a judge's mean, or its difference of two runs, with the rows that people graded.

A row helps when people graded every chunk of its pool that only the judge had graded: then its
score under people's grades is known, and so is what the judge got wrong there. Rows must have
been drawn; how many of a slice were labelled, not what was planned, says what each stands for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from judge.calibration.labelled import CHOSEN, UNKNOWN, drawn_labels
from judge.calibration.relabelling import (
    LabelsByQuery,
    labels_by_query,
    labels_of,
    needs_label,
    relabelled,
)
from judge.evidence.pool import QueryPool
from judge.formats.labels import Label
from judge.measures.pool import Bounded
from judge.statistics.correction import Correction, difference_estimator, prediction_powered
from judge.statistics.estimate import Estimate
from judge.statistics.weights import shares_of

RowScores: TypeAlias = Callable[[Sequence[QueryPool]], Sequence[Bounded | None]]
"""A score of each row, or a difference of two runs; None where it is not defined."""

NOTHING_TO_CORRECT = "no row rests on a judge's grades"

# Standard errors that the judge's figures of labelled rows may lie from those of all rows; chance
# goes as far once in a thousand draws.
_FARTHEST = 3.29


@dataclass(frozen=True, slots=True)
class _Row:
    """One row's score, times its weight, under both sources.

    people: None where people did not grade all that it takes
    chance: planned, of its labels; 1 where nobody says
    settled: no judge's grade is in it, so there is nothing to correct
    """

    judge: float
    people: float | None
    chance: float
    slice: str | None
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
    sample: the queries are a random sample of traffic, not a fixed set of their own

    Rows that need no label keep their score. Rows that somebody chose by looking, or that look
    chosen, correct nothing, and too few give a reason instead of a number.
    """
    drawn = drawn_labels(labels)
    rows = _rows(score_rows, pools, labels_by_query(label for label, _ in drawn.labels))
    open_rows = [row for row in rows if not row.settled]
    if not open_rows:
        # Nobody labelled these rows: what settles them is no agreement of people with a judge.
        found = difference_estimator([row.judge for row in rows], [None] * len(rows))
        return replace(found, estimate=Estimate(None, reason=NOTHING_TO_CORRECT))
    found = _corrected(open_rows, sample=sample)
    if not found.labelled and drawn.chosen:
        found = replace(found, estimate=Estimate(None, reason=CHOSEN))
    if not drawn.is_known and 0 < found.labelled < found.units:
        found = _doubted(found, open_rows)
    return _with_settled(found, [row.judge for row in rows if row.settled])


def _corrected(rows: Sequence[_Row], *, sample: bool) -> Correction:
    by_judge, by_people = [row.judge for row in rows], [row.people for row in rows]
    found = difference_estimator(
        by_judge,
        by_people,
        strata=[row.slice for row in rows],
        chances=[row.chance for row in rows],
        of_traffic=sample,
    )
    # One random sample of all rows can also weigh the judge by how well it knows them.
    simple = sample and found.method == "difference"
    return prediction_powered(by_judge, by_people) if simple else found


def _doubted(found: Correction, rows: Sequence[_Row]) -> Correction:
    """Return a correction by rows of which nobody says that they were drawn, with that doubt.

    Rows whose figures by the judge lie where a draw hardly ever lands were picked by them.
    """
    everything = np.array([row.judge for row in rows])
    n, units = found.labelled, found.units
    error = math.sqrt((1 - n / units) / n) * float(everything.std(ddof=1))
    labelled = float(np.mean([row.judge for row in rows if row.people is not None]))
    gap = labelled - float(everything.mean())
    if error > 0.0 and abs(gap) > _FARTHEST * error:
        reason = (
            f"the labelled rows look chosen, not drawn: by the judge they average {labelled:+.3f},"
            f" all rows {float(everything.mean()):+.3f}"
        )
        return replace(found, estimate=Estimate(None, reason=reason), se=None)
    return replace(found, notes=(*found.notes, UNKNOWN))


def _rows(score_rows: RowScores, pools: Sequence[QueryPool], by_query: LabelsByQuery) -> list[_Row]:
    given = [labels_of(pool, by_query) for pool in pools]
    new = [relabelled(pool, labels) for pool, labels in zip(pools, given, strict=True)]
    judge = score_rows(pools)
    people = score_rows([other or pool for other, pool in zip(new, pools, strict=True)])
    scored = [(at, score) for at, score in enumerate(judge) if score is not None]
    shares = shares_of(len(scored), [pools[at].query.weight for at, _ in scored])
    return [
        _Row(
            judge=score.value * share * len(scored),
            people=None
            if new[at] is None or (by_people := people[at]) is None
            else by_people.value * share * len(scored),
            chance=min(
                (label.pi or 1.0 for labels in given[at].values() for label in labels), default=1.0
            ),
            slice=pools[at].query.slice,
            settled=not any(map(needs_label, pools[at].judgments)),
        )
        for (at, score), share in zip(scored, shares, strict=True)
    ]


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
