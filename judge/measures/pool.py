"""The input of every graded measure: a pool of grade intervals and a ranking over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from judge.grades import GRADE_MAX

Ranking: TypeAlias = tuple[int | None, ...]
"""Pool index at each rank, best first; None where a slot gains nothing (a repeat, a
chunk outside the pool) but keeps its place."""


@dataclass(frozen=True, slots=True)
class GradePool:
    """Intervals of the grades of one query's pool, and the orders known among them.

    lo, hi: per member, 0 <= lo <= hi <= grade_max; already consistent with `orders`
    orders: (a, b) means grade(a) >= grade(b); acyclic
    """

    lo: tuple[int, ...]
    hi: tuple[int, ...]
    orders: tuple[tuple[int, int], ...] = ()
    grade_max: int = GRADE_MAX

    def __post_init__(self) -> None:
        assert len(self.lo) == len(self.hi), "a pool has one lo and one hi a member"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A measure's value and the interval that the open grades leave, `lo <= value <= hi`.

    value: with every open grade as low as its interval and the orders allow together
    exact: lo and hi are both reached by some completion; False: sound, maybe wider
    """

    value: float
    lo: float
    hi: float
    exact: bool = True

    @property
    def is_open(self) -> bool:
        """Tell whether the open grades could still move the value."""
        return self.lo < self.hi
