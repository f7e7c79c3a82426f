"""An event loop in a thread of its own, so that judging works inside a running loop too."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Sequence
from typing import Any, Generic, TypeVar

Outcome = TypeVar("Outcome")


class LoopThread(Generic[Outcome]):
    """Runs coroutines for a synchronous caller and reports each when it is done.

    done: called in the loop's thread with every finished task
    close: what to do in the loop at the end, after running work was given `grace_s` to finish
    """

    def __init__(
        self,
        *,
        done: Callable[[asyncio.Task[Outcome]], object],
        close: Callable[[], Awaitable[None]],
        grace_s: float,
    ) -> None:
        self._done = done
        self._close = close
        self._grace_s = grace_s
        self._running: set[asyncio.Task[Outcome]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="judge", daemon=True)
        self._thread.start()

    def start(self, works: Sequence[Coroutine[Any, Any, Outcome]]) -> None:
        """Start coroutines, all with one call into the loop."""
        self._loop.call_soon_threadsafe(self._spawn, works)

    def _spawn(self, works: Sequence[Coroutine[Any, Any, Outcome]]) -> None:
        for work in works:
            task = self._loop.create_task(work)
            self._running.add(task)
            task.add_done_callback(self._finish)

    def _finish(self, task: asyncio.Task[Outcome]) -> None:
        self._running.discard(task)
        self._done(task)

    def close(self) -> None:
        """Let work in flight end or cancel it, close what it used, and stop the loop."""
        asyncio.run_coroutine_threadsafe(self._wind_down(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _wind_down(self) -> None:
        running = set(self._running)
        if running:
            _, running = await asyncio.wait(running, timeout=self._grace_s)
        await _cancel(running)
        await self._close()
        # Libraries leave tasks of their own behind; a loop that closes on them complains.
        await _cancel(asyncio.all_tasks() - {asyncio.current_task()})
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


async def _cancel(tasks: Collection[asyncio.Task[Any]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
