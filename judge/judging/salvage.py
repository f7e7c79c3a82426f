"""Reads what is left of a damaged database, page by page, without asking SQLite.

SQLite refuses a table whose tree is broken, and a log from its first bad frame on. The rows lie
in leaf pages all the same, each of which can be read for itself: the format is that of
https://www.sqlite.org/fileformat2.html, sections 1.5 to 1.6, 2.1 and 4.1.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_LEAF = 13
_USUAL_PAGE = 4096
_COLUMNS = 12
_KEY, _VALUE = 1, 11
"""Where diskcache's table has them."""
_WIDTHS = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}
"""Bytes of a number, by its serial type; what is not listed is a blob or a text."""
_LONGEST = 1 << 28

Row = tuple[str, bytes]
"""A key and its value, as they stand in the table."""


def rows_left(database: Path, *, log: bytes | None = None) -> Iterator[Row]:
    """Yield the rows of a cache that can be read, from its log too; a key may come twice.

    A page's newest version counts, and an older one in the log only where the newest has rows
    that cannot be read: what was deleted does not come back.

    log: the log as it was read before, where SQLite may have written over it since
    """
    pages = _Pages(_content(database), read_log(database) if log is None else log)
    for number in pages.numbers():
        for page in pages.versions(number):
            rows, is_whole = _rows(page, pages)
            yield from rows
            if is_whole:
                break


def read_log(database: Path) -> bytes:
    """Return a database's write-ahead log as it lies beside it; empty if there is none."""
    return _content(Path(f"{database}-wal"))


def frames_in(log: bytes) -> int:
    """Return how many pages a log holds, whatever their checksums say."""
    frames, _ = _frames(log, _page_size(b"", log))
    return sum(map(len, frames.values()))


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


class _Pages:
    """The pages of a database and its log, by number from 1.

    None of them is a free one: diskcache has SQLite give pages back with each transaction.
    """

    def __init__(self, data: bytes, log: bytes) -> None:
        self._data = data
        self.size = _page_size(data, log)
        self._logged, self._last = _frames(log, self.size)
        self._last = self._last or -(-len(self._data) // self.size)

    def numbers(self) -> list[int]:
        """Return the numbers of all pages that are in use."""
        in_file = range(1, -(-len(self._data) // self.size) + 1)
        return sorted(number for number in {*in_file, *self._logged} if number <= self._last)

    def versions(self, number: int) -> Iterator[bytes]:
        """Yield a page as it stands now, then as it stood before, as far as the log tells."""
        start = (number - 1) * self.size
        yield from reversed(self._logged.get(number, ()))
        yield self._data[start : start + self.size].ljust(self.size, b"\0")

    def current(self, number: int) -> bytes:
        """Return a page as it stands now."""
        return next(self.versions(number))


def _page_size(data: bytes, log: bytes) -> int:
    """Return the size in the header of the database, else of its log, else the usual one."""
    said = [struct.unpack_from(">H", data, 16)[0]] if data.startswith(b"SQLite format 3") else []
    if len(log) >= 32:
        said.append(struct.unpack_from(">I", log, 8)[0])
    said = [65536 if size == 1 else size for size in said]
    return next((s for s in said if 512 <= s <= 65536 and s & (s - 1) == 0), _USUAL_PAGE)


def _frames(log: bytes, size: int) -> tuple[Mapping[int, Sequence[bytes]], int]:
    """Return the pages in a log by number, oldest first, whatever their checksums say, and how
    many pages the database had after the last transaction; 0 where the log does not tell.

    Frames of an earlier round of the log carry another salt, which a sound header tells.
    """
    last = 0
    frames: dict[int, list[bytes]] = defaultdict(list)
    salt = log[16:24]
    is_sound = log[:3] == b"\x37\x7f\x06"
    for at in range(32, len(log) - 24 - size + 1, 24 + size):
        number, in_all = struct.unpack_from(">II", log, at)
        if 0 < number < _LONGEST and (log[at + 8 : at + 16] == salt or not is_sound):
            frames[number].append(log[at + 24 : at + 24 + size])
            last = in_all if 0 < in_all < _LONGEST else last
    return frames, last


def _rows(page: bytes, pages: _Pages) -> tuple[list[Row], bool]:
    """Return the cache's rows in a page, and whether all that stands there could be read."""
    header = 100 if page.startswith(b"SQLite format 3") else 0
    kind = page[header]
    if kind != _LEAF:
        # Trees' inner pages and indexes hold no rows; a page of zeros may have held some.
        return [], any(page[:8])
    (n,) = struct.unpack_from(">H", page, header + 3)
    n, is_whole = min(n, (len(page) - header - 8) // 2), True
    rows = []
    for cell in struct.unpack_from(f">{n}H", page, header + 8):
        try:
            row = _cache_row(_payload(page, cell, pages))
        except (IndexError, ValueError, struct.error):
            is_whole = False
            continue
        if row is not None:
            rows.append(row)
    return rows, is_whole


def _payload(page: bytes, at: int, pages: _Pages) -> bytes:
    """Return a record, the part of it that lies on overflow pages included."""
    size, at = _varint(page, at)
    _, at = _varint(page, at)
    if size > _LONGEST:
        raise ValueError("no record is that long")
    most = pages.size - 35
    if size <= most:
        return page[at : at + size]
    least = (pages.size - 12) * 32 // 255 - 23
    local = least + (size - least) % (pages.size - 4)
    local = local if local <= most else least
    parts, missing = [page[at : at + local]], size - local
    (following,) = struct.unpack_from(">I", page, at + local)
    while missing > 0 and following:
        more = pages.current(following)
        parts.append(more[4 : 4 + min(missing, pages.size - 4)])
        missing -= len(parts[-1])
        (following,) = struct.unpack_from(">I", more)
    if missing:
        raise ValueError("its overflow pages end too early")
    return b"".join(parts)


def _cache_row(record: bytes) -> Row | None:
    size, at = _varint(record, 0)
    kinds = []
    while at < size:
        kind, at = _varint(record, at)
        kinds.append(kind)
    if len(kinds) != _COLUMNS:
        return None
    fields = []
    for kind in kinds:
        width = _WIDTHS.get(kind, (kind - 12) // 2)
        fields.append(record[size : size + width])
        size += width
    is_text = kinds[_KEY] > 12 and kinds[_KEY] % 2 and kinds[_VALUE] > 12 and kinds[_VALUE] % 2
    if not is_text or size > len(record):
        return None
    return fields[_KEY].decode("utf-8", "replace"), fields[_VALUE]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of one to nine bytes, and where the next one starts."""
    value = 0
    for place in range(8):
        byte = data[at + place]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + place + 1
    return value << 8 | data[at + 8], at + 9
