"""Measures of a ranking by pairs alone: ppref and wpref (Carterette & Bennett 2008).

For rows of which nothing is known but that some chunks were preferred to others. A pair is
ordered by a ranking at k if at least one of its chunks stands in the top k; a chunk that was
not returned stands below all that were.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping


def ppref(
    ranks: Mapping[str, int], preferences: Iterable[tuple[str, str]], *, k: int
) -> float | None:
    """Return the share of pairs ordered at k that are ordered rightly, in [0, 1].

    ranks: 1-based rank of each chunk returned; preferences: (winner, loser)
    None if no pair is ordered: that is no preference inside the top k, and not 0.

    >>> ppref({"a": 1, "b": 2}, [("b", "a"), ("b", "c")], k=1)
    0.0
    """
    return _share(_ordered(ranks, preferences, k=k, weight=lambda rank: 1.0))


def wpref(
    ranks: Mapping[str, int], preferences: Iterable[tuple[str, str]], *, k: int
) -> float | None:
    """Return ppref with each pair weighted by 1 / log2(r + 1), r its better rank; or None."""
    return _share(_ordered(ranks, preferences, k=k, weight=lambda rank: 1 / math.log2(rank + 1)))


def _ordered(
    ranks: Mapping[str, int],
    preferences: Iterable[tuple[str, str]],
    *,
    k: int,
    weight: Callable[[int], float],
) -> Iterator[tuple[float, bool]]:
    """Yield each ordered pair's weight and whether its winner stands higher."""
    for winner, loser in preferences:
        won, lost = ranks.get(winner, math.inf), ranks.get(loser, math.inf)
        best = min(won, lost)
        if best <= k:
            yield weight(int(best)), won < lost


def _share(ordered: Iterable[tuple[float, bool]]) -> float | None:
    total = right = 0.0
    for weight, is_right in ordered:
        total += weight
        right += weight * is_right
    return right / total if total else None
