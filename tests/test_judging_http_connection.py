"""Bytes to one answer, in whatever pieces they come; and whether another may follow it."""

from __future__ import annotations

import asyncio
import contextlib
import itertools

import h11
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge.judging.backends.wires.http_connection import Connection
from judge.judging.backends.wires.wire import Answer
from judge.judging.exchange import Lost, Overlong

REQUEST = h11.Request(
    method="POST", target="/v1", headers=[("Host", "model.example"), ("Content-Length", "2")]
)
SENT = b"POST /v1 HTTP/1.1\r\nHost: model.example\r\nContent-Length: 2\r\n\r\n{}"
PLAIN = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-A: 1\r\nx-a: 2\r\n\r\nhello"
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"3;ext=1\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: x\r\n\r\n"
)
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + PLAIN


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""

    def write(self, data: bytes) -> None:
        self.written += data

    def abort(self) -> None:
        pass


def exchanged(*exchanges: list[bytes], closes: bool = False) -> tuple[list[Answer], Connection]:
    """Answer one request after another by pieces; return the answers and the connection."""

    async def run() -> tuple[list[Answer], Connection]:
        connection, transport = Connection(), Transport()
        connection.connection_made(transport)
        answers = []
        for pieces in exchanges:
            asked = asyncio.ensure_future(connection.exchange(REQUEST, b"{}"))
            await asyncio.sleep(0)  # now it is sent
            for piece in pieces:
                connection.data_received(piece)
            if closes:
                connection.connection_lost(None)
            answers.append(await asked)
        assert transport.written == SENT * len(exchanges)
        return answers, connection

    return asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("raw", [PLAIN, CHUNKED, INTERIM], ids=["plain", "chunked", "interim"])
@given(cuts=st.sets(st.integers(1, 150)))
def test_it_does_not_matter_in_which_pieces_a_response_comes(raw: bytes, cuts: set[int]) -> None:
    ends = [0, *sorted(cut for cut in cuts if cut < len(raw)), len(raw)]
    pieces = [raw[a:b] for a, b in itertools.pairwise(ends)]
    answers, connection = exchanged(pieces, pieces)
    assert [(answer.status, answer.content) for answer in answers] == [(200, b"hello")] * 2
    assert connection.is_open


def test_headers_are_known_by_their_lower_case_name() -> None:
    ((answer,), _) = exchanged([PLAIN])
    assert answer.headers == {"content-length": "5", "x-a": "1, 2"}


@pytest.mark.parametrize(
    ("head", "keeps"),
    [
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0", True),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 0", False),
        (b"HTTP/1.1 204 No Content", True),
        (b"HTTP/1.1 304 Not Modified\r\ncontent-length: 9", True),
    ],
)
def test_whether_the_connection_outlives_the_answer(head: bytes, keeps: bool) -> None:
    ((answer,), connection) = exchanged([head + b"\r\n\r\n"])
    assert answer.content == b""
    assert connection.is_open is keeps


@pytest.mark.parametrize("pieces", [[PLAIN + b"HTTP/1.1 200 OK"], [PLAIN, b"HTTP"]])
def test_what_follows_an_answer_ends_the_connection(pieces: list[bytes]) -> None:
    ((answer,), connection) = exchanged(pieces)
    assert answer.content == b"hello"
    assert not connection.is_open


def test_a_connection_that_the_server_closes_after_an_answer_is_not_open() -> None:
    ((answer,), connection) = exchanged([PLAIN], closes=True)
    assert answer.content == b"hello"
    assert not connection.is_open


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    ((answer,), connection) = exchanged([b"HTTP/1.1 200 OK\r\n\r\nhel", b"lo"], closes=True)
    assert answer.content == b"hello"
    assert not connection.is_open


@pytest.mark.parametrize(
    "raw",
    [
        b"hello\r\n\r\n",
        b"HTTP/2 200 OK\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nname : value\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5, 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1_0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0x5\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhello\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" + b"1" * 70_000,
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 70_000,
    ],
)
def test_what_is_no_response_is_lost(raw: bytes) -> None:
    with pytest.raises(Lost, match="no valid HTTP response"):
        exchanged([raw])


@pytest.mark.parametrize("raw", [b"", PLAIN[:20], PLAIN[:-1], CHUNKED[:-4], INTERIM[:50]])
def test_a_response_that_is_cut_is_lost(raw: bytes) -> None:
    with pytest.raises(Lost, match=r"connection lost \(the server closed it\)"):
        exchanged([raw] if raw else [], closes=True)


@given(st.binary(max_size=300))
def test_no_bytes_whatever_break_the_reading(raw: bytes) -> None:
    for start in (b"H", b"HTTP/1.1 200 OK\r\n", CHUNKED[:50], PLAIN[:20]):
        with contextlib.suppress(Lost, Overlong):
            exchanged([start + raw], closes=True)
