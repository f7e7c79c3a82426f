"""One line of a read log: what was shown, read, injected or cited, by whom and when.

The schema, version 1, one JSON object a line:

    {"v":1, "event":"search", "time":T, "session":"s1", "query":"…", "ids":["a","b"]}
    {"v":1, "event":"read",   "time":T, "session":"s1", "id":"a"}
    {"v":1, "event":"inject", "time":T, "session":"s1", "ids":["a","b"]}
    {"v":1, "event":"cite",   "time":T, "session":"s1", "ids":["a"]}

`time` is ISO 8601 (UTC where it names no zone), epoch seconds or epoch milliseconds.
Optional: `agent` and `model` (which program or model version searched, read or cited),
`user`, `actor`, `event_id` (a second event with the same one is ignored), `hashes` (of the
texts behind `ids`), `query` on an inject, `swapped` (`ReadLog.shuffle`), `shuffled` (true:
the whole list stood in random order), `search_id` on a search and on the reads that belong
to it. Other fields are kept by the log and ignored here.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from judge.formats.ids import id_text

VERSION = 1
LONGEST_QUERY = 32_768  # characters; longer ones are documents that were pasted

_MILLISECONDS_FROM = 1e11  # as seconds the year 5138, as milliseconds 1973
_PLAIN = {"search": 6, "read": 5, "cite": 5}  # fields of an event without optional ones
_RANK = {"search": 0, "inject": 1, "read": 2, "cite": 3}  # at one moment: shown before read


class Event(NamedTuple):
    """One event. A tuple, not a dataclass: a log has millions, and time sorts them.

    rank: order among events of one moment: what shows comes before what reads
    ids: shown, injected or cited; the one id that was read
    hashes: of the texts behind `ids`, aligned, or empty
    reader: the agent and model version behind it, where the log names one
    """

    time: float
    rank: int
    kind: str
    session: str
    ids: tuple[str, ...]
    query: str | None = None
    user: str | None = None
    actor: str | None = None
    hashes: tuple[str, ...] = ()
    event_id: str | None = None
    search_id: str | None = None
    swapped: bool = False
    shuffled: bool = False
    reader: str | None = None


class NotAnEvent(ValueError):
    """A line that is no event; its text is the reason it is counted under."""


def parse_event(fields: object) -> Event:
    """Return the event that a decoded line holds; raise NotAnEvent with the reason if none."""
    if not isinstance(fields, dict):
        raise NotAnEvent("not a JSON object")
    get = fields.get
    kind = get("event")
    if not isinstance(kind, str) or (rank := _RANK.get(kind)) is None:
        raise NotAnEvent("unknown event")
    if get("v", VERSION) != VERSION:
        raise NotAnEvent("unknown schema version")
    session = get("session")
    if type(session) is not str or not session:
        session = id_text(session)
        if session is None:
            raise NotAnEvent("no session")
    query = get("query")
    if query is not None and not isinstance(query, str):
        raise NotAnEvent("query is not text")
    if kind == "search" and query is None:
        raise NotAnEvent("search without a query")
    if query is not None and len(query) > LONGEST_QUERY:
        raise NotAnEvent("query too long")
    ids = _read_id(get("id")) if kind == "read" else _ids(get("ids"))
    time = parse_time(get("time"))
    if len(fields) == _PLAIN.get(kind) and "v" in fields:
        # Every field of the schema was there, so no optional one is: most events of most logs.
        return Event._make(
            (time, rank, kind, session, ids, query, None, None, (), None, None, False, False, None)
        )
    return Event(
        time,
        rank,
        kind,
        session,
        ids,
        query,
        user=id_text(get("user")),
        actor=id_text(get("actor")),
        hashes=_hashes(get("hashes"), ids),
        event_id=id_text(get("event_id")),
        search_id=id_text(get("search_id")),
        swapped=get("swapped") is not None,
        shuffled=get("shuffled") is True,
        reader=_reader(id_text(get("agent")), id_text(get("model"))),
    )


def parse_time(value: object) -> float:
    """Return epoch seconds; raise NotAnEvent for anything that is not a moment.

    >>> parse_time("2024-12-10T00:01:29.378Z") == parse_time(1733788889378) == 1733788889.378
    True
    """
    if type(value) is float and 0 <= value < _MILLISECONDS_FROM:
        return value  # what our own writer writes; the checks below cost as much again
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value.strip())
        except ValueError:
            raise NotAnEvent("no readable time") from None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e15:
        raise NotAnEvent("no readable time")
    return value / 1000 if value >= _MILLISECONDS_FROM else float(value)


def _reader(agent: str | None, model: str | None) -> str | None:
    named = [f"{kind} {name}" for kind, name in (("agent", agent), ("model", model)) if name]
    return ", ".join(named) or None


def _read_id(given: object) -> tuple[str, ...]:
    return (given,) if type(given) is str and given else _ids([given])


def _ids(given: object) -> tuple[str, ...]:
    if not isinstance(given, list):
        raise NotAnEvent("no ids")
    if set(map(type, given)) <= {str} and "" not in given:
        return tuple(given)  # nearly always, and a tenth of the cost of the way below
    ids = [id_text(id) for id in given]
    found = tuple(id for id in ids if id is not None)
    if len(found) < len(ids):
        raise NotAnEvent("an id that is not text")
    return found


def _hashes(value: object, ids: Sequence[str]) -> tuple[str, ...]:
    """Return hashes only where each shown id has one: a half of them would pair wrongly."""
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        return ()
    return tuple(value) if len(value) == len(ids) else ()
