"""Who asks for what: a pair that one process asks for, another one waits for.

A claim is a row beside the entries, with a time limit that its owner puts off while it lives. It
goes when the reply is kept, or when there is none to keep; an owner that died leaves claims that
run out, at once where its process can be seen to be gone.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain
from typing import TypeAlias

from judge.judging.cache import JudgmentCache
from judge.judging.cache_trouble import DISK_TROUBLE
from judge.judging.claim_table import LEASE_S

Keyed: TypeAlias = tuple[str, ...]
"""A pair's cache keys, one a backend."""

_HANDFUL = 32
_POLL_S = 0.05


class Claims:
    """The pairs that this process asks for; used in the event loop only.

    Claimed by the handful, in the order in which pairs are expected: one transaction for each
    would cost more than it saves. Where the disk fails, everything is ours to ask.

    cache: None where nothing is shared or nothing is paid
    """

    def __init__(self, cache: JudgmentCache | None) -> None:
        self._cache = cache if cache is not None and not cache.only_reads else None
        self._expected: deque[Keyed] = deque()
        self._ours: set[Keyed] = set()
        self._foreign: set[Keyed] = set()
        self._passed: set[Keyed] = set()
        self._waiting: dict[Keyed, asyncio.Future[bool]] = {}
        self._is_polling = False
        self._to_release: list[str] = []
        self._timers: list[asyncio.TimerHandle] = []

    def expect(self, pairs: Iterable[Keyed]) -> None:
        """Take note of pairs that will be asked for next."""
        if self._cache is not None:
            self._expected.extend(pairs)

    def take(self, pair: Keyed) -> bool:
        """Claim a pair; tell whether it is ours to ask."""
        if self._cache is None or pair in self._ours:
            return True
        if pair in self._foreign:  # as was found when it was the next of a handful
            self._foreign.discard(pair)
            return False
        wanted = [pair]
        while self._expected and len(wanted) < _HANDFUL:
            following = self._expected.popleft()
            if following != pair and following not in self._passed:
                wanted.append(following)
        self._passed.add(pair)
        try:
            done, self._to_release = self._to_release, []
            held = self._cache.claim(list(chain.from_iterable(wanted)), done=done)
            free = {keys for keys in wanted if held.isdisjoint(keys)}
            if held and (parts := set(chain.from_iterable(set(wanted) - free)) - held):
                self._cache.release(parts)  # of a panel's pair all keys are ours, or none
        except DISK_TROUBLE:
            return True
        self._ours |= free
        self._foreign.update(keys for keys in wanted[1:] if keys not in free)
        if not self._timers:
            self._renew_later(self._cache)
        return pair in self._ours

    def done(self, pair: Keyed) -> None:
        """Give a pair back: with the next claim, at once where there will be none."""
        self._ours.discard(pair)
        self._passed.discard(pair)
        if self._cache is None:
            return
        self._to_release += pair
        if not self._expected or len(self._to_release) >= _HANDFUL:
            asyncio.get_running_loop().call_soon(self._release)

    async def freed(self, pair: Keyed) -> bool:
        """Return when no other process asks for a pair any more: whether its verdict is there."""
        loop = asyncio.get_running_loop()
        freed: asyncio.Future[bool] = loop.create_future()
        self._waiting[pair] = freed
        if not self._is_polling:
            self._is_polling = True
            loop.call_later(_POLL_S, self._poll)
        try:
            return await freed
        finally:
            self._waiting.pop(pair, None)

    def _poll(self) -> None:
        if not self._waiting or self._cache is None:
            self._is_polling = False
            return
        held, known = set[str](), set[str]()
        with suppress(*DISK_TROUBLE):
            held, known = self._cache.still_asked(list(chain.from_iterable(self._waiting)))
        for pair, freed in self._waiting.items():
            if held.isdisjoint(pair) and not freed.done():
                freed.set_result(known.issuperset(pair))
        asyncio.get_running_loop().call_later(_POLL_S, self._poll)

    def _release(self) -> None:
        keys, self._to_release = self._to_release, []
        if self._cache is not None and keys:
            with suppress(*DISK_TROUBLE):
                self._cache.release(keys)

    def _renew_later(self, cache: JudgmentCache) -> None:
        def renew() -> None:
            with suppress(*DISK_TROUBLE):
                cache.renew_claims()
            self._renew_later(cache)

        # The real clock: it is other processes that wait.
        self._timers = [asyncio.get_running_loop().call_later(LEASE_S / 4, renew)]

    def close(self) -> None:
        """Give back everything."""
        for timer in self._timers:
            timer.cancel()
        if self._cache is not None and (self._timers or self._to_release):
            with suppress(*DISK_TROUBLE):
                self._cache.release()
