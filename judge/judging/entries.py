"""What is stored of one reply, and the key it is stored under."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from json.encoder import encode_basestring_ascii as encode_ascii
from math import inf
from operator import le
from typing import Any, TypeAlias

from judge.judging.json_disk import encode
from judge.judging.verdict import PARSER, parse_reply

KEY_SCHEME = 1
"""Enters every key: raise it when requests are rendered differently for the same input."""

canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode
"""Return JSON that is the same for the same value everywhere: ASCII, sorted, no spaces."""


Fields: TypeAlias = dict[str, Any]
"""An entry without its key, by field, as `Entry.plain` gives it and as it is stored."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One recorded reply, as plain JSON values.

    status: "graded" is served; "refused" and "failed" are recorded only
    raw: the reply as it came, so that a better parser reads it again without a call
    field, grade_max, parser: how `raw` was read
    counts: False where the reply does not count whatever it says: the server had cut the prompt,
        or the grades had too little of the token probability
    sent: the sampling settings that were really sent
    settings_sha256, query_sha256, text_sha256: of things that many entries share; they are
        stored once each, the texts not at all under `--redact`
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
    counts: bool = True
    flags: tuple[str, ...] = ()
    probabilities: tuple[float, ...] | None = None
    sent: Mapping[str, Any] | None = None

    def plain(self) -> Fields:
        """Return the entry as a JSON object without its key, as it is stored."""
        return {name: getattr(self, name) for name in _STORED}


_STORED = tuple(field.name for field in fields(Entry) if field.name != "key")
_HASHES = ("settings_sha256", "query_sha256", "text_sha256")
_NUMBERS = ("prompt_tokens", "completion_tokens", "cost_usd")
_CHECK = b', "check": "'
_CHECK_SIZE = len(_CHECK) + len('00000000"}')
_TEXTS = ("status", "reason", "model", "prompt", "field", *_HASHES)


class Keys:
    """The cache keys of one judge: a model under one prompt and fixed settings.

    settings: the canonical JSON of everything but the pair that could change a reply
    fence: the edition of what is defused in texts, where that is not the first one
    """

    def __init__(
        self, backend: Mapping[str, object], *, prompt_sha256: str, fence: int | None = None
    ) -> None:
        fixed: dict[str, object] = {
            "scheme": KEY_SCHEME,
            "backend": dict(backend),
            "prompt": prompt_sha256,
        }
        if fence is not None:
            fixed["fence"] = fence
        self.settings = canonical(fixed)
        self.settings_sha256 = sha256(self.settings)

    def key(self, query: str, text: str) -> str:
        """Return the sha256 of the canonical request."""
        return request_key(query, text, self.settings)


def request_key(query: str, text: str, settings: str) -> str:
    """Return the sha256 of the canonical request: chunk, query and settings, nothing else.

    `settings` is canonical JSON already, which saves encoding it for every pair.
    """
    pair = f'{{"chunk":{encode_ascii(text)},"query":{encode_ascii(query)},"settings":{settings}}}'
    return hashlib.sha256(pair.encode("ascii")).hexdigest()


