"""Put a stream of events in order of time, in memory that does not grow with the log."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter

from judge.readlog.events import Event
from judge.readlog.tally import Tally

_BLOCK = 4096  # events between two sorts: nearly sorted blocks sort in linear time
_JUMP_S = 86_400.0  # a clock that leaps further than this must be confirmed
_CONFIRMATIONS = 3
_time_and_rank = itemgetter(0, 1)


class _Clock:
    """The time a log has reached: its latest event, unless that one stands alone in the future.

    One machine with a wrong date must not make everything that the others wrote "too old".
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.support = 0
        self._ahead: list[float] = []

    def see(self, time: float) -> None:
        """Take one event's time into account."""
        step = time - self.now
        if self.support and -_JUMP_S <= step <= _JUMP_S:
            if step > 0:
                self.now = time
            self.support += 1
            if self._ahead:
                self._ahead = []
        elif not self.support or (self.support < _CONFIRMATIONS and step < 0):
            self.now, self.support = time, 1
        elif step > 0:
            self._ahead.append(time)
            if len(self._ahead) >= _CONFIRMATIONS:
                self.now, self.support, self._ahead = min(self._ahead), _CONFIRMATIONS, []


def in_time_order(events: Iterable[Event], *, window_s: float, tally: Tally) -> Iterator[Event]:
    """Yield events by time, at one moment searches before reads.

    Disorder of up to `window_s` is put right. An event that is older than that, measured
    from the latest one before it, is counted and left out: what it belongs to may be done.
    """
    clock = _Clock()
    waiting: list[Event] = []
    enough = _BLOCK
    for event in events:
        time = event.time
        clock.see(time)
        if time < clock.now - window_s and clock.support >= _CONFIRMATIONS:
            tally.unused[f"more than {window_s:g} s older than the log had come to"] += 1
            continue
        waiting.append(event)
        if len(waiting) >= enough:
            waiting.sort(key=_time_and_rank)
            done = _first_at_or_after(waiting, clock.now - window_s)
            yield from waiting[:done]
            del waiting[:done]
            # Twice what has to wait anyway: each event is sorted a few times at most.
            enough = max(_BLOCK, 2 * len(waiting))
    waiting.sort(key=_time_and_rank)
    yield from waiting


def _first_at_or_after(events: list[Event], time: float) -> int:
    low, high = 0, len(events)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if events[middle].time < time else (low, middle)
    return low


def merged(streams: Iterable[tuple[float, Callable[[], Iterator[Event]]]]) -> Iterator[Event]:
    """Yield the events of several ordered streams, given as (first time, open), in one order.

    A stream is opened when the others have come to its first event: a thousand rotated
    files are never all open at once.
    """
    waiting = sorted(enumerate(streams), key=lambda entry: entry[1][0], reverse=True)
    running: list[tuple[tuple[float, int], int, Event, Iterator[Event]]] = []
    while waiting or running:
        while waiting and (not running or waiting[-1][1][0] <= running[0][0][0]):
            number, (_, open_stream) = waiting.pop()
            events = open_stream()
            _push(running, number, events)
        if running:
            _, number, event, events = heapq.heappop(running)
            yield event
            _push(running, number, events)


def _push(
    running: list[tuple[tuple[float, int], int, Event, Iterator[Event]]],
    number: int,
    events: Iterator[Event],
) -> None:
    event = next(events, None)
    if event is not None:
        heapq.heappush(running, ((event.time, event.rank), number, event, events))


def without_repeats(events: Iterable[Event], *, window_s: float, tally: Tally) -> Iterator[Event]:
    """Yield events in order, each `event_id` once within `window_s`; later ones are counted."""
    recent: set[str] = set()
    older: set[str] = set()
    turn = 0.0
    for event in events:
        if event.event_id is not None:
            if event.time > turn:
                older = recent if event.time <= turn + window_s else set()
                recent, turn = set(), event.time + window_s
            if event.event_id in recent or event.event_id in older:
                tally.unused["event_id seen before"] += 1
                continue
            recent.add(event.event_id)
        yield event
