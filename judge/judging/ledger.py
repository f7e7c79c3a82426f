"""Puts replies on disk from the event loop: in batches, off the loop's thread, never late."""

from __future__ import annotations

import asyncio
import functools
import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from judge.judging.cache import DISK_TROUBLE, JudgmentCache
from judge.judging.entries import Entry


class Ledger:
    """Queues entries for one writer thread; whoever awaits `keep` knows the entry is on disk.

    Entries that arrive while a transaction runs share the next one. If the disk fails, entries
    come back as they were given and `trouble` says why: grades are delivered, uncached.
    """

    def __init__(self, cache: JudgmentCache | None) -> None:
        self._cache = cache
        self._pending: list[tuple[Entry, dict[str, object], asyncio.Future[Entry]]] = []
        self._writing: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="judge-cache")
        self.trouble = ""

    def find(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the valid verdicts on disk among `keys`; none once the disk has failed."""
        if self._cache is None or self.trouble:
            return {}
        try:
            return self._cache.find(keys)
        except sqlite3.Error as error:
            self.trouble = f"cache {self._cache.folder}: {error}; nothing is read from it"
            return {}

    async def keep(self, entry: Entry, *, shared: dict[str, object]) -> Entry:
        """Store an entry and return what stands for its key."""
        if self._cache is None or self.trouble:
            return entry
        loop = asyncio.get_running_loop()
        kept: asyncio.Future[Entry] = loop.create_future()
        self._pending.append((entry, shared, kept))
        if self._writing is None or self._writing.done():
            self._writing = loop.create_task(self._write(self._cache))
        return await kept

    async def _write(self, cache: JudgmentCache) -> None:
        while self._pending:
            batch, self._pending = self._pending, []
            entries = [entry for entry, _, _ in batch]
            shared = {key: value for _, some, _ in batch for key, value in some.items()}
            loop = asyncio.get_running_loop()
            standing = entries
            try:
                store = functools.partial(cache.keep, entries, shared=shared)
                standing = await loop.run_in_executor(self._thread, store)
            except DISK_TROUBLE as error:
                reason = str(error) or type(error).__name__
                self.trouble = (
                    f"cache {cache.folder}: {reason}; judgments are not kept from here on"
                )
            finally:
                for (_, _, kept), entry in zip(batch, standing, strict=True):
                    if not kept.done():
                        kept.set_result(entry)

    async def close(self) -> None:
        """Return when everything given to `keep` is on disk."""
        if self._writing is not None:
            await self._writing
        self._thread.shutdown()
