"""Follow sessions: which list a read belongs to, and when a visit is over.

A visit is what one session did without a pause longer than the attribution window. Lists
that nobody can read from any more are closed, so memory follows the traffic of a window
and not the length of the log.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from judge.errors import UsageError
from judge.readlog.events import Event
from judge.readlog.tally import Tally

MOST_IDS = 1_000  # of one list: nobody looked at more, and pairs grow with the square
_LONG_VISIT = 1_000  # lists after which a visit that never pauses is handed on in parts
_PEOPLE = frozenset({"human", "person", "people", "user"})  # actors of whom there are many
_READS_ALL = 3  # lists, of two results and more, all read to the end: no person does that


@dataclass(slots=True)
class ShownList:
    """One list of chunks put before a searcher or a model, and what was read of it.

    ids: in the order shown, each once; hashes: of their texts, or empty
    read: the ids that were read or cited, each once, in order of their first read
    shuffled: the whole list stood in random order
    reader: the agent or model version that was shown it or read of it, where known
    """

    kind: str
    query: str
    time: float
    ids: tuple[str, ...]
    hashes: tuple[str, ...]
    read: list[str] = field(default_factory=list)
    shuffled: bool = False
    reader: str | None = None

    def hash_of(self, id: str) -> str | None:
        """Return the hash of the text that stood behind an id of this list, if known."""
        return self.hashes[self.ids.index(id)] if self.hashes else None


@dataclass(slots=True)
class Visit:
    """What one session did in one go: its lists in order, and who it was.

    set_aside: why none of it may vote, or None
    used: events that became part of it
    """

    session: str
    user: str | None
    expires: float
    lists: list[ShownList] = field(default_factory=list)
    set_aside: str | None = None
    used: int = 0
    actor: str | None = None

    def source(self, shown: ShownList) -> str | None:
        """Return whose one vote a list's reads are, where the log names anybody.

        An agent or a model version, else the user; all that is known of an unnamed machine is
        its kind. None: nobody is named, and the session has to stand for its reader.
        """
        if shown.reader is not None:
            return shown.reader
        if self.user is not None:
            return f"user {self.user}"
        if self.actor is not None and self.actor not in _PEOPLE:
            return f"actor {self.actor}"
        return None

    def voter(self, shown: ShownList) -> str:
        """Return whose one vote a list's reads are: the source, or the session without one."""
        return self.source(shown) or f"session {self.session}"


@dataclass(frozen=True, slots=True)
class VisitRules:
    """When a read belongs to a list, and whose visits may not vote.

    window_s: longest time between a list and a read of it; also the pause that ends a visit
    searches_per_minute: more than this in one minute is a robot
    actors: `actor` values that are set aside
    """

    window_s: float = 1800.0
    searches_per_minute: int = 30
    actors: Collection[str] = frozenset({"evaluation", "dashboard", "robot", "test"})

    def __post_init__(self) -> None:
        if not 0 < self.window_s < float("inf") or self.searches_per_minute < 1:
            raise UsageError("the window and the searches a minute are numbers above 0")


class _Open(Visit):
    """A visit that is still going on, with its indexes from ids to lists."""

    __slots__ = ("injected", "minute", "returned", "searches", "seen", "split_at")

    def __init__(self, event: Event) -> None:
        super().__init__(event.session, event.user, event.time)
        # Keyed by id, and by (search_id, id) for reads that name their search.
        self.returned: dict[object, ShownList] = {}
        self.injected: dict[object, ShownList] = {}
        self.seen: dict[object, ShownList] = {}
        self.minute = -1
        self.searches = 0
        self.split_at = _LONG_VISIT


