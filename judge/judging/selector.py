"""Selectors: which open chunk the judge is asked about next, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

from judge.evidence.pool import QueryPool

Ask: TypeAlias = tuple[int, str]
"""Position of a query among the pools, and the id of the chunk to judge."""


class Selector(Protocol):
    """Chooses asks from the pools as they stand; an empty answer ends the judging."""

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return asks, best first; `limit` is what keeps the judge's concurrency full."""
        ...


class SelectAll:
    """Ask about every open chunk of every row that is not settled."""

    def __init__(self, are_settled: Callable[[Sequence[QueryPool]], Sequence[bool]]) -> None:
        self._are_settled = are_settled

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return all that is left, in the order of the rows; `limit` is not needed."""
        asking = [at for at, pool in enumerate(pools) if any(pool.asks)]
        settled = self._are_settled([pools[at] for at in asking])
        return [
            (at, chunk)
            for at, done in zip(asking, settled, strict=True)
            if not done
            for asks in pools[at].asks
            for chunk in asks
        ]
