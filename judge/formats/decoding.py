"""JSON and JSON lines as Python values, each with its place; nothing a file holds can break it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from typing import TypeAlias

from judge.formats.findings import Findings, Place, shown
from judge.formats.json_value import json_value
from judge.formats.textfile import TextFile

Fields: TypeAlias = dict[str, object]
"""A JSON object."""

_ONE_A_LINE = "write one JSON value a line (jq -c .) or one JSON array"


@dataclass(frozen=True, slots=True)
class Document:
    """A file that is one JSON value."""

    place: Place
    value: object


@dataclass(frozen=True, slots=True)
class Lines:
    """A file with one value a line; they are decoded as they are asked for, once.

    first: the first of them, which is also the first of `records`; None where there is none
    """

    place: Place
    records: Iterator[tuple[Place, object]]
    first: object = None

    @classmethod
    def peeked(cls, place: Place, records: Iterator[tuple[Place, object]]) -> Lines:
        """Return the lines with their first value looked at."""
        head = list(islice(records, 1))
        return cls(place, chain(head, records), head[0][1] if head else None)


def looks_like_json(file: TextFile) -> bool:
    """Tell whether a file starts as a JSON object or array does."""
    return file.first_lines()[0].lstrip()[:1] in ("{", "[")


def decode(file: TextFile, findings: Findings) -> Document | Lines:
    """Return the file's JSON value, or its values line by line; bad places go to `findings`.

    Raises InputError at once where a file as a whole is not JSON.
    """
    decoder, place = _Decoder(findings), Place(file.name)
    if _is_lines(file):
        return Lines.peeked(place, _lines(file, decoder))
    value = decoder.value(file.text, place)
    findings.check()
    return Document(place, value)


def _is_lines(file: TextFile) -> bool:
    """Tell JSON lines: a first line that stands alone, and more.

    Where only the second does, the first may be the broken one, or the head of a document.
    """
    first = file.first_lines()
    if len(first) < 2 or _is_json(first[0]):
        return len(first) > 1
    return first[0].lstrip().startswith("{") and _is_json(first[1]) and not _is_json(file.text)


def _is_json(line: str) -> bool:
    if line.strip()[:1] not in ("{", "["):
        return False
    try:
        json_value(line)
    except ValueError:
        return False
    return True


def _lines(file: TextFile, decoder: _Decoder) -> Iterator[tuple[Place, object]]:
    """Yield the values of a JSONL file; a line that is none is recorded and left out."""
    for number, line in file.lines():
        if line and not line.isspace():
            place = Place(file.name, number)
            value = decoder.value(line, place)
            if value is not _BROKEN:
                yield place, value


class _Broken:
    """Stands for a value that could not be decoded: null is a value of its own."""


_BROKEN = _Broken()


class _RepeatedKey(ValueError):
    """An object names a key twice: one of the two values would vanish."""


class _Decoder:
    """Decodes JSON text and turns every way it can be wrong into a recorded problem."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._decoder = json.JSONDecoder(object_pairs_hook=_unrepeated)

    def value(self, text: str, place: Place) -> object:
        """Return the decoded value, or `_BROKEN` when a problem was recorded."""
        try:
            value: object = self._decoder.decode(text)
            return self._printable(value, text, place)
        except _RepeatedKey as error:
            self._findings.problem(place, str(error), "keep one of them")
        except json.JSONDecodeError as error:
            self._findings.problem(*_syntax_error(text, place, error))
        except RecursionError:
            self._findings.problem(place, "JSON nested too deep to read", "flatten it")
        except ValueError as error:
            # int() refuses literals of more than 4,300 digits.
            self._findings.problem(
                place, f"a number that cannot be read ({error})", "write it short"
            )
        return _BROKEN

    def _printable(self, value: object, text: str, place: Place) -> object:
        """Return the value without halves of surrogate pairs, which no file could hold again.

        Programs that cut text after n UTF-16 units leave such halves behind.
        """
        # To look for one character takes a hundredth of the time that looking for three does.
        if "\\" not in text or ("\\ud" not in text and "\\uD" not in text):
            return value
        whole = json.dumps(value, ensure_ascii=False)
        clean = _whole_signs(whole)
        if clean == whole:
            return value
        self._findings.count(
            "surrogates",
            "texts with half a surrogate pair",
            place=place,
            consequence="the half is read as U+FFFD",
        )
        return self._decoder.decode(clean)


def without_halves(value: object) -> object:
    """Return a JSON value whose halves of surrogate pairs, which no file can hold, are U+FFFD."""
    whole = json.dumps(value, ensure_ascii=False)
    clean = _whole_signs(whole)
    return value if clean == whole else json.loads(clean)


def _whole_signs(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unrepeated(pairs: list[tuple[str, object]]) -> Fields:
    fields = dict(pairs)
    if len(fields) == len(pairs):
        return fields
    ((repeated, _),) = Counter(name for name, _ in pairs).most_common(1)
    raise _RepeatedKey(f"the key {shown(repeated)} occurs twice in one object")


def _syntax_error(text: str, place: Place, error: json.JSONDecodeError) -> tuple[Place, str, str]:
    line = error.lineno if place.line is None else place.line
    if error.msg == "Extra data":
        found = f"more text after the end of a JSON value (column {error.colno})"
        return Place(place.file, line), found, _ONE_A_LINE
    if place.line is not None and len(text.split()) == 6 and text[:1] not in "{[":
        found = "a TREC line in a file of JSON lines: two shapes in one file"
        return Place(place.file, line), found, "keep one shape a file"
    found = f"not JSON: {error.msg.removesuffix(' at')} (column {error.colno})"
    return Place(place.file, line), found, "correct it, or write the file again"
