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
from judge.measures.bounds_ratio import scale_of
from judge.measures.graded import whole_list
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool
from judge.scoring import Scale, grade_pool, score_rows

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

        nDCG is bounded as a whole: open chunks that both lists show alike cancel out. Of
        other measures each run is bounded alone, which is sound and wider, except that
        equal lists differ by nothing. A row that failed to run could have been anything.
        """
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

    def _with_failures(self, row: Bounded, pool: QueryPool) -> Bounded:
        failed = [
            coefficient for run, coefficient in enumerate(self.coefficients) if _failed(pool, run)
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
        failed = any(_failed(pool, run) for run in range(len(self.coefficients)))
        if len(lists) == 1 and abs(sum(self.coefficients)) < 1e-12 and not failed:
            return _NOTHING
        return Bounded(
            value=sum(c * score.value for c, score in parts),
            lo=sum(c * (score.lo if c > 0 else score.hi) for c, score in parts),
            hi=sum(c * (score.hi if c > 0 else score.lo) for c, score in parts),
            exact=not any(score.is_open for _, score in parts),
        )


def _failed(pool: QueryPool, run: int) -> bool:
    row = pool.query.rows[run]
    return row is not None and row.error is not None


def _shown(pool: QueryPool, run: int) -> tuple[int | None, ...]:
    return () if _failed(pool, run) else pool.rankings[run]
