"""A contrast: one weighted sum of several runs' scores, row by row, over their common pool.

Candidate minus baseline is the contrast (-1, 1) of the runs (baseline, candidate); the
mean of two repeats against a baseline is (-1, 1/2, 1/2); one run alone is (1,).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.measures import bounds, graded
from judge.measures.bounds_ratio import Scale as RatioScale
from judge.measures.bounds_ratio import scale_of, without_rounding
from judge.measures.graded import whole_list
from judge.measures.names import Measure
from judge.measures.pool import Bounded, GradePool, Ranking
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

        Graded measures are bounded as a whole: open chunks that all lists show alike cancel out.
        Others have nothing open but rows that failed to run, which could have been anything.
        """
        if self.measure.name in ("P", "ERR"):
            return [None if p.query.is_answerless else self._affine(p) for p in pools]
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

    def _affine(self, pool: QueryPool) -> Bounded:
        """Return the contrast of P or ERR, which are affine in what each chunk is worth."""
        grades, k = self.grades(pool), self.measure.k
        shown = [_shown(pool, run) for run in range(len(self.coefficients))]
        if len({ranking[:k] for ranking in shown}) == 1 and _cancel(self.coefficients):
            return self._with_failures(_NOTHING, pool)
        if grades.lo == grades.hi:
            return self._with_failures(self._known(shown, grades), pool)
        # Only open rows of these measures need numpy.
        from judge.measures.bounds_affine import err_contrast, precision_contrast

        if self.measure.name == "ERR":
            row = err_contrast(shown, grades, coefficients=self.coefficients, k=k)
        else:
            assert k is not None, "P has a cutoff"
            rel, coefficients = self.measure.rel, self.coefficients
            row = precision_contrast(shown, grades, coefficients=coefficients, k=k, rel=rel)
        return self._with_failures(row, pool)

    def _known(self, shown: Sequence[Ranking], grades: GradePool) -> Bounded:
        values = (graded.evaluate(self.measure, ranking, grades).value for ranking in shown)
        value = sum(c * v for c, v in zip(self.coefficients, values, strict=True))
        value = without_rounding(value)
        return Bounded(value, value, value)

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
        return [self._sum(scores) for scores in zip(*by_run, strict=True)]

    def _sum(self, scores: tuple[Bounded | None, ...]) -> Bounded | None:
        parts = [(c, score) for c, score in zip(self.coefficients, scores, strict=True) if score]
        if not parts:
            return None
        # What is open here is a run that failed, and runs fail independently: the ends are reached.
        value = sum(c * score.value for c, score in parts)
        lo = sum(c * (score.lo if c > 0 else score.hi) for c, score in parts)
        hi = sum(c * (score.hi if c > 0 else score.lo) for c, score in parts)
        value, lo, hi = map(without_rounding, (value, lo, hi))
        return Bounded(value, lo, hi)


def _shown(pool: QueryPool, run: int) -> tuple[int | None, ...]:
    return () if failed_on(pool, run) else pool.rankings[run]


def _cancel(coefficients: Sequence[float]) -> bool:
    return abs(sum(coefficients)) < 1e-12
