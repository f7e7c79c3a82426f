"""One line on stderr that says how judging goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TextIO

_REDRAW_S = 0.1
_PLAIN_EVERY_S = 30.0


@dataclass(frozen=True, slots=True)
class CallCounts:
    """Requests and their outcome, as the report prints them.

    made: requests sent, retries and repairs included; retried: those beyond a pair's first
    cached: pairs that needed no request; failed: pairs that were asked and got no grade
    not_asked: pairs for which nothing was sent: a bound was reached, the run was stopped
    unanswered: requests whose answer never came, though the server may have billed them
    """

    made: int = 0
    cached: int = 0
    retried: int = 0
    failed: int = 0
    unanswered: int = 0
    not_asked: int = 0


def spent(cost_usd: float | None, calls: CallCounts, *, digits: int) -> str:
    """Return what was paid, in words that promise no more than is known.

    >>> spent(1.5, CallCounts(made=9), digits=2)
    '$1.50'
    >>> spent(1.5, CallCounts(made=9, unanswered=2), digits=2)
    'at least $1.50'
    """
    if cost_usd is None:
        return "cost unknown"
    return f"{'at least ' if calls.unanswered else ''}${cost_usd:.{digits}f}"


@dataclass(slots=True)
class Tally:
    """Counters of one judge, updated as things happen.

    asked, done: pairs; in_flight, retrying, held: requests, now
    cost_usd: paid for answers so far; None once one came whose price or usage is unknown
    """

    asked: int = 0
    done: int = 0
    made: int = 0
    cached: int = 0
    retried: int = 0
    retrying: int = 0
    failed: int = 0
    unanswered: int = 0
    not_asked: int = 0
    cost_usd: float | None = 0.0
    in_flight: int = 0
    held: int = 0

    @property
    def counts(self) -> CallCounts:
        """Return what a report prints of it."""
        return CallCounts(
            self.made, self.cached, self.retried, self.failed, self.unanswered, self.not_asked
        )

    def add_cost(self, cost_usd: float | None) -> None:
        """Add what one reply cost; a sum with an unknown part is unknown."""
        if self.cost_usd is not None:
            self.cost_usd = None if cost_usd is None else self.cost_usd + cost_usd


class Progress:
    """Draws the tally: one live line on a terminal, a plain line every 30 s elsewhere."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._live = stream.isatty()
        self._started_at = self._drawn_at = clock()
        self._drawn = False

    def draw(self, tally: Tally) -> None:
        """Draw the line if it is time to."""
        now = self._clock()
        if now - self._drawn_at < (_REDRAW_S if self._live else _PLAIN_EVERY_S):
            return
        self._drawn_at = now
        self._drawn = True
        line = describe(tally, elapsed_s=now - self._started_at)
        self._stream.write(f"\r{line[:79]:<79}" if self._live else f"{line}\n")
        self._stream.flush()

    def close(self) -> None:
        """Wipe the live line."""
        if self._live and self._drawn:
            self._stream.write("\r" + " " * 79 + "\r")
            self._stream.flush()
            self._drawn = False


def describe(tally: Tally, *, elapsed_s: float) -> str:
    """Return the line: done, in flight, retrying, held back, cached, failed, cost, time left.

    >>> describe(Tally(asked=40, done=20, made=21, cached=10, retried=1), elapsed_s=5)
    'judging 20/40, 10 cached, $0.00, 10 s left'
    """
    counts = [
        (tally.in_flight, "in flight"),
        (tally.retrying, "retrying"),
        (tally.held, "waiting for the limit"),
        (tally.cached, "cached"),
        (tally.failed, "failed"),
        (tally.unanswered, "without an answer"),
        (tally.not_asked, "not asked"),
    ]
    parts = [f"judging {tally.done}/{tally.asked}"]
    parts += [f"{n} {name}" for n, name in counts if n]
    parts.append(spent(tally.cost_usd, tally.counts, digits=2))
    paid = tally.done - tally.cached
    if paid > 0:
        parts.append(f"{(tally.asked - tally.done) * elapsed_s / paid:.0f} s left")
    return ", ".join(parts)
