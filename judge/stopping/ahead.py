"""What asking about each open chunk would help: rows bounded ahead, one measure at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.judging.selector import Ask
from judge.measures.bounds_free import Floats
from judge.measures.bounds_lookahead import lookahead
from judge.measures.bounds_ratio import TOLERANCE, Scale
from judge.measures.pool import Bounded, GradePool
from judge.statistics.weights import shares_of
from judge.stopping.expectation import GradeModel
from judge.stopping.goals import Aim, Standing

BATCH_PART = 4
BATCHES = 40
"""A batch is a quarter of what the judge would take at once, which still fills its
concurrency, or a fortieth of all that is open: fresher choices. On the TREC DL 2019 pairs
61 instead of 65% of the calls (scripts/bench_calls_saved.py)."""


@dataclass(frozen=True, slots=True)
class OpenRow:
    """One row whose contrast is open, and what each grade of each chunk would make of it.

    members: the open pool members, in the order of the first axis of `after`
    after: (lo, hi) per open member and grade, as `bounds_lookahead.lookahead`
    """

    bounded: Bounded
    grades: GradePool
    members: tuple[int, ...]
    scale: Scale
    weights: Floats
    after: Floats

    @property
    def width(self) -> float:
        """Return how far the open grades can move the row."""
        return self.bounded.hi - self.bounded.lo


class LookAhead:
    """Choose the chunks with the largest expected help towards an aim; nDCG only.

    For every open chunk and grade the row's new bounds are computed, weighed with the
    chance of that grade. A batch ends where the expected help covers what is missing, so
    that little is asked in vain.
    """

    def __init__(self, contrast: Contrast) -> None:
        self._contrast = contrast
        self._pools: list[QueryPool | None] = []
        self._rows: list[Bounded | None] = []
        self._open: dict[int, OpenRow] = {}
        self._model = GradeModel(
            runs=len(contrast.coefficients), grade_max=contrast.scale.grade_max
        )
        self._chances: dict[int, Floats] = {}

    @property
    def open_rows(self) -> Mapping[int, OpenRow]:
        """Return the rows, by position, in which asking could still change something."""
        return self._open

    def expected_gains(self, i: int) -> list[float]:
        """Return the expected gain of each open member of a row, as `standing` left them."""
        gains: list[float] = (self._chances[i] @ np.array(self._open[i].scale.gains)).tolist()
        return gains

    def asks(
        self, pools: Sequence[QueryPool], standing: Standing, aim: Aim, *, limit: int
    ) -> list[Ask]:
        """Return up to `limit` asks, best first; nothing where none could help.

        standing: that of these pools
        """
        helps = sorted(
            (-help / len(asks), i, asks)
            for place, (i, share) in enumerate(zip(standing.at, standing.shares, strict=True))
            if i in self._open and (aim.rows is None or place in aim.rows)
            for help, asks in self._helps(i, pools[i], aim, share)
        )
        size = max(1, limit // BATCH_PART, len(helps) // BATCHES)
        return list(_enough(helps, short=aim.short, limit=min(limit, size)))

    def standing(self, pools: Sequence[QueryPool]) -> Standing:
        """Return how the question stands with the pools as they are."""
        self._refresh(pools)
        by_place = self._model.by_place()
        self._chances = {
            i: self._model.chances(i, row.grades, by_place) for i, row in self._open.items()
        }
        rows = [(i, row) for i, row in enumerate(self._rows) if row is not None]
        weights = [pools[i].query.weight for i, _ in rows]
        return Standing(
            at=tuple(i for i, _ in rows),
            slices=tuple(pools[i].query.slice for i, _ in rows),
            rows=tuple(row for _, row in rows),
            shares=tuple(shares_of(len(rows), weights) if rows else ()),
            expected=tuple(self._expected(i, row) for i, row in rows),
        )

    def _refresh(self, pools: Sequence[QueryPool]) -> None:
        """Bound the rows whose pools changed; a pool that did not is the same object."""
        if len(self._pools) != len(pools):
            self._pools, self._rows = [None] * len(pools), [None] * len(pools)
        changed = [i for i, pool in enumerate(pools) if pool is not self._pools[i]]
        for i, row in zip(changed, self._contrast.rows([pools[i] for i in changed]), strict=True):
            self._pools[i], self._rows[i] = pools[i], row
            grades = self._contrast.grades(pools[i])
            self._model.learn(i, pools[i], grades)
            self._open.pop(i, None)
            if row is not None and row.hi - row.lo > TOLERANCE and any(pools[i].asks):
                self._open[i] = self._look_ahead(pools[i], grades, row)

    def _look_ahead(self, pool: QueryPool, grades: GradePool, row: Bounded) -> OpenRow:
        weights = self._contrast.weights(pool)
        scale = self._contrast.ratio_scale(pool)
        return OpenRow(
            bounded=row,
            grades=grades,
            members=tuple(m for m in range(len(grades.lo)) if grades.lo[m] < grades.hi[m]),
            scale=scale,
            weights=np.array(weights),
            after=lookahead(weights, grades, scale),
        )

    def _expected(self, i: int, bounded: Bounded) -> float:
        """Return the row's contrast at the expected gains of its open members."""
        row = self._open.get(i)
        if row is None:
            return (bounded.lo + bounded.hi) / 2.0
        gains = np.array(row.scale.gains)
        per_member = gains[np.array(row.grades.lo)]
        per_member[list(row.members)] = self._chances[i] @ gains
        best = np.sort(per_member)[::-1][: row.scale.k]
        ideal = float(best @ np.array(row.scale.discounts[: len(best)]))
        value = float(row.weights @ per_member) / ideal if ideal > 0.0 else 0.0
        return min(max(value, bounded.lo), bounded.hi)

    def _helps(
        self, i: int, pool: QueryPool, aim: Aim, share: float
    ) -> Iterator[tuple[float, tuple[str, ...]]]:
        """Yield the expected help of each unit that can be asked about, and its asks."""
        row = self._open[i]
        raised = row.after[:, :, 0] - row.bounded.lo
        lowered = row.bounded.hi - row.after[:, :, 1]
        gained = aim.raise_lo * raised + aim.lower_hi * lowered
        helps = (self._chances[i] * gained).sum(axis=1) * share
        for member, help in zip(row.members, helps.tolist(), strict=True):
            if pool.asks[member]:
                yield max(help, 0.0), pool.asks[member]


def _enough(
    helps: Sequence[tuple[float, int, tuple[str, ...]]], *, short: float, limit: int
) -> Iterator[Ask]:
    asked, covered = 0, 0.0
    for minus_help, i, chunks in helps:
        if asked and (asked + len(chunks) > limit or covered >= short):
            return
        for chunk in chunks:
            yield i, chunk
        asked += len(chunks)
        covered -= minus_help * len(chunks)
