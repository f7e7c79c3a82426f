"""Compressed bodies to plain ones, up to the bound and no further."""

from __future__ import annotations

import gzip
import zlib

import pytest

from judge.judging.backends.wires.unpacking import unpack
from judge.judging.backends.wires.wire import MOST_BYTES
from judge.judging.exchange import Lost, Overlong


def raw_deflate(content: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(content) + packing.flush()


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        ("gzip", gzip.compress(b"hello", mtime=0)),
        (" X-GZip", gzip.compress(b"hello", mtime=0)),
        ("deflate", zlib.compress(b"hello")),
        ("deflate", raw_deflate(b"hello")),
        ("identity", b"hello"),
        ("", b"hello"),
    ],
)
def test_an_encoded_body_is_unpacked(encoding: str, content: bytes) -> None:
    assert unpack(content, encoding=encoding) == b"hello"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", ""])
def test_nothing_is_nothing_in_every_encoding(encoding: str) -> None:
    assert unpack(b"", encoding=encoding) == b""


@pytest.mark.parametrize(
    ("encoding", "content", "why"),
    [
        ("gzip", b"hello", "cannot be unpacked"),
        ("gzip", gzip.compress(b"hello", mtime=0)[:-9], "its end is missing"),
        ("deflate", raw_deflate(b"hello")[:-1], "its end is missing"),
        ("br", b"hello", "encoding that was not asked for"),
        ("gzip, gzip", b"hello", "encoding that was not asked for"),
    ],
)
def test_a_body_that_cannot_be_unpacked_is_lost(encoding: str, content: bytes, why: str) -> None:
    with pytest.raises(Lost, match=why):
        unpack(content, encoding=encoding)


def test_a_body_is_unpacked_up_to_the_bound_and_no_further() -> None:
    most = gzip.compress(bytes(MOST_BYTES), compresslevel=1)
    assert len(unpack(most, encoding="gzip")) == MOST_BYTES
    with pytest.raises(Overlong):
        unpack(gzip.compress(bytes(MOST_BYTES + 1), compresslevel=1), encoding="gzip")
