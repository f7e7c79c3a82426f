"""Where the pool of a run ends: how deep it goes, how high, and when its bounds are quick."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import accumulate

from judge.errors import UsageError
from judge.grades import GRADE_MAX
from judge.measures.names import Measure

# With fewer ways than this to grade the open chunks, their bounds take no time one notices.
_CHEAP_COMPLETIONS = 50_000
_TOP = 1000  # 2^1024 is no double, and the bounds take time and memory by the grade


def quick_to_bound(unjudged: Iterable[int], top: int) -> bool:
    """Tell whether the intervals of queries with so many open documents take no time to find."""
    ways = (math.comb(count + top, top) for count in unjudged)
    return all(total <= _CHEAP_COMPLETIONS for total in accumulate(ways))


def pool_depth(measures: Iterable[Measure]) -> int | None:
    """Return how deep unjudged results belong to the pool: the deepest cutoff asked for.

    None is the whole list: for nDCG without a cutoff, and where no measure has one.

    >>> pool_depth([Measure("nDCG", 10), Measure("RR")])
    10
    """
    cutoffs = [m.k for m in measures if m.k is not None]
    whole = not cutoffs or Measure("nDCG") in measures
    return None if whole else max(cutoffs)


def scale_top(
    highest_grades: Iterable[int], *, grade_max: int | None, gain: str, intervals: bool
) -> int:
    """Return the top of the scale: as asked, else 3 or the highest grade above it.

    Raises UsageError where the qrels go beyond the scale, or beyond what can be worked out.
    """
    highest = max(highest_grades, default=0)
    if grade_max is not None and highest > grade_max:
        raise UsageError(f"the qrels hold grade {highest}, above --grade-max {grade_max}")
    if highest > _TOP and (intervals or gain == "exponential"):
        raise UsageError(
            f"the qrels hold grade {highest}: exponential gain and intervals need a scale of "
            f"at most 0..{_TOP}"
        )
    return max(highest, GRADE_MAX) if grade_max is None else grade_max
