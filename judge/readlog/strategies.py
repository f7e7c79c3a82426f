"""What one list and its reads say: which chunk beat which, by the rules of the literature.

Positions count from 0. `read` are positions, first read first. Accuracies are those that
statistics.md quotes from Joachims et al. (2005, 2007) against judges who saw the pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

Pairs: TypeAlias = Iterator[tuple[int, int]]


def skip_above(read: Sequence[int], n: int) -> Pairs:
    """Yield (read, skipped) for every unread chunk above a read one (80.8% ± 3.6).

    Only what stands above a read is known to have been looked at.

    >>> sorted(skip_above([2], 5))
    [(2, 0), (2, 1)]
    """
    known = set(read)
    for winner in read:
        for loser in range(winner):
            if loser not in known:
                yield winner, loser


def last_skip_above(read: Sequence[int], n: int) -> Pairs:
    """Yield what the last read alone says against the unread above it (83.1% ± 3.8)."""
    known = set(read)
    for loser in range(read[-1]):
        if loser not in known:
            yield read[-1], loser


def skip_previous(read: Sequence[int], n: int) -> Pairs:
    """Yield (read, the unread one right above it) (82.3% ± 7.3)."""
    known = set(read)
    for winner in read:
        if winner and winner - 1 not in known:
            yield winner, winner - 1


def no_click_next(read: Sequence[int], n: int) -> Pairs:
    """Yield (read, the unread one right below it): weak, it repeats the order shown."""
    known = set(read)
    for winner in read:
        if winner + 1 < n and winner + 1 not in known:
            yield winner, winner + 1


def cited_over_uncited(cited: Sequence[int], n: int) -> Pairs:
    """Yield (cited, uncited) in both directions: a model was given the whole list.

    >>> sorted(cited_over_uncited([1], 3))
    [(1, 0), (1, 2)]
    """
    known = set(cited)
    for winner in cited:
        for loser in range(n):
            if loser not in known:
                yield winner, loser


def opposed(read: Sequence[int], n: int) -> Pairs:
    """Yield (read, the unread ones below it): a loss for those, never a win for the read one.

    Reads of one fixed list can only ever favour what stands lower; counting every time the
    upper one was read and the lower was not makes the lower one overcome that.
    """
    known = set(read)
    for winner in read:
        for loser in range(winner + 1, n):
            if loser not in known:
                yield winner, loser


@dataclass(frozen=True, slots=True)
class Strategy:
    """A rule for lists that people read from; `weak` ones are labelled wherever they count."""

    pairs: Callable[[Sequence[int], int], Pairs]
    weak: bool = False


STRATEGIES: Mapping[str, Strategy] = MappingProxyType(
    {
        "skip-above": Strategy(skip_above),
        "last-skip-above": Strategy(last_skip_above),
        "skip-previous": Strategy(skip_previous),
        "no-click-next": Strategy(no_click_next, weak=True),
    }
)
