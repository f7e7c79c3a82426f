"""Every reply that was ever received, on disk: nothing is paid twice.

A diskcache folder whose Disk knows JSON text and nothing else: what is not JSON is refused,
never unpickled. Nothing is evicted. An entry is looked up by the sha256 of the canonical
request, so a change of anything that could change a reply is a miss, and anything else (cutoffs,
timeouts, concurrency) a hit. Only valid verdicts are served; refusals and failures are kept for
the record and asked again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import diskcache  # type: ignore[import-untyped]

from judge.errors import JudgeError
from judge.judging.verdict import PARSER, parse_reply

FORMAT = 1
KEY_SCHEME = 1
"""Enters every key: raise it when requests are rendered differently for the same input."""

_FORMAT_KEY = "judge-cache-format"
_SELECT_AT_ONCE = 500
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class CacheTrouble(JudgeError):
    """The cache folder cannot be used; judging goes on without it."""


class NotJSON(ValueError):
    """A stored value that is not JSON text: refused, whatever else it may be."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded reply, as plain JSON values.

    status: "graded" is served; "refused" and "failed" are recorded only
    field, grade_max, parser: how `raw` was read, so that a better parser can read it again
    sent: the sampling settings that were really sent
    query_sha256, text_sha256: of the pair's texts; the texts themselves are entries of their
        own, once each, and absent under `--redact`
    """

    key: str
    status: str
    grade: int | None
    reason: str
    raw: str | None
    parser: int
    field: str
    grade_max: int
    model: str
    prompt: str
    settings_sha256: str
    query_sha256: str
    text_sha256: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost_usd: float | None = None
    flags: tuple[str, ...] = ()
    probabilities: tuple[float, ...] | None = None
    sent: Mapping[str, Any] | None = None


class Keys:
    """The cache keys of one judge: a model under one prompt and fixed settings."""

    def __init__(self, settings: Mapping[str, object], *, prompt_sha256: str) -> None:
        fixed = {"scheme": KEY_SCHEME, "backend": dict(settings), "prompt": prompt_sha256}
        self.settings = _canonical(fixed)
        self.settings_sha256 = sha256(self.settings)

    def key(self, query: str, text: str) -> str:
        """Return the sha256 of the canonical request: settings, query and chunk, nothing else."""
        request = f'{{"chunk":{_canonical(text)},"query":{_canonical(query)},"settings":'
        return hashlib.sha256(f"{request}{self.settings}}}".encode("ascii")).hexdigest()


def sha256(text: str) -> str:
    """Return the hex sha256 of a text; lone surrogates count as themselves."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


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
        text = json.dumps(value, ensure_ascii=True, allow_nan=False)
        return len(text), diskcache.core.MODE_RAW, None, text

    def fetch(self, mode: int, filename: str | None, value: object, read: bool) -> object:
        """Return the value of a database row; NotJSON for anything but JSON text."""
        if mode != diskcache.core.MODE_RAW or filename is not None or not isinstance(value, str):
            raise NotJSON("a value in the cache is not JSON text")
        return json.loads(value)


