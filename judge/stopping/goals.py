"""Goals: when the bounds of the rows answer the question, and which end is in the way.

A goal looks at [lo, hi] of every row and either is content or says what would help:
raising the lower ends, lowering the upper ends, or both, and by how much in all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.pool import Bounded

HEDGE = 0.15
"""What the end that is not in the way counts for: some insurance against a wrong guess
of the sign. Measured on the TREC DL 2019 pairs (scripts/bench_calls_saved.py): 0, .15,
.3 and .6 took 61, 60, 61 and 63% of the calls."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What would help: how much a raised lower end and a lowered upper end are worth.

    short: by how much, in the mean, the ends have to move in all; inf where unknown
    rows: positions of the rows that matter; None for all
    """

    raise_lo: float
    lower_hi: float
    short: float = math.inf
    rows: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """How a question stands: the rows that have the measure, with shares and guesses.

    at: position of each row among the pools; slices: of each row, None without one
    shares: of each row in the mean, adding up to 1; expected: a guess of each row's value
    """

    at: tuple[int, ...]
    slices: tuple[str | None, ...]
    rows: tuple[Bounded, ...]
    shares: tuple[float, ...]
    expected: tuple[float, ...]


class Goal(Protocol):
    """Something to find out about the weighted mean of bounded rows."""

    def aim(self, standing: Standing) -> Aim | None:
        """Return what would help, or None when nothing needs to be asked any more."""
        ...


def mean_range(rows: Sequence[Bounded], shares: Sequence[float]) -> tuple[float, float]:
    """Return [lo, hi] of the mean; what is within rounding of 0 is 0."""
    lo = math.fsum(share * row.lo for share, row in zip(shares, rows, strict=True))
    hi = math.fsum(share * row.hi for share, row in zip(shares, rows, strict=True))
    return (0.0 if abs(lo) <= TOLERANCE else lo), (0.0 if abs(hi) <= TOLERANCE else hi)


@dataclass(frozen=True, slots=True)
class Sign:
    """Know the sign of the mean: lo >= 0, hi <= 0, or one point."""

    def aim(self, standing: Standing) -> Aim | None:
        """Push the end that the expected sign leaves in the way."""
        lo, hi = mean_range(standing.rows, standing.shares)
        if lo >= 0.0 or hi <= 0.0 or hi - lo <= TOLERANCE:
            return None
        guess = math.fsum(s * v for s, v in zip(standing.shares, standing.expected, strict=True))
        if guess > 0.0 or (guess == 0.0 and lo + hi >= 0.0):
            return Aim(raise_lo=1.0, lower_hi=HEDGE, short=-lo)
        return Aim(raise_lo=HEDGE, lower_hi=1.0, short=hi)


@dataclass(frozen=True, slots=True)
class Width:
    """Know the mean to within `width`."""

    width: float

    def aim(self, standing: Standing) -> Aim | None:
        """Narrow from both ends alike."""
        lo, hi = mean_range(standing.rows, standing.shares)
        if hi - lo <= self.width + TOLERANCE:
            return None
        return Aim(raise_lo=1.0, lower_hi=1.0, short=hi - lo - self.width)
