"""Random draws of rows and of how far to judge them, and what each of them raised.

Judging a row's units one after the other raises the lower bound of its contrast (or lowers
the upper one: sign -1) step by step up to its true value. A draw names a row, and how many
of its next units to judge; each raise seen, divided by the chance of seeing it, estimates
without bias what judging everything would raise in all (Horvitz and Thompson 1952).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.measures.pool import Bounded
from judge.stopping.ahead import LookAhead, OpenRow
from judge.stopping.goals import Standing

LEAST_REACH = 0.1
_WIDTH_SHARE = 0.05
_IDEAL_SHARE = 0.02


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row that may be drawn.

    row: its position among the pools
    slack: what judging it to the end will probably raise, in the mean over rows, > 0
    units: the pool members that can be asked about, those that raise most a call first
    reach: the chance of each unit to be judged once the row is drawn; starts at 1, never rises
    """

    row: int
    slack: float
    units: tuple[int, ...]
    reach: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Draw:
    """A row drawn, and the units to judge.

    sign: 1 where raises of the lower bound are bet on, -1 where falls of the upper one are
    chances: of each unit, before the draw, to be among those judged
    before: the row as it was drawn; pool: its pool, which `units` count in
    """

    row: int
    sign: int
    units: tuple[int, ...]
    chances: tuple[float, ...]
    before: OpenRow
    pool: QueryPool

    def waiting(self, pool: QueryPool) -> list[str]:
        """Return the chunks of its units that can still be asked about; pool: as it is now."""
        asks = dict(zip(pool.ids, pool.asks, strict=True))
        return [chunk for unit in self.units for chunk in asks.get(self.pool.ids[unit], ())]


def candidates(
    ahead: LookAhead, standing: Standing, pools: Sequence[QueryPool], *, sign: int
) -> list[Candidate]:
    """Return the rows that can be drawn, with what they will probably raise.

    Units that raise less a call than the average open one are judged by a chance in
    proportion: the calls go where the raises are.
    """
    shares = dict(zip(standing.at, standing.shares, strict=True))
    expected = dict(zip(standing.at, standing.expected, strict=True))
    raises: dict[int, list[tuple[float, int, int]]] = {}
    for i, row in ahead.open_rows.items():
        hoped = expected[i] - row.bounded.lo if sign > 0 else row.bounded.hi - expected[i]
        slack = shares[i] * (max(hoped, 0.0) + _WIDTH_SHARE * row.width)
        if any(pools[i].asks[member] for member in row.members):
            raises[i] = _raises(ahead, i, pools[i], slack, sign=sign)
    calls = sum(asks for units in raises.values() for _, _, asks in units)
    average = sum(raised for units in raises.values() for raised, _, _ in units) / max(calls, 1)
    return [
        Candidate(
            row=i,
            slack=sum(raised for raised, _, _ in units),
            units=tuple(member for _, member, _ in units),
            reach=_reach(units, average, whole=bool(ahead.open_rows[i].grades.orders)),
        )
        for i, units in raises.items()
    ]


def _raises(
    ahead: LookAhead, i: int, pool: QueryPool, slack: float, *, sign: int
) -> list[tuple[float, int, int]]:
    """Return (probable raise, unit, calls) of the units that can be asked, best a call first."""
    row = ahead.open_rows[i]
    most = row.scale.gains[-1]
    found = []
    for member, gain in zip(row.members, ahead.expected_gains(i), strict=True):
        weight = sign * float(row.weights[member])
        # A bound counts a chunk in favour at its lowest grade, one against at its highest.
        raised = weight * gain if weight > 0.0 else -weight * (most - gain)
        if asks := len(pool.asks[member]):
            found.append((raised + _IDEAL_SHARE * most, member, asks))
    whole = sum(raised for raised, _, _ in found)
    found.sort(key=lambda unit: (-unit[0] / unit[2], unit[1]))
    return [(slack * raised / whole, member, asks) for raised, member, asks in found]


def _reach(
    units: Sequence[tuple[float, int, int]], average: float, *, whole: bool
) -> tuple[float, ...]:
    """Return each unit's chance; where orders tie grades together, a row is judged as a whole."""
    if whole:
        return (1.0,) * len(units)
    chances = (min(1.0, raised / asks / average) for raised, _, asks in units[1:])
    return (1.0, *(max(LEAST_REACH, chance) for chance in chances))


def draw(
    offered: Sequence[Candidate],
    rows: Mapping[int, OpenRow],
    pools: Sequence[QueryPool],
    *,
    sign: int,
    generator: random.Random,
) -> Draw:
    """Draw one of the rows by its slack, and of its units those that chance reaches."""
    total = sum(candidate.slack for candidate in offered)
    (drawn,) = generator.choices(offered, weights=[candidate.slack for candidate in offered])
    lot = generator.random()
    depth = sum(lot < reach for reach in drawn.reach)
    chance = drawn.slack / total
    return Draw(
        row=drawn.row,
        sign=sign,
        units=drawn.units[:depth],
        chances=tuple(chance * reach for reach in drawn.reach[:depth]),
        before=rows[drawn.row],
        pool=pools[drawn.row],
    )


def payoff(draw: Draw, contrast: Contrast, pool: QueryPool, *, share: float) -> float:
    """Return the estimate of all raises that a draw brought, in the mean over rows, >= 0.

    pool: the row's pool as it is now. From the first unit on that has no reply nothing
        counts: what a unit raises is a matter of the units before it, not of chance. Nor does
        anything where a reply withdrew a preference: the row was then bounded too narrowly

    Its mean over the draws is at most what all rows that could be drawn still raise.
    """
    grades, now = draw.before.grades, contrast.grades(pool)
    if (pool.ids, now.orders) != (draw.pool.ids, grades.orders):
        return 0.0
    lo, hi = list(grades.lo), list(grades.hi)
    steps = [grades]
    for unit in draw.units:
        if pool.asks[unit] or pool.ids[unit] in pool.failed:
            break
        lo[unit], hi[unit] = now.lo[unit], now.hi[unit]
        steps.append(replace(grades, lo=tuple(lo), hi=tuple(hi)))
    start, *after = (least(row, draw.sign) for row in contrast.given(pool, steps))
    found, reached = 0.0, start
    for bound, chance in zip(after, draw.chances, strict=False):
        # A sound bound that is not exact can fall back: what was reached stays.
        found += max(bound - reached, 0.0) / chance
        reached = max(reached, bound)
    return share * found


def least(row: Bounded, sign: int) -> float:
    """Return the least that sign times the contrast can be."""
    return row.lo if sign > 0 else -row.hi
