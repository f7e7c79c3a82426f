"""What a cache's database holds, read also around damage: a bad page costs the rows on it.

Values are taken as the database holds them, whatever diskcache's mode says: it is JSON text. An
entry that is not as it was stored is refused and counted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from judge.judging.cache_files import DATABASE
from judge.judging.cache_trouble import IF_DAMAGED, is_damage
from judge.judging.entries import Entry, Fields, read_plain_grades, read_stored, sha256
from judge.judging.json_disk import NotJSON
from judge.judging.salvage import rows_left

_SELECT_AT_ONCE = 500

_Stored: TypeAlias = tuple[bytes, object]
"""A key and a value, as the database holds them."""


class StoredRows:
    """The rows of a cache's database, to be read; the caller keeps threads apart.

    looks_behind_index: also search the table for what its index denies
    say: is told once, where something had to be read around damage

    refused: how many entries were found that could not be read as what they should be
    """

    def __init__(
        self,
        folder: Path,
        connection: sqlite3.Connection,
        *,
        looks_behind_index: bool,
        say: Callable[[str], object],
    ) -> None:
        self.folder = folder
        self.refused = 0
        self._connection = connection
        self._looks_behind_index = looks_behind_index
        self._say = say
        self._is_said = False
        self._left: dict[str, bytes] | None = None
        self._listed: set[bytes] | None = None

    def find(self, keys: Sequence[str]) -> dict[str, Fields]:
        """Return the valid verdicts among `keys`, those too that an index has lost."""
        graded = self.graded(keys)
        missing = [key for key in keys if key not in graded]
        if missing and self._looks_behind_index:
            graded |= self._hidden(missing)
        return graded

    def graded(self, keys: Sequence[str]) -> dict[str, Fields]:
        """Return the valid verdicts among `keys`, with one SELECT for some hundreds of them."""
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
        if not self._is_said:
            self._is_said = True
            self._say(f"cache {self.folder}: damaged; {IF_DAMAGED}")

    def _entry(self, key: bytes, text: object) -> Entry | None:
        entry = _read(key, text)
        self.refused += entry is None
        return entry


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


def _read(key: bytes, text: object) -> Entry | None:
    """Return a stored entry, None for what is none or not as it was stored."""
    try:
        if not isinstance(text, bytes):
            raise NotJSON("a value in the cache is not JSON text")
        return read_stored(key.decode(), text)
    except (ValueError, TypeError, RecursionError):
        return None


def _shared_text(value: object, kind: str) -> str | None:
    try:
        text = json.loads(value)[kind] if isinstance(value, bytes) else None
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return text if isinstance(text, str) else None
