"""Puts replies on disk from the event loop: what arrives together is one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

from judge.judging.cache import JudgmentCache
from judge.judging.cache_trouble import DISK_TROUBLE, IF_DAMAGED, is_damage
from judge.judging.entries import Entry, Fields

Given: TypeAlias = tuple[Entry, dict[str, object]]
"""An entry, and the shared values that it refers to."""


class Ledger:
    """Keeps entries; whoever awaits `keep` knows that the entry is on disk.

    Written from the loop's own thread: a transaction takes less than a millisecond, and a
    writer thread would lose more than that to the interpreter's lock for every statement.

    If the disk fails, entries come back as they were given: grades are delivered, and what
    could not be kept waits in `unkept` for `try_again`.
    """

    def __init__(self, cache: JudgmentCache | None) -> None:
        self._cache = cache
        self._pending: list[tuple[Given, asyncio.Future[Entry]]] = []
        self._reason = ""
        self._is_full = False
        self.unkept: list[Given] = []

    @property
    def trouble(self) -> str:
        """Return what is wrong with the disk, and what that costs; "" while all is well."""
        if self._cache is None or not self._reason:
            return ""
        cost = f"{len(self.unkept)} judgments of this run are not kept" if self.unkept else ""
        return "; ".join(filter(None, (f"cache {self._cache.folder}: {self._reason}", cost)))

    def find(self, keys: Sequence[str]) -> dict[str, Fields]:
        """Return the valid verdicts on disk among `keys`; a disk that is full can be read."""
        if self._cache is None:
            return {}
        try:
            return self._cache.find_fields(keys)
        except DISK_TROUBLE as error:
            self._note(error)
            return {}

    def find_news(self, key: str) -> Entry | None:
        """Return the verdict that another process has stored since our bulk look-up, if any."""
        if self._cache is None or not self.has_company():
            return None
        try:
            return self._cache.find([key]).get(key)
        except DISK_TROUBLE as error:
            self._note(error)
            return None

    def has_company(self) -> bool:
        """Tell whether another process stores verdicts too."""
        if self._cache is None:
            return False
        try:
            return self._cache.has_foreign_writes()
        except DISK_TROUBLE as error:
            self._note(error)
            return False

    async def keep(self, entry: Entry, *, shared: dict[str, object]) -> Entry:
        """Store an entry and return what stands for its key."""
        if self._cache is None:
            return entry
        loop = asyncio.get_running_loop()
        kept: asyncio.Future[Entry] = loop.create_future()
        self._pending.append(((entry, shared), kept))
        if len(self._pending) == 1:
            loop.call_soon(self.flush)
        return await kept  # the entry is written even if its task is cancelled meanwhile

    def flush(self) -> None:
        """Write everything that was given to `keep`."""
        batch, self._pending = self._pending, []
        try:
            standing = self._written([given for given, _ in batch]) if batch else []
        except (ValueError, TypeError) as bug:
            for _, kept in batch:  # nobody waits for ever because of it
                if not kept.done():
                    kept.set_exception(bug)
            return
        for (_, kept), entry in zip(batch, standing, strict=True):
            if not kept.done():
                kept.set_result(entry)

    def try_again(self) -> None:
        """Try once more to keep what could not be kept: a disk may have room by now."""
        missing, self.unkept = self.unkept, []
        self._is_full = False
        for given in missing:
            self._written([given])

    def _written(self, batch: Sequence[Given]) -> list[Entry]:
        """Return what stands for each entry of a batch, written one by one if need be."""
        cache, entries = self._cache, [entry for entry, _ in batch]
        if cache is None or cache.only_reads or self._is_full:
            self.unkept += batch if cache is not None else ()
            return entries
        try:
            return cache.keep(entries, shared=_together(batch))
        except DISK_TROUBLE as error:
            self._note(error)
            # A damaged page refuses what belongs on it, a full disk whatever comes.
            self._is_full = len(batch) == 1 and not is_damage(error)
        if len(batch) > 1:
            return [entry for given in batch for entry in self._written([given])]
        self.unkept += batch
        return entries

    def _note(self, error: Exception) -> None:
        self._reason = str(error) or type(error).__name__
        if is_damage(error):
            self._reason += f"; {IF_DAMAGED}"


def _together(batch: Sequence[Given]) -> dict[str, object]:
    return {key: value for _, shared in batch for key, value in shared.items()}
