"""What is running for us right now, so that it can be ended from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Live:
    """The ways to end what is running: children, connections. Each may be called twice."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ends: set[Callable[[], None]] = set()
        self._stopped = False

    @contextmanager
    def ended_by(self, end: Callable[[], None]) -> Iterator[None]:
        """Let `stop` call `end` while the block runs; at once, where it was called before."""
        with self._lock:
            self._ends.add(end)
            stopped = self._stopped
        try:
            if stopped:
                end()
            yield
        finally:
            with self._lock:
                self._ends.discard(end)

    def stop(self) -> None:
        """End everything that runs, and whatever is started from now on."""
        with self._lock:
            self._stopped = True
            ends = list(self._ends)
        for end in ends:
            end()
