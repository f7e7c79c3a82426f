"""The wire to OpenAI itself and through proxies: OpenAI's own client, which knows them all."""

from __future__ import annotations

import importlib
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import openai

from judge.errors import BackendUnavailable
from judge.judging.backends.wires.wire import (
    PATH,
    Answer,
    Server,
    connection_failure,
    read_bounded,
)
from judge.judging.exchange import CallFailure

# The client stands on httpx or on its successor, by version: take the one it came with.
_TRANSPORT: Any = openai.DefaultAsyncHttpxClient
_http: Any = importlib.import_module(_TRANSPORT.__mro__[1].__module__.partition(".")[0])


class SDKWire:
    """One async client a run, its retries off."""

    def __init__(self, server: Server) -> None:
        parts = urlsplit(server.base_url)
        self._client = openai.AsyncOpenAI(
            api_key=server.api_key,
            base_url=urlunsplit(parts._replace(query="")),
            default_query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            max_retries=0,
            timeout=None,
            http_client=_transport(),
        )

    async def post(self, body: bytes) -> Answer:
        """Send one request through the client."""
        try:
            # `post` is what `chat.completions.create` calls, less the building of typed models:
            # half the time of a call, and a malformed response stays readable.
            response: Any = await self._client.post(PATH, cast_to=_http.Response, content=body)
        except openai.APIStatusError as error:
            response = error.response
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, CallFailure):
                raise error.__cause__ from error
            raise connection_failure(error) from error
        return Answer(response.status_code, response.headers, response.content)

    async def close(self) -> None:
        """Close the client."""
        await self._client.close()


def _transport() -> Any:
    try:
        return _Bounded(timeout=None, follow_redirects=False)
    except (ImportError, ValueError) as error:  # a proxy of a kind that it does not know
        raise BackendUnavailable(f"the proxy of this system cannot be used: {error}") from error


class _Bounded(_TRANSPORT):  # type: ignore[misc]
    """The client's own transport, but a body that never ends is not read to its end."""

    async def send(self, request: Any, **options: Any) -> Any:
        response = await super().send(request, **{**options, "stream": True})
        try:
            content = await read_bounded(response.aiter_bytes())
        finally:
            await response.aclose()
        headers = [
            (name, value)
            for name, value in response.headers.multi_items()
            if name.lower() not in ("content-encoding", "content-length")
        ]
        return _http.Response(
            response.status_code, headers=headers, content=content, request=request
        )
