"""Entries and the values that they share, written to a cache's database.

To diskcache's table directly: its own set() and add() cost a transaction's worth of statements
for every value.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from judge.judging.cache_reading import StoredRows
from judge.judging.entries import Entry, read_entry, stored_text
from judge.judging.json_disk import encode

_ADD = """
    INSERT OR IGNORE INTO Cache (key, raw, store_time, access_time, mode, value)
    VALUES (?, 1, ?, ?, 1, ?)"""
_REPLACE = """
    INSERT INTO Cache (key, raw, store_time, access_time, mode, value)
    VALUES (?, 1, ?, ?, 1, ?)
    ON CONFLICT (key, raw) DO UPDATE SET
      store_time = excluded.store_time, mode = 1, filename = NULL, value = excluded.value"""


def store(
    connection: sqlite3.Connection,
    entries: Sequence[Entry],
    *,
    shared: Mapping[str, object],
    stored: StoredRows,
    redact: bool,
) -> list[Entry]:
    """Store entries in one transaction and return what stands for each key.

    shared: values that entries refer to, by key, each stored once
    stored: what the same database holds: a valid verdict that is there stands
    redact: leave out texts and raw replies
    """
    texts = {key: value for key, value in shared.items() if key.startswith("text:")}
    values = shared if not redact else {k: shared[k] for k in shared.keys() - texts}
    with transaction(connection):
        graded = stored.graded([entry.key for entry in entries])
        known = {key: read_entry(key, said) for key, said in graded.items()}
        new = {entry.key: entry for entry in reversed(entries) if entry.key not in known}
        kept = {key: _redacted(entry) if redact else entry for key, entry in new.items()}
        plain = [(key, stored_text(entry)) for key, entry in kept.items()]
        connection.executemany(_REPLACE, _table_rows(plain))
        encoded = ((key, encode(value)) for key, value in values.items())
        connection.executemany(_ADD, _table_rows(encoded))
    standing = known | new
    return [standing[entry.key] for entry in entries]


def check_writing(connection: sqlite3.Connection) -> None:
    """Raise DatabaseError where nothing could ever be stored: a damaged table or trigger."""
    try:
        connection.execute(f"EXPLAIN {_REPLACE}", ("", 0, 0, ""))
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:  # neither locked nor full
            raise sqlite3.DatabaseError(str(error)) from error
        raise


def copy_values(old: sqlite3.Connection, new: sqlite3.Connection) -> None:
    """Add to a database what another holds and it does not, as far as that can be read."""
    values = "SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1"
    with suppress(sqlite3.DatabaseError), transaction(new):
        for key, value in old.execute(values):
            new.execute(_ADD, next(_table_rows([(key.decode(), value.decode())])))


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what is done inside at its end, or nothing of it where it fails."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk has rolled it back already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _redacted(entry: Entry) -> Entry:
    """Return an entry without its raw reply, which may quote the texts."""
    # So may what a server said, which stands in brackets after our own words.
    return replace(entry, raw=None, reason=entry.reason.partition(" (")[0])


def _table_rows(values: Iterable[tuple[str, str]]) -> Iterator[tuple[str, float, float, str]]:
    now = time.time()
    return ((key, now, now, text) for key, text in values)
