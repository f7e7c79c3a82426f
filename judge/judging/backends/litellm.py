"""Every provider that litellm knows. Imported only when chosen: it takes seconds."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import logging
import os
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge.errors import UsageError
from judge.judging.backends.chat import ChatDialect
from judge.judging.backends.failures import failure, read_error
from judge.judging.backends.masking import masked, secrets_in
from judge.judging.backends.openai import without_credentials
from judge.judging.backends.wires.wire import connection_failure
from judge.judging.exchange import Rejected, Reply, Request, Transient

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
            self._litellm = await asyncio.to_thread(_import_quietly)

    async def answer(self, request: Request) -> Reply:
        """Send one request. A refused parameter is dropped and `Adjusted` raised."""
        assert self._litellm is not None, "opened before the first request"
        body = self._dialect.body(request)
        try:
            response = await self._litellm.acompletion(
                **body, **self._where, num_retries=0, max_retries=0
            )
        except self._litellm.openai.OpenAIError as error:
            raise self._failure(error, body) from error
        return self._dialect.reply(body, response.model_dump(), request)

    def _failure(self, error: BaseException, body: Mapping[str, object]) -> Exception:
        """Map litellm's exceptions, which are openai's with fields of their own."""
        message = masked(_message(error), self._secrets())
        if isinstance(error, self._litellm.openai.APIConnectionError):
            return connection_failure(error)
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
        found = replace(found, message=masked(found.message, self._secrets()))
        meant = failure(found, name=self.name)
        if isinstance(meant, Rejected):
            return self._dialect.adjust(body, message, found.parameter) or meant
        return meant

    def _secrets(self) -> tuple[str | None, ...]:
        return (self._where["api_key"], *secrets_in(os.environ, self._where["api_base"]))

    async def close(self) -> None:
        """Close the clients that litellm keeps."""
        if self._litellm is None:
            return
        cleanup = importlib.import_module("litellm.llms.custom_httpx.async_client_cleanup")
        await cleanup.close_litellm_async_clients()


def _message(error: BaseException) -> str:
    return str(getattr(error, "message", error))


def _import_quietly() -> Any:
    """Return litellm, imported without its look-up of prices on a host and without banners."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # before the import, or it calls
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # else it reads .env files nearby
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm
