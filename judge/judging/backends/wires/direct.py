"""The wire to a server of one's own: what OpenAI's client would send, with nothing in between.

Such a server may answer in milliseconds; the work of a client library on each request (URLs,
headers, options and models, built and merged anew) then is what limits a run. Connections are
HTTP/1.1 over asyncio's own sockets and TLS. There is no way through a proxy here: `uses_proxy`
tells who has to go another way.
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

from judge.errors import BackendUnavailable
from judge.judging.backends.wires.http_connection import Connection
from judge.judging.backends.wires.unpacking import ENCODINGS
from judge.judging.backends.wires.wire import PATH, Answer, Server
from judge.judging.exchange import Unreachable

_IDLE_S = 4.0
"""Common servers hang up after five seconds: a connection is not used again shortly before."""
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
        self._head = _head(parts, _headers(server, parts, environ))
        self._idle: list[tuple[Connection, float]] = []
        self._connections: set[Connection] = set()

    async def post(self, body: bytes) -> Answer:
        """Send one request over a connection that is free, or over a new one."""
        connection = self._take_idle() or await self._connect()
        try:
            return await connection.exchange(b"%b%d\r\n\r\n%b" % (self._head, len(body), body))
        finally:
            if connection.is_open:
                self._idle.append((connection, asyncio.get_running_loop().time()))
            else:
                self._connections.discard(connection)

    def _take_idle(self) -> Connection | None:
        """Return the connection that was used last, if it is still good; drop those that are not.

        They were left in order, so that behind an old one there are only older ones.
        """
        now = asyncio.get_running_loop().time()
        while self._idle:
            connection, since = self._idle.pop()
            if connection.is_open and now - since < _IDLE_S:
                return connection
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


def _head(parts: SplitResult, headers: Mapping[str, str]) -> bytes:
    """Return all of a request up to the number of bytes in its body."""
    path = quote(parts.path.rstrip("/") + PATH, safe=_SAFE)
    query = f"?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else ""
    host = parts.netloc.rpartition("@")[2].encode("idna").decode()
    lines = [f"POST {path}{query} HTTP/1.1", f"Host: {host}"]
    for name, value in headers.items():
        if not f"{name}{value}".isprintable() or not name.isascii() or ":" in name:
            fix = "look into OPENAI_CUSTOM_HEADERS, OPENAI_ORG_ID and OPENAI_PROJECT_ID"
            raise BackendUnavailable(f"the header {name!r} cannot be sent; {fix}")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "Content-Length: "]).encode("utf-8")


def _headers(server: Server, parts: SplitResult, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of every request; the user's own outdo ours, in any case of letters."""
    headers = {
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
