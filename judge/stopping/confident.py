"""Stop before certainty: a sequential test on random draws (opt-in).

The sign asked for is that of T, the mean difference over the rows in hand once everything
is judged. A first part of the calls goes to the heaviest chunks of the widest rows. Then
rows are drawn at random, those that will probably raise the bound of T most with the
largest chances, and how far each is judged is drawn as well (`stopping.drawing`).

Why the error stays below 1 - confidence over all looks, for any grades: the lower bound of
T lies below 0 by a known debt. If T is negative, all that judging could still raise it by
is less than the debt. Each draw estimates that raise without bias, is never negative, and
its chances are fixed before it is drawn; so under T < 0 a bet that draws pay more than the
debt is never to the bettor's advantage, and his wealth reaches 1 / (1 - confidence) with a
chance of at most 1 - confidence, however often one looks (`statistics.betting`). The other
sign is tested likewise, by a wealth of its own; T has one sign, so only one of them can err.
Guesses of grades decide what is drawn and how soon the test ends, never whether it is valid.

The bounds keep running: what they settle is certain.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judge.contrast import Contrast
from judge.evidence.pool import QueryPool
from judge.judging.selector import Ask
from judge.measures.pool import Bounded
from judge.statistics.betting import wealth_after
from judge.stopping.ahead import BATCH_PART, LookAhead, OpenRow
from judge.stopping.drawing import Draw, candidates, draw, least, payoff
from judge.stopping.goals import Sign, Standing

FIRST_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Finding:
    """What a sequential test found: the sign of the mean difference over these rows.

    sign: 1 (not negative) or -1 (not positive); confidence: that it is right, over all looks
    drawn, of: rows drawn at random, of those that were open
    """

    sign: int
    confidence: float
    drawn: int
    of: int


class Confident:
    """Ask until the sign is certain, or found with a given confidence by a sequential test.

    `finding` says what the test found, None while it found nothing.
    """

    def __init__(self, contrast: Contrast, *, confidence: float, seed: int = 0) -> None:
        assert 0.5 < confidence < 1.0, f"a confidence lies in (0.5, 1), not at {confidence}"
        self.finding: Finding | None = None
        self._contrast = contrast
        self._ahead = LookAhead(contrast)
        self._confidence = confidence
        self._seed = seed
        self._first_left: int | None = None
        self._generator = random.Random(seed)  # noqa: S311
        self._wealth = {1: 1.0, -1: 1.0}
        self._draws: list[Draw] = []
        self._drawn: set[int] = set()
        self._open_at_first = 0

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return asks of the first part, then those of the rows drawn."""
        standing = self._ahead.standing(pools)
        if self.finding or Sign().aim(standing) is None:
            return []
        self.finding = self._bet(standing, pools)
        if self.finding:
            return []
        if asks := _asks_of(self._draws, pools):
            return asks[:limit]
        batch = max(1, limit // BATCH_PART)
        if asks := self._first(standing, pools, limit=batch):
            return asks
        self._draws = self._draw(standing, pools, limit=batch)
        return _asks_of(self._draws, pools)[:limit]

    def _first(self, standing: Standing, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return the heaviest open chunk of each of the widest rows, while the first part lasts."""
        if self._first_left is None:
            waiting = sum(len(chunks) for i in standing.at for chunks in pools[i].asks)
            self._first_left = math.ceil(FIRST_SHARE * waiting)
            # The draws are those of these rows, lists and grades: one seed would share its luck,
            # and grades that earlier draws brought must not meet the same draws again.
            named = [(pools[i].query.key, pools[i].ids) for i in standing.at]
            known = "".join(_known(pools[i]) for i in standing.at)
            self._generator.seed(f"{self._seed} {named}{known}")
        rows = sorted(self._ahead.open_rows.items(), key=lambda item: (-item[1].width, item[0]))
        asks = [(i, chunk) for i, row in rows for chunk in _heaviest(row, pools[i])]
        asks = asks[: min(limit, self._first_left)]
        self._first_left -= len(asks)
        return asks

    def _draw(self, standing: Standing, pools: Sequence[QueryPool], *, limit: int) -> list[Draw]:
        """Draw rows, each once, until there is enough to ask."""
        rows = self._ahead.open_rows
        self._open_at_first = self._open_at_first or len(rows)
        guess = math.fsum(s * v for s, v in zip(standing.shares, standing.expected, strict=True))
        sign = 1 if guess > 0.0 else -1
        offered = candidates(self._ahead, standing, pools, sign=sign)
        drawn: list[Draw] = []
        while offered and len(_asks_of(drawn, pools)) < limit:
            found = draw(offered, rows, pools, sign=sign, generator=self._generator)
            drawn.append(found)
            offered = [candidate for candidate in offered if candidate.row != found.row]
        self._drawn.update(found.row for found in drawn)
        return drawn

    def _bet(self, standing: Standing, pools: Sequence[QueryPool]) -> Finding | None:
        """Bet on the draws that are judged, in the order in which they were drawn."""
        shares = dict(zip(standing.at, standing.shares, strict=True))
        now = dict(zip(standing.at, standing.rows, strict=True))
        rows = {**now, **{found.row: found.before.bounded for found in self._draws}}
        while self._draws:
            found = self._draws[0]
            wealth = self._wealth[found.sign]
            debt = -_least_mean(rows, shares, found.sign)
            if debt > 0.0:
                paid = payoff(found, self._contrast, pools[found.row], share=shares[found.row])
                wealth = wealth_after(wealth, paid, at_most=debt)
            # What is not judged yet can only add to the payoff.
            if wealth * (1.0 - self._confidence) >= 1.0:
                return Finding(found.sign, self._confidence, len(self._drawn), self._open_at_first)
            if _asks_of([found], pools):
                return None
            self._wealth[found.sign] = wealth
            rows[found.row] = now[found.row]
            del self._draws[0]
        return None


def _least_mean(rows: Mapping[int, Bounded], shares: Mapping[int, float], sign: int) -> float:
    return math.fsum(shares[i] * least(row, sign) for i, row in rows.items())


def _asks_of(draws: Sequence[Draw], pools: Sequence[QueryPool]) -> list[Ask]:
    return [(found.row, chunk) for found in draws for chunk in found.waiting(pools[found.row])]


def _known(pool: QueryPool) -> str:
    """Return what is known of a pool; of nothing, nothing."""
    narrowed = (
        f" {id} {judgment.lo} {judgment.hi}"
        for id, judgment in zip(pool.ids, pool.judgments, strict=True)
        if judgment.lo > 0 or judgment.hi < pool.grade_max
    )
    return "".join(narrowed)


def _heaviest(row: OpenRow, pool: QueryPool) -> tuple[str, ...]:
    """Return the asks of the row's open unit with the largest weight; of none, nothing."""
    members = [member for member in row.members if pool.asks[member]]
    if not members:
        return ()
    return pool.asks[max(members, key=lambda member: abs(float(row.weights[member])))]
