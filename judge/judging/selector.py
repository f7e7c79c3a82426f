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

    def __init__(self, is_settled: Callable[[QueryPool], bool]) -> None:
        self._is_settled = is_settled

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return all that is left, in the order of the rows; `limit` is not needed."""
        return [
            (position, chunk)
            for position, pool in enumerate(pools)
            if any(pool.asks) and not self._is_settled(pool)
            for asks in pool.asks
            for chunk in asks
        ]
