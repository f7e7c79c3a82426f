"""What a server really answered, behind a library that makes its own sense of it.

litellm raises the same error for a page of HTML with status 200 and for a server that is down,
and follows redirects with the key in hand. Its HTTP clients are httpx's, so a hook on each tells
of the response itself, and only to the call that asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from judge.judging.backends.wires.wire import Answer
from judge.judging.exchange import Rejected


@dataclass(slots=True)
class Heard:
    """The last response to one call, None where none came."""

    answer: Answer | None = None

    @property
    def status(self) -> int:
        """Return the status of the response, 0 where none came."""
        return self.answer.status if self.answer else 0


_LISTENING: ContextVar[Heard | None] = ContextVar("listening", default=None)


@contextmanager
def overheard() -> Iterator[Heard]:
    """Keep what the server of one call answers, in the task that makes it."""
    heard = Heard()
    token = _LISTENING.set(heard)
    try:
        yield heard
    finally:
        _LISTENING.reset(token)


def listen(cache: Any) -> None:
    """Hang the hook on every client in litellm's cache of clients, and on each that follows."""
    keep = cache.set_cache

    def set_cache(key: str, value: object, *rest: Any, **options: Any) -> Any:
        _hook(value)
        return keep(key, value, *rest, **options)

    cache.set_cache = set_cache
    for client in cache.cache_dict.values():
        _hook(client)


def _hook(client: object) -> None:
    """Hang the hook on a client: litellm's own, or OpenAI's, around one of httpx."""
    inner = getattr(client, "client", None) or getattr(client, "_client", None)
    hooks = getattr(inner, "event_hooks", None)
    # A client that is not async calls its hooks without waiting for them; it is never ours.
    if isinstance(hooks, dict) and hasattr(inner, "aclose"):
        responses = [hook for hook in hooks.get("response", []) if hook is not _take]
        inner.event_hooks = {**hooks, "response": [*responses, _take]}  # type: ignore[union-attr]


async def _take(response: Any) -> None:
    """Keep a response for the call that listens; Rejected where it leads elsewhere."""
    heard = _LISTENING.get()
    if heard is None:
        return
    content = await response.aread()
    heard.answer = Answer(response.status_code, response.headers, content)
    if response.has_redirect_location:
        raise Rejected("the address redirects elsewhere")  # before the key goes there too
