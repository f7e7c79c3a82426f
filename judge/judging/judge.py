"""The judge: pairs in, verdicts out as they come, nothing paid twice.

stream(pairs) ─► cache, hundreds at a time ─► hits: a verdict at once
                          │ misses
                          ▼
          event loop in its own thread: `Asker.settle`, one task a pair,
          `concurrency` at once ─► kept on disk ─► a verdict
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice
from types import TracebackType
from typing import Self, TypeAlias

from judge.errors import BackendUnavailable
from judge.judging.asking import Asker, verdict_of
from judge.judging.backends.backend import Backend
from judge.judging.budget import FREE, Budget, Forecast, Price
from judge.judging.cache import JudgmentCache
from judge.judging.cache_trouble import CacheTrouble
from judge.judging.claims import Claims, Keyed
from judge.judging.exchange import Pair, Verdict
from judge.judging.ledger import Ledger
from judge.judging.limits import Clock, Limits, SystemClock, Throttle
from judge.judging.loop_thread import LoopThread
from judge.judging.panel import combine
from judge.judging.progress import CallCounts, Progress, Tally
from judge.judging.prompt import Prompt
from judge.judging.prompt_injection import FLAG
from judge.judging.sending import Desk, Line
from judge.run import Notice

__all__ = ["CallCounts", "Judge", "Pair", "Verdict"]

Task: TypeAlias = "asyncio.Task[tuple[Keyed, Verdict | BackendUnavailable]]"

_LOOK_AHEAD = 256
_HANDFUL = 32
_TICK_S = 0.1
_GRACE_S = 2.0


class Judge:
    """Grades pairs with one backend, or with several as a panel.

    Synchronous outside and usable within a running event loop: requests run in a thread of
    their own. Use it as a context manager; leaving it ends what is in flight.

    prices: one a backend, None where it is unknown; by default only offline backends have one
    cache: None judges without one; progress: None shows nothing
    dry_run: send nothing; `forecast` then tells what would have been sent
    """

    def __init__(
        self,
        backends: Sequence[Backend],
        prompt: Prompt,
        *,
        cache: JudgmentCache | None = None,
        limits: Limits | None = None,
        budget: Budget | None = None,
        prices: Sequence[Price | None] | None = None,
        progress: Progress | None = None,
        clock: Clock | None = None,
        chance: random.Random | None = None,
        dry_run: bool = False,
    ) -> None:
        assert backends, "a judge has at least one backend"
        self.prompt = prompt
        self.limits = limits or Limits()
        clock = clock or SystemClock()
        self._foreseen = Forecast()
        self._foreseen_keys: set[Keyed] = set()
        self._dry_run = dry_run
        self._tally = Tally()
        self._ledger = Ledger(cache)
        desk = Desk(self.limits, budget or Budget(), clock, self._tally, self._ledger)
        self._cache = cache
        is_paid = any(backend.remote for backend in backends)
        self._claims = Claims(cache if is_paid else None)
        self._progress = progress
        chance = chance or random.Random()  # noqa: S311 - jitter, not secrecy
        prices = prices or [None if backend.remote else FREE for backend in backends]
        lines = (
            Line(backend, price, Throttle(self.limits, clock, chance), desk)
            for backend, price in zip(backends, prices, strict=True)
        )
        self._askers = tuple(Asker(line, prompt, desk) for line in lines)
        self._slots = asyncio.Semaphore(self.limits.concurrency)
        self._finished: deque[Task] = deque()
        self._news = threading.Event()
        self._waiting: dict[Keyed, list[Pair]] = {}
        self._unavailable: BackendUnavailable | None = None
        self._flagged: set[tuple[str, str]] = set()
        self._is_closing = False
        self._loop: LoopThread[tuple[Keyed, Verdict | BackendUnavailable]] | None = None

    @property
    def name(self) -> str:
        """Return the backend's name, or those of the panel."""
        return ", ".join(asker.line.backend.name for asker in self._askers)

    @property
    def prompt_name(self) -> str:
        """Return the prompt as `name@version`."""
        return self.prompt.label

    @property
    def batch_size(self) -> int:
        """Return how many pairs in hand keep every slot busy."""
        return 4 * self.limits.concurrency

    @property
    def calls(self) -> CallCounts:
        """Return what was sent, served, repeated and lost so far."""
        return self._tally.counts

    @property
    def cost_usd(self) -> float | None:
        """Return what was paid for answers so far; None if a price or a usage is unknown.

        `calls.unanswered` requests may have been billed on top.
        """
        return self._tally.cost_usd

    @property
    def forecast(self) -> Forecast:
        """Return what a dry run would have sent."""
        return replace(self._foreseen, cached=self._tally.cached)

    @property
    def is_dry(self) -> bool:
        """Tell whether this is a dry run: nothing is sent, and no verdict comes from a model."""
        return self._dry_run

    @property
    def stopped(self) -> str:
        """Return why nothing more is sent in this run, or "" while all is well."""
        return next((str(asker.line.stopped) for asker in self._askers if asker.line.stopped), "")

    @property
    def unkept(self) -> int:
        """Return how many replies of this run are not on disk, though they should be."""
        return len(self._ledger.unkept)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Return what the reader of a report should know of how judging went."""
        refused = self._cache.refused if self._cache else 0
        notices = []
        if self.stopped:
            notices.append(Notice("judging_stopped", 1, f"judging stopped: {self.stopped}"))
        troubles = [*(self._cache.notices if self._cache else ()), self._ledger.trouble]
        notices += [Notice("cache_trouble", 1, trouble) for trouble in troubles if trouble]
        if refused:
            text = f"{refused} cache entries could not be read and were asked again"
            notices.append(Notice("cache_refused", refused, text))
        if self._flagged:
            query, chunk = min(self._flagged)
            text = (
                f"{len(self._flagged)} judged chunks hold text that speaks to the judge"
                f" (query {query}, chunk {chunk}, …): look at their grades"
            )
            notices.append(Notice("instruction_like_text", len(self._flagged), text))
        return tuple(notices)

    def stream(self, pairs: Iterable[Pair], *, total: int | None = None) -> Iterator[Verdict]:
        """Yield one verdict a pair, as they finish: cached ones first, in no fixed order.

        `pairs` is read as slots come free; `total` tells the progress line how many there are. A
        pair with the same query and chunk text as another is paid once. BackendUnavailable is
        raised after every reply that was received is yielded; a chunk that failed is a verdict
        without a grade. Read it to its end: what is in flight when it is left early is kept in
        the cache, and the judge takes no other pairs.
        """
        assert not self._waiting, "an earlier stream was left before its end"
        ahead = max(_LOOK_AHEAD, self.batch_size)
        source, size = iter(pairs), _HANDFUL
        self._tally.asked += total or 0
        while self._unavailable is None and (block := list(islice(source, size))):
            # Few at first: while the first request is out, the next pairs are looked up.
            size = min(2 * size, ahead)
            self._tally.asked += len(block) if total is None else 0
            yield from self._begin(block)
            yield from self._collect(leave=ahead)
        yield from self._collect(leave=0)
        if self._ledger.unkept:
            self._ledger.try_again()
        if self._unavailable is not None:
            # Raised in every task that it ended, it carries all of their frames and causes by now.
            raise BackendUnavailable(*self._unavailable.args) from None

    def _begin(self, block: Sequence[Pair]) -> list[Verdict]:
        """Return what the cache knows of a block and start asking for the rest."""
        keyed = list(zip(*(asker.keys(block) for asker in self._askers), strict=True))
        known = self._ledger.find(list(chain.from_iterable(keyed)))
        ready, to_ask = [], []
        for pair, keys in zip(block, keyed, strict=True):
            if all(map(known.__contains__, keys)):
                votes = [verdict_of(known[key], pair, cached=True) for key in keys]
                ready.append(combine(votes, grade_max=self.prompt.grade_max))
            elif self._dry_run:
                ready.append(self._foresee(pair, keys))
            elif keys in self._waiting:
                self._waiting[keys].append(pair)
            else:
                self._refuse_to_lose_what_is_paid()
                self._waiting[keys] = [pair]
                to_ask.append(self._settle(pair, keys))
        if to_ask:
            self._loop_thread().start(to_ask)
        self._count(ready)
        return ready

    def _refuse_to_lose_what_is_paid(self) -> None:
        """Raise CacheTrouble if replies would be paid that the user may not keep."""
        is_paid = any(asker.line.price != FREE for asker in self._askers)
        if is_paid and self._cache is not None and self._cache.forbidden:
            raise CacheTrouble(
                f"cache {self._cache.folder}: {self._cache.forbidden}, so that nothing paid for"
                " could be kept; have it made writable (chmod g+w), or name another folder with"
                " --cache-dir"
            )

    def _foresee(self, pair: Pair, keys: Keyed) -> Verdict:
        """Add the requests a pair would take to the forecast, once for the same texts."""
        for asker in self._askers if keys not in self._foreseen_keys else ():
            self._foreseen = self._foreseen.plus(asker.request(pair), asker.line.price)
        self._foreseen_keys.add(keys)
        return Verdict(
            pair.query_id, pair.id, "failed", None, 0, self.prompt.grade_max, "dry run: not asked"
        )

    async def _settle(self, pair: Pair, keys: Keyed) -> tuple[Keyed, Verdict | BackendUnavailable]:
        self._claims.expect([keys])
        is_known = False
        while True:
            # A slot is held until the reply is on disk: a kill loses at most `concurrency` replies.
            async with self._slots:
                if self._is_closing:
                    raise asyncio.CancelledError  # the time that is left is for what is in flight
                if is_known or self._claims.take(keys):
                    return keys, await self._ask(pair, keys)
            is_known = await self._claims.freed(keys)  # another process asks for it

    async def _ask(self, pair: Pair, keys: Keyed) -> Verdict | BackendUnavailable:
        try:
            if len(keys) == 1:
                return await self._askers[0].settle(pair, keys[0])
            asked = zip(self._askers, keys, strict=True)
            votes = await asyncio.gather(*(asker.settle(pair, key) for asker, key in asked))
        except BackendUnavailable as error:
            return error
        finally:
            self._claims.done(keys)
        return combine(votes, grade_max=self.prompt.grade_max)

    def _collect(self, *, leave: int) -> Iterator[Verdict]:
        """Yield finished verdicts until no more than `leave` pairs are being asked for."""
        while len(self._waiting) > leave or self._finished:
            if not self._finished:
                self._draw()
                self._news.wait(_TICK_S)
                self._news.clear()
                continue
            keys, outcome = self._finished.popleft().result()
            asked = self._waiting.pop(keys)
            if isinstance(outcome, BackendUnavailable):
                self._unavailable = outcome
                continue
            for at, pair in enumerate(asked):
                verdict = outcome if at == 0 else outcome.again(pair)
                self._count([verdict])
                yield verdict

    def _note(self, task: Task) -> None:
        """Queue a finished task; wake the caller for a handful, not for each."""
        if not task.cancelled():
            task.exception()  # a bug is raised once, by the caller, not logged for each task
            self._finished.append(task)
            if len(self._finished) >= min(_HANDFUL, len(self._waiting)):
                self._news.set()

    def _count(self, verdicts: Sequence[Verdict]) -> None:
        tally = self._tally
        tally.done += len(verdicts)
        tally.cached += sum(verdict.cached for verdict in verdicts)
        open_ones = [verdict for verdict in verdicts if verdict.grade is None]
        unasked = sum(_was_not_asked(verdict) for verdict in open_ones) if self.stopped else 0
        tally.not_asked += unasked
        tally.failed += len(open_ones) - unasked
        self._flagged |= {
            (verdict.query_id, verdict.id) for verdict in verdicts if FLAG in verdict.flags
        }
        self._draw()

    def _draw(self) -> None:
        if self._progress is not None:
            throttles = [asker.line.throttle for asker in self._askers]
            self._tally.in_flight = sum(throttle.in_flight for throttle in throttles)
            self._tally.held = sum(throttle.held for throttle in throttles)
            self._progress.draw(self._tally)

    def _loop_thread(self) -> LoopThread[tuple[Keyed, Verdict | BackendUnavailable]]:
        if self._loop is None:
            self._loop = LoopThread(done=self._note, close=self._release, grace_s=_GRACE_S)
        return self._loop

    async def _release(self) -> None:
        self._ledger.flush()
        self._claims.close()
        for asker in self._askers:
            await asker.line.backend.close()

    def close(self) -> None:
        """End what is in flight; every reply that was received is kept."""
        if self._progress is not None:
            self._progress.close()
        self._is_closing = True
        if self._loop is not None:
            self._loop.close()
            self._loop = None
        if self._cache is not None:
            self._cache.close()

    def __enter__(self) -> Self:
        """Return the judge; it starts working with the first pair that is not cached."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the judge."""
        self.close()


def _was_not_asked(verdict: Verdict) -> bool:
    votes = verdict.votes or (verdict,)
    return all(vote.attempts == 0 and not vote.cached for vote in votes)
