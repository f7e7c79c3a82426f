"""Blocks worked on side by side, their results in the order of the blocks."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_MOST_THREADS = 4

T = TypeVar("T")
R = TypeVar("R")


def in_threads(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """Yield `work` of every item in order, with few of them in hand at a time."""
    n = min(os.cpu_count() or 1, _MOST_THREADS)
    pending: deque[Future[R]] = deque()
    with ThreadPoolExecutor(n) as pool:
        for item in items:
            pending.append(pool.submit(work, item))
            if len(pending) > n:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()
