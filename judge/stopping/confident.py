"""Stop before certainty: a sequential test on rows drawn at random (opt-in).

The sign asked for is that of T = Σ share·d over the rows in hand, a finite population. A
first part of the calls goes to the heaviest chunks of the widest rows; with what they tell
each row's difference is guessed (c). Then rows are drawn at random without replacement
and judged to the end, and T is estimated by Σ share·c plus the mean of the drawn rows'
share·(d - c), scaled up (difference estimator, finite-population correction). At looks
fixed beforehand - after 10, 12, 14, 17, 21, … rows - a one-sided t test asks whether T is
above or below 0.

Why the error stays below 1 - confidence over all looks: `statistics.sequential` sets the
critical values of all looks together, so that under T = 0 the chance that *any* of them
is passed is 1 - confidence, in populations that are skewed against the test. T has one
sign, so only one of the two sides can err. The guesses, the order and the looks are fixed
before the first row is drawn: nothing is tuned to what comes out. What it relies on is
that rows are no more skewed than a skewness of 1; that module says what was measured. A
row that could not be judged to the end takes part with its lower end in the test of
T > 0, with its upper end in that of T < 0. The bounds keep running: what they settle is
certain.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.judging.selector import Ask
from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.pool import Bounded
from judge.statistics.sequential import critical_values
from judge.stopping.directed import Directed, OpenRow
from judge.stopping.goals import Sign, Standing

FIRST_SHARE = 0.15
FIRST_LOOK = 10
NEXT_LOOK = 1.2


@dataclass(frozen=True, slots=True)
class Finding:
    """What a sequential test found: the sign of the mean difference over these rows.

    sign: 1 or -1; confidence: that it is right, over all looks
    drawn, of: rows drawn and judged, of those that were open
    """

    sign: int
    confidence: float
    drawn: int
    of: int


@dataclass(frozen=True, slots=True)
class _Draw:
    """The random order of the open rows, their guessed values, the looks and their tests."""

    order: tuple[int, ...]
    guesses: Mapping[int, float]
    looks: tuple[int, ...]
    critical: tuple[float, ...]


def looks_for(rows: int) -> tuple[int, ...]:
    """Return after how many of so many open rows the test looks."""
    found, look = [], float(FIRST_LOOK)
    while round(look) < rows:
        found.append(round(look))
        look *= NEXT_LOOK
    return tuple(found)


class Confident:
    """Ask until the sign is certain, or found with a given confidence by a sequential test.

    `finding` says what the test found, None while it found nothing.
    """

    def __init__(self, directed: Directed, *, confidence: float, seed: int = 0) -> None:
        assert 0.5 < confidence < 1.0, f"a confidence lies in (0.5, 1), not at {confidence}"
        self.finding: Finding | None = None
        self._directed = directed
        self._confidence = confidence
        self._seed = seed
        self._first_left: int | None = None
        self._draw: _Draw | None = None
        self._looked = 0

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return asks of the first part, then of the rows drawn for the next look."""
        standing = self._directed.standing(pools)
        if self.finding or Sign().aim(standing) is None:
            return []
        if self._first_left is None:
            waiting = sum(len(chunks) for i in standing.at for chunks in pools[i].asks)
            self._first_left = math.ceil(FIRST_SHARE * waiting)
        first = self._widest(pools, min(limit, self._first_left))
        self._first_left -= len(first)
        if first:
            return first
        if self._draw is None:
            self._draw = self._drawn(standing, pools)
        while self._looked < len(self._draw.looks):
            drawn = self._draw.order[: self._draw.looks[self._looked]]
            left = [i for i in drawn if i in self._directed.open_rows]
            asks = [(i, chunk) for i in left for chunks in pools[i].asks for chunk in chunks]
            if asks:
                return asks[:limit]
            self._looked += 1
            self.finding = self._look(standing, drawn)
            if self.finding:
                return []
        return self._directed.next(pools, limit=limit)

    def _widest(self, pools: Sequence[QueryPool], limit: int) -> list[Ask]:
        """Return the heaviest open chunk of each of the widest rows."""
        rows = sorted(self._directed.open_rows.items(), key=lambda item: (-item[1].width, item[0]))
        return [(i, chunk) for i, row in rows for chunk in _heaviest(row, pools[i])][:limit]

    def _drawn(self, standing: Standing, pools: Sequence[QueryPool]) -> _Draw:
        guesses = {
            i: value
            for i, row, value in zip(standing.at, standing.rows, standing.expected, strict=True)
            if row.hi - row.lo > TOLERANCE and i in self._directed.open_rows
        }
        order = list(guesses)
        # The order is that of these rows and lists: one fixed order would share its luck.
        named = [(pools[i].query.key, pools[i].ids) for i in order]
        random.Random(f"{self._seed} {named}").shuffle(order)  # noqa: S311
        looks = looks_for(len(order))
        alpha = 1.0 - self._confidence
        critical = critical_values(looks, population=len(order), alpha=alpha)
        return _Draw(tuple(order), guesses, looks, critical)

    def _look(self, standing: Standing, drawn: Sequence[int]) -> Finding | None:
        assert self._draw is not None, "nothing is looked at before rows are drawn"
        critical = self._draw.critical[self._draw.looks.index(len(drawn))]
        for sign in (1, -1):
            if _lower_bound(standing, self._draw.guesses, drawn, sign=sign, critical=critical) > 0:
                return Finding(sign, self._confidence, len(drawn), len(self._draw.order))
        return None


def _heaviest(row: OpenRow, pool: QueryPool) -> tuple[str, ...]:
    """Return the asks of the row's open unit with the largest weight; of none, nothing."""
    members = [member for member in row.members if pool.asks[member]]
    if not members:
        return ()
    return pool.asks[max(members, key=lambda member: abs(float(row.weights[member])))]


def _lower_bound(
    standing: Standing,
    guesses: Mapping[int, float],
    drawn: Sequence[int],
    *,
    sign: int,
    critical: float,
) -> float:
    """Return sign·T as the drawn rows estimate it, less `critical` standard errors."""

    def least(row: Bounded) -> float:
        return row.lo if sign > 0 else -row.hi

    rows = dict(zip(standing.at, zip(standing.rows, standing.shares, strict=True), strict=True))
    certain = math.fsum(share * least(row) for i, (row, share) in rows.items() if i not in guesses)
    guessed = math.fsum(sign * rows[i][1] * guess for i, guess in guesses.items())
    errors = [rows[i][1] * (least(rows[i][0]) - sign * guesses[i]) for i in drawn]
    count, population = len(errors), len(guesses)
    mean = math.fsum(errors) / count
    variance = math.fsum((error - mean) ** 2 for error in errors) / (count - 1)
    if variance == 0.0:
        # Rows that agree to the last bit say nothing about how rows differ.
        return -math.inf
    se = population * math.sqrt(variance / count * (1.0 - count / population))
    return certain + guessed + population * mean - critical * se
