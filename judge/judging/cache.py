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

import json
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import diskcache  # type: ignore[import-untyped]

from judge.errors import JudgeError
from judge.judging.cache_files import (
    DATABASE,
    Reader,
    alone,
    connected,
    holds_judgments,
    identity,
    make_private,
    set_aside,
    share_as_folder,
    unwritable,
)
from judge.judging.claim_table import ClaimTable
from judge.judging.entries import Entry, Fields, read_entry, read_plain_grades, read_stored, sha256
from judge.judging.entries import stored_text as entry_text
from judge.judging.json_disk import JSONTextDisk, NotJSON, encode
from judge.judging.salvage import frames_in, read_log, rows_left

FORMAT = 1
FORMAT_KEY = "judge-cache"
_SELECT_AT_ONCE = 500

_ADD = """
    INSERT OR IGNORE INTO Cache (key, raw, store_time, access_time, mode, value)
    VALUES (?, 1, ?, ?, 1, ?)"""
_REPLACE = """
    INSERT INTO Cache (key, raw, store_time, access_time, mode, value)
    VALUES (?, 1, ?, ?, 1, ?)
    ON CONFLICT (key, raw) DO UPDATE SET
      store_time = excluded.store_time, mode = 1, filename = NULL, value = excluded.value"""

_Stored: TypeAlias = tuple[bytes, object]
"""A key and a value, as the database holds them; whatever diskcache's mode says, it is JSON."""

DISK_TROUBLE = (OSError, sqlite3.Error, diskcache.Timeout)
"""What using a cache raises when the disk, not the program, is at fault."""

IF_DAMAGED = "`judge cache salvage` brings back what can be read"


class CacheTrouble(JudgeError):
    """The cache folder cannot be used; judging goes on without it."""


