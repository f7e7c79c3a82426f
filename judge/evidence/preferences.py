"""Preferences: "a is better than b for this query", and what they do to grade intervals.

A decided pair a ≻ b means grade(a) >= grade(b): weak, because four grades are coarse. It
never gives a grade by itself; it carries what is known of one chunk over to another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from judge.evidence.orders import bridged, closure, without_cycles

Interval: TypeAlias = tuple[int, int]
Pair: TypeAlias = tuple[str, str]

_UNKNOWN: Interval = (0, 1 << 30)  # an id without an interval: bounds nothing


@dataclass(frozen=True, slots=True)
class Preference:
    """What a log says about one pair of chunks of one query.

    wins, losses: sessions for `winner` and against it
    probability: that more than half of all sessions would vote for `winner`; of a concluded
        pair the least one on its path
    decided: strong enough to be an order constraint
    hops: decided pairs that it was concluded from (1: its own votes)
    weak: wins that only a weak rule saw
    winner_hash, loser_hash: hash of the text that was shown, where the log has one
    queries: other wordings of the same query that voted with it
    """

    query: str
    winner: str
    loser: str
    wins: int
    losses: int
    probability: float
    decided: bool
    hops: int = 1
    weak: int = 0
    winner_hash: str | None = None
    loser_hash: str | None = None
    queries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Violation:
    """Orders that lead from `winner` to `loser` although its grades are all lower."""

    winner: str
    loser: str
    winner_interval: Interval
    loser_interval: Interval


@dataclass(frozen=True, slots=True)
class Constrained:
    """Intervals narrowed by the orders that stand.

    intervals: of the same ids as went in; never wider, never empty
    orders: (a, b), grade(a) >= grade(b), both with an interval, though the path between them may
        lead through others; acyclic, sorted, no repeats
    withdrawn: every pair on a violated path or on a cycle, sorted
    violations: what contradicted them; a pair on a cycle has none
    """

    intervals: Mapping[str, Interval]
    orders: tuple[Pair, ...]
    withdrawn: tuple[Pair, ...] = ()
    violations: tuple[Violation, ...] = ()


def constrain(
    intervals: Mapping[str, Interval],
    pairs: Iterable[Pair],
    *,
    verdicts: Mapping[str, Interval] = MappingProxyType({}),
) -> Constrained:
    """Narrow intervals to the fixpoint that pairs (a, b), grade(a) >= grade(b), allow.

    `verdicts` are grades that contradict orders but do not travel along them: a judge's
    replies. They narrow their own chunk. An id without an interval bounds nothing, but a
    path may lead through it. The result does not depend on the order of anything.

    >>> prefers = [("c", "a"), ("c", "b")]
    >>> constrain({"a": (0, 3), "b": (2, 2), "c": (0, 3)}, prefers).intervals["c"]
    (2, 3)
    >>> constrain({"a": (0, 3), "b": (2, 2), "c": (1, 1)}, prefers).withdrawn
    (('c', 'b'),)
    """
    orders, cyclic = without_cycles({pair for pair in pairs if pair[0] != pair[1]})
    below = closure(orders)
    known = {id: _meet(interval, verdicts.get(id, _UNKNOWN)) for id, interval in intervals.items()}
    violations = _violations(known, below)
    violated = _on_violated_path(orders, below, violations)
    standing = orders - violated
    narrowed = _propagate(intervals, closure(standing))
    return Constrained(
        intervals={id: _meet(narrowed[id], verdicts.get(id, _UNKNOWN)) for id in intervals},
        orders=tuple(sorted(bridged(standing, intervals))),
        withdrawn=tuple(sorted(cyclic | violated)),
        violations=violations,
    )


def _meet(one: Interval, other: Interval) -> Interval:
    """Return what both intervals allow; an empty meeting keeps `one`, the stronger source."""
    lo, hi = max(one[0], other[0]), min(one[1], other[1])
    return (lo, hi) if lo <= hi else one


def _violations(
    known: Mapping[str, Interval], below: Mapping[str, frozenset[str]]
) -> tuple[Violation, ...]:
    """List every (a, b) with a path from a to b and all grades of a below all of b."""
    return tuple(
        Violation(a, b, known[a], known[b])
        for a in sorted(below)
        if a in known
        for b in sorted(below[a])
        if b in known and known[a][1] < known[b][0]
    )


def _on_violated_path(
    orders: Collection[Pair],
    below: Mapping[str, frozenset[str]],
    violations: Iterable[Violation],
) -> set[Pair]:
    """Return the pairs (u, v) for which a violation (a, b) has a path a → u → v → b.

    Taken over all violations at once, on the whole graph: that makes it independent of
    the order in which grades arrive.
    """
    nothing: frozenset[str] = frozenset()
    withdrawn = set()
    for violation in violations:
        a, b = violation.winner, violation.loser
        for u, v in orders:
            from_a = u == a or u in below.get(a, nothing)
            to_b = v == b or b in below.get(v, nothing)
            if from_a and to_b:
                withdrawn.add((u, v))
    return withdrawn


def _propagate(
    intervals: Mapping[str, Interval], below: Mapping[str, frozenset[str]]
) -> dict[str, Interval]:
    """Raise lo over everything below and lower hi under everything above: the fixpoint.

    One pass over the closure is enough: the lowest grade of a is the highest lo among a and
    all that a reaches, and nothing else can move it.
    """
    lo = {id: interval[0] for id, interval in intervals.items()}
    hi = {id: interval[1] for id, interval in intervals.items()}
    for a, losers in below.items():
        top = intervals.get(a, _UNKNOWN)[1]
        for b in losers & intervals.keys():
            hi[b] = min(hi[b], top)
            if a in lo:
                lo[a] = max(lo[a], intervals[b][0])
    return {id: (lo[id], hi[id]) for id in intervals}
