"""Evidence only narrows: from statements about one grade to one judgment.

Every judgment starts as `[0, G]`. Absolute sources are applied strongest first, so the
result never depends on the order in which they arrived. A weaker source that contradicts
what already stands is set aside as a contradiction; it never widens or moves the interval.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from operator import attrgetter

from judge.grades import PRECEDENCE, Evidence, Judgment


@dataclass(frozen=True, slots=True)
class Narrowed:
    """A judgment and the (stands, against) pairs of evidence that could not both be true."""

    judgment: Judgment
    contradictions: tuple[tuple[Evidence, Evidence], ...] = ()


def narrow(evidence: Iterable[Evidence], *, grade_max: int) -> Narrowed:
    """Return what absolute evidence leaves of `[0, grade_max]`.

    Statements of one source that agree are intersected; where they do not (two raters,
    two files) they leave the span between the two furthest apart and a contradiction.
    Evidence above the scale is a bug of the reader, not of the user.

    >>> from judge.grades import Source
    >>> narrow([Evidence(Source.JUDGE, 1, 1), Evidence(Source.GOLDEN, 3, 3)], grade_max=3).judgment
    Judgment(lo=3, hi=3, source=<Source.GOLDEN: 'golden'>, reason='')
    """
    ordered = tuple(evidence)
    if len(ordered) > 1:
        ordered = tuple(sorted(ordered, key=_rank))
    return _narrow(ordered, grade_max)


def _rank(item: Evidence) -> tuple[int, int, int, str]:
    return PRECEDENCE.index(item.source), item.lo, item.hi, item.detail


# Few distinct statements occur in a run of a million slots; equal ones share one object.
@lru_cache(maxsize=8192)
def _narrow(ordered: tuple[Evidence, ...], grade_max: int) -> Narrowed:
    lo, hi = 0, grade_max
    last: Evidence | None = None
    accepted: list[Evidence] = []
    contradictions: list[tuple[Evidence, Evidence]] = []
    for _, group in groupby(ordered, key=attrgetter("source")):
        kept = []
        for item in group:
            assert item.hi <= grade_max, f"{item} is above the scale"
            if item.lo <= hi and item.hi >= lo:
                kept.append(item)
            else:
                contradictions.append((_opponent(accepted, item), item))
        if not kept:
            continue
        low, high = max(item.lo for item in kept), min(item.hi for item in kept)
        if low > high:
            least = min(kept, key=attrgetter("hi"))
            contradictions += [(least, item) for item in kept if item.lo > least.hi]
            low, high = high, low
        low, high = max(lo, low), min(hi, high)
        if (low, high) != (lo, hi):
            lo, hi, last = low, high, kept[0]
        accepted += kept
    judgment = Judgment(lo, hi, last.source if last else None, last.detail if last else "")
    return Narrowed(judgment, tuple(contradictions))


def _opponent(accepted: list[Evidence], against: Evidence) -> Evidence:
    """Return the strongest accepted evidence that `against` contradicts.

    Where only several together leave no room for it, that is the last of them.
    """
    apart = (item for item in accepted if item.hi < against.lo or against.hi < item.lo)
    return next(apart, accepted[-1])
