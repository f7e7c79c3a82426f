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
import stat
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import diskcache  # type: ignore[import-untyped]

from judge.errors import JudgeError
from judge.judging.entries import Entry, Fields, read_entry, read_plain_grades
from judge.judging.json_disk import RAW, JSONTextDisk, NotJSON, encode

FORMAT = 1
_FORMAT_KEY = "judge-cache"
_SELECT_AT_ONCE = 500
_DATABASE = "cache.db"
_FOLDER_NOTES = frozenset({"README.md", ".gitignore"})

_ADD = """
    INSERT OR IGNORE INTO Cache (key, raw, store_time, access_time, mode, value)
    VALUES (?, 1, ?, ?, 1, ?)"""
_REPLACE = """
    INSERT INTO Cache (key, raw, store_time, access_time, mode, value)
    VALUES (?, 1, ?, ?, 1, ?)
    ON CONFLICT (key, raw) DO UPDATE SET
      store_time = excluded.store_time, mode = 1, filename = NULL, value = excluded.value"""

DISK_TROUBLE = (OSError, sqlite3.Error, diskcache.Timeout)
"""What using a cache raises when the disk, not the program, is at fault."""


IF_DAMAGED = "move cache.db away if it is damaged: what it holds is then asked again"


class CacheTrouble(JudgeError):
    """The cache folder cannot be used; judging goes on without it."""


class JudgmentCache:
    """An open cache folder. Used from several threads and processes at once.

    A folder that is made here is readable by its owner only. A database that is damaged is set
    aside, never deleted, and `notice` says so. Where nothing can be written (a full disk, a
    folder of others), what is there is served all the same: it was paid for.

    only_reads: nothing can be written; `notice` says why
    redact: texts and raw replies are not stored
    refused: how many entries were found that could not be read as what they should be
    """

    def __init__(self, folder: Path, *, redact: bool = False) -> None:
        self.folder = folder
        self.redact = redact
        self.refused = 0
        self.notice = ""
        self.only_reads = False
        self._foreign = False
        self._lock = threading.Lock()
        try:
            try:
                _make_private(folder)
                self._open_or_set_aside()
            except DISK_TROUBLE as error:
                self._open_to_read(error)
            self._version_at_open = self._data_version()
        except DISK_TROUBLE as error:
            raise CacheTrouble(f"cache {folder}: {error}") from error

    def _open_or_set_aside(self) -> None:
        try:
            self._open()
            self._check_format()
        except sqlite3.OperationalError:
            raise  # locked, full, read-only: the database itself may be sound
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:
            aside = _set_aside(self.folder)
            self.notice = f"cache {self.folder}: damaged ({error}); moved to {aside.name}"
            self._open()
            self._check_format()

    def _open(self) -> None:
        # Nothing below asks diskcache to retry: it would try again for ever on a full disk.
        self._disk = diskcache.Cache(
            str(self.folder), disk=JSONTextDisk, eviction_policy="none", cull_limit=0
        )
        self._connection = sqlite3.connect(
            Path(self._disk.directory, _DATABASE),
            timeout=60,
            isolation_level=None,
            check_same_thread=False,
        )
        # As diskcache sets it for its own connections: a killed process loses nothing, and no
        # transaction waits for the disk.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        # Four times SQLite's own: each time the event loop waits for the disk.
        self._connection.execute("PRAGMA wal_autocheckpoint = 4000")

    def _open_to_read(self, why: Exception) -> None:
        if not holds_judgments(self.folder):
            raise why
        url = (self.folder / _DATABASE).resolve().as_uri()
        try:
            self._connection = _connected(f"{url}?mode=ro")
        except sqlite3.Error:  # not even the index of its log can be written: do without the log
            self._connection = _connected(f"{url}?immutable=1")
        self._disk = None
        self.only_reads = True
        self.notice = f"cache {self.folder}: {why}; what it holds is served, and nothing is kept"
        self._check_format()

    def _check_format(self) -> None:
        if self._disk is not None:
            self._disk.add(_FORMAT_KEY, {"format": FORMAT})
        format_of = "SELECT value FROM Cache WHERE raw = 1 AND key = ?"
        row = self._connection.execute(format_of, (_FORMAT_KEY,)).fetchone()
        try:
            found = json.loads(row[0] if row else "null")
        except (ValueError, TypeError) as error:
            raise CacheTrouble(f"cache {self.folder}: its format cannot be read") from error
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
            return self._graded(keys)

    def _graded(self, keys: Sequence[str]) -> dict[str, Fields]:
        graded: dict[str, Fields] = {}
        for start in range(0, len(keys), _SELECT_AT_ONCE):
            some = keys[start : start + _SELECT_AT_ONCE]
            marks = ",".join("?" * len(some))
            query = f"SELECT key, mode, value FROM Cache WHERE raw = 1 AND key IN ({marks})"  # noqa: S608
            rows = self._connection.execute(query, some).fetchall()
            texts = [text for _, mode, text in rows if mode == RAW and isinstance(text, str)]
            plain = read_plain_grades(texts) if len(texts) == len(rows) else None
            if plain is not None:
                graded |= zip((key for key, _, _ in rows), plain, strict=True)
                continue
            for row in rows:
                entry = self._entry(*row)
                if entry is not None and entry.status == "graded":
                    graded[entry.key] = entry.plain()
        return graded

    def _entry(self, key: str, mode: int, text: object) -> Entry | None:
        try:
            if mode != RAW or not isinstance(text, str):
                raise NotJSON("a value in the cache is not JSON text")
            return read_entry(key, json.loads(text))
        except (ValueError, TypeError, RecursionError):
            self.refused += 1
            return None

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
        texts = {key: value for key, value in shared.items() if key.startswith("text:")}
        values = shared if not self.redact else {k: shared[k] for k in shared.keys() - texts}
        # Written to diskcache's table directly: its own set() and add() cost a transaction's
        # worth of statements for every value.
        if self.only_reads:
            return list(entries)
        with self._lock, self._transaction():
            known = _entries(self._graded([entry.key for entry in entries]))
            new = {entry.key: entry for entry in reversed(entries) if entry.key not in known}
            plain = [(key, self._storable(entry).plain()) for key, entry in new.items()]
            self._connection.executemany(_REPLACE, _table_rows(plain))
            self._connection.executemany(_ADD, _table_rows(values.items()))
        standing = known | new
        return [standing[entry.key] for entry in entries]

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
            "SELECT key, mode, value FROM Cache WHERE raw = 1 AND length(key) = 64 ORDER BY key"
        )
        for key, mode, text in rows:
            if (entry := self._entry(key, mode, text)) is not None:
                yield entry

    def shared(self, kind: str) -> dict[str, str]:
        """Return the stored "text" or "settings" values by their sha256; unreadable ones not."""
        rows = self._connection.execute(
            "SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1 AND key GLOB ?", (f"{kind}:*",)
        )
        read = ((key.partition(":")[2], _shared_text(value, kind)) for key, value in rows)
        return {digest: text for digest, text in read if text is not None}

    def delete(self, keys: Iterable[str]) -> int:
        """Delete keys in one transaction; return how many were there."""
        if self._disk is None:
            raise CacheTrouble(self.notice)
        with self._disk.transact():
            return sum(self._disk.delete(key) for key in keys)

    def quick_check(self) -> str:
        """Return what SQLite says of the database: "ok", or its first fault."""
        return str(self._connection.execute("PRAGMA quick_check(1)").fetchone()[0])

    def close(self) -> None:
        """Close this thread's connections; entries are on disk since they were kept."""
        self._connection.close()
        if self._disk is not None:
            self._disk.close()


