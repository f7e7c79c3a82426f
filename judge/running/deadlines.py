"""HTTP through the standard library, each exchange with one deadline for all of it.

A socket's timeout holds for one read: a server that sends a byte now and then would never
reach it. Here a timer shuts the connection down, whatever is being read from it: the answer
of a proxy, the handshake, headers or the body. `Live` does the same when we are stopped.
"""

from __future__ import annotations

import http.client
import socket
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from judge.running.live import Live


class Exchange:
    """One request and its answer; `is_late` once its time was up."""

    def __init__(self, proxies: Mapping[str, str]) -> None:
        self.is_late = False
        self._sockets: list[socket.socket] = []
        self._ended = False
        self._opener = urllib.request.build_opener(
            _AnyStatus, urllib.request.ProxyHandler(dict(proxies)), *_watched(self)
        )

    @contextmanager
    def open(
        self, request: urllib.request.Request, *, timeout_s: float, live: Live
    ) -> Iterator[http.client.HTTPResponse]:
        """Open the answer to a request; what fails because time was up is `is_late`."""
        timer = threading.Timer(timeout_s, self._expire)
        timer.daemon = True
        timer.start()
        try:
            with (
                live.ended_by(self.end),
                self._opener.open(request, timeout=timeout_s) as response,
            ):
                yield response
        finally:
            timer.cancel()
            for watched in self._sockets:
                watched.close()

    def end(self) -> None:
        """Shut the connection down, and each that is made after this."""
        self._ended = True
        for watched in list(self._sockets):
            with suppress(OSError):
                watched.shutdown(socket.SHUT_RDWR)

    def watch(self, connected: socket.socket) -> None:
        """Take a connection that was just made."""
        # A second handle of the same connection: it works whoever reads, and under TLS too.
        self._sockets.append(connected.dup())
        if self._ended:
            self.end()

    def _expire(self) -> None:
        self.is_late = True
        self.end()


def _watched(exchange: Exchange) -> tuple[urllib.request.BaseHandler, ...]:
    """Return handlers of connections that are shown to the exchange once they are made."""

    class Plain(http.client.HTTPConnection):
        def connect(self) -> None:
            super().connect()
            exchange.watch(self.sock)

    class Secure(http.client.HTTPSConnection, Plain):
        """`HTTPSConnection` connects through `Plain` and only then begins its handshake."""

    class PlainHandler(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Plain, req)

    class SecureHandler(urllib.request.HTTPSHandler):
        def https_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Secure, req)

    return PlainHandler(), SecureHandler()


class _AnyStatus(urllib.request.HTTPErrorProcessor):
    """Leaves an error or a redirect as it came.

    Its body then is read before the deadline too, and following a redirect would hand our
    headers to another host.
    """

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        """Return the response, whatever its status."""
        return response

    https_response = http_response
