"""Slices that have fallen to zero, and those that open chunks could make fall there.

A slice falls when the baseline scores above 0 in one of its rows and the candidate, in
every repeat, in none. Differences do not tell that: .2 less may be all there was or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool
from judge.scoring import Scale, failed_on, grade_pool, score_rows
from judge.stopping.outcome import members_of


@dataclass(frozen=True, slots=True)
class Zeros:
    """Which sides of a row score 0, in every completion of its open chunks or in some.

    had: the baseline is above 0 in every completion
    gone, can_go: the candidate's repeats are all 0, in every and in some completion
    can_fall: in some completion they are and the baseline is above 0
    """

    had: bool
    gone: bool
    can_go: bool
    can_fall: bool


def zeros(measure: Measure, pools: Sequence[QueryPool], *, scale: Scale) -> list[Zeros | None]:
    """Return the zeros of each row; None where the measure is not defined for it.

    Run 0 is the baseline, the others are repeats of the candidate.
    """
    if measure.family == "graded":
        return [None if p.query.is_answerless else _graded(measure, p, scale) for p in pools]
    runs = range(len(pools[0].query.rows) if pools else 0)
    scores = [score_rows(pools, [measure], run=run, scale=scale) for run in runs]
    return [
        _golden([score[measure] for score in row]) if measure in row[0] else None
        for row in zip(*scores, strict=True)
    ]


def _golden(scores: Sequence[Bounded]) -> Zeros:
    """Return the zeros of scores of which each is open by itself, if at all."""
    before, *after = scores
    can_go = all(score.lo <= 0.0 for score in after)
    return Zeros(
        had=before.lo > 0.0,
        gone=all(score.hi <= 0.0 for score in after),
        can_go=can_go,
        can_fall=can_go and before.hi > 0.0,
    )


def _graded(measure: Measure, pool: QueryPool, scale: Scale) -> Zeros:
    """Return the zeros of a row that scores 0 where no chunk down to the cutoff counts."""
    grades = grade_pool(pool, grade_max=scale.grade_max)
    least = measure.rel if measure.name == "P" else 1
    shown = [
        None if failed_on(pool, run) else _shown(measure, pool, run)
        for run in range(len(pool.rankings))
    ]
    before, ran = shown[0], [members for members in shown[1:] if members is not None]
    after = frozenset[int]().union(*ran)
    can_go = not any(grades.lo[m] >= least for m in after)
    highest = _highest_without(after, grades, least)
    return Zeros(
        had=before is not None and any(grades.lo[m] >= least for m in before),
        gone=len(ran) == len(shown) - 1 and not any(grades.hi[m] >= least for m in after),
        can_go=can_go,
        can_fall=can_go and (before is None or any(highest[m] >= least for m in before)),
    )


def _shown(measure: Measure, pool: QueryPool, run: int) -> frozenset[int]:
    return frozenset(m for m in pool.rankings[run][: measure.k] if m is not None)


def _highest_without(members: frozenset[int], grades: GradePool, least: int) -> list[int]:
    """Return the highest grades that are possible where no grade of `members` counts."""
    highest = [min(hi, least - 1) if m in members else hi for m, hi in enumerate(grades.hi)]
    changed = bool(grades.orders)
    while changed:
        changed = False
        for above, below in grades.orders:
            if highest[below] > highest[above]:
                highest[below], changed = highest[above], True
    return highest


def fallen(rows: Sequence[Zeros], slices: Sequence[str | None]) -> tuple[str, ...]:
    """Return the slices that have fallen to zero from above it in every completion."""
    return tuple(
        name
        for name, at in members_of(slices).items()
        if any(rows[i].had for i in at) and all(rows[i].gone for i in at)
    )


def may_fall(rows: Sequence[Zeros], slices: Sequence[str | None]) -> tuple[str, ...]:
    """Return the slices that fall in some completion and not in all.

    Exact, since the open chunks of different rows have nothing to do with each other.
    """
    certain = fallen(rows, slices)
    return tuple(
        name
        for name, at in members_of(slices).items()
        if name not in certain
        and all(rows[i].can_go for i in at)
        and any(rows[i].can_fall for i in at)
    )
