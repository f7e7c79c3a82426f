"""One HTTP/1.1 connection over asyncio: a request goes out in one piece, one answer comes back."""

from __future__ import annotations

import asyncio

from judge.judging.backends.wires.http_response import Response
from judge.judging.backends.wires.wire import Answer
from judge.judging.exchange import CallFailure, Lost


class Connection(asyncio.Protocol):
    """A connection that carries one exchange at a time."""

    def __init__(self) -> None:
        self.is_open = False
        self._transport: asyncio.Transport
        self._response = Response()
        self._answer: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where to write."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.is_open = True

    async def exchange(self, request: bytes) -> Answer:
        """Send a request and return its answer, after which `is_open` tells of another one.

        Raises Lost where none came, Overlong where it did not end. Ends the connection when
        cancelled: the answer may still come, and must not be taken for the next one's.
        """
        self._response = Response()
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
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
        try:
            whole = self._response.feed(data)
        except CallFailure as failure:
            self._fail(failure)
        else:
            if whole:
                self._deliver()

    def connection_lost(self, error: Exception | None) -> None:
        """End the answer where its end is the connection's, else report the loss."""
        self.is_open = False
        if self._answer is None or self._answer.done():
            return
        if error is None and self._response.ends_with_connection:
            self._deliver()
        else:
            self._fail(Lost(f"connection lost ({error or 'the server closed it'})"))

    def _deliver(self) -> None:
        assert self._answer is not None
        if not self._response.keeps_connection:
            self.end()
        try:
            self._answer.set_result(self._response.answer())
        except CallFailure as failure:
            self._fail(failure)

    def _fail(self, failure: CallFailure) -> None:
        assert self._answer is not None
        self.end()
        self._answer.set_exception(failure)

    def end(self) -> None:
        """End the connection at once."""
        self.is_open = False
        self._transport.abort()
