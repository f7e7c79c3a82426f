"""Ids: text whatever their type was, made from metadata by `--key`, or from the text itself."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from judge.formats.decoding import Fields

_EXACT_FLOAT = 2.0**53


def id_text(value: object) -> str | None:
    """Return an id as text (17, 17.0 and "17" are one id), or None where it is no id.

    >>> id_text(17), id_text("17"), id_text(17.0), id_text(1.5), id_text("")
    ('17', '17', '17', None, None)
    """
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value) if value.bit_length() < 1024 else None
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_FLOAT:
        return str(int(value))
    return None


def key_id(fields: Fields, key: Sequence[str]) -> str | None:
    """Return the id that the metadata fields `key` make, or None if one is missing.

    Parts are joined by "|"; a "|" inside a part is escaped, so no two keys fall together.

    >>> key_id({"file_id": "manual.pdf", "page": 12}, ["file_id", "page"])
    'manual.pdf|12'
    >>> key_id({"file_id": "manual.pdf"}, ["file_id", "page"])
    """
    parts = [id_text(fields.get(name)) for name in key]
    if len(parts) == 1:
        return parts[0]
    if any(part is None for part in parts):
        return None
    return "|".join(str(part).replace("\\", "\\\\").replace("|", "\\|") for part in parts)


def content_id(text: str) -> str:
    """Return an id made from a chunk's text, the same wherever that text appears.

    >>> content_id("reset the breaker")
    'sha256:6686a03fe27850e7'
    """
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
