"""OpenAI and every server that speaks its dialect."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from judge.errors import BackendUnavailable
from judge.judging.backends.chat import LENGTH_NAMES, ChatDialect
from judge.judging.backends.direct_http import direct_client
from judge.judging.backends.failures import failure, read_error
from judge.judging.exchange import Rejected, Reply, Request, Transient, Unreachable

OFFICIAL = "https://api.openai.com/v1"


class OpenAIBackend:
    """Asks one model through the async client, one HTTP request a call.

    The client is imported and opened with the first request: a cached run needs neither.

    base_url: None for OpenAI itself
    api_key: None leaves it to the client, which reads OPENAI_API_KEY; sent to the server and
        kept nowhere
    logprobs: ask for the grades' token probabilities
    """

    remote = True
    recorded = False

    def __init__(
        self, model: str, *, base_url: str | None, api_key: str | None, logprobs: bool = False
    ) -> None:
        self.name = f"openai:{model}"
        self._base_url = (base_url or OFFICIAL).rstrip("/")
        self._api_key = api_key
        length_name = LENGTH_NAMES[self._base_url == OFFICIAL]
        self._dialect = ChatDialect(model, logprobs=logprobs, length_name=length_name)
        self._openai: Any = None
        self._client: Any = None
        self.settings: Mapping[str, object] = {
            "kind": "openai",
            "model": model,
            "base_url": without_credentials(self._base_url),
            "temperature": 0,
            "seed": 0,
            "logprobs": logprobs,
        }

    async def answer(self, request: Request) -> Reply:
        """Send one request. A refused parameter is dropped and `Adjusted` raised."""
        if self._client is None:
            self._client = self._connect()
        openai, body = self._openai, self._dialect.body(request)
        try:
            # `post` is what `chat.completions.create` calls, less the building of typed models:
            # half the time of a call, and a malformed response stays readable.
            response = await self._client.post("/chat/completions", cast_to=object, body=body)
        except openai.APIStatusError as error:
            raise self._failure(error, body) from error
        except openai.APIConnectionError as error:
            raise connection_failure(error) from error
        except (openai.APIResponseValidationError, ValueError):
            response = None  # invalid JSON or UTF-8: a response without a reply
        return self._dialect.reply(body, response, request)

    def _connect(self) -> Any:
        import openai

        self._openai = openai
        options: dict[str, Any] = {
            "base_url": self._base_url,
            "max_retries": 0,
            "http_client": direct_client(openai),
        }
        try:
            return openai.AsyncOpenAI(api_key=self._api_key, timeout=None, **options)
        except openai.OpenAIError as error:
            if self._base_url == OFFICIAL:
                reason = "no key; set OPENAI_API_KEY, or name a server with --base-url"
                raise BackendUnavailable(f"{self.name}: {reason}") from error
            return openai.AsyncOpenAI(api_key="none", timeout=None, **options)

    def _failure(self, error: Any, body: Mapping[str, object]) -> Exception:
        response = error.response
        found = read_error(response.status_code, response.headers, error.body, now=time.time())
        meant = failure(found, name=self.name)
        if isinstance(meant, Rejected):
            return self._dialect.adjust(body, found.message, found.parameter) or meant
        return meant

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None


def connection_failure(error: BaseException) -> Transient:
    """Return what a connection that failed stands for, from the innermost cause.

    A transport may call a lost connection a timeout; the deadline of an attempt is not the
    client's, so there are no timeouts here.
    """
    causes = [error]
    while (cause := causes[-1].__cause__) is not None:
        causes.append(cause)
    detail = str(causes[-1]) or type(causes[-1]).__name__
    if any(type(cause).__name__ in _NO_CONNECTION for cause in causes):
        return Unreachable(f"cannot connect ({detail})")
    return Transient(f"connection lost ({detail})")


_NO_CONNECTION = frozenset(
    {"ConnectError", "ClientConnectorError", "ClientConnectorDNSError", "ConnectionRefusedError"}
)


def without_credentials(url: str) -> str:
    """Return a URL without user and password, as it may stand in reports and keys.

    >>> without_credentials("https://me:secret@host:8000/v1")
    'https://host:8000/v1'
    """
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
