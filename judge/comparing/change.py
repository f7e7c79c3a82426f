"""What rows' differences of one measure come to: mean, bounds, tests, interval, verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Mean, mean
from judge.statistics.noninferiority import lower_bound, upper_bound
from judge.statistics.significance import (
    ALPHA,
    PairedTest,
    SignFlip,
    holm,
    paired_test,
    shares_of,
    sign_flip,
)
from judge.stopping.goals import mean_range


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
    test, flip: at the lowest completion of what is open
    ci: the 95% interval over queries that holds under every completion; None for one row
    p_holm: the t test's p adjusted for looking at every slice, where this is one
    """

    rows: int
    difference: Mean
    before: Mean
    after: Mean
    test: PairedTest
    flip: SignFlip
    ci: tuple[float, float] | None
    p_holm: float | None = None

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
    def verdict(self) -> Verdict:
        """Return the verdict on these rows and queries like them."""
        if self.ci is not None and self.ci[0] > 0.0:
            return Verdict.BETTER
        if self.ci is not None and self.ci[1] < 0.0:
            return Verdict.WORSE
        return Verdict.UNDECIDED if self.sign is None else Verdict.NO_DIFFERENCE


def change(
    differences: Sequence[Bounded], weights: Sequence[float], *, before: Mean, after: Mean
) -> Change:
    """Return what rows' differences come to: mean, bounds, tests, interval."""
    values = [row.value for row in differences]
    intervals = [(row.lo, row.hi) for row in differences]
    lo, hi = mean_range(differences, shares_of(len(weights), weights))
    average = mean(differences, weights)
    test = paired_test(values, weights=weights)
    ci = None
    if test.p is not None:
        low = lower_bound(intervals, weights=weights, alpha=ALPHA / 2).lo
        high = upper_bound(intervals, weights=weights, alpha=ALPHA / 2).hi
        # + 0.0: a zero has no sign.
        ci = (max(low, -1.0) + 0.0, min(high, 1.0) + 0.0)
    return Change(
        rows=len(differences),
        difference=Mean(min(max(average.value, lo), hi), lo, hi, len(differences)),
        before=before,
        after=after,
        test=test,
        flip=sign_flip(values, weights=weights),
        ci=ci,
    )


def adjusted(
    slices: Mapping[str, Mapping[Measure, Change]],
) -> dict[str, dict[Measure, Change]]:
    """Return the slices with Holm's p over all slices, a measure at a time."""
    found: dict[str, dict[Measure, Change]] = {name: dict(of) for name, of in slices.items()}
    for measure in dict.fromkeys(m for of in slices.values() for m in of):
        tested = [(n, of[measure].test.p) for n, of in slices.items() if measure in of]
        named = [(name, p) for name, p in tested if p is not None]
        for (name, _), p in zip(named, holm([p for _, p in named]), strict=True):
            found[name][measure] = replace(found[name][measure], p_holm=p)
    return found
