"""The rows that a gate's rule looks at, of one measure over pools that change."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Scale, failed_on
from judge.stopping.falling import Zeros, zeros
from judge.stopping.ruling import GateRows


def difference_of(measure: Measure, *, runs: int, scale: Scale) -> Contrast:
    """Return the mean of the candidate's repeats minus the baseline, which is run 0 of `runs`."""
    repeats = runs - 1
    return Contrast(measure, (-1.0, *[1.0 / repeats] * repeats), scale)


class GateColumns:
    """The rows of one measure that a rule looks at, of which only changed ones are made anew."""

    def __init__(self, measure: Measure, *, runs: int, scale: Scale) -> None:
        self._measure = measure
        self._scale = scale
        self._difference = difference_of(measure, runs=runs, scale=scale)
        self._repeats = [_alone(self._difference, run) for run in range(1, runs)]
        self._excesses = [
            _excess(self._difference, first, second)
            for first, second in itertools.permutations(range(1, runs), 2)
        ]
        self._pools: list[QueryPool | None] = []
        self._rows: list[_Row | None] = []

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
            differences=[row.difference for _, row in having],
            zeros=[row.zeros for _, row in having],
            repeats=list(zip(*(row.repeats for _, row in having), strict=True)),
            excesses=list(zip(*(row.excesses for _, row in having), strict=True)),
        )

    def pinned(self, rows: GateRows, pools: Sequence[QueryPool], *, at_hi: bool) -> GateRows:
        """Return rows with what no judge can be asked about at its lower or its upper end.

        That is the whole of a row without a chunk to ask about, and a failed run's part of
        one. What is stuck at the upper end never shows for certain that a slice fell to zero.
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
            zeros=[
                replace(row, can_go=row.gone, can_fall=row.had and row.gone)
                if by and at_hi
                else row
                for row, by in zip(rows.zeros, stuck, strict=True)
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
        for i, row in zip(changed, self._made([pools[i] for i in changed]), strict=True):
            self._pools[i], self._rows[i] = pools[i], row

    def _made(self, pools: Sequence[QueryPool]) -> Iterator[_Row | None]:
        pairs = len(self._excesses)
        contrasts = (*self._excesses, *(self._repeats if pairs else ()))
        columns = [contrast.rows(pools) for contrast in contrasts]
        differences = self._difference.rows(pools)
        for at, (difference, found) in enumerate(
            zip(differences, zeros(self._measure, pools, scale=self._scale), strict=True)
        ):
            if difference is None or found is None:
                yield None
                continue
            own = [row for column in columns if (row := column[at]) is not None]
            yield _Row(difference, found, tuple(own[:pairs]), tuple(own[pairs:]))


def _narrowed(row: Bounded, by: float, *, at_hi: bool) -> Bounded:
    lo, hi = (row.lo + by, row.hi) if at_hi else (row.lo, row.hi - by)
    return Bounded(lo, lo, max(lo, hi), row.exact) if by else row


@dataclass(frozen=True, slots=True)
class _Row:
    difference: Bounded
    zeros: Zeros
    excesses: tuple[Bounded, ...]
    repeats: tuple[Bounded, ...]


def _alone(difference: Contrast, run: int) -> Contrast:
    runs = range(len(difference.coefficients))
    return replace(difference, coefficients=tuple(float(run == other) for other in runs))


def _excess(difference: Contrast, first: int, second: int) -> Contrast:
    """Return the drop less what one repeat has over another."""
    minus = [-coefficient for coefficient in difference.coefficients]
    minus[first] -= 1.0
    minus[second] += 1.0
    return replace(difference, coefficients=tuple(minus))
