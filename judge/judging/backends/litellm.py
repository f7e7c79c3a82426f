"""Every provider that litellm knows. Imported only when chosen: it takes seconds."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import logging
import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge.errors import BackendUnavailable, UsageError
from judge.judging.backends.chat import ChatDialect
from judge.judging.backends.error_body import (
    ServerError,
    json_or_text,
    read_error,
    status_within,
)
from judge.judging.backends.failures import failure
from judge.judging.backends.masking import mask_of, masked_failures, masked_reply
from judge.judging.backends.openai import checked_address, without_credentials
from judge.judging.backends.overhearing import listen, overheard
from judge.judging.backends.wires.wire import Answer, connection_failure
from judge.judging.exchange import Adjusted, Rejected, Reply, Request, Transient

_SHOWN = 200


class LiteLLMBackend:
    """Asks one model through `litellm.acompletion`, one HTTP request a call.

    model: as litellm names it, with its provider (`anthropic/claude-sonnet-5`)
    base_url, api_key: None leaves both to litellm, which reads each provider's variables
    """

    remote = True
    recorded = False

    def __init__(
        self, model: str, *, base_url: str | None, api_key: str | None, logprobs: bool = False
    ) -> None:
        self.name = f"litellm:{model}"
        if importlib.util.find_spec("litellm") is None:
            fix = "pip install 'context-judge[litellm]'"
            raise UsageError(f"--backend {self.name}: litellm is not installed; {fix}")
        self._litellm: Any = None
        self._was_heard = False
        self._model = model
        if base_url:
            checked_address(base_url)
        self._mask = mask_of(api_key=api_key, base_url=base_url)
        self._where = {"api_base": base_url, "api_key": api_key}
        self._dialect = ChatDialect(model, logprobs=logprobs)
        self.settings: Mapping[str, object] = {
            "kind": "litellm",
            "model": model,
            "base_url": without_credentials(base_url) if base_url else None,
            "temperature": 0,
            "seed": 0,
            "logprobs": logprobs,
        }

    async def open(self) -> None:
        """Import litellm, in a thread: it takes seconds."""
        if self._litellm is None:
            litellm = await asyncio.to_thread(_import_quietly)
            # It imports more with its first call: let that be one that nothing is sent for.
            messages = [{"role": "user", "content": "?"}]
            with contextlib.suppress(litellm.openai.OpenAIError):
                await litellm.acompletion(
                    model=self._model, messages=messages, mock_response="0", **self._where
                )
            self._litellm = litellm

    async def answer(self, request: Request) -> Reply:
        """Send one request. A refused parameter is dropped and `Adjusted` raised."""
        assert self._litellm is not None, "opened before the first request"
        with masked_failures(self._mask):
            while True:
                body = self._dialect.body(request)
                try:
                    return masked_reply(await self._send(body, request), self._mask)
                except _Unsent:
                    continue  # what a provider does not take is refused here, one name at a time

    async def _send(self, body: Mapping[str, object], request: Request) -> Reply:
        with overheard() as heard:
            try:
                response = await self._litellm.acompletion(
                    **body, **self._where, num_retries=0, max_retries=0
                )
            except self._litellm.openai.OpenAIError as error:
                answer = heard.answer
                self._was_heard = self._was_heard or answer is not None
                if answer is None or not self._is_unreadable(error, answer):
                    meant = self._failure(error, body, answer)
                    is_unsent = isinstance(error, self._litellm.UnsupportedParamsError)
                    if is_unsent and isinstance(meant, Adjusted):
                        raise _Unsent from error
                    raise meant from error
                # What OpenAI's own backend makes of it: a reply, perhaps without text.
                return self._dialect.reply(body, answer.content, request)
        self._was_heard = True
        return self._dialect.reply(body, response.model_dump(), request)

    def _is_unreadable(self, error: BaseException, answer: Answer) -> bool:
        """Tell whether litellm calls a failure of the server what is an answer it cannot read."""
        if not 200 <= answer.status < 300 or status_within(answer.content) is not None:
            return False
        status = getattr(error, "status_code", None)
        return not isinstance(status, int) or status >= 500

    def _failure(
        self, error: BaseException, body: Mapping[str, object], answer: Answer | None
    ) -> Exception:
        """Map litellm's exceptions, which are openai's with fields of their own.

        answer: what the server said, where it said anything; it goes before litellm's word for it
        """
        if answer is not None:
            inside = status_within(answer.content) if answer.status < 300 else answer.status
            if inside is not None:
                said = json_or_text(answer.content)
                found = read_error(inside, answer.headers, said, now=time.time())
                return self._meant(found, body)
        message = self._mask(_message(error))
        if answer is None and (fault := _fault_before_sending(error)) is not None:
            said = self._mask(str(fault))[:_SHOWN]
            if self._was_heard:
                return Rejected(f"litellm could not ask ({said})")
            return BackendUnavailable(f"{self.name}: litellm cannot ask ({said})")
        if answer is None and (lost := self._lost_connection(error)) is not None:
            return connection_failure(lost)
        status = getattr(error, "status_code", None)
        if not isinstance(status, int):
            return Transient(f"litellm failed ({message[:_SHOWN]})")
        headers = getattr(getattr(error, "response", None), "headers", None) or {}
        inner = getattr(error, "body", None)
        found = read_error(
            status,
            headers,
            inner if isinstance(inner, dict) else {"message": message},
            now=time.time(),
        )
        return self._meant(replace(found, said=f"{found.said} {message}"), body)

    def _meant(self, found: ServerError, body: Mapping[str, object]) -> Exception:
        found = replace(found, message=self._mask(found.message))  # before it is cut
        meant = failure(found, name=self.name)
        if isinstance(meant, Rejected):
            return self._dialect.adjust(body, found) or meant
        return meant

    def _lost_connection(self, error: BaseException) -> BaseException | None:
        """Return the connection's failure that an error stands for, None if it is no such."""
        kinds = (
            self._litellm.openai.APIConnectionError,
            importlib.import_module("httpx").RequestError,
        )
        cause: BaseException | None = error
        while cause is not None and not isinstance(cause, kinds):
            cause = cause.__cause__ or cause.__context__
        return cause

    async def close(self) -> None:
        """Close the clients that litellm keeps."""
        if self._litellm is None:
            return
        cleanup = importlib.import_module("litellm.llms.custom_httpx.async_client_cleanup")
        await cleanup.close_litellm_async_clients()


