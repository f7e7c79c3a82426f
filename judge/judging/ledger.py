"""Puts replies on disk from the event loop: what arrives together is one transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Sequence

from judge.judging.cache import DISK_TROUBLE, IF_DAMAGED, JudgmentCache
from judge.judging.entries import Entry, Fields


class Ledger:
    """Keeps entries; whoever awaits `keep` knows that the entry is on disk.

    Written from the loop's own thread: a transaction takes less than a millisecond, and a
    writer thread would lose more than that to the interpreter's lock for every statement.

    If the disk fails, entries come back as they were given and `trouble` says why: grades are
    delivered, uncached.
    """

    def __init__(self, cache: JudgmentCache | None) -> None:
        self._cache = cache
        self._pending: list[tuple[Entry, dict[str, object], asyncio.Future[Entry]]] = []
        self.trouble = ""

    def find(self, keys: Sequence[str]) -> dict[str, Fields]:
        """Return the valid verdicts on disk among `keys`; a disk that is full can be read."""
        if self._cache is None:
            return {}
        try:
            return self._cache.find_fields(keys)
        except DISK_TROUBLE as error:
            self._fail(self._cache, error)
            return {}

    def find_news(self, key: str) -> Entry | None:
        """Return the verdict that another process has stored since our bulk look-up, if any."""
        if self._cache is None or not self.has_company():
            return None
        try:
            return self._cache.find([key]).get(key)
        except DISK_TROUBLE as error:
            self._fail(self._cache, error)
            return None

    def has_company(self) -> bool:
        """Tell whether another process stores verdicts too."""
        if self._cache is None or self.trouble:
            return False
        try:
            return self._cache.has_foreign_writes()
        except DISK_TROUBLE as error:
            self._fail(self._cache, error)
            return False

    async def keep(self, entry: Entry, *, shared: dict[str, object]) -> Entry:
        """Store an entry and return what stands for its key."""
        if self._cache is None or self.trouble:
            return entry
        loop = asyncio.get_running_loop()
        kept: asyncio.Future[Entry] = loop.create_future()
        self._pending.append((entry, shared, kept))
        if len(self._pending) == 1:
            loop.call_soon(self.flush)
        return await kept  # the entry is written even if its task is cancelled meanwhile

    def flush(self) -> None:
        """Write everything that was given to `keep`."""
        batch, self._pending = self._pending, []
        entries = [entry for entry, _, _ in batch]
        shared = {key: value for _, some, _ in batch for key, value in some.items()}
        try:
            standing = self._written(entries, shared) if batch else []
        except (ValueError, TypeError) as bug:
            for _, _, kept in batch:  # nobody waits for ever because of it
                if not kept.done():
                    kept.set_exception(bug)
            return
        for (_, _, kept), entry in zip(batch, standing, strict=True):
            if not kept.done():
                kept.set_result(entry)

    def _written(self, entries: list[Entry], shared: dict[str, object]) -> list[Entry]:
        if self._cache is None or self.trouble:
            return entries
        try:
            return self._cache.keep(entries, shared=shared)
        except DISK_TROUBLE as error:
            self._fail(self._cache, error)
            return entries

    def _fail(self, cache: JudgmentCache, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        self.trouble = f"cache {cache.folder}: {reason}; judgments are not kept from here on"
        if type(error) is sqlite3.DatabaseError:
            self.trouble += f"; {IF_DAMAGED}"
