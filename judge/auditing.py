"""What a read log has earned: a random sample of its pairs, held against better grades.

A decided pair is evidence with an error that votes do not show: sessions that share a cause
(a misleading snippet, one agent in all of them) are wrong together. So a sample of pairs is
graded before any pair narrows a grade. A pair is contradicted where its winner is graded
below its loser.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from judge.evidence.pool import QueryPool
from judge.grades import Judgment
from judge.judging.selector import Ask, Selector
from judge.statistics.proportion import UPPER_LEVEL, upper_share

AUDITED_SHARE = 0.10
AUDITED_LEAST = 20
LOG_ERROR = 0.10


@dataclass(frozen=True, slots=True)
class LogUse:
    """What a read log may do in a grading.

    error_limit: its pairs narrow grades where at most this share of them is contradicted
    audits: the judge sees a sample of pairs before anything else
    settles: rows that the pairs of a trusted log settle are not judged
    """

    error_limit: float = LOG_ERROR
    audits: bool = True
    settles: bool = True


@dataclass(frozen=True, slots=True)
class Checked:
    """Pairs whose chunks have grades, and how many of them these contradict."""

    pairs: int = 0
    contradicted: int = 0

    @property
    def share(self) -> float:
        """Return the share contradicted; 1 where nothing was checked: nothing is known."""
        return self.contradicted / self.pairs if self.pairs else 1.0


@dataclass(frozen=True, slots=True)
class LogTrust:
    """How often the pairs of a log are contradicted, and whether that is seldom enough.

    audited: of a random sample of the pairs that no known grades decide
    known: of all pairs whose chunks goldens, labels or earlier grades know, both of them
    waiting: how many pairs the sample was drawn from
    limit: the largest share contradicted that earns trust
    """

    audited: Checked
    known: Checked
    waiting: int
    limit: float

    @property
    def checked(self) -> Checked:
        """Return what the bound rests on: the sample, or known grades where there is none."""
        return self.audited if self.audited.pairs else self.known

    @property
    def at_most(self) -> float:
        """Return what the share contradicted lies below, with `UPPER_LEVEL` confidence.

        Where every pair was drawn that share is known.
        """
        if self.waiting and self.audited.pairs == self.waiting:
            return self.audited.share
        return upper_share(self.checked.contradicted, self.checked.pairs)

    @property
    def is_known(self) -> bool:
        """Tell whether enough pairs were checked to say anything."""
        enough = AUDITED_LEAST
        if self.audited.pairs:
            enough = min(enough, self.waiting)
        return self.checked.pairs >= enough

    @property
    def is_trusted(self) -> bool:
        """Tell whether the log's pairs may narrow grades; a limit of 1 asks for no proof."""
        if not self.is_known:
            return self.limit >= 1.0
        both = Checked(
            self.audited.pairs + self.known.pairs,
            self.audited.contradicted + self.known.contradicted,
        )
        return max(self.checked.share, both.share) <= self.limit

    @property
    def condition(self) -> str:
        """Return the words beside every number that rests on the log."""
        if not self.checked.pairs:
            return "if the log is right (nobody checked)"
        found = f"{self.checked.contradicted:,} of {self.checked.pairs:,} contradicted"
        return f"if the log is right ({found}, at most {_share(self.at_most)})"

    def sentence(self) -> str:
        """Return how the log was checked, and what its pairs may do."""
        parts = []
        if self.audited.pairs:
            found = f"{self.audited.contradicted:,} of {self.audited.pairs:,}"
            parts.append(f"the judge contradicts {found} pairs drawn from {self.waiting:,}")
        if self.known.pairs:
            found = f"{self.known.contradicted:,} of {self.known.pairs:,}"
            parts.append(f"known grades contradict {found} pairs")
        told = " and ".join(parts) or "nobody checked its pairs"
        if self.is_known:
            told += f" (at most {_share(self.at_most)} are wrong, {UPPER_LEVEL:.1%} confidence)"
        return f"read log: {told}; {self._consequence}"

    @property
    def _consequence(self) -> str:
        if self.is_trusted:
            return "what rests on them is marked"
        why = f"above {_share(self.limit)}" if self.is_known else f"{AUDITED_LEAST} are needed"
        return f"{why}, so they only say what to ask first"


def _share(value: float) -> str:
    """Return a share as it stands in a sentence: `.17`.

    >>> _share(0.1692), _share(1.0)
    ('.17', '1')
    """
    return f"{value:.2f}".removeprefix("0") if value < 0.995 else "1"