class CacheDamaged(CacheTrouble):
    """The database cannot be read as one."""


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
    refused: how many entries were found that could not be read as what they should be
    """

    def __init__(self, folder: Path, *, redact: bool = False, to_read: bool = False) -> None:
        self.folder = folder
        self.redact = redact
        self.refused = 0
        self.notices: list[str] = []
        self.only_reads = False
        self.forbidden = ""
        self._foreign = False
        self._lock = threading.Lock()
        self._claims = ClaimTable()
        self._reader: Reader | None = None
        self._left: dict[str, bytes] | None = None
        self._listed: set[bytes] | None = None
        try:
            if to_read:
                self._open_to_read()
            else:
                self._open_somehow()
            self._version_at_open = self._data_version()
        except DISK_TROUBLE as error:
            if is_damage(error):
                raise CacheDamaged(f"cache {folder}: {error}; {IF_DAMAGED}") from error
            raise CacheTrouble(f"cache {folder}: {error}") from error

    def _open_somehow(self) -> None:
        try:
            make_private(self.folder)
            self._open_or_set_aside()
        except DISK_TROUBLE as error:
            if not holds_judgments(self.folder):
                raise
            self._open_to_read()
            why = str(error)
            if found := unwritable(self.folder):
                why = self.forbidden = f"{found} belongs to another and may not be written"
            self.notices.append(
                f"cache {self.folder}: {why}; what it holds is served, and nothing is kept"
            )

    def _open_or_set_aside(self) -> None:
        before = identity(self.folder)
        try:
            self._open()
            return
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise  # locked, full, read-only: the database itself may be sound
            damage = error
        with alone(self.folder):
            if identity(self.folder) == before:
                aside = set_aside(self.folder)
                self.notices.append(
                    f"cache {self.folder}: damaged ({damage}); moved to {aside.name}"
                )
                self._open()
                self._bring_back(rows_left(aside))
                return
        self._open()  # another process has just done the same

    def _bring_back(self, rows: Iterable[tuple[str, bytes]]) -> None:
        entries, shared = sound_rows(rows)
        self.keep(list(entries.values()), shared=shared)
        if entries:
            self.notices[-1] += f"; {len(entries)} entries of it could be read and are kept"

    def _open(self) -> None:
        log = read_log(self.folder / DATABASE)
        # Nothing below asks diskcache to retry: it would try again for ever on a full disk.
        self._disk = diskcache.Cache(
            str(self.folder), disk=JSONTextDisk, eviction_policy="none", cull_limit=0
        )
        self._connection = connected(Path(self._disk.directory, DATABASE).resolve().as_uri())
        # As diskcache sets it for its own connections: a killed process loses nothing, and no
        # transaction waits for the disk.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        # Four times SQLite's own: each time the event loop waits for the disk.
        self._connection.execute("PRAGMA wal_autocheckpoint = 4000")
        self._claims.make(self._connection)
        share_as_folder(self.folder)
        self._identity = identity(self.folder)
        self._check_format()
        if log:
            self._bring_back_what_is_cut_off(log)

    def _bring_back_what_is_cut_off(self, log: bytes) -> None:
        """Keep what a log holds behind a bad frame, where SQLite stops reading without a word."""
        checkpointed = self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if checkpointed[1] < frames_in(log):
            entries, shared = sound_rows(rows_left(self.folder / DATABASE, log=log))
            missing = entries.keys() - {entry.key for entry in self.entries()}
            self.keep([entries[key] for key in missing], shared=shared)

    def _open_to_read(self) -> None:
        self._disk = None
        self.only_reads = True
        self._identity = identity(self.folder)
        self._reader = Reader(self.folder)
        self._connection = self._reader.connection
        self._check_format()

    def _check_format(self) -> None:
        if self._disk is not None:
            self._disk.add(FORMAT_KEY, {"format": FORMAT})
        format_of = "SELECT value FROM Cache WHERE raw = 1 AND key = ?"
        row = self._connection.execute(format_of, (FORMAT_KEY,)).fetchone()
        try:
            found = json.loads(row[0] if row else "null")
        except (ValueError, TypeError) as error:
            raise sqlite3.DatabaseError("its format cannot be read") from error
        if found != {"format": FORMAT}:
            raise CacheTrouble(
                f"cache {self.folder}: written by another version of judge ({found});"
                " update judge or name another folder with --cache-dir"
            )

    def find(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the valid verdicts among `keys`."""
        return _entries(self.find_fields(keys))

    def find_fields(self, keys: Sequence[str]) -> dict[str, Fields]:
        """Return the valid verdicts among `keys`, with one SELECT for some hundreds of them.

        To make an object of each of 100,000 takes longer than to look all of them up.
        """
        with self._lock:
            graded = self._graded(keys)
            missing = [key for key in keys if key not in graded]
            if missing and not self.only_reads:
                graded |= self._hidden(missing)
            return graded

    def _hidden(self, keys: Sequence[str]) -> dict[str, Fields]:
        """Return verdicts that are in the table though its index denies it: a bit in it flipped.

        The table's keys are listed once, before anything is paid for.
        """
        if self._listed is None:
            listing = "SELECT key FROM Cache NOT INDEXED"
            self._listed = set()
            try:
                self._listed.update(key for (key,) in self._connection.execute(listing))
            except sqlite3.DatabaseError:
                self._listed.update(key.encode() for key in self._what_is_left())
        hidden = {key.encode() for key in keys} & self._listed
        if hidden:  # or the index points to another row
            rows = self._rows([key.decode(errors="replace") for key in hidden])
            read = (_read(key, value) for key, value in rows)
            hidden -= {e.key.encode() for e in read if e is not None and e.status != "graded"}
        if not hidden:
            return {}
        left = self._what_is_left()
        found = (_read(key, left.get(key.decode(errors="replace"))) for key in hidden)
        graded = {e.key: e.plain() for e in found if e is not None and e.status == "graded"}
        if graded:
            self._say_damaged()
        return graded

    def _graded(self, keys: Sequence[str]) -> dict[str, Fields]:
        graded: dict[str, Fields] = {}
        for start in range(0, len(keys), _SELECT_AT_ONCE):
            rows = self._rows(keys[start : start + _SELECT_AT_ONCE])
            texts = [(k, v) for k, v in rows if isinstance(v, bytes)]
            plain = read_plain_grades(texts) if len(texts) == len(rows) else None
            if plain is not None:
                graded |= zip((key.decode() for key, _ in texts), plain, strict=True)
                continue
            for row in rows:
                entry = self._entry(*row)
                if entry is not None and entry.status == "graded":
                    graded[entry.key] = entry.plain()
        return graded

    def _rows(self, keys: Sequence[str]) -> list[_Stored]:
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, value FROM Cache WHERE raw = 1 AND key IN ({marks})"  # noqa: S608
        try:
            return self._connection.execute(query, keys).fetchall()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return self._rows_left(keys)

    def _rows_left(self, keys: Sequence[str]) -> list[_Stored]:
        """Return what can be read one by one: a bad page costs the rows on it, not their batch."""
        left = self._what_is_left()
        self._say_damaged()
        rows: list[_Stored] = []
        for key in keys:
            query = "SELECT key, value FROM Cache WHERE raw = 1 AND key = ?"
            try:
                rows += self._connection.execute(query, (key,)).fetchall()
            except sqlite3.DatabaseError:
                if (text := left.get(key)) is not None:
                    rows.append((key.encode(), text))
        return rows

    def _what_is_left(self) -> dict[str, bytes]:
        if self._left is None:
            self._left = dict(rows_left(self.folder / DATABASE))
        return self._left

    def _say_damaged(self) -> None:
        notice = f"cache {self.folder}: damaged; {IF_DAMAGED}"
        if notice not in self.notices:
            self.notices.append(notice)

    def _entry(self, key: bytes, text: object) -> Entry | None:
        entry = _read(key, text)
        self.refused += entry is None
        return entry

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
        texts = {key: value for key, value in shared.items() if key.startswith("text:")}
        values = shared if not self.redact else {k: shared[k] for k in shared.keys() - texts}
        # Written to diskcache's table directly: its own set() and add() cost a transaction's
        # worth of statements for every value.
        with self._lock:
            if identity(self.folder) != self._identity:
                self._follow()
            with self._transaction():
                known = _entries(self._graded([entry.key for entry in entries]))
                new = {entry.key: entry for entry in reversed(entries) if entry.key not in known}
                plain = [(key, entry_text(self._storable(entry))) for key, entry in new.items()]
                self._connection.executemany(_REPLACE, _table_rows(plain))
                encoded = ((key, encode(value)) for key, value in values.items())
                self._connection.executemany(_ADD, _table_rows(encoded))
        standing = known | new
        return [standing[entry.key] for entry in entries]

    def claim(self, keys: Sequence[str], *, done: Iterable[str] = ()) -> set[str]:
        """Claim keys before they are asked for; return those that other processes hold.

        done: claims of ours to give back in the same transaction
        """
        with self._lock, self._transaction():
            self._claims.release(self._connection, done)
            return self._claims.take(self._connection, keys)

    def still_asked(self, keys: Sequence[str]) -> tuple[set[str], set[str]]:
        """Return the keys that other processes hold without a verdict yet, and those with one."""
        with self._lock:
            known = set(self._graded(keys))
            return self._claims.held(self._connection).intersection(keys) - known, known

    def release(self, keys: Iterable[str] | None = None) -> None:
        """Give back some claims, or all of ours."""
        with self._lock, self._transaction():
            self._claims.release(self._connection, keys)

    def renew_claims(self) -> None:
        """Put off the end of our claims."""
        with self._lock, self._transaction():
            self._claims.renew(self._connection)

    def _follow(self) -> None:
        """Open the database that stands in the folder now, and bring along what ours holds.

        Whoever deleted or moved the folder while it was in use took from the disk what had been
        paid for; it can still be read through the connection that is open.
        """
        old, old_disk = self._connection, self._disk
        make_private(self.folder)
        self._open()
        self._version_at_open = self._data_version()
        self._foreign, self._left = True, None
        values = "SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1"
        with suppress(sqlite3.DatabaseError), self._transaction():  # as far as it can be read
            for key, value in old.execute(values):
                self._connection.execute(_ADD, next(_table_rows([(key.decode(), value.decode())])))
        old.close()
        if old_disk is not None:
            old_disk.close()
        self.notices.append(
            f"cache {self.folder}: deleted or moved while in use; made anew with what it held"
        )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:  # a full disk has rolled it back already
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _storable(self, entry: Entry) -> Entry:
        """Return the entry as it may be stored: a raw reply may quote the texts."""
        if not self.redact:
            return entry
        # So may what a server said, which stands in brackets after our own words.
        return replace(entry, raw=None, reason=entry.reason.partition(" (")[0])

    def entries(self) -> Iterator[Entry]:
        """Yield every readable entry in the order of keys."""
        rows = self._connection.execute(
            "SELECT key, value FROM Cache WHERE raw = 1 AND length(key) = 64 ORDER BY key"
        )
        for key, text in rows:
            if (entry := self._entry(key, text)) is not None:
                yield entry

    def shared(self, kind: str) -> dict[str, str]:
        """Return the stored "text" or "settings" values by their sha256; unreadable ones not."""
        rows = self._connection.execute(
            "SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1 AND key GLOB ?", (f"{kind}:*",)
        )
        read = ((key.decode().partition(":")[2], _shared_text(value, kind)) for key, value in rows)
        return {digest: text for digest, text in read if text is not None}

    def delete(self, keys: Iterable[str]) -> int:
        """Delete keys in one transaction; return how many were there."""
        if self._disk is None:
            raise CacheTrouble(self.notices[-1])
        with self._disk.transact():
            return sum(self._disk.delete(key) for key in keys)

    def quick_check(self) -> str:
        """Return what SQLite says of the database: "ok", or its first fault."""
        return str(self._connection.execute("PRAGMA quick_check(1)").fetchone()[0], "utf-8")

    def full_check(self) -> str:
        """Return what SQLite says of the database and of its indexes, which takes longer."""
        return str(self._connection.execute("PRAGMA integrity_check(1)").fetchone()[0], "utf-8")

    def close(self) -> None:
        """Close this thread's connections; entries are on disk since they were kept."""
        self._connection.close()
        if self._reader is not None:
            self._reader.close()
        if self._disk is not None:
            self._disk.close()


