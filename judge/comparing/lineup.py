"""More than two runs: their means over one pool, and whether two judgment sources agree.

No verdict is given: with many runs some pair always looks different. What can be told is
how each stands, and whether another source of grades would order the runs alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from judge.calibration.rescoring import Grades, Scoring, Sources, SystemOrders, system_orders
from judge.cascade import Grading
from judge.contrast import Contrast
from judge.measures.names import Measure
from judge.run import KnownGrade
from judge.scoring import Mean, Scale, confidence, mean


@dataclass(frozen=True, slots=True)
class Standing:
    """One run's mean of one measure, with its bounds and its 95% interval over queries."""

    run: str
    mean: Mean
    ci: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Lineup:
    """Several runs over one pool.

    standings: by measure, in the order of the runs
    orders: how alike another source orders them, by the first graded measure; None without one
    """

    grading: Grading
    standings: Mapping[Measure, tuple[Standing, ...]]
    orders: SystemOrders | None = None

    @property
    def exit_code(self) -> int:
        """Return 0 when all means are known, 3 when grades are open, 4 when judging broke off."""
        if self.grading.stopped is not None:
            return 4
        found = [standing for of in self.standings.values() for standing in of]
        is_open = any(standing.mean.is_open for standing in found)
        return 3 if is_open or self.grading.did_not_run or not found else 0


def build_lineup(grading: Grading, *, against: Iterable[KnownGrade] = ()) -> Lineup:
    """Line up the runs of a grading; `against` is the second source of grades."""
    scale = Scale(grading.settings.gain, grading.settings.grade_max)
    second = _grades(against)
    graded = [measure for measure in grading.settings.measures if measure.family == "graded"]
    orders = None
    if second and graded:
        scoring = Scoring(graded[0], scale.gain, scale.grade_max)
        orders = system_orders(grading.runs, Sources(_pool_grades(grading), second), scoring)
    standings = {
        measure: found
        for measure in grading.settings.measures
        if (found := tuple(_standings(grading, measure, scale)))
    }
    return Lineup(grading, standings, orders)


def _standings(grading: Grading, measure: Measure, scale: Scale) -> Iterable[Standing]:
    for at, run in enumerate(grading.runs):
        alone = tuple(float(at == other) for other in range(len(grading.runs)))
        rows = Contrast(measure, alone, scale).rows(grading.pools)
        having = [
            (row, pool.query.weight)
            for row, pool in zip(rows, grading.pools, strict=True)
            if row is not None
        ]
        if having:
            scores, weights = [row for row, _ in having], [weight for _, weight in having]
            yield Standing(run.name, mean(scores, weights), confidence(scores, weights))


def _pool_grades(grading: Grading) -> Grades:
    return {
        pool.query.key: {
            id: judgment.lo
            for id, judgment in zip(pool.ids, pool.judgments, strict=True)
            if not judgment.is_open
        }
        for pool in grading.pools
    }


def _grades(known: Iterable[KnownGrade]) -> Grades:
    found: dict[str, dict[str, int]] = {}
    for grade in known:
        if grade.lo == grade.hi:
            found.setdefault(grade.query_id or grade.query or "", {})[grade.id] = grade.lo
    return found
