"""The selector of a gate that also makes sure that no slice has fallen to zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.judging.selector import Ask, Selector
from judge.measures.pool import Bounded
from judge.stopping.outcome import Outcome, Rule, decide, may_fall


class NoneFallen:
    """Ask as another selector does; when it stops, ask in slices that could be at zero.

    difference: the mean of the candidate's runs minus the baseline, which is run 0. The
    other selector sees differences only, which do not tell what is left of a slice.
    """

    def __init__(self, first: Selector, difference: Contrast, rule: Rule) -> None:
        self._first = first
        self._difference = difference
        self._rule = rule

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return up to `limit` asks; nothing when the outcome is certain."""
        asks = self._first.next(pools, limit=limit)
        if asks:
            return asks
        falling = self._falling(pools)
        return [
            (at, chunk)
            for at, pool in enumerate(pools)
            if pool.query.slice in falling
            for chunks in pool.asks
            for chunk in chunks
        ][:limit]

    def _falling(self, pools: Sequence[QueryPool]) -> tuple[str | None, ...]:
        ours = self._difference.coefficients
        sides = ((-ours[0], *(0.0 for _ in ours[1:])), (0.0, *ours[1:]))
        contrasts = (self._difference, *(replace(self._difference, coefficients=c) for c in sides))
        columns = [contrast.rows(pools) for contrast in contrasts]
        having = [pool for pool, row in zip(pools, columns[0], strict=True) if row is not None]
        rows, before, after = (_present(column) for column in columns)
        slices = [pool.query.slice for pool in having]
        weights = [pool.query.weight for pool in having]
        if not rows or decide(rows, weights, slices, rule=self._rule).outcome is Outcome.FAIL:
            return ()
        return may_fall(rows, before, after, slices)


def _present(rows: Sequence[Bounded | None]) -> list[Bounded]:
    return [row for row in rows if row is not None]
