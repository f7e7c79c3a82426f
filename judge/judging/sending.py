"""One backend's line: requests go out one after another, each counted, limited and timed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from judge.errors import BackendUnavailable
from judge.judging.backends.backend import Backend
from judge.judging.budget import FREE, Budget, Price, estimated_tokens
from judge.judging.exchange import (
    Adjusted,
    CallFailure,
    Denied,
    Lost,
    RateLimited,
    Rejected,
    Reply,
    Request,
    StopAsking,
    Transient,
    Unreachable,
)
from judge.judging.ledger import Ledger
from judge.judging.limits import Clock, Limits, Throttle
from judge.judging.progress import Tally

_UNREACHABLE_S = 5.0
_REJECTED_AT_MOST = 5
_DENIED_AT_MOST = 5
_OF_NO_USE_AT_MOST = 20
_SHORT = 5000
"""Characters that fit into every model's context."""
_BUDGET_TICK_S = 0.05
_IN_VAIN_AT_LEAST = 10


@dataclass(slots=True)
class Desk:
    """What all judges of a run share: limits, budget, clock, counters, and the cache."""

    limits: Limits
    budget: Budget
    clock: Clock
    tally: Tally
    ledger: Ledger


@dataclass(slots=True)
class Usage:
    """What one pair's requests added up to; None is unknown."""

    attempts: int = 0
    held_s: float = 0.0
    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cost_usd: float | None = 0.0

    def lose(self) -> None:
        """Take a request into account whose answer never came."""
        self.prompt_tokens = self.completion_tokens = self.cost_usd = None

    def add(self, reply: Reply, cost_usd: float | None) -> None:
        """Add one reply; a sum with an unknown part is unknown."""
        self.prompt_tokens = _plus(self.prompt_tokens, reply.prompt_tokens)
        self.completion_tokens = _plus(self.completion_tokens, reply.completion_tokens)
        if self.cost_usd is not None:
            self.cost_usd = None if cost_usd is None else self.cost_usd + cost_usd


class Line:
    """Sends requests to one backend: one call of `send` is one request on the wire.

    The first request goes alone, so that a wrong key or a parameter that the model does not take
    costs one request and not a thousand.
    Where nothing but failures came for twice the time that one pair is retried, the judge is out
    of reach: a thousand pairs would be retried in vain one after another.
    The backend is opened before anything is timed: an import is no part of an attempt.
    After StopAsking or BackendUnavailable nothing more is sent.
    """

    def __init__(
        self, backend: Backend, price: Price | None, throttle: Throttle, desk: Desk
    ) -> None:
        self.backend = backend
        self.throttle = throttle
        self.price = price
        self._desk = desk
        self._stopped: StopAsking | BackendUnavailable | None = None
        self._is_open = False
        self._opening = asyncio.Lock()
        self._tried = False
        self._first_ended = asyncio.Event()
        self._answered = False
        self._started_at = 0.0
        self._rejected = 0
        self._denied = 0
        self._of_no_use = 0
        self._longest_answered = 0
        self._in_vain = 0
        self._in_vain_since = 0.0

    @property
    def stopped(self) -> StopAsking | BackendUnavailable | None:
        """Return why nothing more is sent, if so."""
        return self._stopped

    async def send(self, request: Request, usage: Usage) -> Reply:
        """Send one request when its turn comes and add it to `usage`.

        Raises a CallFailure, StopAsking or BackendUnavailable.
        """
        if self.backend.recorded:
            return await self.backend.answer(request)
        try:
            return await self._send(request, usage)
        except (StopAsking, BackendUnavailable) as stop:
            self._stopped = stop
            raise

    async def _send(self, request: Request, usage: Usage) -> Reply:
        if not self._is_open:
            usage.held_s += await self._open()
        await self._let_the_first_go_alone()
        usage.held_s += await self.throttle.admit(estimated_tokens(request))
        sent_at = self._desk.clock.now()
        try:
            return await self._attempt(request, usage)
        except RateLimited as failure:
            self.throttle.slow_down(failure, sent_at=sent_at)
            raise
        except Adjusted:
            self._tried = self._answered  # the next try is the first of its kind: it goes alone
            raise
        except Denied as failure:
            self._give_up_if_it_is_not_this_text(failure)
            raise
        except (Transient, Rejected) as failure:
            if isinstance(failure, Transient) and failure.retry_after_s is not None:
                self.throttle.hold(failure, failure.retry_after_s)
            self._give_up_if_nothing_ever_worked(failure)
            self._give_up_if_nothing_works_any_more(failure, sent_at=sent_at)
            raise
        finally:
            self.throttle.release()
            if self._tried:
                self._first_ended.set()

    async def _open(self) -> float:
        """Open the backend if nobody has; return the seconds spent, which are no request's."""
        start = self._desk.clock.now()
        async with self._opening:
            if self._stopped is not None:
                raise self._stopped
            if not self._is_open:
                await self.backend.open()
                self._is_open = True
        return self._desk.clock.now() - start

    async def _let_the_first_go_alone(self) -> None:
        if not self._tried:
            self._tried = True
            self._started_at = self._desk.clock.now()
        elif not self._first_ended.is_set():
            try:
                async with asyncio.timeout(2 * self._desk.limits.attempt_s):
                    await self._first_ended.wait()
            except TimeoutError:
                self._first_ended.set()  # it was given up before it could be sent

    async def _attempt(self, request: Request, usage: Usage) -> Reply:
        desk, reply, lost = self._desk, None, False
        while desk.budget.must_wait(request, self.price):
            await desk.clock.sleep(_BUDGET_TICK_S)
        if self._stopped is not None:
            raise self._stopped
        reserved = desk.budget.take(request, self.price)
        desk.tally.made += 1
        desk.tally.retried += usage.attempts > 0
        usage.attempts += 1
        try:
            reply = await self._answer(request)
        except (CallFailure, asyncio.CancelledError) as failure:
            may_be_billed = getattr(failure, "may_be_billed", self.backend.remote)
            lost = may_be_billed and self.price != FREE
            raise
        finally:
            cost_usd = desk.budget.settle(reserved, reply, self.price, lost=lost)
            if lost:
                usage.lose()
                desk.tally.unanswered += 1
        usage.add(reply, cost_usd)
        desk.tally.add_cost(cost_usd)
        self._answered = True
        self._in_vain = self._denied = 0
        self._longest_answered = max(self._longest_answered, _size(request))
        self.throttle.replied()
        return reply

    async def _answer(self, request: Request) -> Reply:
        """Return the reply within the deadline of one attempt, which is ours, not a server's."""
        limit_s = self._desk.limits.attempt_s
        if not self.backend.remote:
            return await self.backend.answer(request)
        try:
            async with asyncio.timeout(limit_s):
                return await self.backend.answer(request)
        except TimeoutError as error:
            raise Lost(f"no answer within {limit_s:g} s") from error

    def seems_too_long(self, request: Request) -> bool:
        """Tell whether a request that was rejected is longer than all that were answered.

        Servers have many words for it, and some have none.
        """
        return self.backend.remote and _size(request) > max(self._longest_answered, _SHORT)

    def judge_use(self, *, of_use: bool, reason: str) -> None:
        """Take into account whether a reply could be used at all; `reason` says why not.

        Nothing more is sent after twenty in a row that could not. What is in flight may end.
        """
        self._of_no_use = 0 if of_use else self._of_no_use + 1
        if self._of_no_use >= _OF_NO_USE_AT_MOST and self._stopped is None and self.backend.remote:
            found = f"{self._of_no_use} replies in a row were of no use, the last: {reason}"
            self._stopped = BackendUnavailable(f"{self.backend.name}: {found}")

    def _give_up_if_it_is_not_this_text(self, failure: Denied) -> None:
        """Raise BackendUnavailable unless others are answered where this one is forbidden."""
        self._denied += 1
        if not self._answered or self._denied >= _DENIED_AT_MOST:
            raise BackendUnavailable(f"{self.backend.name}: {failure}") from failure

    def _give_up_if_nothing_ever_worked(self, failure: CallFailure) -> None:
        if self._answered or not self.backend.remote:
            return
        waited = self._desk.clock.now() - self._started_at
        self._rejected += isinstance(failure, Rejected)
        unreachable = isinstance(failure, Unreachable) and waited > _UNREACHABLE_S
        if unreachable or self._rejected >= _REJECTED_AT_MOST:
            raise BackendUnavailable(f"{self.backend.name}: {failure}") from failure

    def _give_up_if_nothing_works_any_more(self, failure: CallFailure, *, sent_at: float) -> None:
        if not isinstance(failure, Transient):
            self._in_vain = 0  # the server is there and understands us
            return
        if not self._in_vain:
            self._in_vain_since = sent_at
        self._in_vain += 1
        waited_s = self._desk.clock.now() - self._in_vain_since
        if self._in_vain >= _IN_VAIN_AT_LEAST and waited_s > 2 * self._desk.limits.total_s:
            reason = f"{failure}; no reply for {waited_s:.0f} s"
            raise BackendUnavailable(f"{self.backend.name}: {reason}") from failure


def _size(request: Request) -> int:
    return sum(len(turn.content) for turn in request.messages)


def _plus(total: int | None, more: int | None) -> int | None:
    return None if total is None or more is None else total + more
