"""The wire to any other server: what the client would send, straight through aiohttp.

A server of one's own may answer in milliseconds; the client library's work on each request
(URLs, headers, options and models, built and merged anew) then is what limits a run.
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
import os
import ssl
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit, urlunsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from judge.errors import BackendUnavailable
from judge.judging.backends.wires.wire import (
    PATH,
    Answer,
    Server,
    connection_failure,
    read_bounded,
)


class DirectWire:
    """One aiohttp session; address, headers and proxy are worked out once.

    environ: where the client too would look for an organisation, a project, further headers
        and certificates; proxies are the system's, as `urllib` finds them
    """

    def __init__(self, server: Server, environ: Mapping[str, str] = os.environ) -> None:
        self._url = URL(_address(server.base_url))
        self._proxy = proxy_for(server.base_url)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_tls(server.base_url, environ)),
            headers=_headers(server, environ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),
        )

    async def post(self, body: bytes) -> Answer:
        """Send one request."""
        try:
            async with self._session.post(
                self._url, data=body, proxy=self._proxy, allow_redirects=False
            ) as response:
                content = await read_bounded(response.content.iter_any())
                return Answer(response.status, response.headers, content)
        except (aiohttp.ClientError, OSError) as error:
            raise connection_failure(error) from error

    async def close(self) -> None:
        """Close the session."""
        await self._session.close()


def _address(base_url: str) -> str:
    """Return the URL of a request: credentials travel in a header, a query stays at the end."""
    parts = urlsplit(base_url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=host, path=parts.path.rstrip("/") + PATH, fragment=""))


def _headers(server: Server, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of every request; the user's own outdo ours, in any case of letters."""
    headers = {
        "Authorization": f"Bearer {server.api_key}",
        "Accept": "application/json",
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
    if "@" in (parts := urlsplit(server.base_url)).netloc:
        pair = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    return headers


_ACCOUNT = {"OpenAI-Organization": "OPENAI_ORG_ID", "OpenAI-Project": "OPENAI_PROJECT_ID"}


def proxy_for(base_url: str) -> str | None:
    """Return the system's proxy for an address, looked up once and not for every request.

    BackendUnavailable for one that does not speak HTTP.
    """
    parts = urlsplit(base_url)
    if proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    proxies = getproxies()
    proxy = proxies.get(parts.scheme) or proxies.get("all")
    if proxy is None:
        return None
    scheme, mark, _ = proxy.partition("://")
    if mark and scheme not in ("http", "https"):
        fix = "name an HTTP proxy, or except this server in NO_PROXY"
        raise BackendUnavailable(f"the proxy for {parts.hostname} is of type {scheme}; {fix}")
    return proxy if mark else f"http://{proxy}"


def _tls(base_url: str, environ: Mapping[str, str]) -> ssl.SSLContext | bool:
    """Return what certificates are checked against: SSL_CERT_FILE or SSL_CERT_DIR, else all."""
    if urlsplit(base_url).scheme != "https":
        return True  # aiohttp's own context, which no connection will need
    context = ssl.create_default_context()
    named = environ.get("SSL_CERT_FILE") or environ.get("SSL_CERT_DIR")
    if not named and importlib.util.find_spec("certifi") is not None:
        # Some systems keep no certificates where OpenSSL looks for them.
        context.load_verify_locations(importlib.import_module("certifi").where())
    return context
