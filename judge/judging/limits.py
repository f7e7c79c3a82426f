"""How fast and how long: the limits a user sets, and the one throttle all workers share."""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from dataclasses import dataclass
from typing import Protocol

from judge.judging.exchange import CallFailure, RateLimited, StopAsking

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on judging; nothing here can change a reply, so none of it enters a cache key.

    concurrency: requests in flight at once, at most
    rpm, tpm: requests and tokens a minute, None for no limit of our own
    attempt_s: how long one request may take before its slot is freed
    total_s: how long one pair is retried, waiting for a rate limit not counted
    wait_cap_s: the longest wait a server may ask for; beyond it the run stops cleanly
    stall_s: how long the whole run waits for a rate limit without one reply
    """

    concurrency: int = 16
    rpm: float | None = None
    tpm: float | None = None
    attempt_s: float = 60.0
    total_s: float = 300.0
    wait_cap_s: float = 120.0
    stall_s: float = 600.0


class Clock(Protocol):
    """Time as the judge sees it; tests pass one that does not wait."""

    def now(self) -> float:
        """Return seconds from an arbitrary start, never going back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""
        ...


class SystemClock:
    """The real clock."""

    def now(self) -> float:
        """Return `time.monotonic()`."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Sleep in the event loop."""
        await asyncio.sleep(seconds)


class Throttle:
    """Admits requests: at most `concurrency` at once, and fewer once the server says 429.

    The width halves with the first 429 of a burst and grows by one for every width's worth of
    replies. A pause holds every worker back, not the one that was told to wait.
    """

    def __init__(self, limits: Limits, clock: Clock, chance: random.Random) -> None:
        self._limits = limits
        self._clock = clock
        self._chance = chance
        self._width = float(limits.concurrency)
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._open_at = self._cut_at = float("-inf")
        self._cuts = 0
        self._next_at = float("-inf")
        self._limited_since: float | None = None
        self.in_flight = 0
        self.held = 0
        """Requests that wait for a limit right now."""

    @property
    def width(self) -> int:
        """Return how many requests may be in flight at once now."""
        return max(1, int(self._width))

    async def admit(self, tokens: int) -> float:
        """Wait until one more request may go out; return the seconds spent waiting."""
        start = self._clock.now()
        self.held += 1
        try:
            while True:
                if (delay := self._delay()) > 0:
                    await self._clock.sleep(delay)
                elif self.in_flight >= self.width:
                    await self._turn()
                else:
                    break
        finally:
            self.held -= 1
        self.in_flight += 1
        self._pace(tokens)
        return self._clock.now() - start

    def _delay(self) -> float:
        return max(self._open_at, self._next_at) - self._clock.now()

    async def _turn(self) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        finally:
            if turn in self._waiting:
                self._waiting.remove(turn)

    def _pace(self, tokens: int) -> None:
        """Space requests evenly: never a burst, so never more than the limit in any minute."""
        gap = 60 / self._limits.rpm if self._limits.rpm else 0.0
        if self._limits.tpm:
            gap = max(gap, tokens * 60 / self._limits.tpm)
        self._next_at = max(self._next_at, self._clock.now()) + gap if gap else self._next_at

    def release(self) -> None:
        """Give the place of a finished request to the next one."""
        self.in_flight -= 1
        self._wake_one()

    def replied(self) -> None:
        """Widen a little: the server answered."""
        self._limited_since = None
        self._cuts = 0
        self._width = min(self._limits.concurrency, self._width + 1 / self._width)
        self._wake_one()

    def _wake_one(self) -> None:
        if self.in_flight >= self.width:
            return
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def slow_down(self, failure: RateLimited, *, sent_at: float) -> None:
        """Hold everybody back after a 429 for a request sent at `sent_at`.

        StopAsking if the server asks for more than the cap, or nothing got through for too long.
        """
        now = self._clock.now()
        if failure.retry_after_s is not None:
            self.hold(failure, failure.retry_after_s)
        if self._limited_since is None:
            self._limited_since = now
        elif now - self._limited_since > self._limits.stall_s:
            raise StopAsking(f"{failure}; no reply for {now - self._limited_since:.0f} s")
        if sent_at >= self._cut_at:
            # Only the first 429 of a burst narrows: the others were sent before we knew.
            self._cut_at = now
            self._cuts += 1
            self._width = max(1.0, self._width / 2)
            ceiling = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**self._cuts)
            self._open_at = max(self._open_at, now + self._chance.uniform(0, ceiling))

    def hold(self, failure: CallFailure, asked_s: float) -> None:
        """Hold everybody back for as long as a server asks for.

        StopAsking if that is more than the cap.
        """
        if asked_s > self._limits.wait_cap_s:
            raise StopAsking(f"{failure}; come back in {asked_s:.0f} s")
        self._open_at = max(self._open_at, self._clock.now() + asked_s)