class _Unsent(Exception):
    """litellm knew beforehand that the provider does not take a parameter, now dropped."""


def _fault_before_sending(error: BaseException) -> BaseException | None:
    """Return what went wrong in this process before anything was sent; None if it was a wire.

    litellm calls a key that it does not find a server's error or a lost connection. Its own
    exceptions tell nothing then: the innermost cause does.
    """
    innermost = error
    while (cause := innermost.__cause__ or innermost.__context__) is not None:
        innermost = cause
    kind = type(innermost)
    is_ours = isinstance(innermost, ValueError | TypeError | LookupError | AttributeError)
    is_clients = kind.__module__.partition(".")[0] == "openai" and kind.__name__ == "OpenAIError"
    is_clear = innermost is not error and not isinstance(innermost, UnicodeError | OSError)
    return innermost if is_clear and (is_ours or is_clients) else None


def _message(error: BaseException) -> str:
    return str(getattr(error, "message", error))


def _import_quietly() -> Any:
    """Return litellm, imported without its look-up of prices on a host and without banners."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # before the import, or it calls
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads .env files nearby
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    listen(litellm.in_memory_llm_clients_cache)
    litellm.telemetry = False
    # Its models hold what servers say, whatever that is, and complain of it on the screen. Calls
    # overlap, so that nothing narrower than the message can be put around one of them.
    warnings.filterwarnings("ignore", "Pydantic serializer warnings", UserWarning)
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm
