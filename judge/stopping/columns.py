"""The rows that a gate's rule looks at, of one measure over pools that change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Scale, failed_on
from judge.stopping.ruling import GateRows


def difference_of(measure: Measure, *, runs: int, scale: Scale) -> Contrast:
    """Return the mean of the candidate's repeats minus the baseline, which is run 0 of `runs`."""
    repeats = runs - 1
    return Contrast(measure, (-1.0, *[1.0 / repeats] * repeats), scale)


class GateColumns:
    """The rows of one measure that a rule looks at, of which only changed ones are made anew."""

    def __init__(self, measure: Measure, *, runs: int, scale: Scale) -> None:
        self._difference = difference_of(measure, runs=runs, scale=scale)
        self._pools: list[QueryPool | None] = []
        self._rows: list[Bounded | None] = []

    def rows(self, pools: Sequence[QueryPool]) -> GateRows | None:
        """Return the rows that have the measure; None where none has."""
        self._refresh(pools)
        having = [(i, row) for i, row in enumerate(self._rows) if row is not None]
        if not having:
            return None
        queries = [pools[i].query for i, _ in having]
        return GateRows(
            at=[i for i, _ in having],
            slices=[query.slice for query in queries],
            weights=[query.weight for query in queries],
            differences=[row for _, row in having],
            identical=all(map(has_one_list, pools)),
        )

    def pinned(self, rows: GateRows, pools: Sequence[QueryPool], *, at_hi: bool) -> GateRows:
        """Return rows with what no judge can be asked about at its lower or its upper end.

        That is the whole of a row without a chunk to ask about, and a failed run's part of
        one.
        """
        stuck = [
            self._stuck(row, pools[at]) for row, at in zip(rows.differences, rows.at, strict=True)
        ]
        if not any(stuck):
            return rows
        return replace(
            rows,
            differences=[
                _narrowed(row, by, at_hi=at_hi)
                for row, by in zip(rows.differences, stuck, strict=True)
            ],
        )

    def _stuck(self, row: Bounded, pool: QueryPool) -> float:
        """Return how much of a row's width no asking narrows."""
        width = row.hi - row.lo
        if not any(pool.asks):
            return width
        weights = enumerate(self._difference.coefficients)
        return min(width, sum(abs(weight) for run, weight in weights if failed_on(pool, run)))

    def _refresh(self, pools: Sequence[QueryPool]) -> None:
        """Make the rows whose pools changed; a pool that did not is the same object."""
        if len(self._pools) != len(pools):
            self._pools, self._rows = [None] * len(pools), [None] * len(pools)
        changed = [i for i, pool in enumerate(pools) if pool is not self._pools[i]]
        found = self._difference.rows([pools[i] for i in changed])
        for i, row in zip(changed, found, strict=True):
            self._pools[i], self._rows[i] = pools[i], row


def has_one_list(pool: QueryPool) -> bool:
    """Tell whether every run shows the same ids in the same order for a query; none failed."""
    rows = pool.query.rows
    lists = {None if row is None else tuple(result.id for result in row.results) for row in rows}
    return len(lists) == 1 and not any(failed_on(pool, run) for run in range(len(rows)))


def _narrowed(row: Bounded, by: float, *, at_hi: bool) -> Bounded:
    lo, hi = (row.lo + by, row.hi) if at_hi else (row.lo, row.hi - by)
    return Bounded(lo, lo, max(lo, hi), row.exact) if by else row
