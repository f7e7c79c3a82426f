"""Read logs from files: lines as events, whatever the lines hold, and how many held none."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import BinaryIO

from judge.formats.opening import SourceFile, open_bytes
from judge.readlog.events import Event, NotAnEvent, parse_event
from judge.readlog.ordering import in_time_order, merged
from judge.readlog.tally import Tally
from judge.readlog.ubi import READ_ACTIONS, is_ubi, ubi_events

LONGEST_LINE = 16 << 20  # bytes; a longer line is not an event and would fill the memory
_SNIFFED = 50  # lines looked at to tell what kind of log this is


def read_events(
    sources: Sequence[SourceFile],
    *,
    tally: Tally,
    window_s: float,
    read_actions: Collection[str] = READ_ACTIONS,
) -> Iterator[Event]:
    """Yield the events of logs in order of time; what is no event is counted in `tally`.

    Our own log (plain, gzip, rotated: name every file) and OpenSearch UBI exports are told
    apart by content. Each file may be out of order by `window_s`; several are merged. All UBI
    files are read as one.
    read_actions: the UBI `action_name`s that mean a result was read

    Raises InputError where a source cannot be opened.
    """

    def stream(files: Sequence[SourceFile]) -> Iterator[Event]:
        events = _events(_values_of(files, tally), tally, read_actions)
        return in_time_order(events, window_s=window_s, tally=tally)

    if len(sources) == 1:
        return stream(sources)
    first_values = [_first_values(source) for source in sources]
    ubi = [s for s, values in zip(sources, first_values, strict=True) if _are_ubi(values)]
    streams = [
        (_first_time(values), partial(stream, [source]))
        for source, values in zip(sources, first_values, strict=True)
        if not _are_ubi(values)
    ]
    # UBI queries and events are often two files; apart, neither says anything.
    return merged([*streams, (float("-inf"), partial(stream, ubi))] if ubi else streams)


def _first_values(source: SourceFile) -> list[object]:
    """Return what the first lines of a file hold; of a stream nothing: it is read only once."""
    if not isinstance(source, str | Path):
        return []
    return list(islice(_values_of([source], Tally()), _SNIFFED))


def _are_ubi(values: Iterable[object]) -> bool:
    return any(is_ubi(value) for value in values)


def _first_time(values: Iterable[object]) -> float:
    """Return the time of the first event: until then its file need not be open."""
    return next((event.time for event in _own_events(values, Tally())), float("-inf"))


def _values_of(sources: Iterable[SourceFile], tally: Tally) -> Iterator[object]:
    for source in sources:
        with open_bytes(source) as file:
            yield from _values(file, tally)


def _events(
    values: Iterator[object], tally: Tally, read_actions: Collection[str]
) -> Iterator[Event]:
    head = list(islice(values, _SNIFFED))
    rest = chain(head, values)
    if _are_ubi(head):
        return ubi_events(rest, tally=tally, read_actions=read_actions)
    return _own_events(rest, tally)


def _own_events(values: Iterable[object], tally: Tally) -> Iterator[Event]:
    events, unused = tally.events, tally.unused
    for value in values:
        try:
            event = parse_event(value)
        except NotAnEvent as error:
            if isinstance(value, dict) and value.get("event") == "lost":
                tally.notes["events that the writer could not write"] += _count(value)
                continue
            events["other"] += 1
            unused[str(error)] += 1
            continue
        events[event.kind] += 1
        if event.swapped:
            tally.notes["searches shown with a swapped pair"] += 1
        yield event


def _count(lost: dict[str, object]) -> int:
    count = lost.get("count")
    return count if isinstance(count, int) else 1


def _values(file: BinaryIO, tally: Tally) -> Iterator[object]:
    """Yield the JSON value of each line; count the lines that hold none."""
    # Twice as fast as json; whatever it refuses is looked at again, with care.
    from pydantic_core import from_json

    for line in _lines(file, tally):
        try:
            yield from_json(line)
        except ValueError:
            yield from _second_look(line, tally)


def _second_look(line: bytes, tally: Tally) -> Iterator[object]:
    """Yield what a line holds after all, or count why it holds nothing."""
    try:
        yield json.loads(line.decode("utf-8"))
    except UnicodeDecodeError:
        _broken(tally, "not UTF-8")
    except RecursionError:
        _broken(tally, "nested too deeply")
    except ValueError:
        # The last line without its end is what a writer that died leaves behind.
        if line.strip():
            _broken(tally, "half a line" if line.endswith(b"\n") else "torn last line")


def _lines(file: BinaryIO, tally: Tally) -> Iterator[bytes]:
    read_line = partial(file.readline, LONGEST_LINE)
    for line in iter(read_line, b""):
        if len(line) < LONGEST_LINE or line.endswith(b"\n"):
            yield line
            continue
        _broken(tally, "line too long")
        while (more := read_line()) and not more.endswith(b"\n"):
            pass


def _broken(tally: Tally, reason: str) -> None:
    tally.events["line"] += 1
    tally.unused[reason] += 1
