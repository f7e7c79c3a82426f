"""What a gate's rule says of one measure: differences, zeros and repeats taken together.

Everything is said of every completion of what is open: what is certain holds in each of
them, what is possible may hold in some. Ends are sound, so that nothing is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.pool import Bounded
from judge.statistics.significance import shares_of
from judge.stopping.falling import Zeros, fallen, may_fall
from judge.stopping.goals import mean_range
from judge.stopping.outcome import Decision, Outcome, Rule, certain, decide, members_of

Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class GateRows:
    """What a rule looks at of one measure, row by row.

    at: position of each row among the pools
    differences: mean of the candidate's repeats minus the baseline
    repeats: each repeat's own scores
    excesses: for each ordered pair of repeats, how far the drop exceeds what the first has
        over the second; the least of them is how far it exceeds their spread
    """

    at: Sequence[int]
    slices: Sequence[str | None]
    weights: Sequence[float]
    differences: Sequence[Bounded]
    zeros: Sequence[Zeros]
    repeats: Sequence[Sequence[Bounded]] = ()
    excesses: Sequence[Sequence[Bounded]] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """What the rule says of one measure of a gate, now and once all is known.

    fallen, may_fall: slices that fell to zero, and those that could still
    excess: by slice, None for all rows, [lo, hi] of how far the drop exceeds what the repeats
        differ by, there or over all rows; empty for a single run
    """

    decision: Decision
    fallen: tuple[str, ...] = ()
    may_fall: tuple[str, ...] = ()
    excess: Mapping[str | None, Range] = field(default_factory=dict)

    @property
    def overall_fails(self) -> bool:
        """Tell whether the mean over all rows fails, whatever is open."""
        return self.decision.overall is Outcome.FAIL and self._beyond(None)

    @property
    def overall_could_fail(self) -> bool:
        """Tell whether the mean fails in some completion and not in all."""
        may = Outcome.FAIL in self.decision.possible and self._could_be_beyond(None)
        return may and not self.overall_fails

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the slices that fail whatever is open, those fallen to zero first."""
        by_test = (n for n in self.decision.failed if n not in self.fallen and self._beyond(n))
        return (*self.fallen, *by_test)

    @property
    def could_fail(self) -> tuple[str, ...]:
        """Return the slices that fail in some completion and not in all."""
        by_test = (*self.decision.failed, *self.decision.open_slices)
        could = (*(name for name in by_test if self._could_be_beyond(name)), *self.may_fall)
        return tuple(name for name in dict.fromkeys(could) if name not in self.failed)

    @property
    def possible(self) -> frozenset[Outcome]:
        """Return the outcomes that completions may have: fail over undecided over pass."""
        if self.overall_fails or self.failed:
            return frozenset({Outcome.FAIL})
        may = {
            Outcome.FAIL: self.overall_could_fail or bool(self.could_fail),
            Outcome.PASS: Outcome.PASS in self.decision.possible and not self.decision.failed,
            Outcome.UNDECIDED: Outcome.UNDECIDED in self.decision.possible or self._could_be_within,
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

    @property
    def _could_be_within(self) -> bool:
        """Tell whether something may fall below the margin and stay inside the spread."""
        below: list[str | None] = [*self.decision.failed, *self.decision.open_slices]
        if Outcome.FAIL in self.decision.possible:
            below.append(None)
        return any(not self._beyond(name) for name in below)

    def _beyond(self, name: str | None) -> bool:
        return name not in self.excess or self.excess[name][0] > TOLERANCE

    def _could_be_beyond(self, name: str | None) -> bool:
        return name not in self.excess or self.excess[name][1] > TOLERANCE


def rule_on(rows: GateRows, rule: Rule) -> Ruling:
    """Return what the rule says of rows, of which there is at least one."""
    return Ruling(
        decision=decide(rows.differences, rows.weights, rows.slices, rule=rule),
        fallen=fallen(rows.zeros, rows.slices),
        may_fall=may_fall(rows.zeros, rows.slices),
        excess=_excess(rows) if rows.excesses else {},
    )


def _excess(rows: GateRows) -> dict[str | None, Range]:
    everywhere = range(len(rows.weights))
    found: dict[str | None, Range] = {None: _own_excess(rows, everywhere)}
    ranges = [_mean(repeat, rows, everywhere) for repeat in rows.repeats]
    widest = max(hi for _, hi in ranges) - min(lo for lo, _ in ranges)
    narrowest = max(max(lo for lo, _ in ranges) - min(hi for _, hi in ranges), 0.0)
    for name, at in members_of(rows.slices).items():
        lo, hi = _own_excess(rows, at)
        rise_lo, rise_hi = _mean(rows.differences, rows, at)
        found[name] = (min(lo, -rise_hi - widest), min(hi, -rise_lo - narrowest))
    return found


def _own_excess(rows: GateRows, at: Sequence[int]) -> Range:
    """Return by how much the drop over some rows exceeds the repeats' spread over them."""
    pairs = [_mean(pair, rows, at) for pair in rows.excesses]
    return min(lo for lo, _ in pairs), min(hi for _, hi in pairs)


def _mean(column: Sequence[Bounded], rows: GateRows, at: Sequence[int]) -> Range:
    shares = shares_of(len(at), [rows.weights[i] for i in at])
    return mean_range([column[i] for i in at], shares)
