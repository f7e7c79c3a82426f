"""What every backend does: answer one request, or say how it failed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from judge.judging.exchange import Reply, Request


class Backend(Protocol):
    """One judge model.

    name: as given on the command line ("mock", "openai:gpt-5-mini")
    settings: everything of the backend that could change a reply (kind, model, base URL,
        sampling); it enters the cache key, so it holds no key, timeout or concurrency
    remote: requests go over a network: worth a preflight, may cost money
    recorded: replies are recordings; they are neither cached nor counted as calls
    """

    name: str
    settings: Mapping[str, object]
    remote: bool
    recorded: bool

    async def open(self) -> None:
        """Import and set up what answering takes; awaited once, before any request is timed.

        Raises BackendUnavailable.
        """
        ...

    async def answer(self, request: Request) -> Reply:
        """Send one request, once, after `open`. Raises a `CallFailure` or `BackendUnavailable`."""
        ...

    async def close(self) -> None:
        """Release connections; called in the event loop that used them."""
        ...