class JudgmentCache:
    """An open cache folder. Used from several threads and processes at once."""

    def __init__(self, folder: Path, *, redact: bool = False) -> None:
        self.folder = folder
        self.redact = redact
        self.refused = 0
        """Entries that were found but could not be read as what they should be."""
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._disk = diskcache.Cache(
                str(folder),
                disk=JSONTextDisk,
                eviction_policy="none",
                cull_limit=0,
                statistics=0,
                sqlite_synchronous=1,
            )
            self._reader = sqlite3.connect(
                Path(self._disk.directory) / "cache.db", timeout=60, check_same_thread=False
            )
            self._check_format()
        except (OSError, sqlite3.Error, diskcache.Timeout) as error:
            raise CacheTrouble(f"cache {folder}: {error}") from error
        self._reading = threading.Lock()

    def _check_format(self) -> None:
        found = self._disk.get(_FORMAT_KEY)
        if found is None:
            self._disk.add(_FORMAT_KEY, {"format": FORMAT})
        elif not isinstance(found, dict) or found.get("format") != FORMAT:
            raise CacheTrouble(
                f"cache {self.folder}: written by another version of judge ({found});"
                " update judge or name another folder with --cache-dir"
            )

    def find(self, keys: Sequence[str]) -> dict[str, Entry]:
        """Return the valid verdicts among `keys`, with one SELECT for some hundreds of them."""
        found = {}
        for start in range(0, len(keys), _SELECT_AT_ONCE):
            some = keys[start : start + _SELECT_AT_ONCE]
            for key, text in self._select(some):
                entry = self._entry(key, text)
                if entry is not None and entry.status == "graded":
                    found[key] = entry
        return found

    def _select(self, keys: Sequence[str]) -> list[tuple[str, object]]:
        marks = ",".join("?" * len(keys))
        query = f"SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1 AND key IN ({marks})"  # noqa: S608
        with self._reading:
            return self._reader.execute(query, keys).fetchall()

    def _entry(self, key: str, text: object) -> Entry | None:
        try:
            return read_entry(key, json.loads(text)) if isinstance(text, str) else None
        except (ValueError, TypeError, RecursionError):
            self.refused += 1
            return None

    def keep(self, entries: Iterable[Entry], *, texts: Mapping[str, str]) -> list[Entry]:
        """Store entries in one transaction and return what stands for each key.

        A valid verdict that is already there stands: two processes that paid for the same pair
        at the same moment agree on the first one stored. `texts` maps sha256 to text.
        """
        standing = []
        with self._disk.transact(retry=True):
            for entry in entries:
                current = self._standing(entry.key)
                if current is None:
                    current = _redacted(entry) if self.redact else entry
                    self._disk.set(entry.key, _plain(current))
                    current = entry
                standing.append(current)
            for digest, text in {} if self.redact else texts.items():
                self._disk.add(f"text:{digest}", {"text": text})
        return standing

    def _standing(self, key: str) -> Entry | None:
        try:
            value = self._disk.get(key)
            entry = None if value is None else read_entry(key, value)
        except (ValueError, TypeError):
            return None
        return entry if entry is not None and entry.status == "graded" else None

    def entries(self) -> Iterator[Entry]:
        """Yield every readable entry, in no particular order."""
        cursor = self._reader.execute(
            "SELECT key, value FROM Cache WHERE raw = 1 AND mode = 1 AND length(key) = 64"
        )
        for key, text in cursor:
            if (entry := self._entry(key, text)) is not None:
                yield entry

    def close(self) -> None:
        """Close this thread's connections; entries are on disk since they were kept."""
        self._reader.close()
        self._disk.close()


def read_entry(key: str, value: object) -> Entry:
    """Return the entry in a stored JSON value, its reply read again if the parser is newer.

    ValueError or TypeError if the value is not an entry.
    """
    if not isinstance(value, dict):
        raise TypeError("an entry is a JSON object")
    known = {name: value[name] for name in _STORED if name in value}
    for name in ("flags", "probabilities"):
        if isinstance(known.get(name), list):
            known[name] = tuple(known[name])
    entry = Entry(key=key, **known)
    if entry.parser != PARSER and entry.raw is not None:
        entry = _read_again(entry)
    graded = type(entry.grade) is int and 0 <= entry.grade <= entry.grade_max
    if entry.status not in ("graded", "refused", "failed") or graded != (entry.status == "graded"):
        raise ValueError("an entry's status and grade do not fit together")
    return entry


def _read_again(entry: Entry) -> Entry:
    parsed = parse_reply(entry.raw, field=entry.field, grade_max=entry.grade_max)
    status = {"grade": "graded", "refused": "refused"}.get(parsed.status, "failed")
    return replace(entry, status=status, grade=parsed.grade, reason=parsed.reason, parser=PARSER)


def _plain(entry: Entry) -> dict[str, object]:
    return {name: value for name, value in asdict(entry).items() if name != "key"}


def _redacted(entry: Entry) -> Entry:
    """Return the entry without its raw reply, which may quote the texts."""
    return replace(entry, raw=None)


_STORED = tuple(field.name for field in fields(Entry) if field.name != "key")
