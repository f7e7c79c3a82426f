"""Pass, fail or undecided: a gate's outcome, and when it is the same whatever is open.

Overall a measure passes when the one-sided 95% lower bound of its mean difference exceeds
-margin wherever in their intervals the open rows lie, and fails when the upper bound is
below -margin everywhere. "Not significantly worse" is not asked: a small noisy set would
always pass that. A slice fails when it is below -margin at 95% after Holm over the
slices; its noise never makes the gate undecided, open chunks that could make it fail do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from judge.errors import UsageError
from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.pool import Bounded
from judge.statistics.noninferiority import BoundRange, lower_bound, upper_bound
from judge.statistics.significance import ALPHA, shares_of
from judge.stopping.goals import mean_range

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

    def __post_init__(self) -> None:
        if not 0.0 <= self.margin <= 1.0:
            raise UsageError(f"the margin is {self.margin}; it lies in 0..1, such as {MARGIN}")


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rule says of one measure's differences, and what judging could still change.

    possible: the outcomes of the mean over all rows that some completion may have
    failed: slices that fail in every completion; open_slices: those that fail in some
    bounds: what the mean lies above and below with 95% confidence each, in every completion;
        None where that is not asked (strict, nothing differs) or cannot be told (one row)
    """

    possible: frozenset[Outcome]
    bounds: tuple[float, float] | None = None
    failed: tuple[str, ...] = ()
    open_slices: tuple[str, ...] = ()

    @property
    def overall(self) -> Outcome:
        """Return the outcome of the mean over all rows: undecided while it is open."""
        return certain(self.possible)

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
        return len(self.possible) > 1 or bool(self.open_slices)


def certain(possible: frozenset[Outcome]) -> Outcome:
    """Return the one outcome that is possible; of several, undecided."""
    return next(iter(possible)) if len(possible) == 1 else Outcome.UNDECIDED


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
    members = members_of(slices)
    ranges = {name: [rows[i] for i in at] for name, at in members.items()}
    shares = {name: [weights[i] for i in at] for name, at in members.items()}
    failed = _holm_failures(ranges, shares, rule.margin, certain=True)
    possible = _holm_failures(ranges, shares, rule.margin, certain=False)
    outcomes, bounds = _overall(rows, weights, rule.margin)
    return Decision(
        outcomes,
        bounds,
        tuple(failed),
        tuple(name for name in possible if name not in failed),
    )


def _overall(
    rows: Sequence[Bounded], weights: Sequence[float], margin: float
) -> tuple[frozenset[Outcome], tuple[float, float] | None]:
    """Return the outcomes of the mean that completions may have, and its bounds.

    Where nothing differs in any row it passes, even as one row. All ends are sound, so that
    an outcome may be named that no completion has, and none is left out.
    """
    if all(abs(row.lo) <= TOLERANCE and abs(row.hi) <= TOLERANCE for row in rows):
        return frozenset({Outcome.PASS}), None
    lower, upper = _bounds(rows, weights, ALPHA)
    alike = all(row.lo <= TOLERANCE and row.hi >= -TOLERANCE for row in rows)
    may = {
        Outcome.PASS: lower.hi > -margin + TOLERANCE or alike,
        Outcome.FAIL: upper.lo < -margin - TOLERANCE,
        Outcome.UNDECIDED: lower.lo <= -margin + TOLERANCE and upper.hi >= -margin - TOLERANCE,
    }
    outcomes = frozenset(outcome for outcome, is_possible in may.items() if is_possible)
    # Where one row has nearly all the weight, they lie far outside what a mean can be.
    inside = (max(lower.lo, -1.0), min(upper.hi, 1.0))
    return outcomes, inside if math.isfinite(lower.lo) else None


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
    -margin, it fails and is left out. A slice of one row has no bound, and is no test.
    """
    left, failed = [name for name, of in rows.items() if len(of) > 1], []
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
    upper = upper_bound([(row.lo, row.hi) for row in rows], weights=weights, alpha=alpha)
    return (upper.hi if certain else upper.lo) < -margin - TOLERANCE


def _decide_strictly(
    rows: Sequence[Bounded], weights: Sequence[float], slices: Sequence[str | None]
) -> Decision:
    lo, hi = mean_range(rows, shares_of(len(rows), weights))
    may = {Outcome.PASS: hi >= 0.0, Outcome.FAIL: lo < 0.0}
    failed, open_slices = [], []
    for name, at in members_of(slices).items():
        shares = shares_of(len(at), [weights[i] for i in at])
        lo, hi = mean_range([rows[i] for i in at], shares)
        if hi < 0.0:
            failed.append(name)
        elif lo < 0.0:
            open_slices.append(name)
    possible = frozenset(outcome for outcome, is_possible in may.items() if is_possible)
    return Decision(possible, None, tuple(failed), tuple(open_slices))