class Visits:
    """Group ordered events into visits; `tally` counts every event that belongs to none."""

    def __init__(self, rules: VisitRules, tally: Tally) -> None:
        self._rules = rules
        self._tally = tally
        self._open: dict[str, _Open] = {}
        self._ending: deque[tuple[float, _Open]] = deque()
        self._take: dict[str, Callable[[Event], Iterable[Visit]]] = {
            "search": self._search,
            "inject": self._inject,
            "read": self._read,
            "cite": self._cite,
        }

    def follow(self, events: Iterable[Event]) -> Iterator[Visit]:
        """Yield each visit once it is over; events must come in order of time."""
        ending = self._ending
        for event in events:
            while ending and ending[0][0] < event.time:
                expires, visit = ending.popleft()
                if self._is_over(visit, expires):
                    yield self._close(visit)
            yield from self._take[event.kind](event)
        while ending:
            expires, visit = ending.popleft()
            if self._is_over(visit, expires):
                yield self._close(visit)
        assert not self._open, "every open visit stands in the queue"

    def _is_over(self, visit: _Open, expires: float) -> bool:
        """Tell whether a visit ends at this place in the queue, where it stands for each list.

        Lists of one moment give it two places with one end: the first closes it.
        """
        return visit.expires == expires and self._open.get(visit.session) is visit

    def _search(self, event: Event) -> Iterable[Visit]:
        if event.query is None or not event.query.strip():
            return self._unused("empty query")
        visit = self._visit(event)
        minute = int(event.time // 60)
        if minute != visit.minute:
            visit.minute, visit.searches = minute, 0
        visit.searches += 1
        if visit.searches > self._rules.searches_per_minute:
            visit.set_aside = f"more than {self._rules.searches_per_minute} searches a minute"
        self._show(visit, event, event.query, visit.returned)
        return self._parts(visit)

    def _inject(self, event: Event) -> Iterable[Visit]:
        visit = self._open.get(event.session)
        query = event.query
        if query is None and visit is not None:
            # Its query is that of the latest search which returned any of it.
            found = {id: visit.returned[id] for id in event.ids if id in visit.returned}
            latest = max(found.values(), key=lambda shown: shown.time, default=None)
            if latest is not None and event.time - latest.time <= self._rules.window_s:
                query = latest.query
        if query is None or not query.strip():
            return self._unused("injected without a query or a search that returned it")
        visit = self._visit(event)
        self._show(visit, event, query, visit.injected)
        return self._parts(visit)

    def _read(self, event: Event) -> Iterable[Visit]:
        return self._attribute(event, "returned")

    def _cite(self, event: Event) -> Iterable[Visit]:
        return self._attribute(event, "injected")

    def _attribute(self, event: Event, index: str) -> Iterable[Visit]:
        visit = self._open.get(event.session)
        if visit is None:
            return self._unused(f"{event.kind} without a list in its session before it")
        self._mark(visit, event)
        lists: dict[object, ShownList] = getattr(visit, index)
        for id in event.ids:
            key = id if event.search_id is None else (event.search_id, id)
            shown = lists.get(key)
            if shown is None:
                self._tally.unused[f"{event.kind} of an id that was not {index}"] += 1
            elif event.time - shown.time > self._rules.window_s:
                self._tally.unused[f"{event.kind} later than the window"] += 1
            else:
                shown.reader = shown.reader or event.reader
                if id in shown.read:
                    self._tally.notes[f"{event.kind} of an id again"] += 1
                else:
                    shown.read.append(id)
                visit.used += 1
        return ()

    def _visit(self, event: Event) -> _Open:
        visit = self._open.get(event.session)
        if visit is None:
            visit = self._open[event.session] = _Open(event)
        self._mark(visit, event)
        visit.expires = event.time + self._rules.window_s
        self._ending.append((visit.expires, visit))
        visit.used += 1
        return visit

    def _mark(self, visit: _Open, event: Event) -> None:
        if event.actor is not None and event.actor in self._rules.actors:
            visit.set_aside = f"actor {event.actor}"
        if visit.user is None:
            visit.user = event.user
        if visit.actor is None:
            visit.actor = event.actor

    def _show(self, visit: _Open, event: Event, query: str, index: dict[object, ShownList]) -> None:
        """Add a list to a visit; the same one again within the window is the same list."""
        ids, hashes = self._clean(event)
        key = (event.kind, query, ids, hashes)
        shown = visit.seen.get(key)
        if shown is not None and event.time - shown.time <= self._rules.window_s:
            self._tally.notes["lists shown again"] += 1
            shown.time = event.time
        else:
            shown = visit.seen[key] = ShownList(event.kind, query, event.time, ids, hashes)
            shown.shuffled, shown.reader = event.shuffled, event.reader
            visit.lists.append(shown)
        index.update(dict.fromkeys(ids, shown))
        if event.search_id is not None:
            index.update(dict.fromkeys(((event.search_id, id) for id in ids), shown))

    def _clean(self, event: Event) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return an event's ids, each once and not too many, with their hashes."""
        ids, hashes = event.ids, event.hashes
        if len(ids) > MOST_IDS:
            self._tally.notes[f"lists cut to their first {MOST_IDS} ids"] += 1
            ids, hashes = ids[:MOST_IDS], hashes[:MOST_IDS]
        if len(set(ids)) < len(ids):
            self._tally.notes["lists with an id twice: the first counts"] += 1
            first = {id: at for at, id in reversed(list(enumerate(ids)))}
            kept = sorted(first.values())
            hashes = tuple(hashes[at] for at in kept) if hashes else hashes
            ids = tuple(ids[at] for at in kept)
        return ids, hashes

    def _parts(self, visit: _Open) -> Iterable[Visit]:
        """Hand on the lists of an endless visit that nobody can read from any more."""
        if len(visit.lists) < visit.split_at:
            return ()
        oldest = visit.expires - 2 * self._rules.window_s
        over = [shown for shown in visit.lists if shown.time < oldest]
        visit.lists = [shown for shown in visit.lists if shown.time >= oldest]
        # Looking again only after as many have come in anew keeps the cost of it constant.
        visit.split_at = max(_LONG_VISIT, 2 * len(visit.lists))
        for index in (visit.returned, visit.injected, visit.seen):
            for key in [key for key, shown in index.items() if shown.time < oldest]:
                del index[key]
        if not over:
            return ()
        part = Visit(
            visit.session,
            visit.user,
            visit.expires,
            over,
            visit.set_aside,
            visit.used,
            visit.actor,
        )
        visit.used = 0
        return (self._judged(part),)

    def _close(self, visit: _Open) -> Visit:
        del self._open[visit.session]
        judged = self._judged(visit)
        if judged.set_aside is not None:
            self._tally.sessions[judged.set_aside] += 1
        return judged

    def _judged(self, visit: Visit) -> Visit:
        """Set a visit aside if it read everything it was ever shown; count what it loses."""
        lists = [shown for shown in visit.lists if len(shown.ids) > 1]
        if len(lists) >= _READS_ALL and all(len(s.read) == len(s.ids) for s in lists):
            visit.set_aside = visit.set_aside or "read every result of every search"
        if visit.set_aside is not None:
            self._tally.unused[f"in a session set aside: {visit.set_aside}"] += visit.used
        return visit

    def _unused(self, reason: str) -> Iterable[Visit]:
        self._tally.unused[reason] += 1
        return ()