def holds_judgments(folder: Path) -> bool:
    """Tell whether a cache folder has been used before."""
    return (folder / _DATABASE).is_file()


def _connected(url: str) -> sqlite3.Connection:
    """Return a connection to a database that is there and can be read."""
    connection = sqlite3.connect(
        url, uri=True, timeout=60, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("SELECT 1 FROM Cache LIMIT 1").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _entries(found: Mapping[str, Fields]) -> dict[str, Entry]:
    return {key: read_entry(key, said) for key, said in found.items()}


def _shared_text(value: object, kind: str) -> str | None:
    try:
        text = json.loads(value)[kind] if isinstance(value, str) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return text if isinstance(text, str) else None


def _table_rows(values: Iterable[tuple[str, object]]) -> Iterator[tuple[str, float, float, str]]:
    now = time.time()
    return ((key, now, now, encode(value)) for key, value in values)


def _make_private(folder: Path) -> None:
    """Make a folder for its owner only, and close one that is empty and nobody shares.

    A folder with other things in it stays as it is: it is not ours to close.
    """
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True)
        return
    is_shared = stat.S_IMODE(folder.stat().st_mode) & 0o022
    if not is_shared and {path.name for path in folder.iterdir()} <= _FOLDER_NOTES:
        folder.chmod(0o700)


def _set_aside(folder: Path) -> Path:
    """Move a damaged database to a name that is free, and return the new path."""
    taken = len(list(folder.glob(f"{_DATABASE}.damaged-*")))
    aside = folder / f"{_DATABASE}.damaged-{taken + 1}"
    (folder / _DATABASE).replace(aside)
    for leftover in (f"{_DATABASE}-wal", f"{_DATABASE}-shm"):
        (folder / leftover).unlink(missing_ok=True)
    return aside
