"""May this change go in? What each measure says of it, against a baseline.

What the rule says of means and slices is `stopping.ruling`; here it meets the baseline's and
the candidate's scores that it rests on, and what they show of other queries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judge.auditing import LogTrust
from judge.cascade import Grading
from judge.comparing.change import Change, change, claimed
from judge.grades import Conflict
from judge.judging.progress import CallCounts
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import mean
from judge.statistics.repeats import standard_error
from judge.statistics.signs import ALPHA
from judge.stopping.columns import GateColumns, difference_of
from judge.stopping.outcome import Claim, Outcome, Rule
from judge.stopping.ruling import GateRows, Ruling, members_of, rule_on


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """What the rows show of queries like them, over all rows; differences lie in -1..1.

    lower: what the mean difference there exceeds, with 95% confidence and in every completion
    upper: what it stays below, at 5% over all measures that gate
    rows_needed: so many rows that differ as these do would show no loss beyond the margin; None
        where none would, since these themselves lose as much
    """

    lower: float
    upper: float
    rows_needed: int | None


@dataclass(frozen=True, slots=True)
class GatedMeasure:
    """One measure of a gate: the ruling on it, and the numbers that it rests on.

    gates: it counts; False: it is only reported
    elsewhere: None where nothing is claimed of other queries
    noise: standard error of the candidate's mean by its own repeats, None for a single run
    """

    measure: Measure
    gates: bool
    change: Change
    slices: Mapping[str, Change]
    ruling: Ruling
    elsewhere: Elsewhere | None = None
    noise: float | None = None

    @property
    def outcome(self) -> Outcome:
        """Return what this measure says."""
        return self.ruling.outcome


def gated_measures(
    grading: Grading, *, rule: Rule, gates: Callable[[Measure], bool]
) -> tuple[GatedMeasure, ...]:
    """Return every measure that is defined for some row of a grading.

    Run 0 of the grading is the baseline, the others are repeats of the candidate.
    """
    measures = grading.settings.measures
    gating = sum(map(gates, measures))
    found = [
        made
        for measure in measures
        if (made := _gated(grading, measure, rule=rule, of=gating if gates(measure) else 0))
    ]
    slices: dict[str, dict[Measure, Change]] = {}
    for one in found:
        for name, of_slice in one.slices.items():
            slices.setdefault(name, {})[one.measure] = of_slice
    overall, in_slices = claimed({one.measure: one.change for one in found}, slices)
    return tuple(
        replace(
            one,
            change=overall[one.measure],
            slices={name: in_slices[name][one.measure] for name in one.slices},
        )
        for one in found
    )


def _gated(grading: Grading, measure: Measure, *, rule: Rule, of: int) -> GatedMeasure | None:
    """Return one measure of a gate; of: how many measures gate, 0 if this one does not."""
    runs, scale, pools = len(grading.runs), grading.settings.scale, grading.pools
    rows = GateColumns(measure, runs=runs, scale=scale).rows(pools)
    if rows is None:
        return None
    difference = difference_of(measure, runs=runs, scale=scale)

    def scores(*coefficients: float) -> list[Bounded]:
        contrast = replace(difference, coefficients=coefficients)
        return [row for row in contrast.rows(pools) if row is not None]

    before, after = scores(1.0, *[0.0] * (runs - 1)), scores(0.0, *difference.coefficients[1:])

    def changed(at: Sequence[int]) -> Change:
        weights = [rows.weights[i] for i in at]
        return change(
            [rows.differences[i] for i in at],
            weights,
            before=mean([before[i] for i in at], weights),
            after=mean([after[i] for i in at], weights),
        )

    repeats = [scores(*(float(run == own) for run in range(runs))) for own in range(1, runs)]
    values = [[row.value for row in repeat] for repeat in repeats]
    return GatedMeasure(
        measure=measure,
        gates=of > 0,
        change=changed(range(len(rows.weights))),
        slices={name: changed(at) for name, at in members_of(rows.slices).items()},
        ruling=rule_on(rows, rule),
        elsewhere=_elsewhere(rows, rule, measures=of) if of else None,
        noise=standard_error(values, rows.weights) if len(values) > 1 else None,
    )


def _elsewhere(rows: GateRows, rule: Rule, *, measures: int) -> Elsewhere | None:
    if rule.claim is Claim.SET or rows.identical or rule.margin >= 1.0:
        return None
    # It needs numpy, which takes longer to load than a small gate in all.
    from judge.statistics.betting_bound import lower_mean_bound, rows_to_show

    weights = rows.weights
    lows, highs = ([getattr(row, end) for row in rows.differences] for end in ("lo", "hi"))
    middles = [(low + high) / 2.0 for low, high in zip(lows, highs, strict=True)]
    return Elsewhere(
        lower=lower_mean_bound(lows, weights=weights),
        upper=-lower_mean_bound([-high for high in highs], weights=weights, alpha=ALPHA / measures),
        rows_needed=rows_to_show(middles, -rule.margin, weights=weights),
    )


@dataclass(frozen=True, slots=True)
class Gate:
    """What `judge gate` found.

    runs: names of the candidate's runs; several are repeats of one system
    did_not_run: runs, the baseline's included, that are empty in every row: no verdict
    ideal_moved: queries whose stored value changed because the pool grew, not the run
    until: how far the judge was asked
    first: there was no baseline: the run becomes it, and nothing is compared
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
    first: bool = False
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
        if self.did_not_run or self.first or not gating:
            return Outcome.UNDECIDED
        worst = (Outcome.FAIL, Outcome.UNDECIDED)
        return next((outcome for outcome in worst if outcome in gating), Outcome.PASS)

    @property
    def exit_code(self) -> int:
        """Return 0 for a pass, 1 for a fail, 3 undecided; 4 where the judge broke off.

        Where there was no baseline to compare with, 0.
        """
        if self.broke_off:
            return 4
        if self.first and not self.did_not_run:
            return 0
        return {Outcome.PASS: 0, Outcome.FAIL: 1, Outcome.UNDECIDED: 3}[self.outcome]