@dataclass(frozen=True, slots=True)
class _Pair:
    """An order of a log between two units of the pool at a place."""

    at: int
    winner: str
    loser: str


class LogAudit:
    """Draws pairs of a log, says what to ask about them, and compares."""

    def __init__(self, bare: Sequence[QueryPool], logged: Sequence[QueryPool]) -> None:
        """Take the pools before any judging, without the log's pairs and with them."""
        known, waiting = [], []
        for pair in _pairs(bare, logged):
            pool = bare[pair.at]
            ends = [_place(pool)[name] for name in (pair.winner, pair.loser)]
            is_open = [pool.judgments[end].is_open for end in ends]
            if not any(is_open):
                known.append(pair)
            elif all(pool.asks[end] for end, open_ in zip(ends, is_open, strict=True) if open_):
                waiting.append(pair)
        self._known = _compared(known, bare)
        # The same sample each time, whatever the order of the rows: the cache has it then.
        keys = [pool.query.key for pool in bare]
        self._waiting = sorted(waiting, key=lambda pair: _lot(keys[pair.at], pair))
        self._drawn = 0

    def asks(self, pools: Sequence[QueryPool]) -> list[Ask]:
        """Return what to ask next; nothing once enough pairs are graded, or none is left.

        A pair that the judge fails on is replaced by the next one.
        """
        n = len(self._waiting)
        wanted = min(n, max(AUDITED_LEAST, math.ceil(AUDITED_SHARE * n)))
        while self._drawn < n:
            short = wanted - self._audited(pools).pairs
            if short <= 0:
                break
            fresh = self._waiting[self._drawn : self._drawn + short]
            self._drawn += len(fresh)
            asks = dict.fromkeys(ask for pair in fresh for ask in _asks(pair, pools[pair.at]))
            if asks:
                return list(asks)
        return []

    def trust(self, pools: Sequence[QueryPool], *, limit: float) -> LogTrust:
        """Return what the log has earned, by the grades that the pools hold now."""
        return LogTrust(self._audited(pools), self._known, len(self._waiting), limit)

    def _audited(self, pools: Sequence[QueryPool]) -> Checked:
        return _compared(self._waiting[: self._drawn], pools)


@dataclass(frozen=True, slots=True)
class AuditFirst:
    """A selector that audits a log before another one asks about anything.

    logged: returns the pools as they are with the log's pairs; given these, `then` asks
        nothing that a trusted log settles
    """

    audit: LogAudit
    then: Selector
    use: LogUse
    logged: Callable[[Sequence[QueryPool]], Sequence[QueryPool]]

    def next(self, pools: Sequence[QueryPool], *, limit: int) -> list[Ask]:
        """Return the audit's asks while there are any, then those of the other selector."""
        if self.use.audits and (asks := self.audit.asks(pools)):
            return asks
        trust = self.audit.trust(pools, limit=self.use.error_limit)
        known = self.logged(pools) if self.use.settles and trust.is_trusted else pools
        return self.then.next(known, limit=limit)


def _pairs(bare: Sequence[QueryPool], logged: Sequence[QueryPool]) -> Iterator[_Pair]:
    for at, (pool, ordered) in enumerate(zip(bare, logged, strict=True)):
        place = _place(pool) if ordered is not pool else {}
        for winner, loser in (*ordered.orders, *ordered.withdrawn):
            names = ordered.ids[winner], ordered.ids[loser]
            if all(name in place for name in names):
                yield _Pair(at, *names)


def _place(pool: QueryPool) -> dict[str, int]:
    return {name: at for at, name in enumerate(pool.ids)}


def _asks(pair: _Pair, pool: QueryPool) -> Iterator[Ask]:
    place = _place(pool)
    for name in (pair.winner, pair.loser):
        yield from ((pair.at, chunk) for chunk in pool.asks[place[name]])


def _compared(pairs: Sequence[_Pair], pools: Sequence[QueryPool]) -> Checked:
    """Count the pairs that the pools' grades confirm or contradict; ranges may do neither."""
    told = []
    for pair in pairs:
        grades: dict[str, Judgment] = dict(
            zip(pools[pair.at].ids, pools[pair.at].judgments, strict=True)
        )
        winner, loser = grades[pair.winner], grades[pair.loser]
        if winner.hi < loser.lo:
            told.append(True)
        elif winner.lo >= loser.hi:
            told.append(False)
    return Checked(len(told), sum(told))


def _lot(key: str, pair: _Pair) -> bytes:
    data = "\0".join((key, pair.winner, pair.loser)).encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).digest()
