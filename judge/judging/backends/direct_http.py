"""The shortest way from the OpenAI client to a socket: its `http_client` seam, over aiohttp.

The client's own transports build, merge and parse each URL and header several times a request,
which takes longer than everything we do with a reply. Here a request goes to an aiohttp session
as it is. Redirects are not followed: an address that redirects is a wrong address.
"""

from __future__ import annotations

import importlib
import json
from typing import Any

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


def direct_client(openai: Any) -> Any:
    """Return an HTTP client for `AsyncOpenAI(http_client=…)`, opened with its first request.

    Without aiohttp it is the client's default one: slower, otherwise the same.
    """
    base = openai.DefaultAsyncHttpxClient
    try:
        aiohttp = importlib.import_module("aiohttp")
    except ImportError:
        return base(timeout=None)
    # The client stands on httpx or on its successor, by version: take the one it came with.
    http = importlib.import_module(base.__mro__[1].__module__.partition(".")[0])

    class DirectClient(base):  # type: ignore[misc, valid-type]
        """Sends requests of the OpenAI client through one aiohttp session."""

        _session: Any = None

        def build_request(self, method: str, url: Any, **parts: Any) -> Any:
            body = parts.get("content")
            if body is None:
                body = _encode(parts["json"]).encode("ascii")
            return http.Request(method, url, headers=parts["headers"], content=body)

        async def send(self, request: Any, **options: Any) -> Any:
            if self._session is None:
                self._session = _open_session(aiohttp, http, secure=request.url.scheme == "https")
            try:
                async with self._session.request(
                    request.method,
                    str(request.url),
                    headers=request.headers,
                    data=request.content,
                    allow_redirects=False,
                ) as response:
                    content = await response.read()
            except aiohttp.ClientConnectorError as error:
                raise http.ConnectError(str(error), request=request) from error
            except (aiohttp.ClientError, OSError) as error:
                detail = str(error) or type(error).__name__
                raise http.ReadError(detail, request=request) from error
            headers = response.raw_headers
            return http.Response(response.status, headers=headers, content=content, request=request)

        async def aclose(self) -> None:
            if self._session is not None:
                await self._session.close()
            await super().aclose()

    return DirectClient(timeout=None)


def _open_session(aiohttp: Any, http: Any, *, secure: bool) -> Any:
    """Return a session without limits of its own: ours decide how many requests are open."""
    context = http.create_ssl_context() if secure else False
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ssl=context),
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        trust_env=True,
    )
