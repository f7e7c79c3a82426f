"""What can be wrong with the cache's folder, its disk or its database."""

from __future__ import annotations

import sqlite3

import diskcache  # type: ignore[import-untyped]

from judge.errors import JudgeError

DISK_TROUBLE = (OSError, sqlite3.Error, diskcache.Timeout)
"""What using a cache raises when the disk, not the program, is at fault."""

IF_DAMAGED = "`judge cache salvage` brings back what can be read"


class CacheTrouble(JudgeError):
    """The cache folder cannot be used; judging goes on without it."""


class CacheDamaged(CacheTrouble):
    """The database cannot be read as one."""


def is_damage(error: Exception) -> bool:
    """Tell a database that is no longer one from a disk that is full, locked or read-only."""
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.OperationalError
    )
