"""Look after a cache: count it, check it, explain it, share it, prune it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from judge.errors import InputError, Problem
from judge.judging.cache import JudgmentCache
from judge.judging.cache_files import alone, holds_judgments, set_aside, those_set_aside
from judge.judging.cache_opening import FORMAT_KEY
from judge.judging.cache_reading import sound_rows
from judge.judging.cache_trouble import CacheDamaged
from judge.judging.entries import (
    Entry,
    canonical,
    check_reply,
    read_entry,
    request_key,
    sha256,
)
from judge.judging.salvage import rows_left


@dataclass(frozen=True, slots=True)
class Stats:
    """What a cache holds.

    statuses: entries by (model, prompt, status)
    cost_usd: what was paid for all of it, as far as known; unpriced: entries of unknown cost
    """

    entries: int
    texts: int
    statuses: Mapping[tuple[str, str, str], int]
    cost_usd: float
    unpriced: int
    bytes: int


def stats(cache: JudgmentCache) -> Stats:
    """Return counts over everything in the cache."""
    statuses: Counter[tuple[str, str, str]] = Counter()
    cost_usd, unpriced = 0.0, 0
    for entry in cache.entries():
        statuses[entry.model, entry.prompt, entry.status] += 1
        cost_usd += entry.cost_usd or 0.0
        unpriced += entry.cost_usd is None
    size = sum(path.stat().st_size for path in cache.folder.glob("cache.db*"))
    texts = len(cache.shared("text"))
    return Stats(statuses.total(), texts, statuses, cost_usd, unpriced, size)


@dataclass(frozen=True, slots=True)
class Verified:
    """What a check of every entry found.

    database: SQLite's own word, "ok" if sound
    unreadable: values that are no entries; misfiled: keys of entries whose texts and settings
        give another key; unchecked: entries whose texts are not stored, so nobody can tell
    """

    database: str
    entries: int
    unreadable: int
    misfiled: tuple[str, ...]
    unchecked: int

    @property
    def is_sound(self) -> bool:
        """Tell whether nothing wrong was found."""
        return self.database == "ok" and not self.unreadable and not self.misfiled


def verify(cache: JudgmentCache) -> Verified:
    """Check the database, every entry, and every key against the texts it was made of."""
    try:
        database = cache.quick_check()
        return _verify_entries(cache, database)
    except sqlite3.DatabaseError as error:  # not even the entries can be listed
        return Verified(str(error), 0, 0, (), 0)


def _verify_entries(cache: JudgmentCache, database: str) -> Verified:
    texts, settings = cache.shared("text"), cache.shared("settings")
    before = cache.refused
    misfiled, n, unchecked = [], 0, 0
    for entry in cache.entries():
        n += 1
        query, text = texts.get(entry.query_sha256), texts.get(entry.text_sha256)
        under = settings.get(entry.settings_sha256)
        if query is None or text is None or under is None:
            unchecked += 1
        elif request_key(query, text, under) != entry.key:
            misfiled.append(entry.key)
    return Verified(database, n, cache.refused - before, tuple(misfiled), unchecked)


@dataclass(frozen=True, slots=True)
class Explained:
    """One recorded reply for a pair, and the settings it was given under."""

    entry: Entry
    settings: Mapping[str, object]


def explain(cache: JudgmentCache, query: str, chunk: str) -> list[Explained]:
    """Return every recorded reply for a pair, under whatever model, prompt and settings."""
    settings = cache.shared("settings")
    pair = (sha256(query), sha256(chunk))
    return [
        Explained(entry, json.loads(settings.get(entry.settings_sha256, "{}")))
        for entry in cache.entries()
        if (entry.query_sha256, entry.text_sha256) == pair
    ]


def export(cache: JudgmentCache, *, with_texts: bool = False) -> Iterator[str]:
    """Yield the valid verdicts as lines of JSON in the order of keys.

    The order and the form of a line depend on nothing but its content, so that files of two
    people merge line by line.
    """
    settings = cache.shared("settings")
    texts = cache.shared("text") if with_texts else {}
    for entry in cache.entries():
        if entry.status != "graded":
            continue
        line: dict[str, object] = {"key": entry.key, **entry.plain()}
        line["settings"] = settings.get(entry.settings_sha256)
        if with_texts:
            line["query"] = texts.get(entry.query_sha256)
            line["chunk"] = texts.get(entry.text_sha256)
        yield canonical(line)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did: verdicts added, those that were there, and those that differed.

    differ: the grade that was there stands; a conflict between two paid judgments
    """

    added: int
    same: int
    differ: int


