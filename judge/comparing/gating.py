"""May this change go in? What each measure says of it, against a baseline.

What the rule says of means, slices and repeats is `stopping.ruling`; here it meets the
baseline's and the candidate's scores that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge.auditing import LogTrust
from judge.cascade import Grading
from judge.comparing.change import Change, change
from judge.grades import Conflict
from judge.judging.progress import CallCounts
from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.names import Measure
from judge.scoring import mean
from judge.stopping.columns import GateColumns, difference_of
from judge.stopping.outcome import Outcome, Rule, members_of
from judge.stopping.ruling import Ruling, rule_on


@dataclass(frozen=True, slots=True)
class GatedMeasure:
    """One measure of a gate: the ruling on it, and the numbers that it rests on.

    gates: it counts; False: it is only reported
    spread: largest minus smallest mean over repeats of the candidate, 0 for one run
    """

    measure: Measure
    gates: bool
    change: Change
    slices: Mapping[str, Change]
    ruling: Ruling
    spread: float = 0.0

    @property
    def in_spread(self) -> bool:
        """Tell whether it fell, but by no more than the candidate's own repeats differ."""
        excess = self.ruling.excess.get(None)
        return self.change.difference.hi < 0.0 and excess is not None and excess[1] <= TOLERANCE

    @property
    def outcome(self) -> Outcome:
        """Return what this measure says; a drop within the repeats' spread is never a fail."""
        return self.ruling.outcome


def gated_measures(
    grading: Grading, *, rule: Rule, gates: Callable[[Measure], bool]
) -> Iterator[GatedMeasure]:
    """Yield every measure that is defined for some row of a grading.

    Run 0 of the grading is the baseline, the others are repeats of the candidate.
    """
    for measure in grading.settings.measures:
        found = _gated(grading, measure, rule=rule, gates=gates(measure))
        if found is not None:
            yield found


def _gated(grading: Grading, measure: Measure, *, rule: Rule, gates: bool) -> GatedMeasure | None:
    runs, scale, pools = len(grading.runs), grading.settings.scale, grading.pools
    rows = GateColumns(measure, runs=runs, scale=scale).rows(pools)
    if rows is None:
        return None
    difference = difference_of(measure, runs=runs, scale=scale)
    sides = ((1.0, *[0.0] * (runs - 1)), (0.0, *difference.coefficients[1:]))
    before, after = (
        [row for row in replace(difference, coefficients=side).rows(pools) if row is not None]
        for side in sides
    )

    def changed(at: Sequence[int]) -> Change:
        weights = [rows.weights[i] for i in at]
        return change(
            [rows.differences[i] for i in at],
            weights,
            before=mean([before[i] for i in at], weights),
            after=mean([after[i] for i in at], weights),
        )

    repeats = [mean(repeat, rows.weights).value for repeat in rows.repeats]
    return GatedMeasure(
        measure=measure,
        gates=gates,
        change=changed(range(len(rows.weights))),
        slices={name: changed(at) for name, at in members_of(rows.slices).items()},
        ruling=rule_on(rows, rule),
        spread=max(repeats) - min(repeats) if repeats else 0.0,
    )


@dataclass(frozen=True, slots=True)
class Gate:
    """What `judge gate` found.

    runs: names of the candidate's runs; several are repeats of one system
    did_not_run: runs, the baseline's included, that are empty in every row: no verdict
    ideal_moved: queries whose stored value changed because the pool grew, not the run
    until: how far the judge was asked
    failed: some rows failed to run, which leaves them open whatever is judged
    calls, cost_usd: what judging took
    conflicts: of grades with each other, and with pairs of a read log, which were withdrawn
    trust: what a read log has earned, where there is one
    by_log: the same gate if a trusted log is right; nothing is concluded from it
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
    calls: CallCounts = field(default_factory=CallCounts)
    cost_usd: float | None = 0.0
    conflicts: tuple[Conflict, ...] = ()
    trust: LogTrust | None = None
    by_log: Gate | None = None

    @property
    def log_condition(self) -> str:
        """Return the words beside whatever rests on the read log."""
        return "" if self.trust is None else self.trust.condition

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
