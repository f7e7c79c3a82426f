"""Standard output and error of any encoding: data leaves in UTF-8, text degrades, none fails."""

from __future__ import annotations

import codecs
import io
import json
import sys
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TextIO

_DEGRADED = "judge-degraded"
_PLAIN_ASCII = "judge_plain_ascii"

# What judge itself prints beyond ASCII.
_PLAIN: Mapping[str, str] = MappingProxyType(
    {
        "…": "...", "→": "->", "·": "|", "±": "+/-", "×": "x", "≥": ">=", "≤": "<=", "−": "-",
        "–": "-", "—": "-", "─": "-", "‘": "'", "’": "'", "“": '"', "”": '"', "\xa0": " ",
        "►": ">", "•": "*",
    }
)  # fmt: skip


def degrade_text() -> None:
    """Let no sign that stdout or stderr cannot encode end a command.

    The signs that judge prints itself become ASCII that means the same (`…` is `...`); any
    other, as in an id or a query, its Python escape (`\\u4e2d`), which tells ids apart.
    """
    codecs.register_error(_DEGRADED, _degraded)
    codecs.register(_plain_ascii)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # click takes a stream called ASCII for a broken one, and writes UTF-8 past it.
            is_ascii = codecs.lookup(stream.encoding).name == "ascii"
            encoding = _PLAIN_ASCII if is_ascii else stream.encoding
            stream.reconfigure(encoding=encoding, errors=_DEGRADED)


def data_stream() -> TextIO:
    """Return standard output for what programs read: UTF-8 from here on, whatever it was."""
    stream = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        # As in the files that judge writes: the JSON escape of a lone surrogate means the same.
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    return stream


def print_json(document: object, *, indent: int | None = None) -> None:
    """Print one JSON value in UTF-8, and a line end."""
    stream = data_stream()
    json.dump(document, stream, ensure_ascii=False, allow_nan=False, indent=indent)
    stream.write("\n")


def print_lines(lines: Iterable[str]) -> None:
    """Print lines that people read on stdout."""
    sys.stdout.writelines(f"{line}\n" for line in lines)


def _degraded(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign) or _escape(sign) for sign in signs), error.end


def _escape(sign: str) -> str:
    return sign.encode("ascii", "backslashreplace").decode()


def _plain_ascii(name: str) -> codecs.CodecInfo | None:
    if name != _PLAIN_ASCII:
        return None
    ascii = codecs.lookup("ascii")
    return codecs.CodecInfo(
        ascii.encode,
        ascii.decode,
        incrementalencoder=ascii.incrementalencoder,
        incrementaldecoder=ascii.incrementaldecoder,
        name=_PLAIN_ASCII,
    )
