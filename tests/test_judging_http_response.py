"""Bytes of a response to an answer, in whatever pieces they come; or why there is none."""

from __future__ import annotations

import gzip
import itertools
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.backends.wires.http_response import Response
from judge.judging.backends.wires.wire import MOST_BYTES
from judge.judging.exchange import Lost, Overlong

PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nx-a: 2\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;ext=1\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: x\r\n\r\n"
)
SHORT_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n00005\r\nhello\r\n0\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + PLAIN
NO_REASON = b"HTTP/1.1 200\r\ncontent-length: 5, 5\r\n\r\nhello"


def fed(*pieces: bytes) -> tuple[bool, Response]:
    """Feed pieces until the response is whole."""
    response = Response()
    return any(response.feed(piece) for piece in pieces), response


@pytest.mark.parametrize("raw", [PLAIN, CHUNKED, SHORT_CHUNKED, INTERIM, NO_REASON])
@given(cuts=st.sets(st.integers(1, 150)))
def test_it_does_not_matter_in_which_pieces_a_response_comes(raw: bytes, cuts: set[int]) -> None:
    ends = [0, *sorted(cut for cut in cuts if cut < len(raw)), len(raw)]
    response = Response()
    whole = [response.feed(raw[a:b]) for a, b in itertools.pairwise(ends)]
    assert whole == [False] * (len(whole) - 1) + [True]
    assert (response.answer().status, response.answer().content) == (200, b"hello")
    assert response.keeps_connection


def test_headers_are_known_by_their_lower_case_name() -> None:
    assert fed(PLAIN)[1].answer().headers == {"content-length": "5", "x-a": "1, 2"}


@pytest.mark.parametrize(
    ("head", "keeps"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0\r\nConnection: Keep-Alive", True),
        (b"HTTP/1.1 204 No Content", True),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9", True),
    ],
)
def test_whether_the_connection_outlives_the_answer(head: bytes, keeps: bool) -> None:
    whole, response = fed(head + b"\r\n\r\n")
    assert (whole, response.answer().content) == (True, b"")
    assert response.keeps_connection is keeps


def test_what_follows_an_answer_ends_the_connection() -> None:
    whole, response = fed(PLAIN + b"HTTP/1.1 200 OK")
    assert (whole, response.answer().content) == (True, b"hello")
    assert not response.keeps_connection


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    whole, response = fed(b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo")
    assert (whole, response.ends_with_connection) == (False, True)
    assert response.answer().content == b"hello"


@pytest.mark.parametrize(
    "raw",
    [
        b"hello\r\n\r\n",
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 99 no\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nname : value\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n folded: value\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5, 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1_0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0x5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1" * 2000,
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000,
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000 + b"\r\n\r\n",
    ],
)
def test_what_is_no_response_is_lost(raw: bytes) -> None:
    with pytest.raises(Lost, match="no valid HTTP response"):
        fed(raw)


@pytest.mark.parametrize(
    "pieces",
    [
        [b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n"],
        [b"HTTP/1.1 200 OK\r\n\r\n", *[bytes(2**20)] * 17],
        [
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
            *[b"100000\r\n" + bytes(2**20) + b"\r\n"] * 17,
        ],
    ],
    ids=["by its length", "without a length", "in chunks"],
)
def test_a_response_without_bound_is_not_read(pieces: list[bytes]) -> None:
    with pytest.raises(Overlong, match="longer than 16 MiB"):
        fed(*pieces)


def packed(encoding: bytes, content: bytes) -> Response:
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: %b\r\ncontent-length: %d\r\n\r\n"
    return fed(head % (encoding, len(content)) + content)[1]


def raw_deflate(content: bytes) -> bytes:
    packing = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packing.compress(content) + packing.flush()


@pytest.mark.parametrize(
    ("encoding", "content"),
    [
        (b"gzip", gzip.compress(b"hello")),
        (b"X-GZip", gzip.compress(b"hello")),
        (b"deflate", zlib.compress(b"hello")),
        (b"deflate", raw_deflate(b"hello")),
        (b"identity", b"hello"),
    ],
)
def test_an_encoded_body_is_unpacked(encoding: bytes, content: bytes) -> None:
    assert packed(encoding, content).answer().content == b"hello"


def test_nothing_is_nothing_in_every_encoding() -> None:
    assert packed(b"gzip", b"").answer().content == packed(b"deflate", b"").answer().content == b""


@pytest.mark.parametrize(
    ("encoding", "content", "why"),
    [
        (b"gzip", b"hello", "cannot be unpacked"),
        (b"gzip", gzip.compress(b"hello")[:-9], "its end is missing"),
        (b"deflate", raw_deflate(b"hello")[:-1], "its end is missing"),
        (b"br", b"hello", "encoding that was not asked for"),
    ],
)
def test_a_body_that_cannot_be_unpacked_is_lost(encoding: bytes, content: bytes, why: str) -> None:
    response = packed(encoding, content)
    with pytest.raises(Lost, match=why):
        response.answer()


def test_a_body_is_unpacked_up_to_the_bound_and_no_further() -> None:
    most = gzip.compress(bytes(MOST_BYTES), compresslevel=1)
    assert len(packed(b"gzip", most).answer().content) == MOST_BYTES
    response = packed(b"gzip", gzip.compress(bytes(MOST_BYTES + 1), compresslevel=1))
    with pytest.raises(Overlong):
        response.answer()


@given(st.binary(max_size=300))
def test_no_bytes_whatever_break_the_reading(raw: bytes) -> None:
    for start in (b"", b"HTTP/1.1 200 OK\r\n", CHUNKED[:50]):
        try:
            whole, response = fed(start + raw)
            if whole:
                response.answer()
        except (Lost, Overlong):
            pass
