"""Readers that look at ranks and not at what stands there: their votes say nothing.

One that always opens the third result decides every pair of it against the two above.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.readlog.chi_square import chi_square_tail

FEWEST_READS = 10
"""Reads of a source, of different queries, below which its habits cannot be told."""

SAME_POSITION = 0.90
_READS_A_POSITION = 5  # expected, below which chi-square is no test
_CHANCE = 0.001  # of calling a source that reads evenly one that does not


@dataclass(frozen=True, slots=True)
class RankReader:
    """A source whose reads depend on rank alone, and how that shows."""

    name: str
    why: str


class ReadPositions:
    """Where each source read, over the whole log."""

    def __init__(self) -> None:
        self._sources = array("Q")
        self._queries = array("Q")
        self._positions = array("H")
        self._lengths = array("H")
        self._names: dict[int, str] = {}

    def add(
        self, source: int, name: str, query: int, positions: Sequence[int], *, length: int
    ) -> None:
        """Take the reads of one list; length: of one in random order, else 0."""
        self._names.setdefault(source, name)
        for position in positions:
            self._sources.append(source)
            self._queries.append(query)
            self._positions.append(position)
            self._lengths.append(length)

    def rank_readers(self) -> Mapping[int, RankReader]:
        """Return the sources that read by rank alone."""
        if not self._sources:
            return {}
        columns = (self._sources, self._queries, self._positions, self._lengths)
        # Whoever asks the same again reads the same again: that is no habit of ranks.
        reads = np.unique(np.column_stack([np.array(c, np.uint64) for c in columns]), axis=0)
        starts = np.flatnonzero(np.diff(reads[:, 0], prepend=reads[0, 0] + np.uint64(1)))
        found = {}
        for part in np.split(reads, starts[1:]):
            source = int(part[0, 0])
            why = by_rank_alone(part[:, 2].astype(np.uint16), part[:, 3].astype(np.uint16))
            if why is not None:
                found[source] = RankReader(self._names[source], why)
        return found


def by_rank_alone(positions: NDArray[np.uint16], lengths: NDArray[np.uint16]) -> str | None:
    """Return why reads look like those of somebody who only counts ranks; None if they do not.

    lengths: of the list of each read where it stood in random order, else 0. Over shuffled
    lists whoever reads for content reads every position alike often.
    """
    if len(positions) < FEWEST_READS:
        return None
    counts = np.bincount(positions)
    share = counts.max() / len(positions)
    if share >= SAME_POSITION:
        return f"{share:.0%} of its {len(positions):,} reads at position {counts.argmax() + 1}"
    shuffled = lengths > 0
    if shuffled.any() and _is_uneven(positions[shuffled], lengths[shuffled]):
        n = int(shuffled.sum())
        return f"its {n:,} reads of shuffled lists lean to some positions"
    return None


def _is_uneven(positions: NDArray[np.uint16], lengths: NDArray[np.uint16]) -> bool:
    longest = int(lengths.max())
    # A read of a list of n falls on each of its first n positions alike often.
    expected = np.zeros(longest)
    for length, n in zip(*np.unique(lengths, return_counts=True), strict=True):
        expected[:length] += n / length
    if expected.min() < _READS_A_POSITION:
        return False
    seen = np.bincount(positions, minlength=longest)[:longest]
    statistic = ((seen - expected) ** 2 / expected).sum()
    return bool(longest > 1 and chi_square_tail(float(statistic), df=longest - 1) < _CHANCE)


def reads_of(
    lists: Iterable[tuple[str, Sequence[int], int]],
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Return positions and lengths as `by_rank_alone` takes them, each query's reads once.

    lists: of (query, positions read, length of a list in random order, else 0)
    """
    reads = sorted({(query, at, n) for query, positions, n in lists for at in positions})
    return (
        np.array([at for _, at, _ in reads], np.uint16),
        np.array([n for _, _, n in reads], np.uint16),
    )
