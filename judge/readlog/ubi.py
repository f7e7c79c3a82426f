"""OpenSearch User Behavior Insights: query and event records, schemas 1.0 to 1.3.

UBI ties events to queries by `query_id`, so records may come in any order, queries in one
file and events in another part of it; everything is held until the end of the file. A
`query_id` may have several records (one request for facets, one for results; a wording
typed further): none overwrites another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import TypeAlias

from judge.formats.ids import id_text
from judge.readlog.events import LONGEST_QUERY, Event, NotAnEvent, parse_time
from judge.readlog.tally import Tally

READ_ACTIONS = frozenset({"click", "item_click"})
SHOWN_ACTIONS = frozenset({"impression", "view"})

Fields: TypeAlias = Mapping[str, object]
_HIT_FIELDS = ("query_response_hit_ids", "query_response_object_ids", "query_response_hits_ids")
_BULK_ACTIONS = frozenset({"index", "create", "update", "delete"})


@dataclass(frozen=True, slots=True)
class _Record:
    """A query record: what was asked, and what it lists as returned (often nothing)."""

    time: float
    wording: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Action:
    """An event with an object: shown at a position, or read."""

    time: float
    id: str
    position: float | None
    wording: str | None
    session: str
    user: str | None


@dataclass(slots=True)
class _Query:
    """Everything filed under one `query_id`; `unused` counts events by why they are not."""

    records: list[_Record] = field(default_factory=list)
    shown: list[_Action] = field(default_factory=list)
    read: list[_Action] = field(default_factory=list)
    unused: Counter[str] = field(default_factory=Counter)


def is_ubi(value: object) -> bool:
    """Tell a UBI record, or the action line of a bulk file, from our own events."""
    if not isinstance(value, dict):
        return False
    fields = _record(value)
    return (
        "action_name" in fields
        or ("query_id" in fields and "user_query" in fields)
        or _is_bulk_action(value)
    )


def ubi_events(
    values: Iterable[object], *, tally: Tally, read_actions: Collection[str] = READ_ACTIONS
) -> Iterator[Event]:
    """Yield searches and reads, in order of time, of the UBI records among `values`.

    A query's list is what its record lists, else what its impression events put at each
    position. Every record is counted in `tally.events`, every unused one in `tally.unused`.
    """
    queries: dict[str, _Query] = {}
    for value in values:
        if not _is_bulk_action(value):
            _file(value, queries, tally, read_actions)
    events: list[Event] = []
    for query_id, query in queries.items():
        events += _events_of(query_id, query, tally)
    events.sort(key=itemgetter(0, 1))
    yield from events


def _is_bulk_action(value: object) -> bool:
    return isinstance(value, dict) and len(value) == 1 and not _BULK_ACTIONS.isdisjoint(value)


def _record(value: Fields) -> Fields:
    """Return the document itself where a search response or a dump wraps it."""
    source = value.get("_source")
    return source if isinstance(source, dict) else value


def _file(
    value: object, queries: dict[str, _Query], tally: Tally, read_actions: Collection[str]
) -> None:
    """File one record under its query_id, or count why that is not possible."""
    fields = _record(value) if isinstance(value, dict) else {}
    action = fields.get("action_name")
    tally.events["event" if action is not None else "query record" if fields else "other"] += 1
    query_id = id_text(fields.get("query_id"))
    if query_id is None:
        tally.unused["no query record" if action is not None else "no query_id"] += 1
        return
    query = queries.setdefault(query_id, _Query())
    try:
        if action is None:
            query.records.append(_query_record(fields))
        elif action in read_actions:
            query.read.append(_action(fields))
        elif action in SHOWN_ACTIONS:
            query.shown.append(_action(fields))
        else:
            query.unused[f"action {action}"] += 1
    except NotAnEvent as error:
        (tally if action is None else query).unused[str(error)] += 1


def _query_record(fields: Fields) -> _Record:
    wording = fields.get("user_query")
    if not isinstance(wording, str):
        raise NotAnEvent("no user_query")
    if len(wording) > LONGEST_QUERY:
        raise NotAnEvent("query too long")
    hits = next((fields[name] for name in _HIT_FIELDS if fields.get(name)), [])
    ids = tuple(id for hit in hits if (id := id_text(hit))) if isinstance(hits, list) else ()
    return _Record(parse_time(fields.get("timestamp")), wording, ids)


def _action(fields: Fields) -> _Action:
    attributes = _object(fields, "event_attributes")
    id = id_text(_object(attributes, "object").get("object_id"))
    if id is None:
        raise NotAnEvent("no object_id")
    client = id_text(fields.get("client_id"))
    session = id_text(fields.get("session_id")) or id_text(attributes.get("session_id")) or client
    if session is None:
        raise NotAnEvent("no session")
    position = _object(attributes, "position").get("ordinal")
    wording = fields.get("user_query")
    return _Action(
        time=parse_time(fields.get("timestamp")),
        id=id,
        position=position if isinstance(position, int | float) else None,
        wording=wording if isinstance(wording, str) and wording.strip() else None,
        session=session,
        user=id_text(fields.get("user_id")) or client,
    )


def _object(fields: Fields, name: str) -> Fields:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _events_of(query_id: str, query: _Query, tally: Tally) -> Iterator[Event]:
    """Yield one query_id's searches and reads; count what is neither."""
    if not query.records:
        n_events = len(query.shown) + len(query.read) + query.unused.total()
        tally.leave_out("no query record", n_events)
        return
    tally.unused.update(query.unused)
    listed = [record for record in query.records if record.ids]
    if not query.shown and not query.read:
        # Returned, but no page reported it: a wording on its way to the next, a facet count.
        tally.leave_out("query record without an impression or a read", len(query.records))
        lists = []
    elif listed:
        tally.leave_out("impression of a query whose record lists results", len(query.shown))
        tally.leave_out("query record without results", len(query.records) - len(listed))
        lists = _recorded_lists(listed, (*query.shown, *query.read))
    else:
        lists = _impression_lists(query.shown, query.records)
        if not lists:
            tally.leave_out("query record without results", len(query.records))
    for time, session, user, wording, ids in lists:
        yield Event(time, 0, "search", session, ids, wording, user, search_id=query_id)
    for read in query.read:
        yield Event(
            read.time, 2, "read", read.session, (read.id,), None, read.user, search_id=query_id
        )


