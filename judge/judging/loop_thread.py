"""An event loop in a thread of its own, so that judging works inside a running loop too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

Outcome = TypeVar("Outcome")


class LoopThread:
    """Runs coroutines for synchronous callers.

    close: what to await in the loop at the end, after running work was given `grace_s` to end
    """

    def __init__(self, close: Callable[[], Awaitable[None]], *, grace_s: float) -> None:
        self._close = close
        self._grace_s = grace_s
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="judge", daemon=True)
        self._thread.start()

    def start(self, work: Coroutine[Any, Any, Outcome]) -> Future[Outcome]:
        """Start a coroutine and return its future."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Let work in flight end or cancel it, close what it used, and stop the loop."""
        self.start(self._wind_down()).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _wind_down(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        if running:
            _, running = await asyncio.wait(running, timeout=self._grace_s)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._close()
