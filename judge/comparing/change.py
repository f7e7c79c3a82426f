"""What may be said of rows' differences: the one place that decides it, all else words it.

*On these rows* a mean is ahead, behind or equal: arithmetic. *Better* and *worse* speak of
other queries too, and only the sign-flip test over the rows (`statistics.signs`) allows
them, at .05 in every completion of what is open. One measure over all rows decides a
comparison and is tested as it is. Every slice and every other measure is a look besides:
Holm over all of these looks, and none is called better or worse while the deciding measure
shows no difference, so that two systems that do not differ are told apart in at most one of
twenty comparisons, wherever one looks.

The interval of a difference is Student's t, an approximation; it decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from judge.measures.bounds_ratio import TOLERANCE, without_rounding
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Mean
from judge.statistics.noninferiority import lower_bound, upper_bound
from judge.statistics.significance import detectable, effect_size, moments
from judge.statistics.signs import ALPHA, FEWEST_DIFFERENCES, SignFlip, holm, sign_flip_in_every
from judge.statistics.weights import weighted_mean

Slices = Mapping[str, Mapping[Measure, "Change"]]


class Verdict(StrEnum):
    """What a comparison comes to."""

    BETTER = "better"
    WORSE = "worse"
    NO_DIFFERENCE = "no difference shown"
    UNDECIDED = "undecided"
    DID_NOT_RUN = "did not run"


@dataclass(frozen=True, slots=True)
class Change:
    """A weighted mean difference, candidate minus baseline, of one measure over some rows.

    difference: the mean with its bounds over open grades
    before, after: the two runs' means, with theirs
    flip: the sign-flip test, with the largest p that any completion has
    interval: 95% by Student's t, in every completion; None where `t_interval` gives none
    effect_size, detectable: with the lowest grades still possible; None without an interval
    verdict: only `claimed` says better or worse
    p_holm: of an exploratory look, its p adjusted for all `looks` of them; None of the
        difference that decides
    """

    rows: int
    difference: Mean
    before: Mean
    after: Mean
    flip: SignFlip
    interval: tuple[float, float] | None
    effect_size: float | None = None
    detectable: float | None = None
    verdict: Verdict = Verdict.NO_DIFFERENCE
    p_holm: float | None = None
    looks: int = 0

    @property
    def sign(self) -> int | None:
        """Return the sign of the difference on these rows: 1, -1, 0, or None while open.

        1 where it cannot be negative ("at least as good" where lo is 0), -1 the other way.
        """
        lo, hi = self.difference.lo, self.difference.hi
        if lo == hi == 0.0:
            return 0
        if lo >= 0.0:
            return 1
        return -1 if hi <= 0.0 else None

    @property
    def is_exploratory(self) -> bool:
        """Tell whether this is one look of many, not the difference that decides."""
        return self.p_holm is not None

    @property
    def stands_out(self) -> bool:
        """Tell whether the test reaches .05, after Holm if it is one look of many.

        Without `claimed`, that is no claim yet.
        """
        return (self.flip.p if self.p_holm is None else self.p_holm) <= ALPHA


def change(
    differences: Sequence[Bounded], weights: Sequence[float], *, before: Mean, after: Mean
) -> Change:
    """Return what rows' differences come to, without a claim."""
    values = [row.value for row in differences]
    lo, hi = (
        without_rounding(weighted_mean([getattr(row, end) for row in differences], weights))
        for end in ("lo", "hi")
    )
    value = min(max(weighted_mean(values, weights), lo), hi)
    interval = t_interval(differences, weights)
    found = None if interval is None else moments(values, weights=weights)
    come_to = Change(
        rows=len(differences),
        difference=Mean(value, lo, hi, len(differences)),
        before=before,
        after=after,
        flip=sign_flip_in_every([(row.lo, row.hi) for row in differences], weights=weights),
        interval=interval,
        effect_size=None if found is None else effect_size(found),
        detectable=None if found is None or found.se is None else detectable(found.se),
    )
    return replace(come_to, verdict=Verdict.UNDECIDED) if come_to.sign is None else come_to


def t_interval(
    differences: Sequence[Bounded], weights: Sequence[float]
) -> tuple[float, float] | None:
    """Return the 95% interval of a mean difference by Student's t, in every completion.

    None where fewer than six rows differ, where all differ by the same, in every completion
    or in some, or where one row has nearly all the weight: there t promises what it cannot.
    """
    differing = sum(row.lo > TOLERANCE or row.hi < -TOLERANCE for row in differences)
    apart = max(row.lo for row in differences) - min(row.hi for row in differences)
    if differing < FEWEST_DIFFERENCES or apart <= TOLERANCE:
        return None
    intervals = [(row.lo, row.hi) for row in differences]
    low = lower_bound(intervals, weights=weights, alpha=ALPHA / 2).lo
    high = upper_bound(intervals, weights=weights, alpha=ALPHA / 2).hi
    if not math.isfinite(high - low):
        return None
    # + 0.0: a zero has no sign.
    return max(low, -1.0) + 0.0, min(high, 1.0) + 0.0


def claimed(
    overall: Mapping[Measure, Change], slices: Slices
) -> tuple[dict[Measure, Change], dict[str, dict[Measure, Change]]]:
    """Return the changes with what may be claimed of each; the first of `overall` decides."""
    found = dict(overall)
    in_slices = {name: dict(of) for name, of in slices.items()}
    if not found:
        return found, in_slices
    first, *others = found
    deciding = found[first] = _claim(found[first], allowed=True)
    places = [(found, measure) for measure in others]
    places += [(of, measure) for of in in_slices.values() for measure in of]
    adjusted = holm([of[measure].flip.p for of, measure in places])
    is_shown = deciding.verdict in (Verdict.BETTER, Verdict.WORSE)
    for (of, measure), p in zip(places, adjusted, strict=True):
        look = replace(of[measure], p_holm=p, looks=len(places))
        of[measure] = _claim(look, allowed=is_shown)
    return found, in_slices


def _claim(change: Change, *, allowed: bool) -> Change:
    if not (allowed and change.stands_out and change.sign):
        return change
    return replace(change, verdict=Verdict.BETTER if change.sign > 0 else Verdict.WORSE)
