"""The one owner of retrying: what is tried again, how long we wait, when we give up.

SDK retries are off in every backend, so one pass through here is one request on the wire.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import tenacity

from judge.judging.exchange import Adjusted, RateLimited, Transient
from judge.judging.limits import Clock

Outcome = TypeVar("Outcome")

_BACKOFF = tenacity.wait_random_exponential(multiplier=0.5, max=30)


@dataclass(slots=True)
class Patience:
    """How long one pair is worth trying; time held back by a rate limit is not counted."""

    clock: Clock
    total_s: float
    started_at: float
    held_s: float = 0.0

    def spent(self, state: tenacity.RetryCallState) -> bool:
        """Tell whether the next try would start after the deadline."""
        used = self.clock.now() - self.started_at - self.held_s
        return used + state.upcoming_sleep > self.total_s


def _wait(state: tenacity.RetryCallState) -> float:
    """Return the seconds before the next try: what was asked for, else full jitter."""
    failure = state.outcome.exception() if state.outcome else None
    if isinstance(failure, Adjusted | RateLimited):
        return 0.0  # nothing to wait for; the throttle holds everybody back
    asked = failure.retry_after_s if isinstance(failure, Transient) else None
    return max(asked or 0.0, float(_BACKOFF(state)))


async def retry(
    attempt: Callable[[], Awaitable[Outcome]], *, patience: Patience, clock: Clock
) -> Outcome:
    """Return the outcome of the first attempt that succeeds.

    Raises the last failure when it is none to retry or patience is spent.
    """
    retrying = tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception_type((Transient, Adjusted)),
        wait=_wait,
        stop=patience.spent,
        sleep=clock.sleep,
        reraise=True,
    )
    return await retrying(attempt)
