"""One connection to a server: h11 knows HTTP/1.1, asyncio carries the bytes."""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import h11

from judge.judging.backends.wires.unpacking import unpack
from judge.judging.backends.wires.wire import MOST_BYTES, Answer, overlong
from judge.judging.exchange import CallFailure, Lost, Unreadable

_MOST_HEAD = 2**16


class Connection(asyncio.Protocol):
    """A connection that carries one exchange at a time."""

    def __init__(self) -> None:
        self.is_open = False
        self.was_answered = False
        """Bytes came since the last request."""
        self._transport: asyncio.Transport
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_MOST_HEAD)
        self._incoming = _Incoming()
        self._answer: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.is_open = True

    def is_fresh(self) -> bool:
        """Tell whether a request may be written: the server has neither closed nor said more.

        The loop may not have read yet what already came: the socket knows.
        """
        if not self.is_open or self._transport.is_closing():
            return False
        socket = self._transport.get_extra_info("socket")
        return socket is None or not _has_news(socket.fileno())

    async def exchange(self, request: h11.Request, body: bytes) -> Answer:
        """Send a request and return its answer, after which `is_open` tells of another one.

        Raises Lost where none came, Overlong where it did not end. Ends the connection when
        cancelled: the answer may still come, and must not be taken for the next one's.
        """
        self._incoming = _Incoming()
        self.was_answered = False
        self._answer = asyncio.get_running_loop().create_future()
        events = (request, h11.Data(data=body), h11.EndOfMessage())
        self._transport.write(b"".join([self._http.send(event) or b"" for event in events]))
        try:
            return await self._answer
        except BaseException:
            self.end()
            raise
        finally:
            self._answer = None

    def data_received(self, data: bytes) -> None:
        """Add to the answer; bytes that nobody asked for end the connection."""
        if self._answer is None or self._answer.done():
            self.end()
            return
        self.was_answered = True
        try:
            self._read(data)
        except h11.RemoteProtocolError as error:
            self._fail(Unreadable(f"no valid HTTP response ({error})"))
        except CallFailure as failure:
            self._fail(failure)

    def eof_received(self) -> None:
        """Take no more requests: the server sends nothing any more. The transport closes."""
        self.is_open = False

    def connection_lost(self, error: Exception | None) -> None:
        """End the answer where its end is the connection's, else report the loss."""
        self.is_open = False
        if self._answer is None or self._answer.done():
            return
        try:
            if error is None:
                self._read(b"")
        except h11.RemoteProtocolError:
            pass  # it wanted more
        except CallFailure as failure:
            self._fail(failure)
        if not self._answer.done():
            self._fail(Lost(f"connection lost ({error or 'the server closed it'})"))

    def _read(self, data: bytes) -> None:
        """Take what these bytes complete (none: the end of them), and deliver a whole answer."""
        self._http.receive_data(data)
        event = self._http.next_event()
        while take := _TAKE.get(type(event)):
            take(self._incoming, event)
            event = self._http.next_event()
        if type(event) is h11.EndOfMessage:
            self._deliver()

    def _deliver(self) -> None:
        assert self._answer is not None
        answer = self._incoming.answer()
        follows, _ = self._http.trailing_data  # nobody's answer
        if self._http.their_state is h11.DONE and not follows:
            self._http.start_next_cycle()
        else:
            self.end()
        self._answer.set_result(answer)

    def _fail(self, failure: CallFailure) -> None:
        assert self._answer is not None
        self.end()
        self._answer.set_exception(failure)

    def end(self) -> None:
        """End the connection at once."""
        self.is_open = False
        self._transport.abort()


def _has_news(descriptor: int) -> bool:
    """Tell whether a socket has something to read, be it its end."""
    if not hasattr(select, "poll"):
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


@dataclass(slots=True)
class _Incoming:
    """What came of a response so far."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytearray = field(default_factory=bytearray)

    def pass_over(self, _interim: h11.InformationalResponse) -> None:
        """Do nothing: the response proper is still to come."""

    def begin(self, head: h11.Response) -> None:
        """Keep status and headers; a header that comes twice is joined by a comma."""
        self.status = head.status_code
        for name_bytes, value_bytes in head.headers:
            name, value = name_bytes.decode("latin-1"), value_bytes.decode("latin-1")
            before = self.headers.get(name)
            self.headers[name] = value if before is None else f"{before}, {value}"

    def add(self, piece: h11.Data) -> None:
        """Add to the body. Overlong where it passes the bound."""
        self.body += piece.data
        if len(self.body) > MOST_BYTES:
            raise overlong()

    def answer(self) -> Answer:
        """Return the response, its body unpacked. Unreadable or Overlong where that fails."""
        encoding = self.headers.get("content-encoding", "")
        return Answer(self.status, self.headers, unpack(bytes(self.body), encoding=encoding))


_TAKE: Mapping[type, Callable[[_Incoming, Any], None]] = MappingProxyType(
    {
        h11.InformationalResponse: _Incoming.pass_over,
        h11.Response: _Incoming.begin,
        h11.Data: _Incoming.add,
    }
)
