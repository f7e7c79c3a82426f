"""Several judges of one pair: the median grade, and what a missing vote leaves open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from judge.judging.exchange import Verdict

Number = TypeVar("Number", int, float)


def lower_median(grades: Sequence[int]) -> int:
    """Return the median of grades, the lower of the two middle ones for an even number.

    >>> lower_median([3, 0, 2]), lower_median([1, 2])
    (2, 1)
    """
    return sorted(grades)[(len(grades) - 1) // 2]


def combine(votes: Sequence[Verdict], *, grade_max: int) -> Verdict:
    """Return the panel's verdict for one pair, with the votes in it; a single vote as it is.

    A missing vote could have been anything: the interval goes from the median with it at 0 to
    the median with it at G. Two 2s and a failure are 2 whatever the third would have said.
    """
    if len(votes) == 1:
        return votes[0]
    lo = lower_median([vote.lo for vote in votes])
    hi = lower_median([vote.hi for vote in votes])
    missing = [vote for vote in votes if vote.grade is None]
    grades = sorted({vote.grade for vote in votes if vote.grade is not None})
    reasons = "; ".join(f"{vote.model}: {vote.reason}" for vote in missing)
    flags = dict.fromkeys(flag for vote in votes for flag in vote.flags)
    if len(grades) > 1:
        flags["the panel disagrees"] = None
    unsettled = "refused" if all(vote.status == "refused" for vote in votes) else "failed"
    return Verdict(
        query_id=votes[0].query_id,
        id=votes[0].id,
        status="graded" if lo == hi else unsettled,
        grade=lo if lo == hi else None,
        lo=lo,
        hi=hi,
        reason=f"{len(missing)} of {len(votes)} votes missing ({reasons})" if missing else "",
        model=", ".join(vote.model for vote in votes),
        prompt=votes[0].prompt,
        cached=all(vote.cached for vote in votes),
        attempts=sum(vote.attempts for vote in votes),
        prompt_tokens=_total(vote.prompt_tokens for vote in votes),
        completion_tokens=_total(vote.completion_tokens for vote in votes),
        cost_usd=_total(vote.cost_usd for vote in votes),
        flags=tuple(flags),
        votes=tuple(votes),
    )


def _total(parts: Iterable[Number | None]) -> Number | None:
    """Return the sum, or None if any part is unknown."""
    known = list(parts)
    return None if None in known else sum(part for part in known if part is not None)
