"""Selectors: which open chunk the judge is asked about next, and when to stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from judge.evidence.pool import QueryPool
from judge.evidence.queries import Query

Ask: TypeAlias = tuple[int, str]
"""Position of a query among the pools, and the id of the chunk to judge."""


class Selector(Protocol):
    """Chooses asks from the pools as they stand; an empty answer ends the judging."""

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return asks, best first; `limit` is what keeps the judge's concurrency full."""
        ...


class SelectAll:
    """Ask about every open chunk of every row that is not settled.

    favour: how much searchers liked each chunk of a query, by id; the most liked is asked
        about first, so that a budget that ends early ends late in each list
    """

    def __init__(
        self,
        are_settled: Callable[[Sequence[QueryPool]], Sequence[bool]],
        favour: Callable[[Query], Mapping[str, float]] | None = None,
    ) -> None:
        self._are_settled = are_settled
        self._favour = favour

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return all that is left, in the order of the rows; `limit` is not needed."""
        asking = [at for at, pool in enumerate(pools) if any(pool.asks)]
        settled = self._are_settled([pools[at] for at in asking])
        return [
            (at, chunk)
            for at, done in zip(asking, settled, strict=True)
            if not done
            for chunk in self._ordered(pools[at])
        ]

    def _ordered(self, pool: QueryPool) -> list[str]:
        chunks = [chunk for asks in pool.asks for chunk in asks]
        if self._favour is None:
            return chunks
        favour = self._favour(pool.query)
        return sorted(chunks, key=lambda chunk: -favour.get(chunk, 0.0))
