"""One measure of a gate while the judge is asked: how it stands, and what to ask for it next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from judge.evidence.pool import QueryPool
from judge.judging.selector import Ask
from judge.measures.bounds_ratio import TOLERANCE
from judge.measures.names import Measure
from judge.measures.pool import Bounded
from judge.scoring import Scale
from judge.stopping.ahead import BATCH_PART, LookAhead
from judge.stopping.columns import GateColumns, difference_of
from judge.stopping.goals import HEDGE, Aim, Standing
from judge.stopping.outcome import Outcome, Rule
from judge.stopping.ruling import GateRows, Ruling, rule_on


class Watched:
    """One measure that gates, of which only what changed is looked at anew."""

    def __init__(self, measure: Measure, *, runs: int, scale: Scale, rule: Rule) -> None:
        self._measure = measure
        self._rule = rule
        self._columns = GateColumns(measure, runs=runs, scale=scale)
        difference = difference_of(measure, runs=runs, scale=scale)
        self._ahead = LookAhead(difference) if difference.is_ndcg else None

    def view(self, pools: Sequence[QueryPool]) -> View | None:
        """Return how the measure stands; None where no row has it."""
        rows = self._columns.rows(pools)
        if rows is None:
            return None
        standing = None if self._ahead is None else self._ahead.standing(pools)
        expected = (
            [(row.lo + row.hi) / 2.0 for row in rows.differences]
            if standing is None
            else standing.expected
        )
        guesses = [Bounded(value, value, value) for value in expected]
        ruling = rule_on(rows, self._rule)
        worst, best = (self._columns.pinned(rows, pools, at_hi=at_hi) for at_hi in (False, True))
        return View(
            measure=self._measure,
            rows=rows,
            ruling=ruling,
            worst=ruling if worst is rows else rule_on(worst, self._rule),
            best=ruling if best is rows else rule_on(best, self._rule),
            guess=rule_on(replace(rows, differences=guesses), self._rule),
            standing=standing,
            ahead=self._ahead,
        )


@dataclass(frozen=True, slots=True)
class View:
    """How one measure stands with the pools as they are.

    worst, best: the ruling with what cannot be asked about at its lower and its upper end
    guess: the ruling at the expected grades
    standing, ahead: for nDCG, whose rows can be looked ahead
    """

    measure: Measure
    rows: GateRows
    ruling: Ruling
    worst: Ruling
    best: Ruling
    guess: Ruling
    standing: Standing | None
    ahead: LookAhead | None

    def asks_whether_it_fails(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return asks about what could fail; nothing where no asking can show a fail."""
        if Outcome.FAIL not in self.best.possible:
            return []
        could = self.ruling.could_fail
        likely = [name for name in could if name in self.guess.failed]
        aims = [replace(_TO_FAIL, rows=self._places(likely))] if likely else []
        return self._asks(pools, [*aims, replace(_TO_PASS, rows=self._places(could))], limit=limit)

    def asks_whether_it_passes(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return asks that could tell pass from undecided; nothing where none could."""
        if Outcome.PASS not in self.worst.possible or not self.ruling.is_open:
            return []
        aim = _TO_PASS if self.guess.outcome is Outcome.PASS else _EITHER
        return self._asks(pools, [aim], limit=limit)

    def _asks(self, pools: Sequence[QueryPool], aims: Sequence[Aim], *, limit: int) -> list[Ask]:
        """Return asks towards the first aim that has some."""
        if self.measure.family == "golden":
            # Only a row that failed to run leaves it open.
            return []
        found = (self._towards(pools, aim, limit=limit) for aim in aims)
        return next(filter(None, found), [])

    def _places(self, parts: Collection[str | None]) -> frozenset[int] | None:
        """Return the rows, by place among those that have the measure, of slices; None for all."""
        if None in parts:
            return None
        return frozenset(at for at, name in enumerate(self.rows.slices) if name in parts)

    def _towards(self, pools: Sequence[QueryPool], aim: Aim, *, limit: int) -> list[Ask]:
        """Return asks towards an aim in the rows it names; nothing where no open one is left."""
        if self.ahead is not None and self.standing is not None:
            asks = self.ahead.asks(pools, self.standing, aim, limit=limit)
            if asks:
                return asks
        places = range(len(self.rows.at)) if aim.rows is None else aim.rows
        moving = [at for at in places if _is_open(self.rows.differences[at])]
        return self._shown(pools, moving, limit=limit)

    def _shown(
        self, pools: Sequence[QueryPool], places: Collection[int], *, limit: int
    ) -> list[Ask]:
        """Return asks about chunks above the cutoff in some rows, the highest shown first."""
        found: dict[Ask, int] = {}
        for place in sorted(places):
            at = self.rows.at[place]
            for chunk, rank in _highest(pools[at], self.measure.k):
                found.setdefault((at, chunk), rank)
        return sorted(found, key=lambda ask: found[ask])[: max(1, limit // BATCH_PART)]


def _highest(pool: QueryPool, k: int | None) -> Iterator[tuple[str, int]]:
    """Yield the chunks that can be asked about and are shown above k, and their ranks."""
    for ranking in reversed(pool.rankings):
        for rank, member in enumerate(ranking[:k]):
            if member is not None:
                yield from ((chunk, rank) for chunk in pool.asks[member])


def _is_open(row: Bounded) -> bool:
    return row.hi - row.lo > TOLERANCE


_TO_PASS = Aim(raise_lo=1.0, lower_hi=HEDGE)
_TO_FAIL = Aim(raise_lo=HEDGE, lower_hi=1.0)
_EITHER = Aim(raise_lo=1.0, lower_hi=1.0)
