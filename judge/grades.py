"""Grades, evidence and judgments: what is known of one (query, chunk) pair.

A grade is an integer 0..G. What is *known* of it is an interval `[lo, hi]`: a
judgment starts as `[0, G]` and evidence only narrows it (`judge.evidence.intervals`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

GRADE_MAX = 3

WORD_OVERLAP = "word overlap, not a judgment"
"""The reason of every grade of the mock judge, wherever it is read again."""


class Source(StrEnum):
    """Where a piece of evidence comes from."""

    HUMAN = "human"
    GOLDEN = "golden"
    PRIOR = "prior"
    RULE = "rule"
    PREFERENCE = "preference"
    JUDGE = "judge"


PRECEDENCE: tuple[Source, ...] = (
    Source.HUMAN,
    Source.GOLDEN,
    Source.PRIOR,
    Source.RULE,
    Source.JUDGE,
)
"""Absolute sources, strongest first: which one stands when two contradict each other."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One source's statement that a grade lies in `[lo, hi]`; `detail` says why or where."""

    source: Source
    lo: int
    hi: int
    detail: str = ""

    def __post_init__(self) -> None:
        assert 0 <= self.lo <= self.hi, f"evidence must be an interval, not [{self.lo}, {self.hi}]"


@dataclass(frozen=True, slots=True)
class Judgment:
    """What is known of one (query, chunk): `[lo, hi]`, who says so, and why it is open.

    source: the source that narrowed it last in order of precedence; None when nothing did
    reason: why an open judgment is open ("no text", "refused", …), or the evidence's detail
    """

    lo: int
    hi: int
    source: Source | None = None
    reason: str = ""

    @property
    def grade(self) -> int | None:
        """Return the grade when only one is possible, else None."""
        return self.lo if self.lo == self.hi else None

    @property
    def is_open(self) -> bool:
        """Tell whether more than one grade is still possible."""
        return self.lo != self.hi


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements about one (query, chunk) that cannot both be true.

    stands: the evidence that was kept, by precedence
    against: the evidence that was set aside
    """

    query_id: str
    id: str
    stands: Evidence
    against: Evidence


def _linear(grade: float) -> float:
    return max(grade, 0.0)


def _exponential(grade: float) -> float:
    return math.pow(2.0, max(grade, 0.0)) - 1.0


GAINS: Mapping[str, Callable[[float], float]] = MappingProxyType(
    {"linear": _linear, "exponential": _exponential}
)
"""Gain of a grade: `linear` is the grade (trec_eval), `exponential` is 2^grade - 1.
A negative grade gains 0 under both, as in trec_eval."""
