"""Opening a cache's folder, whatever state it is in; nothing is ever deleted."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import diskcache  # type: ignore[import-untyped]

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
from judge.judging.cache_reading import StoredRows, sound_rows
from judge.judging.cache_trouble import DISK_TROUBLE, CacheTrouble
from judge.judging.cache_writing import check_writing, store
from judge.judging.claim_table import ClaimTable
from judge.judging.json_disk import JSONTextDisk
from judge.judging.salvage import frames_in, read_log, rows_left

FORMAT = 1
FORMAT_KEY = "judge-cache"


@dataclass(frozen=True, slots=True)
class OpenDatabase:
    """A cache's database as it was opened.

    identity: of the file, to see whether it is still the one in the folder
    disk: None where nothing can be written
    forbidden: what the user has no right to write, where that is why; "" otherwise
    """

    connection: sqlite3.Connection
    stored: StoredRows
    identity: tuple[int, int] | None
    disk: diskcache.Cache | None = None
    reader: Reader | None = None
    forbidden: str = ""

    def close(self) -> None:
        """Close this thread's connections."""
        self.connection.close()
        if self.reader is not None:
            self.reader.close()
        if self.disk is not None:
            self.disk.close()


@dataclass(frozen=True, slots=True)
class Opening:
    """How a folder is to be opened.

    redact: what is brought back is stored without texts and raw replies
    say: is told what the reader of a report should know of the folder
    """

    folder: Path
    claims: ClaimTable
    redact: bool
    say: Callable[[str], object]

    def somehow(self) -> OpenDatabase:
        """Open the database to write or, where that cannot be, to serve what it holds."""
        try:
            make_private(self.folder)
            return self._or_set_aside()
        except DISK_TROUBLE as error:
            if not holds_judgments(self.folder):
                raise
            database = self.to_read()
            why = str(error)
            if found := unwritable(self.folder):
                why = f"{found} belongs to another and may not be written"
                database = replace(database, forbidden=why)
            self.say(f"cache {self.folder}: {why}; what it holds is served, and nothing is kept")
            return database

    def to_write(self) -> OpenDatabase:
        """Open a database that is sound or not there yet."""
        log = read_log(self.folder / DATABASE)
        # Nothing below asks diskcache to retry: it would try again for ever on a full disk.
        disk = diskcache.Cache(
            str(self.folder), disk=JSONTextDisk, eviction_policy="none", cull_limit=0
        )
        connection = connected(Path(disk.directory, DATABASE).resolve().as_uri())
        # As diskcache sets it for its own connections: a killed process loses nothing, and no
        # transaction waits for the disk.
        connection.execute("PRAGMA synchronous = NORMAL")
        # Four times SQLite's own: each time the event loop waits for the disk.
        connection.execute("PRAGMA wal_autocheckpoint = 4000")
        self.claims.make(connection)
        share_as_folder(self.folder)
        stored = StoredRows(self.folder, connection, looks_behind_index=True, say=self.say)
        database = OpenDatabase(connection, stored, identity(self.folder), disk=disk)
        disk.add(FORMAT_KEY, {"format": FORMAT})
        self._check_format(connection)
        check_writing(connection)
        if log:
            self._bring_back_what_is_cut_off(database, log)
        return database

    def to_read(self) -> OpenDatabase:
        """Open a database and change nothing, whatever state it is in."""
        found = identity(self.folder)
        reader = Reader(self.folder)
        self._check_format(reader.connection)
        stored = StoredRows(self.folder, reader.connection, looks_behind_index=False, say=self.say)
        return OpenDatabase(reader.connection, stored, found, reader=reader)

    def _or_set_aside(self) -> OpenDatabase:
        before = identity(self.folder)
        try:
            return self.to_write()
        except (sqlite3.DatabaseError, TypeError, ValueError) as error:
            if isinstance(error, sqlite3.OperationalError):
                raise  # locked, full, read-only: the database itself may be sound
            damage = error
        with alone(self.folder):
            if identity(self.folder) == before:
                return self._anew(damage)
        return self.to_write()  # another process has just done the same

    def _anew(self, damage: Exception) -> OpenDatabase:
        """Set the database aside and make a new one with what can be read of the old."""
        aside = set_aside(self.folder)
        notice = f"cache {self.folder}: damaged ({damage}); moved to {aside.name}"
        try:
            database = self.to_write()
            if kept := self._bring_back(database, rows_left(aside)):
                notice += f"; {kept} entries of it could be read and are kept"
            return database
        finally:
            self.say(notice)

    def _bring_back(
        self,
        database: OpenDatabase,
        rows: Iterable[tuple[str, bytes]],
        *,
        but: Iterable[str] = (),
    ) -> int:
        """Store the sound ones among rows; return how many entries were among them."""
        entries, shared = sound_rows(rows)
        missing = [entries[key] for key in entries.keys() - set(but)]
        connection, stored = database.connection, database.stored
        store(connection, missing, shared=shared, stored=stored, redact=self.redact)
        return len(missing)

    def _bring_back_what_is_cut_off(self, database: OpenDatabase, log: bytes) -> None:
        """Keep what a log holds behind a bad frame, where SQLite stops reading without a word."""
        checkpointed = database.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
        if checkpointed[1] < frames_in(log):
            there = (entry.key for entry in database.stored.entries())
            self._bring_back(database, rows_left(self.folder / DATABASE, log=log), but=there)

    def _check_format(self, connection: sqlite3.Connection) -> None:
        format_of = "SELECT value FROM Cache WHERE raw = 1 AND key = ?"
        row = connection.execute(format_of, (FORMAT_KEY,)).fetchone()
        try:
            found = json.loads(row[0] if row else "null")
        except (ValueError, TypeError) as error:
            raise sqlite3.DatabaseError("its format cannot be read") from error
        if found is not None and not (isinstance(found, dict) and "format" in found):
            # No version of judge ever wrote this.
            raise sqlite3.DatabaseError("its format cannot be read")
        if found != {"format": FORMAT}:
            raise CacheTrouble(
                f"cache {self.folder}: written by another version of judge ({found});"
                " update judge or name another folder with --cache-dir"
            )
