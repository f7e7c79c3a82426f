"""A stream cut into blocks that hold whole lists, so that each can be worked on alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple, Protocol, cast

import numpy as np

from judge.measures.engine_text import PADDING, Text

BLOCK_BYTES: Final = 1 << 21
LONGEST_LINE: Final = 1 << 26
"""A line beyond this is no line of a run; reading on would only fill the memory."""
ENDLESS_LINE: Final = f"a line of more than {LONGEST_LINE >> 20} MiB", "give a TREC file"


class Block(NamedTuple):
    """Whole lines: the first `size` bytes of `data`, which goes on for `PADDING` at least.

    endless: the line after them goes on for more than `LONGEST_LINE` bytes; nothing follows
    """

    data: bytes | bytearray
    size: int
    endless: bool = False

    @property
    def text(self) -> Text:
        """Return the block as a text of words."""
        return Text(self.data, self.size)

    @property
    def n_lines(self) -> int:
        """Return the number of lines."""
        return int(np.count_nonzero(self.text.bytes == ord("\n")))

    @property
    def lines(self) -> list[bytes]:
        """Return the lines without their newlines."""
        return self._bytes.split(b"\n")[:-1]

    @property
    def is_utf8(self) -> bool:
        """Tell whether the block decodes."""
        if self.data.isascii():
            return True
        try:
            self._bytes.decode("utf-8")
        except UnicodeDecodeError:
            return False
        return True

    @property
    def _bytes(self) -> bytes:
        return bytes(memoryview(self.data)[: self.size])


def whole_lists(stream: BinaryIO, *, size: int) -> Iterator[Block]:
    """Yield blocks of about `size` bytes, each cut where the query changes.

    A list longer than a block makes a longer block.
    """
    rest = b""
    wanted = size
    while True:
        data, filled = _filled(stream, rest, wanted)
        if filled == len(rest):
            break
        cut = _start_of_last_list(data, filled)
        ended = data.rfind(b"\n", 0, filled) + 1
        if not cut and filled - ended > LONGEST_LINE:
            yield Block(data, ended, endless=True)
            return
        if cut:
            yield Block(data, cut)
        rest = bytes(memoryview(data)[cut:filled])
        # Growing by halves keeps the copying of a long list linear.
        wanted = max(size, len(rest) // 2)
    if rest:
        yield _ended(rest)


class _Readable(Protocol):
    """What every buffered stream can do, though `BinaryIO` does not say so."""

    def readinto(self, buffer: memoryview) -> int:
        """Read into a buffer and return the number of bytes; 0 at the end."""


def _filled(stream: BinaryIO, rest: bytes, wanted: int) -> tuple[bytearray, int]:
    """Return `rest` and up to `wanted` more bytes in one buffer, with padding, and their number."""
    data = bytearray(len(rest) + wanted + len(PADDING))
    data[: len(rest)] = rest
    more = memoryview(data)[len(rest) : len(rest) + wanted]
    return data, len(rest) + cast(_Readable, stream).readinto(more)


def lines_of(data: bytes | bytearray, *, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Yield blocks of about `size` bytes of whole lines, wherever that cuts lists."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + size) + 1 or len(data)
        yield _ended(bytes(data[start:end]))
        start = end


def _ended(data: bytes) -> Block:
    """Return lines as a block, the last one ended."""
    lines = data if data.endswith(b"\n") else data + b"\n"
    return Block(lines + PADDING, len(lines))


def _start_of_last_list(data: bytearray, filled: int) -> int:
    """Return where the lines of the last whole line's query begin, looking back; 0 if nowhere.

    Leaps back in doubling steps and then halves. If a query's lines do not stand together
    this finds the start of one of its groups, which is as good a place to cut.
    """
    same = _line_start(data, data.rfind(b"\n", 0, filled))
    query = _query(data, same)
    other, step = -1, 1 << 12
    while same > 0 and other < 0:
        start = _line_start(data, max(same - step, 0))
        if _query(data, start) == query:
            same, step = start, step * 2
        else:
            other = start
    while other >= 0:
        middle = _line_start(data, (other + same) // 2)
        if middle <= other:
            middle = data.find(b"\n", other) + 1
            if middle >= same:
                return same
        if _query(data, middle) == query:
            same = middle
        else:
            other = middle
    return 0


def _line_start(data: bytearray, position: int) -> int:
    """Return the start of the line that holds `position`."""
    return data.rfind(b"\n", 0, max(position, 0)) + 1


def _query(data: bytearray, start: int) -> bytearray:
    """Return the first token of the line at `start`; empty for a blank line."""
    end = data.find(b"\n", start)
    head = data[start : start + 256] if end < 0 or end - start > 256 else data[start:end]
    fields = head.split(None, 1)
    return fields[0] if fields else head[:0]
