"""May this change go in? What each measure says of it, against a baseline.

The outcome of the means and slices is `stopping.outcome`; here they meet the baseline's
and the candidate's scores: a slice fallen to zero fails too, and a drop that is no larger
than the candidate's own repeats differ never does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judge.comparing.comparison import Change, change
from judge.evidence.pool import QueryPool
from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Mean
from judge.statistics.significance import shares_of
from judge.stopping.goals import mean_range
from judge.stopping.outcome import Decision, Outcome, Rule, decide, may_fall, members_of


@dataclass(frozen=True, slots=True)
class GatedMeasure:
    """One measure of a gate: its decision, and the numbers that it rests on.

    gates: it counts; False: it is only reported
    fallen: slices whose mean was above 0 and is 0 now
    spread: largest minus smallest mean over repeats of the candidate, 0 for one run
    """

    measure: Measure
    gates: bool
    change: Change
    slices: Mapping[str, Change]
    decision: Decision
    fallen: tuple[str, ...] = ()
    spread: float = 0.0

    @property
    def in_spread(self) -> bool:
        """Tell whether the drop is no larger than the candidate's own repeats differ."""
        return 0.0 < -self.change.difference.value <= self.spread

    @property
    def failed_slices(self) -> tuple[str, ...]:
        """Return the slices that failed, those fallen to zero first; none within the spread."""
        by_test = [n for n in self.decision.failed if n not in self.fallen]
        if self.spread:
            by_test = [n for n in by_test if -self.slices[n].difference.value > self.spread]
        return (*self.fallen, *by_test)

    @property
    def outcome(self) -> Outcome:
        """Return what this measure says; a drop within the repeats' spread is never a fail."""
        overall = self.decision.overall
        if self.failed_slices or (overall is Outcome.FAIL and not self.in_spread):
            return Outcome.FAIL
        if self.decision.outcome is Outcome.PASS:
            return Outcome.PASS
        return Outcome.UNDECIDED


@dataclass(frozen=True, slots=True)
class MeasureRows:
    """What a gate knows of one measure: rows of differences and both sides' scores.

    pools: of the rows; before, after: the baseline's and the candidate's (mean of repeats)
    spread: largest minus smallest mean over repeats
    """

    measure: Measure
    pools: Sequence[QueryPool]
    differences: Sequence[Bounded]
    before: Sequence[Bounded]
    after: Sequence[Bounded]
    spread: float = 0.0


def gate_measure(found: MeasureRows, *, gates: bool, rule: Rule) -> GatedMeasure:
    """Return one measure's part of a gate."""
    weights = [pool.query.weight for pool in found.pools]
    slices = [pool.query.slice for pool in found.pools]
    members = members_of(slices)
    by_slice = {name: _change(found, weights, at) for name, at in members.items()}
    decision = decide(found.differences, weights, slices, rule=rule)
    falling = may_fall(found.differences, found.before, found.after, slices)
    could_fail = tuple(dict.fromkeys((*decision.open_slices, *falling)))
    return GatedMeasure(
        measure=found.measure,
        gates=gates,
        change=_change(found, weights, range(len(weights))),
        slices=by_slice,
        decision=replace(
            decision, open_slices=tuple(n for n in could_fail if n not in decision.failed)
        ),
        fallen=tuple(
            name for name, of in by_slice.items() if of.before.lo > 0.0 and of.after.hi <= TOLERANCE
        ),
        spread=found.spread,
    )


def _change(found: MeasureRows, weights: Sequence[float], at: Sequence[int]) -> Change:
    own = [weights[i] for i in at]
    return change(
        [found.differences[i] for i in at],
        own,
        before=_mean([found.before[i] for i in at], own),
        after=_mean([found.after[i] for i in at], own),
    )


def _mean(rows: Sequence[Bounded], weights: Sequence[float]) -> Mean:
    shares = shares_of(len(rows), weights)
    lo, hi = mean_range(rows, shares)
    value = sum(share * row.value for share, row in zip(shares, rows, strict=True))
    return Mean(min(max(value, lo), hi), lo, hi, len(rows))


@dataclass(frozen=True, slots=True)
class Gate:
    """What `judge gate` found.

    runs: names of the candidate's runs; several are repeats of one system
    did_not_run: runs, the baseline's included, that are empty in every row: no verdict
    ideal_moved: queries whose stored value changed because the pool grew, not the run
    until: how far the judge was asked
    failed: some rows failed to run, which leaves them open whatever is judged
    """

    baseline: str
    runs: tuple[str, ...]
    rule: Rule
    measures: tuple[GatedMeasure, ...]
    did_not_run: tuple[str, ...] = ()
    ideal_moved: tuple[str, ...] = ()
    until: str = "all"
    by_mock: bool = False
    broke_off: bool = False
    failed: bool = False
    notices: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Return fail over undecided over pass, of the measures that gate."""
        gating = [found.outcome for found in self.measures if found.gates]
        if self.did_not_run or not gating:
            return Outcome.UNDECIDED
        worst = (Outcome.FAIL, Outcome.UNDECIDED)
        return next((outcome for outcome in worst if outcome in gating), Outcome.PASS)

    @property
    def exit_code(self) -> int:
        """Return 0 for a pass, 1 for a fail, 3 undecided; 4 where the judge broke off."""
        if self.broke_off:
            return 4
        return {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNDECIDED: 3}[self.outcome]
