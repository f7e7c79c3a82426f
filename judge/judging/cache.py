"""Every reply that was ever received, on disk: nothing is paid twice.

A diskcache folder whose Disk knows JSON text and nothing else: what is not JSON is refused,
never unpickled. Nothing is evicted. An entry is looked up by the sha256 of the canonical
request, so a change of anything that could change a reply is a miss, and anything else (cutoffs,
timeouts, concurrency) a hit. Only valid verdicts are served; refusals and failures are kept for
the record and asked again.

    <64 hex digits>     an Entry          text:<sha256>      {"text": …}, once each
    judge-cache         {"format": 1}     settings:<sha256>  {"settings": "…"}, once each
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from judge.judging.cache_files import identity, make_private
from judge.judging.cache_opening import Opening
from judge.judging.cache_trouble import (
    DISK_TROUBLE,
    IF_DAMAGED,
    CacheDamaged,
    CacheTrouble,
    is_damage,
)
from judge.judging.cache_writing import copy_values, store, transaction
from judge.judging.claim_table import ClaimTable
from judge.judging.entries import Entry, Fields, read_entry


class JudgmentCache:
    """An open cache folder. Used from several threads and processes at once.

    A folder that is made here is readable by its owner only; the database in one that others may
    write is theirs to write too. A database that cannot be opened is set aside with its log,
    never deleted, and what can be read of it goes into the new one. A row that cannot be read
    costs that row. Where nothing can be written (a full disk, a folder of others), what is there
    is served all the same: it was paid for.

    to_read: change nothing, whatever state the database is in
    redact: texts and raw replies are not stored

    notices: what the reader of a report should know of the folder
    only_reads: nothing can be written
    forbidden: what the user has no right to write, where that is why; "" otherwise
    """

    def __init__(self, folder: Path, *, redact: bool = False, to_read: bool = False) -> None:
        self.folder = folder
        self.redact = redact
        self.notices: list[str] = []
        self._foreign = False
        self._lock = threading.Lock()
        self._claims = ClaimTable()
        self._opening = Opening(folder, self._claims, redact, self.notices.append)
        try:
            self._database = self._opening.to_read() if to_read else self._opening.somehow()
            self._connection = self._database.connection
            self._version_at_open = self._data_version()
        except DISK_TROUBLE as error:
            if is_damage(error):
                raise CacheDamaged(f"cache {folder}: {error}; {IF_DAMAGED}") from error
            raise CacheTrouble(f"cache {folder}: {error}") from error
        self.only_reads = self._database.disk is None
        self.forbidden = self._database.forbidden

    @property
    def refused(self) -> int:
        """How many entries were found that could not be read as what they should be."""
        return self._database.stored.refused

    def find(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the valid verdicts among `keys`."""
        return {key: read_entry(key, said) for key, said in self.find_fields(keys).items()}

    def find_fields(self, keys: Sequence[str]) -> dict[str, Fields]:
        """Return the valid verdicts among `keys`, with one SELECT for some hundreds of them.

        To make an object of each of 100,000 takes longer than to look all of them up.
        """
        with self._lock:
            return self._database.stored.find(keys)

    def has_foreign_writes(self) -> bool:
        """Tell whether another process may have written since this cache was opened.

        Once it has, every pair is looked up again before it is paid for.
        """
        if not self._foreign:
            with self._lock:
                self._foreign = self._data_version() != self._version_at_open
        return self._foreign

    def _data_version(self) -> int:
        """Return SQLite's counter of commits by other connections than this one."""
        return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    def keep(self, entries: Sequence[Entry], *, shared: Mapping[str, object]) -> list[Entry]:
        """Store entries in one transaction and return what stands for each key.

        A valid verdict that is already there stands: two processes that paid for the same pair
        at the same moment agree on the first one stored.

        shared: values that entries refer to, by key, each stored once
        """
        if self.only_reads:
            return list(entries)
        with self._lock:
            if identity(self.folder) != self._database.identity:
                self._follow()
            stored = self._database.stored
            return store(
                self._connection, entries, shared=shared, stored=stored, redact=self.redact
            )

    def claim(self, keys: Sequence[str], *, done: Iterable[str] = ()) -> set[str]:
        """Claim keys before they are asked for; return those that other processes hold.

        done: claims of ours to give back in the same transaction
        """
        with self._lock, transaction(self._connection):
            self._claims.release(self._connection, done)
            return self._claims.take(self._connection, keys)

    def still_asked(self, keys: Sequence[str]) -> tuple[set[str], set[str]]:
        """Return the keys that other processes hold without a verdict yet, and those with one."""
        with self._lock:
            known = set(self._database.stored.graded(keys))
            return self._claims.held(self._connection).intersection(keys) - known, known

    def release(self, keys: Iterable[str] | None = None) -> None:
        """Give back some claims, or all of ours."""
        with self._lock, transaction(self._connection):
            self._claims.release(self._connection, keys)

    def renew_claims(self) -> None:
        """Put off the end of our claims."""
        with self._lock, transaction(self._connection):
            self._claims.renew(self._connection)

    def _follow(self) -> None:
        """Open the database that stands in the folder now, and bring along what ours holds.

        Whoever deleted or moved the folder while it was in use took from the disk what had been
        paid for; it can still be read through the connection that is open.
        """
        old = self._database
        make_private(self.folder)
        self._database = self._opening.to_write()
        self._database.stored.refused += old.stored.refused
        self._connection = self._database.connection
        self._version_at_open = self._data_version()
        self._foreign = True
        copy_values(old.connection, self._connection)
        old.close()
        self.notices.append(
            f"cache {self.folder}: deleted or moved while in use; made anew with what it held"
        )

    def entries(self) -> Iterator[Entry]:
        """Yield every readable entry in the order of keys."""
        return self._database.stored.entries()

    def shared(self, kind: str) -> dict[str, str]:
        """Return the stored "text" or "settings" values by their sha256; unreadable ones not."""
        return self._database.stored.shared(kind)

    def delete(self, keys: Iterable[str]) -> int:
        """Delete keys in one transaction; return how many were there."""
        disk = self._database.disk
        if disk is None:
            raise CacheTrouble(self.notices[-1])
        with disk.transact():
            return sum(disk.delete(key) for key in keys)

    def quick_check(self) -> str:
        """Return what SQLite says of the database: "ok", or its first fault."""
        return str(self._connection.execute("PRAGMA quick_check(1)").fetchone()[0], "utf-8")

    def full_check(self) -> str:
        """Return what SQLite says of the database and of its indexes, which takes longer."""
        return str(self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0], "utf-8")

    def close(self) -> None:
        """Close this thread's connections; entries are on disk since they were kept."""
        self._database.close()
