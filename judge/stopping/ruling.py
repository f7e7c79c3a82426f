"""What a gate's rule says of one measure, in every completion of what is open.

*These queries*: the mean over all rows and the mean of every slice, one of a single row too,
may be lower than the baseline's by the margin and no more. That is arithmetic, no sample:
it passes or fails in a completion, and where completions differ it is undecided.

*Queries like these* asks the same and a lower bound of the mean over all rows besides, one
that holds whatever the distribution (`statistics.betting_bound`). A fail stays what it is of
these queries; what they do not show is undecided. Slices are held to these queries only:
none is large enough to show more. A gate passes only if every measure shows it, each at 95%,
so that measures need no adjustment.

All rows can be at their upper ends together, and all at their lower ones, and both claims
rise with every row: two looks tell what completions may say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.pool import Bounded
from judge.statistics.weights import weighted_mean
from judge.stopping.outcome import Claim, Outcome, Rule, certain

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GateRows:
    """What a rule looks at of one measure, row by row.

    at: position of each row among the pools
    differences: mean of the candidate's repeats minus the baseline
    identical: every list of every row is the baseline's, place by place
    """

    at: Sequence[int]
    slices: Sequence[str | None]
    weights: Sequence[float]
    differences: Sequence[Bounded]
    identical: bool = False


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rule says of one measure of a gate, now and once all is known.

    ranges: by slice, None for all rows, [lo, hi] of the mean difference
    shown: whether rows show it of queries like them, with all at their lower ends and with
        all at their upper ones; both true where nothing is claimed of other queries
    """

    margin: float
    ranges: Mapping[str | None, Range]
    shown: tuple[bool, bool] = (True, True)

    @property
    def failed(self) -> tuple[str | None, ...]:
        """Return what fails in every completion: None for the mean over all rows, slices."""
        return tuple(name for name, (_, hi) in self.ranges.items() if self._is_below(hi))

    @property
    def could_fail(self) -> tuple[str | None, ...]:
        """Return what fails in some completion and not in all."""
        below = (name for name, (lo, _) in self.ranges.items() if self._is_below(lo))
        return tuple(name for name in below if name not in self.failed)

    @property
    def possible(self) -> frozenset[Outcome]:
        """Return the outcomes that completions may have."""
        if self.failed:
            return frozenset({Outcome.FAIL})
        always, ever = self.shown
        may = {
            Outcome.FAIL: bool(self.could_fail),
            Outcome.PASS: ever,
            Outcome.UNDECIDED: not always,
        }
        return frozenset(outcome for outcome, is_possible in may.items() if is_possible)

    @property
    def outcome(self) -> Outcome:
        """Return the outcome if it is the same in every completion, else undecided."""
        return certain(self.possible)

    @property
    def is_open(self) -> bool:
        """Tell whether completions may have different outcomes."""
        return len(self.possible) > 1

    def _is_below(self, mean: float) -> bool:
        return mean < -self.margin - TOLERANCE


def rule_on(rows: GateRows, rule: Rule) -> Ruling:
    """Return what the rule says of rows, of which there is at least one."""
    every: dict[str | None, Sequence[int]] = {None: range(len(rows.at))}
    ranges = {
        name: _mean_range([rows.differences[i] for i in at], [rows.weights[i] for i in at])
        for name, at in (every | members_of(rows.slices)).items()
    }
    if rule.claim is Claim.SET or rows.identical:
        return Ruling(rule.margin, ranges)
    return Ruling(rule.margin, ranges, (_shows(rows, rule, "lo"), _shows(rows, rule, "hi")))


def members_of(slices: Sequence[str | None]) -> dict[str, list[int]]:
    """Return the positions of the rows of each slice."""
    members: dict[str, list[int]] = {}
    for i, name in enumerate(slices):
        if name is not None:
            members.setdefault(name, []).append(i)
    return members


def _mean_range(rows: Sequence[Bounded], weights: Sequence[float]) -> Range:
    return (
        weighted_mean([row.lo for row in rows], weights),
        weighted_mean([row.hi for row in rows], weights),
    )


def _shows(rows: GateRows, rule: Rule, end: str) -> bool:
    from judge.statistics.betting_bound import shows_above

    differences = [getattr(row, end) for row in rows.differences]
    # At the margin itself a mean is still good enough, and -1 is what any mean is.
    return rule.margin >= 1.0 or shows_above(differences, -rule.margin, weights=rows.weights)