_List: TypeAlias = tuple[float, str, str | None, str, tuple[str, ...]]


def _recorded_lists(records: Sequence[_Record], actions: Sequence[_Action]) -> list[_List]:
    """Return what query records list, once for each session that acted on this query_id."""
    sessions = {action.session: action.user for action in actions}
    return [
        (record.time, session, user, record.wording, record.ids)
        for record in records
        for session, user in sessions.items()
    ]


def _impression_lists(shown: Sequence[_Action], records: Sequence[_Record]) -> list[_List]:
    """Return the lists that impression events put together, by session, wording and rendering.

    A position that gets a second id begins another list: the page was shown anew.
    """
    pages: dict[tuple[str, str], list[dict[float, _Action]]] = {}
    for action in sorted(shown, key=lambda action: action.time):
        wording = action.wording or records[-1].wording
        renderings = pages.setdefault((action.session, wording), [{}])
        position = float(len(renderings[-1])) if action.position is None else action.position
        if renderings[-1].get(position, action).id != action.id:
            renderings.append({})
        renderings[-1][position] = action
    lists: list[_List] = []
    for (session, wording), renderings in pages.items():
        for page in renderings:
            first = min(page.values(), key=lambda action: action.time)
            ids = tuple(page[position].id for position in sorted(page))
            lists.append((first.time, session, first.user, wording, ids))
    return lists
