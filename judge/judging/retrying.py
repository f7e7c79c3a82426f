"""The one owner of retrying: what is tried again, how long we wait, when we give up.

SDK retries are off in every backend, so one pass through here is one request on the wire.
"""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from judge.judging.exchange import Adjusted, CallFailure, RateLimited, Transient, Unreadable
from judge.judging.sending import Desk, Usage

_UNREADABLE_AT_MOST = 3

Outcome = TypeVar("Outcome")


async def retry(attempt: Callable[[], Awaitable[Outcome]], *, usage: Usage, desk: Desk) -> Outcome:
    """Return the outcome of the first attempt that succeeds.

    Tried again until the pair's total deadline; time held back by a rate limit is not counted.
    An answer that nobody can read is asked for three times at most: a server that speaks another
    language will not learn ours, and each request may be billed.
    Raises the last failure when it is none to retry or time is up.
    """
    started_at = desk.clock.now() - usage.held_s
    try:
        # Most requests succeed: the machinery below costs more than reading a reply.
        return await attempt()
    except (Transient, Adjusted) as failure:
        first: CallFailure | None = failure

    async def next_attempt() -> Outcome:
        nonlocal first
        if first is not None:
            failure, first = first, None
            raise failure
        return await attempt()

    outcome: Outcome = await _retrying(desk, usage, started_at=started_at)(next_attempt)
    return outcome


def _retrying(desk: Desk, usage: Usage, *, started_at: float) -> Any:
    """Return the `tenacity.AsyncRetrying` of one pair that is first asked at `started_at`."""
    tenacity = importlib.import_module("tenacity")  # most runs need it late or never
    backoff = tenacity.wait_random_exponential(multiplier=0.5, max=30)

    def wait(state: Any) -> float:
        """Return the seconds before the next try: what was asked for, else full jitter."""
        failure = state.outcome.exception()
        if isinstance(failure, Adjusted | RateLimited):
            return 0.0  # nothing to wait for; the throttle holds everybody back
        asked = failure.retry_after_s if isinstance(failure, Transient) else None
        return max(asked or 0.0, float(backoff(state)))

    unreadable = 0

    def is_late(state: Any) -> bool:
        nonlocal unreadable
        unreadable += isinstance(state.outcome.exception(), Unreadable)
        if unreadable >= _UNREADABLE_AT_MOST:
            return True
        used = desk.clock.now() - started_at - usage.held_s
        return bool(used + state.upcoming_sleep > desk.limits.total_s)

    async def sleep(seconds: float) -> None:
        desk.tally.retrying += 1
        try:
            await desk.clock.sleep(seconds)
        finally:
            desk.tally.retrying -= 1

    return tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type((Transient, Adjusted)),
        wait=wait,
        stop=is_late,
        sleep=sleep,
        reraise=True,
    )