def sound_rows(
    rows: Iterable[tuple[str, bytes]],
) -> tuple[dict[str, Entry], dict[str, object]]:
    """Return the entries and the shared values among rows that are as they were stored.

    Of several entries under one key a grade goes before a failure.
    """
    entries: dict[str, Entry] = {}
    shared: dict[str, object] = {}
    for key, value in rows:
        kind, _, digest = key.partition(":")
        if kind in ("text", "settings"):
            text = _shared_text(value, kind)
            if text is not None and sha256(text) == digest:
                shared[key] = {kind: text}
        elif len(key) == 64:
            with suppress(ValueError, TypeError, RecursionError):
                entry = read_stored(key, value)
                if key not in entries or entries[key].status != "graded":
                    entries[key] = entry
    return entries, shared


def is_damage(error: Exception) -> bool:
    """Tell a database that is no longer one from a disk that is full, locked or read-only."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )


def _read(key: bytes, text: object) -> Entry | None:
    """Return a stored entry, None for what is none or not as it was stored."""
    try:
        if not isinstance(text, bytes):
            raise NotJSON("a value in the cache is not JSON text")
        return read_stored(key.decode(), text)
    except (ValueError, TypeError, RecursionError):
        return None


def _entries(found: Mapping[str, Fields]) -> dict[str, Entry]:
    return {key: read_entry(key, said) for key, said in found.items()}


def _shared_text(value: object, kind: str) -> str | None:
    try:
        text = json.loads(value)[kind] if isinstance(value, bytes) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return text if isinstance(text, str) else None


def _table_rows(values: Iterable[tuple[str, str]]) -> Iterator[tuple[str, float, float, str]]:
    now = time.time()
    return ((key, now, now, text) for key, text in values)
