"""A block of lines as columns of token edges, and its tokens as machine words.

No token becomes a Python object here: a column is two arrays, where its tokens start and
how long they are. Ids become the 8-byte words they are made of. Comparing those is exact;
the hash over them only ever pre-selects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.signedinteger[Any]]
Words: TypeAlias = NDArray[np.uint64]
Flags: TypeAlias = NDArray[np.bool_]

WORD: Final = 8
PADDING: Final = b"\0" * (2 * WORD)
LONGEST_TOKEN: Final = 64
"""Longer tokens are left to the plain reader: every word costs a pass over the column."""

_NEWLINE = ord("\n")
_BLANKS = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
_LOW_BYTES = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], dtype=np.uint64)
# Odd numbers without structure (splitmix64 from 1), a multiplier for each word of a token.
_MULTIPLIERS = np.array(
    [
        0x910A2DEC89025CC1, 0xBEEB8DA1658EEC67, 0xF893A2EEFB32555F, 0x71C18690EE42C90B,
        0x71BB54D8D101B5B9, 0xC34D0BFF90150281, 0xE099EC6CD7363CA5, 0x85E7BB0F12278575,
    ],
    dtype=np.uint64,
)  # fmt: skip


def pick(array: NDArray[Any], places: Ints) -> NDArray[Any]:
    """Return `array[places]` for places that are in range.

    Unlike indexing this lets other threads work meanwhile.
    """
    return array.take(places, mode="clip")


class Text:
    """Bytes that can be read as a word from any offset."""

    __slots__ = ("_words", "bytes", "size")

    def __init__(self, data: bytes | bytearray, size: int) -> None:
        """Take the first `size` bytes of `data`; `PADDING` follows, for the last token."""
        assert len(data) >= size + len(PADDING), "the last token is read as whole words"
        self.size = size
        self.bytes = np.frombuffer(data, np.uint8, size)
        self._words: Words = np.frombuffer(data, "<u8", len(data) // WORD)

    def words_at(self, offsets: Ints) -> Words:
        """Return the eight bytes from each offset, the first byte lowest."""
        whole = offsets >> 3
        bits = ((offsets & 7) << 3).astype(np.uint64)
        low = pick(self._words, whole) >> bits
        # By 64 bits, where the offset is a multiple of 8, this shifts everything out.
        high = pick(self._words, whole + 1) << (np.uint64(64) - bits)
        found: Words = low | high
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Tokens of one text: where each starts and how many bytes it has."""

    text: Text
    starts: Ints
    lengths: Ints

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, chosen: Ints | Flags | slice) -> Column:
        return Column(self.text, self.starts[chosen], self.lengths[chosen])

    @property
    def longest(self) -> int:
        """Return the length of the longest token, 0 for an empty column."""
        return int(self.lengths.max()) if len(self.lengths) else 0

    def words(self) -> Iterator[Words]:
        """Yield the tokens' first words, then their second ones, …; 0 past a token's end."""
        if not len(self):
            return
        shortest, longest = int(self.lengths.min()), self.longest
        for offset in range(0, longest, WORD):
            if shortest >= offset + WORD or shortest == longest:
                own_bytes = _LOW_BYTES[min(longest - offset, WORD)]
                yield self.text.words_at(self.starts + offset) & own_bytes
                continue
            rest = self.lengths - offset if offset else self.lengths
            own = np.clip(rest, 0, WORD) if offset else np.minimum(rest, WORD)
            # Where nothing is left any offset will do: every byte of it is masked.
            at = np.where(rest > 0, self.starts + offset, 0) if offset else self.starts
            yield self.text.words_at(at) & pick(_LOW_BYTES, own)

    def token(self, index: int) -> bytes:
        """Return one token."""
        start = int(self.starts[index])
        return self.text.bytes[start : start + int(self.lengths[index])].tobytes()

    def tokens(self) -> Iterator[bytes]:
        """Yield every token as bytes."""
        for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=True):
            yield self.text.bytes[start : start + length].tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """Tokens as their words. They hold no NUL, so equal words are equal tokens."""

    words: tuple[Words, ...]

    @classmethod
    def of(cls, column: Column) -> Ids:
        """Return the tokens of a column."""
        return cls(tuple(column.words()) or (np.zeros(len(column), dtype=np.uint64),))

    def __len__(self) -> int:
        return len(self.words[0])

    def __getitem__(self, places: Ints) -> Ids:
        return Ids(tuple(pick(words, places) for words in self.words))

    def hashes(self) -> Words:
        """Return a number a token, the same for equal tokens, rarely for others."""
        total: Words = self.words[0] * _MULTIPLIERS[0]
        for words, multiplier in zip(self.words[1:], _MULTIPLIERS[1:], strict=False):
            total += words * multiplier
        return total

    def token(self, index: int) -> bytes:
        """Return one token."""
        return b"".join(int(words[index]).to_bytes(WORD, "little") for words in self.words).rstrip(
            b"\0"
        )


