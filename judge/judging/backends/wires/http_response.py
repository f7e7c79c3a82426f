"""The bytes of one HTTP/1.1 response, read as they come.

Only what a POST to a chat-completions server brings. Whatever is not plainly a valid response is
none, and nothing is read without a bound.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from judge.judging.backends.wires.unpacking import unpack
from judge.judging.backends.wires.wire import MOST_BYTES, Answer, overlong
from judge.judging.exchange import Lost

_MOST_HEAD = 2**16
_STATUS = re.compile(rb"HTTP/1\.(?P<minor>[01]) (?P<status>[1-5][0-9][0-9])(?: |\Z)")
_HEX = re.compile(rb"[0-9A-Fa-f]{1,8}\Z")
_BODILESS = frozenset({204, 304})


class Response:
    """Takes the bytes of one response as they come, until it is whole."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._at = 0
        self._status = 0
        self._headers: Mapping[str, str] = {}
        self._body_of: Callable[[], bytes | None] = self._nothing
        self._body: bytes | None = None
        self.ends_with_connection = False
        self.keeps_connection = False

    def feed(self, data: bytes) -> bool:
        """Add what came; return whether the response is whole. Lost if it is no response."""
        self._bytes += data
        while not self._status:
            if not self._read_head():
                return False
        if len(self._bytes) > MOST_BYTES + _MOST_HEAD:
            raise overlong()
        self._body = self._body_of()
        if self._body is not None and self._at < len(self._bytes):
            self.keeps_connection = False  # what follows is nobody's answer
        return self._body is not None

    def answer(self) -> Answer:
        """Return the whole response, its body unpacked. Lost or Overlong where that fails."""
        content = bytes(self._bytes[self._at :]) if self._body is None else self._body
        encoding = self._headers.get("content-encoding", "")
        return Answer(self._status, self._headers, unpack(content, encoding=encoding))

    def _read_head(self) -> bool:
        """Read status and headers once they are there; interim responses are passed over."""
        end = self._bytes.find(b"\r\n\r\n")
        if end > _MOST_HEAD or (end < 0 and len(self._bytes) > _MOST_HEAD):
            raise _invalid("its headers do not end")
        if end < 0:
            return False
        first, *lines = bytes(self._bytes[:end]).split(b"\r\n")
        found = _STATUS.match(first)
        if found is None:
            raise _invalid("no status line")
        status = int(found["status"])
        if status < 200:
            if status == 101:
                raise _invalid("it changes the protocol")
            del self._bytes[: end + 4]
            return True
        self._status, self._at = status, end + 4
        self._headers = _headers(lines)
        self._plan(is_newer=found["minor"] == b"1")
        return True

    def _plan(self, *, is_newer: bool) -> None:
        """Decide how the body ends and whether the connection outlives it."""
        said = self._headers.get("connection", "").lower()
        self.keeps_connection = "close" not in said if is_newer else "keep-alive" in said
        coding = self._headers.get("transfer-encoding")
        lengths = set(re.split(r"\s*,\s*", self._headers.get("content-length", "")))
        if self._status in _BODILESS:
            self._body_of = lambda: b""
        elif coding is not None:
            if coding.strip().lower() != "chunked":
                raise _invalid(f"transfer encoding {coding[:40]}")
            pieces: list[bytes] = []
            self._body_of = lambda: self._chunks(pieces)
        elif lengths != {""}:
            length = lengths.pop()
            if lengths or not (length.isascii() and length.isdigit()):
                raise _invalid("no usable content length")
            if len(length) > 12 or int(length) > MOST_BYTES:
                raise overlong()
            size = int(length)
            self._body_of = lambda: self._take(size)
        else:
            self.ends_with_connection = True
            self.keeps_connection = False

    def _nothing(self) -> bytes | None:
        return None

    def _take(self, size: int) -> bytes | None:
        if len(self._bytes) - self._at < size:
            return None
        self._at += size
        return bytes(self._bytes[self._at - size : self._at])

    def _chunks(self, pieces: list[bytes]) -> bytes | None:
        """Move whole chunks to `pieces`; return the body after the last one."""
        while (end := self._bytes.find(b"\r\n", self._at, self._at + 1024)) >= 0:
            digits = bytes(self._bytes[self._at : end]).partition(b";")[0].strip()
            if not _HEX.match(digits):
                raise _invalid("no chunk size")
            size = int(digits, 16)
            if size == 0:
                last = self._bytes.find(b"\r\n\r\n", end)  # after trailers, if there are any
                if last < 0:
                    return None
                self._at = last + 4
                return b"".join(pieces)
            after = end + 2 + size
            if len(self._bytes) < after + 2:
                return None
            if self._bytes[after : after + 2] != b"\r\n":
                raise _invalid("a chunk of another size")
            pieces.append(bytes(self._bytes[end + 2 : after]))
            self._at = after + 2
        if len(self._bytes) - self._at >= 1024:
            raise _invalid("no chunk size")
        return None


def _invalid(why: str) -> Lost:
    return Lost(f"no valid HTTP response ({why})")


def _headers(lines: list[bytes]) -> Mapping[str, str]:
    """Return headers by lower-case name; one that comes twice is joined by a comma."""
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.decode("latin-1").partition(":")
        name = name.lower()
        if not colon or not name or name != name.strip():
            raise _invalid("no header line")
        value = value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers
