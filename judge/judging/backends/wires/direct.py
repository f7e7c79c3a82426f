"""The wire to a server of one's own: what OpenAI's client would send, with nothing in between.

Such a server may answer in milliseconds; the work of a client library on each request (URLs,
headers, options and models, built and merged anew) then is what limits a run. Connections are
asyncio's own sockets and TLS, and h11 speaks HTTP/1.1 on them. There is no way through a proxy
here: `uses_proxy` tells who has to go another way.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import importlib.util
import os
import ssl
import sys
from collections.abc import Mapping
from urllib.parse import SplitResult, quote, unquote, urlsplit

import h11

from judge.errors import BackendUnavailable
from judge.judging.backends.wires.http_connection import Connection
from judge.judging.backends.wires.unpacking import ENCODINGS
from judge.judging.backends.wires.wire import PATH, Answer, Server
from judge.judging.exchange import Lost, Unreachable

_IDLE_S = 4.0
"""Common servers hang up after five seconds: a connection is not used again shortly before."""
_AT_ONCE_S = 0.01
"""Who hangs up sooner keeps no connection at all."""
_SECOND_ADDRESS_S = 0.25
_SAFE = "/%:@!$&'()*+,;=~"


class DirectWire:
    """A pool of connections to one server; address and headers are worked out once.

    environ: where the client too would look for an organisation, a project, further headers
        and certificates
    """

    def __init__(self, server: Server, environ: Mapping[str, str] = os.environ) -> None:
        parts = urlsplit(server.base_url)
        self._host = parts.hostname or ""
        self._port = parts.port or _PORTS[parts.scheme]
        self._tls = _tls(environ) if parts.scheme == "https" else None
        self._target = _target(parts)
        self._headers = _sendable(_headers(server, parts, environ))
        self._idle_s = _IDLE_S
        self._idle: list[tuple[Connection, float]] = []
        self._connections: set[Connection] = set()

    async def post(self, body: bytes) -> Answer:
        """Send one request over a connection that is free, or over a new one."""
        used = self._take_idle()
        connection = used[0] if used else await self._connect()
        try:
            return await connection.exchange(self._request(body), body)
        except Lost:
            if used and not connection.was_answered:
                self._learn(used[1])
            raise
        finally:
            if connection.is_open:
                self._idle.append((connection, asyncio.get_running_loop().time()))
            else:
                self._connections.discard(connection)

    def _request(self, body: bytes) -> h11.Request:
        headers = [*self._headers, (b"Content-Length", b"%d" % len(body))]
        return h11.Request(method=b"POST", target=self._target, headers=headers)

    def _learn(self, idle_s: float) -> None:
        """Trust idle connections for half the time after which the server hung up on one."""
        self._idle_s = min(self._idle_s, idle_s / 2 if idle_s > _AT_ONCE_S else 0.0)

    def _take_idle(self) -> tuple[Connection, float] | None:
        """Return the connection that was used last, if it is still good, and how long it was idle.

        Those that are not are dropped. They were left in order, so that behind an old one there
        are only older ones.
        """
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection, since = self._idle.pop()
            idle_s = now - since
            if idle_s < self._idle_s:
                if connection.is_fresh():
                    return connection, idle_s
                self._learn(idle_s)
            connection.end()
            self._connections.discard(connection)
        return None

    async def _connect(self) -> Connection:
        loop = asyncio.get_running_loop()
        try:
            _, connection = await loop.create_connection(
                Connection,
                self._host,
                self._port,
                ssl=self._tls,
                happy_eyeballs_delay=_SECOND_ADDRESS_S,
            )
        except (OSError, UnicodeError) as error:
            raise Unreachable(f"cannot connect ({error})") from error
        self._connections.add(connection)
        return connection

    async def close(self) -> None:
        """End every connection."""
        for connection in self._connections:
            connection.end()
        self._connections.clear()
        await asyncio.sleep(0)  # the loop lets go of them


_PORTS = {"http": 80, "https": 443}
_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}
_FRAMING = frozenset({"content-length", "transfer-encoding", "upgrade"})
"""What each request says for itself, and nobody else for it."""


def _target(parts: SplitResult) -> bytes:
    """Return what a request names: path and query."""
    path = quote(parts.path.rstrip("/") + PATH, safe=_SAFE)
    query = f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else ""
    return f"{path}{query}".encode("ascii")


def _sendable(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Return headers as they are sent; BackendUnavailable names the first that cannot be."""
    for name, value in headers.items():
        if name.lower() in _FRAMING or not _is_header(name, value):
            fix = "look into OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID and OPENAI_PROJECT_ID"
            raise BackendUnavailable(f"the header {name!r} cannot be sent; {fix}")
    return [(name.encode("ascii"), value.encode("utf-8")) for name, value in headers.items()]


def _is_header(name: str, value: str) -> bool:
    try:
        h11.EndOfMessage(headers=[(name.encode("ascii"), value.encode("utf-8"))])
    except (h11.LocalProtocolError, UnicodeEncodeError):
        return False
    return True


def _headers(server: Server, parts: SplitResult, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of every request; the user's own outdo ours, in any case of letters."""
    headers = {
        "Host": parts.netloc.rpartition("@")[2].encode("idna").decode("ascii"),
        "Authorization": f"Bearer {server.api_key}",
        "Accept": "application/json",
        "Accept-Encoding": ENCODINGS,
        "Content-Type": "application/json",
        "User-Agent": "context-judge",
    }
    for name, variable in _ACCOUNT.items():
        if value := environ.get(variable):
            headers[name] = value
    ours = {name.lower(): name for name in headers}
    for line in environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n"):
        name, colon, value = line.partition(":")
        if colon and name.strip():
            headers[ours.get(name.strip().lower(), name.strip())] = value.strip()
    if "@" in parts.netloc:
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return headers


def _tls(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return what certificates are checked against: SSL_CERT_FILE or SSL_CERT_DIR, else all."""
    context = ssl.create_default_context()
    named = environ.get("SSL_CERT_FILE") or environ.get("SSL_CERT_DIR")
    if not named and importlib.util.find_spec("certifi") is not None:
        # Some systems keep no certificates where OpenSSL looks for them.
        context.load_verify_locations(importlib.import_module("certifi").where())
    return context


def uses_proxy(base_url: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether the system or the environment names a proxy for this address."""
    named = any(name.lower().endswith("_proxy") and environ[name] for name in environ)
    if not named and sys.platform not in ("darwin", "win32"):
        return False
    from urllib.request import getproxies, proxy_bypass  # takes longer than all of the above

    parts = urlsplit(base_url)
    proxies = getproxies()
    has_one = bool(proxies.get(parts.scheme) or proxies.get("all"))
    return has_one and not proxy_bypass(parts.netloc.rpartition("@")[2])
