"""OpenAI and every server that speaks its dialect."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import urlsplit, urlunsplit

from judge.errors import BackendUnavailable, UsageError
from judge.judging.backends.chat import LENGTH_NAMES, ChatDialect
from judge.judging.backends.error_body import json_or_text, read_error, status_within
from judge.judging.backends.failures import failure
from judge.judging.backends.masking import mask_of, masked_failures, masked_reply
from judge.judging.backends.wires.wire import Answer, OpenWire, Server, Wire
from judge.judging.exchange import Rejected, Reply, Request

OFFICIAL = "https://api.openai.com/v1"
NO_KEY = "none"
"""What is sent as the key to a server that needs none."""

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class OpenAIBackend:
    """Asks one model, one HTTP request a call.

    A wire is opened with the first request: a cached run needs no HTTP library.

    base_url: None for OpenAI itself
    api_key: None reads OPENAI_API_KEY with the first request; sent to the server, kept nowhere
    logprobs: ask for the grades' token probabilities
    open_wire: None takes OpenAI's own client for OpenAI and through proxies, and the short way
        to all other servers
    """

    remote = True
    recorded = False

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None,
        api_key: str | None,
        logprobs: bool = False,
        open_wire: OpenWire | None = None,
    ) -> None:
        self.name = f"openai:{model}"
        self._base_url = checked_address(base_url or OFFICIAL)
        self._api_key = api_key
        self._mask = mask_of(api_key=api_key, base_url=base_url)
        length_name = LENGTH_NAMES[self._base_url == OFFICIAL]
        self._dialect = ChatDialect(model, logprobs=logprobs, length_name=length_name)
        self._open_wire = open_wire or (_open_sdk if self._base_url == OFFICIAL else _open_direct)
        self._wire: Wire | None = None
        self.settings: Mapping[str, object] = {
            "kind": "openai",
            "model": model,
            "base_url": without_credentials(self._base_url),
            "temperature": 0,
            "seed": 0,
            "logprobs": logprobs,
        }

    async def open(self) -> None:
        """Open the wire, in a thread: a client's import may take seconds."""
        if self._wire is None:
            server = Server(self._base_url, self._key())
            self._wire = await asyncio.to_thread(self._open_wire, server)

    async def answer(self, request: Request) -> Reply:
        """Send one request. A refused parameter is dropped and `Adjusted` raised."""
        with masked_failures(self._mask):
            return masked_reply(await self._answer(request), self._mask)

    async def _answer(self, request: Request) -> Reply:
        assert self._wire is not None, "opened before the first request"
        body = self._dialect.body(request)
        answer = await self._wire.post(_encode(body).encode("ascii"))
        if not 200 <= answer.status < 300:
            raise self._failure(answer, body)
        if (status := status_within(answer.content)) is not None:
            raise self._failure(replace(answer, status=status), body)
        return self._dialect.reply(body, answer.content, request)

    def _key(self) -> str:
        key = os.environ.get("OPENAI_API_KEY") if self._api_key is None else self._api_key
        if not key and self._base_url == OFFICIAL:
            reason = "no key; set OPENAI_API_KEY, or name a server with --base-url"
            raise BackendUnavailable(f"{self.name}: {reason}")
        if key and not (key.isascii() and key.isprintable()):
            reason = "the key holds a line break or another character that no key has"
            raise BackendUnavailable(f"{self.name}: {reason}; set OPENAI_API_KEY anew")
        return key or NO_KEY

    def _failure(self, answer: Answer, body: Mapping[str, object]) -> Exception:
        said = json_or_text(answer.content)
        found = read_error(answer.status, answer.headers, said, now=time.time())
        found = replace(found, message=self._mask(found.message))  # before it is cut
        meant = failure(found, name=self.name)
        if isinstance(meant, Rejected):
            return self._dialect.adjust(body, found) or meant
        return meant

    async def close(self) -> None:
        """Close the connections."""
        if self._wire is not None:
            await self._wire.close()
            self._wire = None


def _open_sdk(server: Server) -> Wire:
    from judge.judging.backends.wires.sdk import SDKWire

    return SDKWire(server)


def _open_direct(server: Server) -> Wire:
    from judge.judging.backends.wires.direct import DirectWire, uses_proxy

    return _open_sdk(server) if uses_proxy(server.base_url) else DirectWire(server)


def checked_address(base_url: str) -> str:
    """Return a base URL without a slash at its end; UsageError if nothing can be sent there."""
    try:
        parts = urlsplit(base_url)
        host = (parts.hostname or "").encode("idna")
        usable = parts.scheme in ("http", "https") and host and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        fix = "name a server as in http://127.0.0.1:8080/v1"
        raise UsageError(f"--base-url {without_credentials(base_url)}: not a web address; {fix}")
    return base_url.rstrip("/")


def without_credentials(url: str) -> str:
    """Return a URL as it may stand in reports and keys: a query may hold a key, so only a hash.

    >>> without_credentials("https://me:secret@host:8000/v1")
    'https://host:8000/v1'
    >>> without_credentials("https://host/v1?key=secret")
    'https://host/v1?sha256=0b60fff1'
    >>> without_credentials("http://me:secret@[::1")
    '[::1'
    """
    try:
        parts = urlsplit(url)
    except ValueError:  # no web address: it is only shown
        return url.rpartition("@")[2].partition("?")[0]
    query = f"sha256={hashlib.sha256(parts.query.encode()).hexdigest()[:8]}" if parts.query else ""
    shown = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))
    return shown if parts.netloc else shown.rpartition("@")[2]
