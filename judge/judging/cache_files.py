"""The files of a cache folder: who may write them, and how a damaged database leaves."""

from __future__ import annotations

import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

DATABASE = "cache.db"
_PARTS = ("", "-wal", "-shm")
"""A database is three files: without its write-ahead log it lacks what was written last."""
_FOLDER_NOTES = frozenset({"README.md", ".gitignore"})


def holds_judgments(folder: Path) -> bool:
    """Tell whether a cache folder has been used before."""
    return (folder / DATABASE).is_file()


def make_private(folder: Path) -> None:
    """Make a folder for its owner only, and close one that is empty and nobody shares.

    A folder with other things in it stays as it is: it is not ours to close.
    """
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True)
        return
    is_shared = stat.S_IMODE(folder.stat().st_mode) & 0o022
    if not is_shared and {path.name for path in folder.iterdir()} <= _FOLDER_NOTES:
        folder.chmod(0o700)


def share_as_folder(folder: Path) -> None:
    """Let those who may write the folder write the database in it, as far as it is ours.

    SQLite gives a log and its index the mode of their database, so that they follow it.
    """
    found = folder.stat()
    more = (0o060 if found.st_mode & 0o020 else 0) | (0o006 if found.st_mode & 0o002 else 0)
    for path in _parts(folder / DATABASE) if more else ():
        with suppress(OSError):  # another's: nothing to do, `unwritable` tells
            own = path.stat()
            if own.st_gid != found.st_gid:
                os.chown(path, -1, found.st_gid)
            if own.st_mode & more != more:
                path.chmod(stat.S_IMODE(own.st_mode) | more)


def unwritable(folder: Path) -> Path | None:
    """Return what we have no right to write, of a folder and the database in it, if anything."""
    effective = os.access in os.supports_effective_ids
    for path in (folder, *_parts(folder / DATABASE)):
        if path.exists() and not os.access(path, os.W_OK, effective_ids=effective):
            return path
    return None


def set_aside(folder: Path) -> Path:
    """Move a damaged database with its log to a name that is free; return the new path.

    SQLite finds the log again under the new name, and `judge cache salvage` both.
    """
    taken = {path.name for path in folder.glob(f"{DATABASE}.damaged-*")}
    number = next(n for n in range(1, len(taken) + 2) if f"{DATABASE}.damaged-{n}" not in taken)
    aside = folder / f"{DATABASE}.damaged-{number}"
    # The log first: a database without its log looks whole, a log without its database is none.
    for part in reversed(_PARTS):
        path = folder / f"{DATABASE}{part}"
        if path.exists():
            path.replace(f"{aside}{part}")
    return aside


def those_set_aside(folder: Path) -> list[Path]:
    """Return the damaged databases of a folder, those moved away last first."""
    found = [path for path in folder.glob(f"{DATABASE}.damaged-*") if path.suffix[-1:].isdigit()]
    return sorted(found, key=lambda path: int(path.name.rpartition("-")[2]), reverse=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder against other processes that would move its database at the same time."""
    try:
        import fcntl
    except ImportError:  # Windows does not move files that are open
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def identity(folder: Path) -> tuple[int, int] | None:
    """Return what tells a folder's database from another at the same path; None if it is gone."""
    try:
        found = os.stat(folder / DATABASE)  # noqa: PTH116 - asked before every transaction
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Reader:
    """A connection that changes nothing, to a database that may lie where nobody may write.

    SQLite needs a writable index beside a log. Where it can have none, database and log are
    copied; where there is no room for that either, what the log holds is not seen.
    """

    def __init__(self, folder: Path) -> None:
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        path = (folder / DATABASE).resolve()
        try:
            self.connection = connected(f"{path.as_uri()}?mode=ro")
        except sqlite3.OperationalError:
            self.connection = self._without_index(path)

    def _without_index(self, path: Path) -> sqlite3.Connection:
        log = Path(f"{path}-wal")
        try:
            if log.exists() and log.stat().st_size:
                self._copy = tempfile.TemporaryDirectory(prefix="judge-cache-")
                for part in (path, log):
                    Path(self._copy.name, part.name).write_bytes(part.read_bytes())
                return connected(Path(self._copy.name, path.name).as_uri())
        except (OSError, sqlite3.OperationalError):
            self.close()
        return connected(f"{path.as_uri()}?immutable=1")

    def close(self) -> None:
        """Remove the copy, if one was made."""
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


class _Connection(sqlite3.Connection):
    """Raises an error of SQLite's also where its message quotes bytes that are no text."""

    def execute(self, *words: Any) -> sqlite3.Cursor:
        with _as_damage():
            return super().execute(*words)

    def executemany(self, *words: Any) -> sqlite3.Cursor:
        with _as_damage():
            return super().executemany(*words)


@contextmanager
def _as_damage() -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError("it holds names that are no text") from error


def connected(url: str) -> sqlite3.Connection:
    """Return a connection to a database that is there and can be read."""
    connection = sqlite3.connect(
        url,
        uri=True,
        timeout=60,
        isolation_level=None,
        check_same_thread=False,
        factory=_Connection,
    )
    # As it stands on disk: a flipped bit makes text of which no string can be made.
    connection.text_factory = bytes
    try:
        connection.execute("SELECT 1 FROM Cache LIMIT 1").fetchone()
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _parts(database: Path) -> list[Path]:
    return [Path(f"{database}{part}") for part in _PARTS]
