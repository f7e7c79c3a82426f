"""What diskcache is given to store with: JSON text and nothing else, so nothing is unpickled."""

from __future__ import annotations

import json

import diskcache  # type: ignore[import-untyped]

RAW = 1
"""diskcache's mode for values that stand in the row as they are."""

encode = json.JSONEncoder(allow_nan=False).encode


class NotJSON(ValueError):
    """A stored value that is not JSON text: refused, whatever else it may be."""


class JSONTextDisk(diskcache.Disk):  # type: ignore[misc]
    """Keys are text, values JSON text in the database itself; all else is refused."""

    def put(self, key: object) -> tuple[str, bool]:
        """Return the database form of a key: the same text."""
        if not isinstance(key, str):
            raise NotJSON(f"cache keys are text, not {type(key).__name__}")
        return key, True

    def get(self, key: object, raw: object) -> str:
        """Return the key of a database row."""
        if not raw or not isinstance(key, str):
            raise NotJSON("a key in the cache is not text")
        return key

    def store(
        self, value: object, read: bool, key: object = diskcache.UNKNOWN
    ) -> tuple[int, int, None, str]:
        """Return (size, mode, no file, JSON text)."""
        text = encode(value)
        return len(text), RAW, None, text

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> object:
        """Return the value of a database row; NotJSON for anything but JSON text."""
        if mode != RAW or filename is not None or not isinstance(value, str):
            raise NotJSON("a value in the cache is not JSON text")
        return json.loads(value)
