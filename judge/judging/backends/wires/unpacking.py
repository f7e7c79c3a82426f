"""Bodies that come compressed, unpacked up to the bound on an answer."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from types import MappingProxyType

from judge.judging.backends.wires.wire import MOST_BYTES, overlong
from judge.judging.exchange import Unreadable

ENCODINGS = "gzip, deflate"
"""What may be asked for."""


def unpack(content: bytes, *, encoding: str) -> bytes:
    """Return a body without its content encoding. Unreadable or Overlong where that fails."""
    name = encoding.strip().lower()
    way = _WAYS.get(name)
    if way is None:
        raise Unreadable(f"the answer came in an encoding that was not asked for ({name[:40]})")
    return way(content) if content else b""


def _unzip(content: bytes) -> bytes:
    return _bounded(content, zlib.decompressobj(zlib.MAX_WBITS | 16))


def _inflate(content: bytes) -> bytes:
    # The name stands for zlib's format; some servers leave its header out.
    has_header = content[:1] and content[0] & 0x0F == 8 and int.from_bytes(content[:2]) % 31 == 0
    return _bounded(content, zlib.decompressobj(zlib.MAX_WBITS if has_header else -zlib.MAX_WBITS))


def _bounded(content: bytes, packed: zlib._Decompress) -> bytes:
    try:
        plain = packed.decompress(content, MOST_BYTES + 1)
    except zlib.error as error:
        raise Unreadable(f"the answer cannot be unpacked ({error})") from error
    if len(plain) > MOST_BYTES:
        raise overlong()
    if not packed.eof:
        raise Unreadable("the answer cannot be unpacked (its end is missing)")
    return plain


_WAYS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        "identity": bytes,
        "": bytes,
        "gzip": _unzip,
        "x-gzip": _unzip,
        "deflate": _inflate,
    }
)
