"""A contrast: one weighted sum of several runs' scores, row by row, over their common pool.

Candidate minus baseline is the contrast (-1, 1) of the runs (baseline, candidate); the
mean of two repeats against a baseline is (-1, 1/2, 1/2); one run alone is (1,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.measures import bounds
from judge.measures.bounds_ratio import Scale as RatioScale
from judge.measures.bounds_ratio import scale_of, without_rounding
from judge.measures.graded import whole_list
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool
from judge.scoring import Scale, failed_on, grade_pool, score_rows

_NOTHING = Bounded(0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Contrast:
    """Σ_r coefficients[r] · (measure of run r), and how grades become numbers."""

    measure: Measure
    coefficients: tuple[float, ...]
    scale: Scale

    @property
    def is_ndcg(self) -> bool:
        """Tell whether the bounds of a row are those of one ratio, so that none is lost."""
        return self.measure.name == "nDCG"

    def rows(self, pools: Sequence[QueryPool]) -> list[Bounded | None]:
        """Return the contrast of each query; None where the measure is not defined for it.

        nDCG and P are bounded as a whole: open chunks that all lists show alike cancel out.
        Of other measures each run is bounded alone, which is sound and wider, except that
        equal lists differ by nothing. A row that failed to run could have been anything.
        """
        if self.measure.name == "P":
            return [None if p.query.is_answerless else self._precision(p) for p in pools]
        if not self.is_ndcg:
            return self._by_run(pools)
        found: list[Bounded | None] = [None] * len(pools)
        for cutoff, at in self._by_cutoff(pools).items():
            bounded = bounds.ndcg_contrast_rows(
                [[_shown(pools[i], run) for run in range(len(self.coefficients))] for i in at],
                [self.grades(pools[i]) for i in at],
                coefficients=self.coefficients,
                k=cutoff,
                gain=self.scale.gain,
            )
            for i, row in zip(at, bounded, strict=True):
                found[i] = self._with_failures(row, pools[i])
        return found

    def given(self, pool: QueryPool, grades: Sequence[GradePool]) -> list[Bounded]:
        """Return the contrast of one query as it would be with each of these grades; nDCG only."""
        shown = [_shown(pool, run) for run in range(len(self.coefficients))]
        rows = bounds.ndcg_contrast_rows(
            [shown] * len(grades),
            grades,
            coefficients=self.coefficients,
            k=self.cutoff(pool),
            gain=self.scale.gain,
        )
        return [self._with_failures(row, pool) for row in rows]

    def weights(self, pool: QueryPool) -> list[float]:
        """Return what each pool member's gain counts for in this row; nDCG only."""
        return bounds.contrast_weights(
            [_shown(pool, run) for run in range(len(self.coefficients))],
            self.grades(pool),
            coefficients=self.coefficients,
            k=self.cutoff(pool),
            gain=self.scale.gain,
        )

    def grades(self, pool: QueryPool) -> GradePool:
        """Return the pool's intervals as measures take them."""
        return grade_pool(pool, grade_max=self.scale.grade_max)

    def ratio_scale(self, pool: QueryPool) -> RatioScale:
        """Return the discounts and gains of nDCG for this row."""
        return scale_of(self.cutoff(pool), self.scale.gain, self.scale.grade_max)

    def cutoff(self, pool: QueryPool) -> int:
        """Return k, or for the whole list a k that cuts nothing off."""
        if self.measure.k is not None:
            return self.measure.k
        return max(whole_list(ranking, self.grades(pool)) for ranking in pool.rankings)

    def _by_cutoff(self, pools: Sequence[QueryPool]) -> dict[int, list[int]]:
        groups: dict[int, list[int]] = {}
        for at, pool in enumerate(pools):
            if not pool.query.is_answerless:
                groups.setdefault(self.cutoff(pool), []).append(at)
        return groups

    def _precision(self, pool: QueryPool) -> Bounded:
        """Return the contrast of P, a sum over chunks: each counts alone, at its own ends."""
        assert self.measure.k is not None, "P has a cutoff"
        grades, rel = self.grades(pool), self.measure.rel
        weights = [0.0] * len(grades.lo)
        for run, coefficient in enumerate(self.coefficients):
            for member in _shown(pool, run)[: self.measure.k]:
                if member is not None:
                    weights[member] += coefficient / self.measure.k
        value, low, high = 0.0, 0.0, 0.0
        for weight, lo, hi in zip(weights, grades.lo, grades.hi, strict=True):
            ends = weight * (lo >= rel), weight * (hi >= rel)
            value, low, high = value + ends[0], low + min(ends), high + max(ends)
        is_exact = low == high or not grades.orders
        return self._with_failures(_bounded(value, low, high, exact=is_exact), pool)

    def _with_failures(self, row: Bounded, pool: QueryPool) -> Bounded:
        failed = [
            coefficient for run, coefficient in enumerate(self.coefficients) if failed_on(pool, run)
        ]
        if not failed:
            return row
        lo = row.lo + sum(min(c, 0.0) for c in failed)
        hi = row.hi + sum(max(c, 0.0) for c in failed)
        return Bounded(row.value, lo, hi, row.exact)

    def _by_run(self, pools: Sequence[QueryPool]) -> list[Bounded | None]:
        by_run = [
            [
                scores.get(self.measure)
                for scores in score_rows(pools, [self.measure], run=run, scale=self.scale)
            ]
            for run in range(len(self.coefficients))
        ]
        return [
            self._sum(pool, scores)
            for pool, scores in zip(pools, zip(*by_run, strict=True), strict=True)
        ]

    def _sum(self, pool: QueryPool, scores: tuple[Bounded | None, ...]) -> Bounded | None:
        parts = [(c, score) for c, score in zip(self.coefficients, scores, strict=True) if score]
        if not parts:
            return None
        lists = {pool.rankings[run][: self.measure.k] for run in range(len(self.coefficients))}
        failed = any(failed_on(pool, run) for run in range(len(self.coefficients)))
        if len(lists) == 1 and abs(sum(self.coefficients)) < 1e-12 and not failed:
            return _NOTHING
        return _bounded(
            sum(c * score.value for c, score in parts),
            sum(c * (score.lo if c > 0 else score.hi) for c, score in parts),
            sum(c * (score.hi if c > 0 else score.lo) for c, score in parts),
            exact=not any(score.is_open for _, score in parts),
        )


def _shown(pool: QueryPool, run: int) -> tuple[int | None, ...]:
    return () if failed_on(pool, run) else pool.rankings[run]


def _bounded(value: float, lo: float, hi: float, *, exact: bool) -> Bounded:
    """Return a sum of parts; that three thirds do not add up to 1 is no difference."""
    return Bounded(without_rounding(value), without_rounding(lo), without_rounding(hi), exact)
