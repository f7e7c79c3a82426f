"""Pass, fail or undecided: a gate's outcome, and when it is the same whatever is open.

Overall a measure passes when the one-sided 95% lower bound of its mean difference exceeds
-margin wherever in their intervals the open rows lie, and fails when the upper bound is
below -margin everywhere. "Not significantly worse" is not asked: a small noisy set would
always pass that. A slice fails when it is below -margin at 95% after Holm over the
slices; its noise never makes the gate undecided, open chunks that could make it fail do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.pool import Bounded
from judge.statistics.noninferiority import BoundRange, lower_bound, upper_bound
from judge.statistics.significance import ALPHA, shares_of
from judge.stopping.goals import HEDGE, Aim, Standing, mean_range

MARGIN = 0.01


class Outcome(StrEnum):
    """What a gate says."""

    PASS = "pass"  # noqa: S105
    FAIL = "fail"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Rule:
    """How much worse is still good enough.

    margin: a mean may truly be this much lower
    strict: gate on the plain values instead, as a fixed golden set wants: any drop fails
    """

    margin: float = MARGIN
    strict: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """The outcome of one measure, what failed, and whether judging could still change it.

    failed: slices that failed; open_slices: those that open chunks could make fail
    overall: the outcome of the mean over all rows
    """

    overall: Outcome
    overall_is_open: bool
    failed: tuple[str, ...] = ()
    open_slices: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Return fail over undecided over pass."""
        if self.overall is Outcome.FAIL or self.failed:
            return Outcome.FAIL
        if self.overall is Outcome.UNDECIDED or self.open_slices:
            return Outcome.UNDECIDED
        return Outcome.PASS

    @property
    def is_open(self) -> bool:
        """Tell whether some completion of the open chunks has another outcome."""
        if self.overall is Outcome.FAIL or self.failed:
            return False
        return self.overall_is_open or bool(self.open_slices)


def decide(
    rows: Sequence[Bounded],
    weights: Sequence[float],
    slices: Sequence[str | None],
    *,
    rule: Rule,
) -> Decision:
    """Return the decision on rows of differences, candidate minus baseline."""
    if rule.strict:
        return _decide_strictly(rows, weights, slices)
    overall, is_open = _overall(rows, weights, rule.margin)
    members = members_of(slices)
    ranges = {name: [rows[i] for i in at] for name, at in members.items()}
    shares = {name: [weights[i] for i in at] for name, at in members.items()}
    failed = _holm_failures(ranges, shares, rule.margin, certain=True)
    possible = _holm_failures(ranges, shares, rule.margin, certain=False)
    return Decision(overall, is_open, tuple(failed), tuple(n for n in possible if n not in failed))


def _overall(
    rows: Sequence[Bounded], weights: Sequence[float], margin: float
) -> tuple[Outcome, bool]:
    if all(abs(row.lo) <= TOLERANCE and abs(row.hi) <= TOLERANCE for row in rows):
        return Outcome.PASS, False
    lower, upper = _bounds(rows, weights, ALPHA)
    if lower.lo > -margin:
        return Outcome.PASS, False
    if upper.hi < -margin:
        return Outcome.FAIL, False
    return Outcome.UNDECIDED, lower.hi > -margin or upper.lo < -margin


def _bounds(
    rows: Sequence[Bounded], weights: Sequence[float], alpha: float
) -> tuple[BoundRange, BoundRange]:
    intervals = [(row.lo, row.hi) for row in rows]
    return (
        lower_bound(intervals, weights=weights, alpha=alpha),
        upper_bound(intervals, weights=weights, alpha=alpha),
    )


def members_of(slices: Sequence[str | None]) -> dict[str, list[int]]:
    """Return the positions of the rows of each slice."""
    members: dict[str, list[int]] = {}
    for i, name in enumerate(slices):
        if name is not None:
            members.setdefault(name, []).append(i)
    return members


def _holm_failures(
    rows: Mapping[str, Sequence[Bounded]],
    weights: Mapping[str, Sequence[float]],
    margin: float,
    *,
    certain: bool,
) -> list[str]:
    """Return the slices that are below -margin after Holm, in every or in some completion.

    Step down: while some slice's upper bound at level alpha / (slices left) is below
    -margin, it fails and is left out.
    """
    left, failed = list(rows), []
    while left:
        alpha = ALPHA / len(left)
        below = [name for name in left if _below(rows[name], weights[name], alpha, margin, certain)]
        if not below:
            break
        failed += below
        left = [name for name in left if name not in below]
    return failed


def _below(
    rows: Sequence[Bounded],
    weights: Sequence[float],
    alpha: float,
    margin: float,
    certain: bool,
) -> bool:
    if len(rows) < 2:
        return False
    upper = upper_bound([(row.lo, row.hi) for row in rows], weights=weights, alpha=alpha)
    return (upper.hi if certain else upper.lo) < -margin


def may_fall(
    differences: Sequence[Bounded],
    before: Sequence[Bounded],
    after: Sequence[Bounded],
    slices: Sequence[str | None],
) -> tuple[str, ...]:
    """Return the slices that open chunks could make fall to zero from above it.

    Rows are of one measure: candidate minus baseline, and each side alone.
    """
    found = []
    for name, at in members_of(slices).items():
        stays = any(after[i].lo > TOLERANCE for i in at)
        drops = any(differences[i].lo < -TOLERANCE for i in at)
        gone = any(before[i].lo > TOLERANCE for i in at) and all(
            after[i].hi <= TOLERANCE for i in at
        )
        if drops and not stays and not gone:
            found.append(name)
    return tuple(found)


def _decide_strictly(
    rows: Sequence[Bounded], weights: Sequence[float], slices: Sequence[str | None]
) -> Decision:
    lo, hi = mean_range(rows, shares_of(len(rows), weights))
    overall = Outcome.PASS if lo >= 0.0 else Outcome.FAIL if hi < 0.0 else Outcome.UNDECIDED
    failed, open_slices = [], []
    for name, at in members_of(slices).items():
        shares = shares_of(len(at), [weights[i] for i in at])
        lo, hi = mean_range([rows[i] for i in at], shares)
        if hi < 0.0:
            failed.append(name)
        elif lo < 0.0:
            open_slices.append(name)
    return Decision(overall, overall is Outcome.UNDECIDED, tuple(failed), tuple(open_slices))


@dataclass(frozen=True, slots=True)
class SameOutcome:
    """The goal of a gate: the outcome is the same under every completion."""

    rule: Rule

    def aim(self, standing: Standing) -> Aim | None:
        """Push towards the outcome that the guesses give, first overall, then in slices."""
        rows, shares = standing.rows, standing.shares
        decision = decide(rows, shares, standing.slices, rule=self.rule)
        if not decision.is_open:
            return None
        guesses = [Bounded(value, value, value) for value in standing.expected]
        guessed = decide(guesses, shares, standing.slices, rule=self.rule)
        if decision.overall_is_open:
            return replace(_PUSHES[guessed.overall], rows=None)
        at = [i for i, name in enumerate(standing.slices) if name in decision.open_slices]
        fails = any(name in guessed.failed for name in decision.open_slices)
        push = _PUSHES[Outcome.FAIL if fails else Outcome.PASS]
        return replace(push, rows=frozenset(at))


_PUSHES = {
    Outcome.PASS: Aim(raise_lo=1.0, lower_hi=HEDGE),
    Outcome.FAIL: Aim(raise_lo=HEDGE, lower_hi=1.0),
    Outcome.UNDECIDED: Aim(raise_lo=1.0, lower_hi=1.0),
}