def joined(parts: Sequence[Ids]) -> Ids:
    """Return several columns of ids as one."""
    width = max(len(part.words) for part in parts)
    missing = [np.zeros(len(part), dtype=np.uint64) for part in parts]
    return Ids(
        tuple(
            np.concatenate(
                [
                    part.words[i] if i < len(part.words) else zeros
                    for part, zeros in zip(parts, missing, strict=True)
                ]
            )
            for i in range(width)
        )
    )


def equal(a: Ids, b: Ids) -> Flags:
    """Tell token by token whether two columns of ids hold the same."""
    same = np.ones(len(a), dtype=bool)
    for left, right in zip_longest(a.words, b.words, fillvalue=np.uint64(0)):
        same &= left == right
    return same


def greater(a: Ids, b: Ids) -> Flags:
    """Tell token by token whether `a` comes after `b` as bytes compare."""
    after = np.zeros(len(a), dtype=bool)
    undecided = np.ones(len(a), dtype=bool)
    for left, right in zip_longest(a.words, b.words, fillvalue=np.uint64(0)):
        after |= undecided & (left.byteswap() > right.byteswap())
        undecided &= left == right
    return after


def repeats_previous(column: Column) -> Flags:
    """Tell of every token but the first whether it is the same as the one before."""
    same: Flags = column.lengths[1:] == column.lengths[:-1]
    for words in column.words():
        same &= words[1:] == words[:-1]
    return same


def mixed(hashes: Words, salt: Words) -> Words:
    """Return hashes spread over all bits, the high ones first, with a salt each."""
    found = hashes ^ salt
    found ^= found >> np.uint64(32)
    found *= _MULTIPLIERS[0]
    found ^= found >> np.uint64(29)
    found *= _MULTIPLIERS[1]
    return found


def salts(numbers: Ints) -> Words:
    """Return a salt for each number, to be mixed in where tokens of different lists meet."""
    salt: Words = numbers.astype(np.uint64) * _MULTIPLIERS[2]
    return salt


def columns(text: Text, count: int, wanted: Sequence[int]) -> list[Column] | None:
    """Return some fields of every line, or None unless each line has `count` or is blank.

    wanted: which fields, from 0
    None too for what the plain reader should look at: control bytes, very long tokens.
    `text` ends with a newline.
    """
    edges = np.flatnonzero(text.bytes <= ord(" "))
    found = _regular(text, edges, count, wanted) or _irregular(text, edges, count, wanted)
    if found is None or max(column.longest for column in found) > LONGEST_TOKEN:
        return None
    return found


def _regular(text: Text, edges: Ints, count: int, wanted: Sequence[int]) -> list[Column] | None:
    """Return columns where single blanks part the fields and newlines the lines."""
    n_lines, rest = divmod(len(edges), count)
    if rest or not n_lines:
        return None
    newlines = edges[count - 1 :: count]
    # With a newline at the end of each line, every other edge has to be a blank.
    n_blanks = np.count_nonzero(text.bytes == ord(" "))
    if n_blanks != n_lines * (count - 1) or not (pick(text.bytes, newlines) == _NEWLINE).all():
        return None
    found = []
    for field in range(count):
        starts = edges[field - 1 :: count] + 1 if field else np.append(0, newlines[:-1] + 1)
        column = Column(text, starts, edges[field::count] - starts)
        if column.lengths.min() == 0:
            return None
        found.append(column)
    return [found[field] for field in wanted]


def _irregular(text: Text, edges: Ints, count: int, wanted: Sequence[int]) -> list[Column] | None:
    """Return columns with any blanks between, before and after the fields."""
    kinds = pick(text.bytes, edges)
    if not pick(_BLANKS, kinds).all():
        return None
    starts = np.concatenate(([0], edges[:-1] + 1))
    ends_token = edges > starts
    is_newline = kinds == _NEWLINE
    line_of = (np.cumsum(is_newline) - is_newline)[ends_token]
    per_line = np.bincount(line_of)
    if not np.isin(per_line, (0, count)).all():
        return None
    starts = starts[ends_token]
    lengths = edges[ends_token] - starts
    return [Column(text, starts[field::count], lengths[field::count]) for field in wanted]
