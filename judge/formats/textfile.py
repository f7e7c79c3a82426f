"""A file's text and its lines, held in memory or left on the disk it lies on."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from judge.errors import InputError, Problem

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TextFile:
    """A whole file as text, with the name that messages use for it."""

    name: str
    text: str

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield line numbers and lines, without holding a second copy of the text."""
        start, number = 0, 1
        while start < len(self.text):
            end = self.text.find("\n", start)
            end = len(self.text) if end < 0 else end
            yield number, self.text[start:end]
            start, number = end + 1, number + 1

    def first_lines(self) -> list[str]:
        """Return the first two lines that are not blank, or fewer."""
        return list(islice((line for _, line in self.lines() if line.strip()), 2))


class StoredText(TextFile):
    """A large file, checked by `is_plain_text`, whose lines are read each time they are asked for.

    Whoever wants all of its `text` gets it; what reads line by line never holds it.
    """

    __slots__ = ("_path",)
    _path: Path

    def __init__(self, path: Path) -> None:
        """Take a file that `is_plain_text`."""
        object.__setattr__(self, "name", str(path))
        object.__setattr__(self, "_path", path)

    @property
    def text(self) -> str:
        """Return the whole text, read anew."""
        return "".join(self._stream())

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield line numbers and lines as they come from the disk."""
        for number, line in enumerate(self._stream(), 1):
            yield number, line[:-1] if line[-1] == "\n" else line

    def _stream(self) -> Iterator[str]:
        # Lines end at line feeds alone: other line breaks stand inside texts.
        try:
            with self._path.open(encoding="utf-8-sig", newline="\n") as stream:
                yield from stream
        except (OSError, UnicodeDecodeError) as error:
            problem = Problem(self.name, f"changed while it was read ({error})", "try again")
            raise InputError(problem) from error


def is_plain_text(stream: BinaryIO) -> bool:
    """Tell whether the rest of a stream is UTF-8 text that is not blank, without holding it."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    is_blank = True
    try:
        while data := stream.read(_CHUNK):
            if data.isascii() and not (is_blank or decoder.getstate()[0]):
                if b"\0" in data:
                    return False
                continue  # nothing to decode in it, nor left over before it
            text = decoder.decode(data)
            if "\0" in text:
                return False
            is_blank = is_blank and not text.strip()
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return not is_blank