def sha256(text: str) -> str:
    """Return the hex sha256 of a text; lone surrogates count as themselves."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def stored_text(entry: Entry) -> str:
    """Return what is stored of an entry: its JSON, closed by a checksum over it and its key."""
    text = encode(entry.plain())
    check = zlib.crc32(text.encode(), zlib.crc32(entry.key.encode()))
    return f'{text[:-1]}, "check": "{check:08x}"}}'


def _checked(key: bytes, text: bytes) -> tuple[bytes, bool]:
    """Return the JSON of a stored entry without its checksum, and whether it had one.

    ValueError where the checksum is another. What older versions stored has none.
    """
    if text[-_CHECK_SIZE:-10] != _CHECK:
        return text, False
    body = text[:-_CHECK_SIZE] + b"}"
    if b"%08x" % zlib.crc32(body, zlib.crc32(key)) != text[-10:-2]:
        raise ValueError("an entry's checksum is another")
    return body, True


def read_stored(key: str, text: bytes) -> Entry:
    """Return a stored entry; ValueError or TypeError if it is none or not as it was stored."""
    body, has_check = _checked(key.encode(), text)
    entry = read_entry(key, json.loads(body))
    if not has_check:
        check_reply(entry)
    return entry


def check_reply(entry: Entry) -> None:
    """Refuse, by ValueError, a grade that its own reply does not give, if the same parser read it.

    A damaged entry may read like a whole one: `2` is a bit away from `3`.
    """
    if entry.raw is None or not entry.counts or entry.parser != PARSER:
        return
    if _said(entry.raw, entry.field, entry.grade_max) != entry.grade:
        raise ValueError("its reply says another grade")


@lru_cache(maxsize=1024)
def _said(raw: str, field: str, grade_max: int) -> int | None:
    """Return the grade in a reply: there are few different ones."""
    return parse_reply(raw, field=field, grade_max=grade_max).grade


def read_plain_grades(rows: Sequence[tuple[bytes, bytes]]) -> list[Fields] | None:
    """Return the fields of stored graded entries; None where one of them needs a closer look.

    rows: keys and what is stored under them

    They are what this version of judge writes, so that `read_entry` would change nothing about
    them. It takes four times as long: values decoded as one array share their fields' names,
    and what is checked is checked field by field for all of them.
    """
    try:
        bodies = [_checked(key, text) for key, text in rows]
        values = json.loads(b"[%b]" % b",".join([body for body, _ in bodies]))
    except (ValueError, RecursionError):
        return None
    # A text that holds two values, or a part of one, makes another number of them.
    is_each = len(values) == len(rows) and set(map(type, values)) == {dict}
    if not is_each or not _are_plain_grades(values):
        return None
    unchecked = (value for value, (_, had) in zip(values, bodies, strict=True) if not had)
    return values if all(map(_says_its_grade, unchecked)) else None


def _says_its_grade(value: Fields) -> bool:
    raw = value["raw"]
    return raw is None or _said(raw, value["field"], value["grade_max"]) == value["grade"]


def _are_plain_grades(values: Sequence[Fields]) -> bool:
    if set(map(tuple, values)) != {_STORED}:
        return False
    columns = dict(zip(_STORED, zip(*map(dict.values, values), strict=True), strict=True))
    kinds = {name: set(map(type, column)) for name, column in columns.items()}
    return (
        all(kinds[name] == {str} for name in _TEXTS)
        and kinds["raw"] <= {str, type(None)}
        and kinds["flags"] == {list}
        and kinds["probabilities"] <= {list, type(None)}
        and kinds["counts"] == {bool}
        and kinds["sent"] <= {dict, type(None)}
        and all(_are_counts(columns[name]) for name in _NUMBERS)
        and all(map(_are_texts, filter(None, columns["flags"])))
        and all(map(_are_shares, filter(None, columns["probabilities"])))
        and kinds["grade"] == kinds["grade_max"] == {int}
        and set(columns["status"]) == {"graded"}
        and columns["parser"].count(PARSER) == len(values)
        and min(columns["grade"]) >= 0
        and all(map(le, columns["grade"], columns["grade_max"]))
    )


def _are_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _are_counts(values: Iterable[Any]) -> bool:
    """Tell whether tokens or costs are what they can be: unknown, or no less than nothing."""
    known = [value for value in values if value is not None]
    return set(map(type, known)) <= {int, float} and all(0 <= value < inf for value in known)


def _are_shares(values: Iterable[Any]) -> bool:
    return all(type(value) in (int, float) and 0 <= value <= 1 for value in values)


def read_entry(key: str, value: object) -> Entry:
    """Return the entry in a stored JSON value, its reply read again if the parser is newer.

    ValueError or TypeError if the value is not an entry. Fields we do not know are ignored.
    """
    if not isinstance(value, dict):
        raise TypeError("an entry is a JSON object")
    known = {name: value[name] for name in _STORED if name in value}
    for name in ("flags", "probabilities"):
        if isinstance(known.get(name), list):
            known[name] = tuple(known[name])
    entry = Entry(key, **known)
    texts = {type(getattr(entry, name)) for name in _TEXTS}
    if not (texts == {str} and isinstance(entry.raw, str | None)):
        raise TypeError("an entry's texts are text")
    if not (isinstance(entry.flags, tuple) and isinstance(entry.probabilities, tuple | None)):
        raise TypeError("an entry's flags and probabilities are lists")
    if not (_are_texts(entry.flags) and _are_shares(entry.probabilities or ())):
        raise ValueError("an entry's flags are texts, its probabilities from 0 to 1")
    if not _are_counts(getattr(entry, name) for name in _NUMBERS):
        raise ValueError("an entry's tokens and cost are numbers from 0, or unknown")
    if not (isinstance(entry.counts, bool) and isinstance(entry.sent, dict | None)):
        raise TypeError("an entry's `counts` is true or false, its `sent` an object")
    if type(entry.grade_max) is not int:
        raise TypeError("an entry's scale is an integer")
    if entry.parser != PARSER and entry.raw is not None and entry.counts is True:
        entry = _read_again(entry)
    graded = type(entry.grade) is int and 0 <= entry.grade <= entry.grade_max
    if entry.status not in ("graded", "refused", "failed") or graded != (entry.status == "graded"):
        raise ValueError("an entry's status and grade do not fit together")
    return entry


def _read_again(entry: Entry) -> Entry:
    parsed = parse_reply(entry.raw, field=entry.field, grade_max=entry.grade_max)
    status = {"grade": "graded", "refused": "refused"}.get(parsed.status, "failed")
    return replace(entry, status=status, grade=parsed.grade, reason=parsed.reason, parser=PARSER)