def import_lines(cache: JudgmentCache, lines: Iterable[str], *, where: str) -> Imported:
    """Add exported verdicts to the cache; what is there already stands.

    InputError names every line that is no verdict, before anything is written.
    """
    entries: dict[str, Entry] = {}
    shared: dict[str, object] = {}
    problems = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            entry, refers_to = _read_line(line)
        except (ValueError, TypeError, RecursionError) as error:
            fix = "import what `judge cache export` wrote"
            problems.append(Problem(f"{where}:{number}", f"not an exported verdict ({error})", fix))
            continue
        entries.setdefault(entry.key, entry)
        shared |= refers_to
    if problems:
        raise InputError(problems)
    before = cache.find(list(entries))
    standing = cache.keep(list(entries.values()), shared=shared)
    differ = sum(
        entry.grade != stands.grade
        for entry, stands in zip(entries.values(), standing, strict=True)
    )
    return Imported(len(entries) - len(before), len(before) - differ, differ)


def _read_line(line: str) -> tuple[Entry, dict[str, object]]:
    value = json.loads(line)
    if not isinstance(value, dict) or not isinstance(key := value.get("key"), str):
        raise ValueError("it has no key")
    if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
        raise ValueError("its key is no sha256")
    entry = read_entry(key, value)
    if entry.status != "graded":
        raise ValueError(f"its status is {entry.status!r}")
    check_reply(entry)
    shared: dict[str, object] = {}
    for name, kind, digest in (
        ("settings", "settings", entry.settings_sha256),
        ("query", "text", entry.query_sha256),
        ("chunk", "text", entry.text_sha256),
    ):
        if isinstance(text := value.get(name), str):
            if sha256(text) != digest:
                raise ValueError(f"its {name} has another sha256")
            shared[f"{kind}:{digest}"] = {kind: text}
    if shared and not isinstance(json.loads(value.get("settings") or "{}"), dict):
        raise ValueError("its settings are no JSON object")
    parts = [value.get(name) for name in ("query", "chunk", "settings")]
    if None not in parts and request_key(*map(str, parts)) != entry.key:
        raise ValueError("its key is that of another query, chunk or settings")
    return entry, shared


@dataclass(frozen=True, slots=True)
class Pruned:
    """What was deleted."""

    entries: int
    texts: int


def prune(
    cache: JudgmentCache,
    *,
    failed: bool = False,
    model: str | None = None,
    prompt: str | None = None,
    texts: bool = False,
) -> Pruned:
    """Delete entries that fit every condition given, and texts that nothing refers to any more.

    failed: those without a grade only
    texts: delete all texts, whatever refers to them; verdicts stay
    """
    entries = list(cache.entries())
    chosen = [
        entry
        for entry in entries
        if (failed or model or prompt)
        and (not failed or entry.status != "graded")
        and model in (None, entry.model)
        and prompt in (None, entry.prompt)
    ]
    gone = {entry.key for entry in chosen}
    kept = [entry for entry in entries if entry.key not in gone and not texts]
    used = {digest for entry in kept for digest in (entry.query_sha256, entry.text_sha256)}
    unused = [f"text:{digest}" for digest in cache.shared("text") if digest not in used]
    return Pruned(cache.delete(sorted(gone)), cache.delete(unused))


@dataclass(frozen=True, slots=True)
class Readable:
    """What one damaged database still holds.

    values: texts and settings; unreadable: rows that are not as they were stored
    """

    database: Path
    entries: int
    values: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class Salvaged:
    """What came back from the damaged databases of a folder.

    moved: where the one in use went, if it was damaged; added: entries that were not there
    """

    moved: Path | None
    read: tuple[Readable, ...]
    added: int


def salvage(folder: Path) -> Salvaged:
    """Set a damaged database aside, and bring back what can be read of all that were.

    A verdict that is there already stands.
    """
    with alone(folder):
        moved = set_aside(folder) if _is_damaged(folder) else None
    read, added = [], 0
    with closing(JudgmentCache(folder)) as cache:
        for database in those_set_aside(folder):
            rows = list(rows_left(database))
            entries, shared = sound_rows(rows)
            there = cache.find(list(entries))
            cache.keep(list(entries.values()), shared=shared)
            added += len(entries.keys() - there.keys())
            bad = {key for key, _ in rows} - entries.keys() - shared.keys() - {FORMAT_KEY}
            read.append(Readable(database, len(entries), len(shared), len(bad)))
    return Salvaged(moved, tuple(read), added)


def _is_damaged(folder: Path) -> bool:
    if not holds_judgments(folder):
        return False
    try:
        with closing(JudgmentCache(folder, to_read=True)) as cache:
            return cache.full_check() != "ok"
    except (CacheDamaged, sqlite3.DatabaseError):
        return True
