"""Claims as they stand in the database: key, owner, and until when."""

from __future__ import annotations

import os
import platform
import secrets
import sqlite3
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

LEASE_S = 60.0
"""How long a claim lasts unless it is renewed; a process that stops for longer loses it."""

_MAKE = """
    CREATE TABLE IF NOT EXISTS Claims
    (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID"""


class ClaimTable:
    """The claims of one user of a database, its owner; each call is part of a transaction."""

    def __init__(self) -> None:
        self.owner = f"{_machine()} {os.getpid()} {secrets.token_hex(4)}"

    def make(self, database: sqlite3.Connection) -> None:
        """Make the table where an older version of judge made the database."""
        database.execute(_MAKE)

    def take(self, database: sqlite3.Connection, keys: Sequence[str]) -> set[str]:
        """Claim keys; return those that others hold."""
        now = time.time()
        rows = [(key, self.owner, now + LEASE_S) for key in keys]
        taken = database.executemany("INSERT OR IGNORE INTO Claims VALUES (?, ?, ?)", rows)
        if taken.rowcount == len(keys):
            return set()
        held = self.held(database, now=now)
        free = (row for row in rows if row[0] not in held)
        database.executemany("INSERT OR REPLACE INTO Claims VALUES (?, ?, ?)", free)
        return held.intersection(keys)

    def held(self, database: sqlite3.Connection, *, now: float | None = None) -> set[str]:
        """Return the keys that others hold."""
        now = time.time() if now is None else now
        rows = database.execute(
            "SELECT key, owner, until FROM Claims WHERE owner != ?", (self.owner,)
        )
        # One that lasts longer than any can was made while a clock was wrong.
        return {
            key.decode()
            for key, owner, until in rows
            if now < until <= now + LEASE_S + 1 and not _is_gone(owner.decode())
        }

    def release(self, database: sqlite3.Connection, keys: Iterable[str] | None = None) -> None:
        """Give back some keys, or all that are ours."""
        if keys is None:
            database.execute("DELETE FROM Claims WHERE owner = ?", (self.owner,))
            return
        mine = ((key, self.owner) for key in keys)
        database.executemany("DELETE FROM Claims WHERE key = ? AND owner = ?", mine)

    def renew(self, database: sqlite3.Connection) -> None:
        """Put off the end of what is ours."""
        until = time.time() + LEASE_S
        database.execute("UPDATE Claims SET until = ? WHERE owner = ?", (until, self.owner))


def _machine() -> str:
    """Return a name for all processes whose numbers mean something to us."""
    try:
        return f"{platform.node()}/{Path('/proc/self/ns/pid').readlink()}".replace(" ", "-")
    except OSError:
        return platform.node().replace(" ", "-")


def _is_gone(owner: str) -> bool:
    """Tell whether an owner's process has ended; False where that cannot be seen."""
    machine, _, rest = owner.partition(" ")
    number = rest.partition(" ")[0]
    if sys.platform == "win32" or machine != _machine() or not number.isdigit():
        return False
    try:
        os.kill(int(number), 0)
    except (OSError, OverflowError) as error:
        return isinstance(error, ProcessLookupError)
    return False
