"""Mark the words of a query where they stand in a chunk."""

from __future__ import annotations

import re
from typing import NamedTuple

_WORD = re.compile(r"\w+", re.UNICODE)
_SHORTEST = 3
_SHARED = 4


class Segment(NamedTuple):
    """A stretch of a chunk; marked: it is a word of the query."""

    text: str
    marked: bool


def mark(text: str, query: str) -> list[Segment]:
    """Split a chunk into segments that join to it again; words of the query are marked.

    A word counts if it is one of the query's, or begins as one does over at least four letters
    ("heights" for "height"); words of one or two letters count only where digits are in them.

    >>> mark("Mount Everest", "everest height")
    [Segment(text='Mount ', marked=False), Segment(text='Everest', marked=True)]
    """
    wanted = {word for word in map(str.casefold, _WORD.findall(query)) if _tells(word)}
    segments: list[Segment] = []
    plain_from = 0
    for match in _WORD.finditer(text):
        if _is_wanted(match[0].casefold(), wanted):
            if plain_from < match.start():
                segments.append(Segment(text[plain_from : match.start()], False))
            segments.append(Segment(match[0], True))
            plain_from = match.end()
    if plain_from < len(text):
        segments.append(Segment(text[plain_from:], False))
    return segments


def _tells(word: str) -> bool:
    return len(word) >= _SHORTEST or any(char.isdigit() for char in word)


def _is_wanted(word: str, wanted: set[str]) -> bool:
    if word in wanted:
        return True
    return any(
        min(len(word), len(other)) >= _SHARED and (word.startswith(other) or other.startswith(word))
        for other in wanted
    )
